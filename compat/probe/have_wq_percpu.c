// SPDX-License-Identifier: GPL-2.0
/*
 * A workqueue has to say that it is not WQ_UNBOUND, since
 * commit 930c2ea566af (Linux 6.17).
 */
#include <linux/module.h>
#include <linux/workqueue.h>

struct workqueue_struct *probe_queue(void);
struct workqueue_struct *probe_queue(void)
{
	return alloc_workqueue("probe", WQ_PERCPU, 0);
}
MODULE_LICENSE("GPL");
