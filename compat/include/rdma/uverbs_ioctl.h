/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_RDMA_UVERBS_IOCTL_H
#define _SDP_COMPAT_RDMA_UVERBS_IOCTL_H

#include_next <rdma/uverbs_ioctl.h>

/* The driver's part of the attributes of create_cq(), or NULL. */
static inline struct ib_udata *
sdp_create_cq_udata(struct sdp_create_cq_attrs *attrs)
{
#ifdef SDP_HAVE_CREATE_CQ_ATTRS
	return attrs ? &attrs->driver_udata : NULL;
#else
	return attrs;
#endif
}

#endif /* _SDP_COMPAT_RDMA_UVERBS_IOCTL_H */
