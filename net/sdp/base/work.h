/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work queues.
 */
#ifndef _SDP_WORK_H
#define _SDP_WORK_H

#include <linux/workqueue.h>

extern struct workqueue_struct *sdp_wq;
extern struct workqueue_struct *sdp_share_wq;

int __init sdp_work_init_module(void);
void sdp_work_exit_module(void);

#endif /* _SDP_WORK_H */
