/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs: how they come and go, their states, and their end.
 */
#ifndef _IWP_QP_H
#define _IWP_QP_H

#include "core/core.h"

/* qp.c */
int iwp_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		  struct ib_udata *udata);
int iwp_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int iwp_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata);
int iwp_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);
struct ib_qp *iwp_get_qp(struct ib_device *ibdev, int qpn);
void iwp_qp_add_ref(struct ib_qp *ibqp);
void iwp_qp_rem_ref(struct ib_qp *ibqp);
int iwp_qp_rts(struct iwp_qp *qp);
void iwp_qp_error(struct iwp_qp *qp);
void iwp_qp_tell_error(struct iwp_qp *qp);

/* flush_poll.c */
void iwp_late_init(struct iwp_qp *qp);
void iwp_late_start(struct iwp_qp *qp);
void iwp_late_stop(struct iwp_qp *qp);

#endif /* _IWP_QP_H */
