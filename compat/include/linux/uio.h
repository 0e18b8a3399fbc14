/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_UIO_H
#define _SDP_COMPAT_LINUX_UIO_H

#include_next <linux/uio.h>

/* Older kernels have one function for both. */
#ifndef SDP_HAVE_ITER_IOV_ADDR
#define iter_iov_addr(iter)	(iov_iter_iovec(iter).iov_base)
#define iter_iov_len(iter)	(iov_iter_iovec(iter).iov_len)
#endif

#endif /* _SDP_COMPAT_LINUX_UIO_H */
