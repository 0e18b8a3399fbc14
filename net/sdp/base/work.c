// SPDX-License-Identifier: GPL-2.0
/*
 * Work queues.
 */
#include "base.h"

struct workqueue_struct *sdp_wq;
/* Its items wait for those of sdp_wq. */
struct workqueue_struct *sdp_share_wq;

/**
 * sdp_work_init_module() - create what all connections share
 *
 * Return: 0 or -ENOMEM.
 */
int __init sdp_work_init_module(void)
{
	sdp_wq = alloc_workqueue("sdp", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!sdp_wq)
		return -ENOMEM;
	sdp_share_wq = alloc_workqueue("sdp_share",
				       WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (sdp_share_wq)
		return 0;
	destroy_workqueue(sdp_wq);
	return -ENOMEM;
}

/**
 * sdp_work_exit_module() - wait for the last teardown
 */
void sdp_work_exit_module(void)
{
	destroy_workqueue(sdp_share_wq);
	destroy_workqueue(sdp_wq);
}
