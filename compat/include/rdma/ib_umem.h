/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_RDMA_IB_UMEM_H
#define _SDP_COMPAT_RDMA_IB_UMEM_H

#include_next <rdma/ib_umem.h>

#ifndef SDP_HAVE_UMEM_GET_VA
#define ib_umem_get_va	ib_umem_get
#endif

#endif /* _SDP_COMPAT_RDMA_IB_UMEM_H */
