// SPDX-License-Identifier: GPL-2.0
/*
 * A device remembers that its user has chosen its name, since
 * commit af48f95492dc (Linux 6.11).
 */
#include <linux/module.h>
#include <rdma/ib_verbs.h>

void probe_mark(struct ib_device *ibdev);
void probe_mark(struct ib_device *ibdev)
{
	ib_mark_name_assigned_by_user(ibdev);
}
MODULE_LICENSE("GPL");
