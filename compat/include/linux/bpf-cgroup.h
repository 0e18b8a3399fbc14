/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_BPF_CGROUP_H
#define _SDP_COMPAT_LINUX_BPF_CGROUP_H

#include_next <linux/bpf-cgroup.h>

/* Not in any kernel: the hook for bind(), with a length or without. */
#ifdef SDP_HAVE_BIND_HOOK_LEN
#define sdp_cgroup_run_bind(sk, addr, len, type, flags)			\
	BPF_CGROUP_RUN_PROG_INET_BIND_LOCK(sk, (void *)(addr), len, type, flags)
#else
#define sdp_cgroup_run_bind(sk, addr, len, type, flags)			\
	((void)(len),							\
	 BPF_CGROUP_RUN_PROG_INET_BIND_LOCK(sk, (void *)(addr), type, flags))
#endif

#endif /* _SDP_COMPAT_LINUX_BPF_CGROUP_H */
