/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_SYSCTL_H
#define _SDP_COMPAT_LINUX_SYSCTL_H

#include_next <linux/sysctl.h>

/* Handlers of older kernels might change the table; ours do not. */
#ifdef SDP_HAVE_CONST_CTL_TABLE
#define PROC_HANDLER(handler)	(handler)
#else
#define PROC_HANDLER(handler)	((proc_handler *)(handler))
#endif

#endif /* _SDP_COMPAT_LINUX_SYSCTL_H */
