// SPDX-License-Identifier: GPL-2.0
/*
 * Registrations of user memory may have a DMA handle, since
 * commit a272019a46c9 (Linux 6.17).
 */
#include <linux/module.h>
#include <rdma/ib_verbs.h>

static struct ib_mr *probe_reg(struct ib_pd *pd, u64 start, u64 length, u64 iova,
			       int access, struct ib_dmah *dmah, struct ib_udata *udata)
{
	return NULL;
}

const struct ib_device_ops probe_ops = { .reg_user_mr = probe_reg };
MODULE_LICENSE("GPL");
