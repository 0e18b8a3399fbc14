/* SPDX-License-Identifier: GPL-2.0 */
/* Queue pairs: creation, states and destruction. */
#ifndef _IWP_QP_H
#define _IWP_QP_H

#include "core/core.h"

/* qp.c */
extern const struct ib_device_ops iwp_qp_dev_ops;
int iwp_qp_rts(struct iwp_qp *qp);
void iwp_qp_error(struct iwp_qp *qp);
void iwp_qp_report_error(struct iwp_qp *qp);

/* flush_poll.c */
void iwp_flush_poll_init(struct iwp_qp *qp);
void iwp_flush_poll_start(struct iwp_qp *qp);
void iwp_flush_poll_stop(struct iwp_qp *qp);
int iwp_flush_poll_init_module(void);
void iwp_flush_poll_exit_module(void);

#endif /* _IWP_QP_H */
