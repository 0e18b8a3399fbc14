/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_SOCK_DIAG_H
#define _SDP_COMPAT_LINUX_SOCK_DIAG_H

#include_next <linux/sock_diag.h>

/* Older kernels hold a mutex while they ask a handler. */
#ifdef SDP_HAVE_SOCK_DIAG_OWNER
#define SOCK_DIAG_OWNER(module)	.owner = (module),
#else
#define SOCK_DIAG_OWNER(...)
#endif

#endif /* _SDP_COMPAT_LINUX_SOCK_DIAG_H */
