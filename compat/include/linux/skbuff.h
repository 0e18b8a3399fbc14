/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_SKBUFF_H
#define _SDP_COMPAT_LINUX_SKBUFF_H

#include_next <linux/skbuff.h>

/* Older kernels do not send from a device's memory. */
#ifndef SDP_HAVE_MSG_ZEROCOPY_DEVMEM
#define msg_zerocopy_realloc(sk, size, uarg, ...)	\
	msg_zerocopy_realloc(sk, size, uarg)
#endif

#endif /* _SDP_COMPAT_LINUX_SKBUFF_H */
