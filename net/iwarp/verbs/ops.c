// SPDX-License-Identifier: GPL-2.0
/*
 * What the RDMA core calls.
 */
#include <rdma/siw-abi.h>

#include "mem/mem.h"
#include "queue/queue.h"
#include "offload/offload.h"
#include "qp/qp.h"
#include "cm/cm.h"
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

const struct ib_device_ops iwp_device_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_SIW,
	.uverbs_abi_ver = SIW_ABI_VERSION,

	.alloc_hw_port_stats = iwp_alloc_hw_port_stats,
	.alloc_mr = iwp_alloc_mr,
	.alloc_pd = iwp_alloc_pd,
	.alloc_ucontext = iwp_alloc_ucontext,
	.create_cq = iwp_create_cq,
	.create_qp = iwp_create_qp,
	.dealloc_driver = iwp_dealloc_driver,
	.dealloc_pd = iwp_dealloc_pd,
	.dealloc_ucontext = iwp_dealloc_ucontext,
	.dereg_mr = iwp_dereg_mr,
	.destroy_cq = iwp_destroy_cq,
	.destroy_qp = iwp_destroy_qp,
	.device_group = &iwp_device_group,
	.disassociate_ucontext = iwp_disassociate_ucontext,
	.get_dma_mr = iwp_get_dma_mr,
	.get_hw_stats = iwp_get_hw_stats,
	.get_port_immutable = iwp_get_port_immutable,
	.iw_accept = iwp_accept,
	.iw_add_ref = iwp_qp_add_ref,
	.iw_connect = iwp_connect,
	.iw_create_listen = iwp_create_listen,
	.iw_destroy_listen = iwp_destroy_listen,
	.iw_get_qp = iwp_get_qp,
	.iw_reject = iwp_reject,
	.iw_rem_ref = iwp_qp_rem_ref,
	.map_mr_sg = iwp_map_mr_sg,
	.mmap = iwp_mmap,
	.mmap_free = iwp_mmap_free,
	.modify_qp = iwp_modify_qp,
	.poll_cq = iwp_poll_cq,
	.post_recv = iwp_post_recv,
	.post_send = iwp_post_send,
	.query_device = iwp_query_device,
	.query_gid = iwp_query_gid,
	.query_port = iwp_query_port,
	.query_qp = iwp_query_qp,
	.reg_user_mr = iwp_reg_user_mr,
	.req_notify_cq = iwp_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_cq, iwp_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, iwp_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, iwp_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, iwp_ucontext, ibctx),
};
