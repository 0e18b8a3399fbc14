// SPDX-License-Identifier: GPL-2.0
/*
 * A driver's create_cq() gets all attributes of the call, since
 * commit dd6d7f8574d7 (Linux 6.11).
 */
#include <linux/module.h>
#include <rdma/ib_verbs.h>

static int probe_create(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
			struct uverbs_attr_bundle *attrs)
{
	return 0;
}

extern const struct ib_device_ops probe_ops;
const struct ib_device_ops probe_ops = { .create_cq = probe_create };
MODULE_LICENSE("GPL");
