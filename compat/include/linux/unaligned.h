/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_UNALIGNED_H
#define _SDP_COMPAT_LINUX_UNALIGNED_H

/* Older kernels have it under another name. */
#ifdef SDP_HAVE_LINUX_UNALIGNED
#include_next <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif /* _SDP_COMPAT_LINUX_UNALIGNED_H */
