/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a consumer in the kernel may ask of a software iWARP provider, beyond
 * the verbs.
 *
 * The provider exports one symbol, iw_ulp_ops.  It is looked up when it is
 * needed, so that neither module has to be there for the other:
 *
 *	const struct iw_ulp_ops *ops = symbol_get(iw_ulp_ops);
 *
 *	if (ops) {
 *		caps = ops->caps(ibdev);
 *		symbol_put(iw_ulp_ops);
 *	}
 */
#ifndef _NET_IW_ULP_H
#define _NET_IW_ULP_H

#include <linux/bits.h>
#include <linux/types.h>

struct ib_device;
struct ib_qp;
struct iov_iter;

/**
 * enum iw_ulp_cap - what a provider does that iWARP does not promise
 * @IW_ULP_HOLD: a message without a receive request can wait for one, and its
 *	sender is held back by TCP, instead of the connection being ended
 * @IW_ULP_IMMEDIATE: RDMA writes may carry immediate data (RFC 7306, section
 *	6), if the peer's device can do the same
 */
enum iw_ulp_cap {
	IW_ULP_HOLD		= BIT(0),
	IW_ULP_IMMEDIATE	= BIT(1),
};

/**
 * struct iw_ulp_ops - what a provider offers
 * @caps: what it can do for one of its devices, enum iw_ulp_cap; 0 for a device
 *	that is not the provider's.  Context: any.
 * @hold: have a queue pair hold; returns 0, -EINVAL if it is connected, or
 *	-EOPNOTSUPP if it is not the provider's.  Context: any.
 * @read: where both ends are in one kernel, read the memory that an STag of the
 *	peer's stands for into that of a process, which need not be registered,
 *	by one copy that is over when this returns.  Returns how many bytes were
 *	read, and the iterator is behind them; what is missing is to be read by
 *	a request, which also says what was wrong.  That is all of it if one end
 *	is elsewhere, or if requests wait in the send queue: it is as if it were
 *	posted behind them.  -EFAULT if nothing was read because the process's
 *	memory is not there: that is for the caller to wait for, who may hold a
 *	lock.  Context: process.
 */
struct iw_ulp_ops {
	u32 (*caps)(const struct ib_device *ibdev);
	int (*hold)(struct ib_qp *ibqp);
	ssize_t (*read)(struct ib_qp *ibqp, u32 stag, u64 addr,
			struct iov_iter *to, size_t len);
};

extern const struct iw_ulp_ops iw_ulp_ops;

#endif /* _NET_IW_ULP_H */
