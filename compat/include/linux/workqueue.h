/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_WORKQUEUE_H
#define _SDP_COMPAT_LINUX_WORKQUEUE_H

#include_next <linux/workqueue.h>

/* Older kernels take it for granted. */
#ifndef SDP_HAVE_WQ_PERCPU
#define WQ_PERCPU 0
#endif

#endif /* _SDP_COMPAT_LINUX_WORKQUEUE_H */
