/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_NSPROXY_H
#define _SDP_COMPAT_LINUX_NSPROXY_H

#include_next <linux/nsproxy.h>

/* Not in any kernel: reads the count, whatever its type. */
static inline unsigned int nsproxy_users(const struct nsproxy *nsproxy)
{
#ifdef SDP_HAVE_NSPROXY_REFCOUNT
	return refcount_read(&nsproxy->count);
#else
	return atomic_read(&nsproxy->count);
#endif
}

#endif /* _SDP_COMPAT_LINUX_NSPROXY_H */
