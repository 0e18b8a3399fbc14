// SPDX-License-Identifier: GPL-2.0
/* Operations for kernel consumers beyond the verbs. */
#include <linux/export.h>
#include <net/iw_ulp.h>

#include "stream/stream.h"
#include "loopback/loopback.h"
#include "verbs.h"

/* siw devices have the same driver number. */
static bool iwp_ulp_ours(const struct ib_device *ibdev)
{
	return ibdev->ops.post_send == iwp_post_send;
}

static u32 iwp_ulp_caps(const struct ib_device *ibdev)
{
	return iwp_ulp_ours(ibdev) ? IW_ULP_HOLD | IW_ULP_IMMEDIATE : 0;
}

static int iwp_ulp_hold(struct ib_qp *ibqp)
{
	return iwp_ulp_ours(ibqp->device) ? iwp_hold_enable(iwp_qp(ibqp)) :
					    -EOPNOTSUPP;
}

static ssize_t iwp_ulp_read(struct ib_qp *ibqp, u32 stag, u64 addr,
			    struct iov_iter *to, size_t len)
{
	return iwp_ulp_ours(ibqp->device) ?
	       iwp_loopback_read(iwp_qp(ibqp), stag, addr, to, len) : 0;
}

const struct iw_ulp_ops iw_ulp_ops = {
	.caps = iwp_ulp_caps,
	.hold = iwp_ulp_hold,
	.read = iwp_ulp_read,
};
EXPORT_SYMBOL_GPL(iw_ulp_ops);
