// SPDX-License-Identifier: GPL-2.0
/* Device operations that no other layer has: posting and protection domains. */
#include <linux/error-injection.h>

#include "verbs.h"

/* No state: regions and queue pairs refer to their protection domain. */
struct iwp_pd {
	struct ib_pd ibpd;
};

static int iwp_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}
ALLOW_ERROR_INJECTION(iwp_alloc_pd, ERRNO);

static int iwp_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}

/*
 * Mappings have their own pages, so there is nothing to revoke. The operation exists so
 * that a device can be removed while user space has it open.
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
	.post_srq_recv = iwp_post_srq_recv,

	INIT_RDMA_OBJ_SIZE(ib_pd, iwp_pd, ibpd),
};
