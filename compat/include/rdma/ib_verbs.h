/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_RDMA_IB_VERBS_H
#define _SDP_COMPAT_RDMA_IB_VERBS_H

#include_next <rdma/ib_verbs.h>

#ifndef SDP_HAVE_IB_MARK_NAME
static inline void ib_mark_name_assigned_by_user(struct ib_device *ibdev)
{
}
#endif

/* Older kernels give create_cq() only the driver's part of the attributes. */
#ifdef SDP_HAVE_CREATE_CQ_ATTRS
#define sdp_create_cq_attrs uverbs_attr_bundle
#else
#define sdp_create_cq_attrs ib_udata
#endif

#endif /* _SDP_COMPAT_RDMA_IB_VERBS_H */
