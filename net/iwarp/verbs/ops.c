// SPDX-License-Identifier: GPL-2.0
/*
 * What the RDMA core calls for what no other layer has: requests, and domains.
 */
#include "verbs.h"

/* Nothing is kept for a protection domain: its regions and queues know it. */
struct iwp_pd {
	struct ib_pd ibpd;
};

static int iwp_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}

static int iwp_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}

/*
 * What a process has mapped are pages of its own, so nothing has to be taken away.
 * That this is here lets a device go before the process closes it.
 */
static void iwp_disassociate_ucontext(struct ib_ucontext *ibctx)
{
}

const struct ib_device_ops iwp_verbs_dev_ops = {
	.alloc_pd = iwp_alloc_pd,
	.dealloc_pd = iwp_dealloc_pd,
	.disassociate_ucontext = iwp_disassociate_ucontext,
	.post_recv = iwp_post_recv,
	.post_send = iwp_post_send,

	INIT_RDMA_OBJ_SIZE(ib_pd, iwp_pd, ibpd),
};
