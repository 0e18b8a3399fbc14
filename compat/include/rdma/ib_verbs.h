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

#ifdef SDP_HAVE_REG_USER_MR_DMAH
#define DEFINE_REG_USER_MR(name)	struct name##_is_direct
#define REG_USER_MR(name)	name
#else
struct ib_dmah;

/* Older kernels have no DMA handles. */
#define DEFINE_REG_USER_MR(name)						\
static struct ib_mr *name##_without_dmah(struct ib_pd *pd, u64 start,	\
					 u64 length, u64 iova, int access,	\
					 struct ib_udata *udata)		\
{										\
	return name(pd, start, length, iova, access, NULL, udata);		\
}

#define REG_USER_MR(name)	name##_without_dmah
#endif

#endif /* _SDP_COMPAT_RDMA_IB_VERBS_H */
