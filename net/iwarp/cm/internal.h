/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of this folder. */
#ifndef _IWP_CM_INTERNAL_H
#define _IWP_CM_INTERNAL_H

#include <net/sock.h>
#include <rdma/iw_cm.h>

#include "core/core.h"
#include "cm.h"

/* ep.c */
struct iwp_ep *iwp_ep_new(struct iwp_device *dev);
void iwp_ep_retry_later(struct iwp_ep *ep);
void iwp_ep_set_timer(struct iwp_ep *ep, unsigned int seconds);
void iwp_ep_stop_timer(struct iwp_ep *ep);
void iwp_ep_finish(struct iwp_ep *ep, int err);

/* sock.c */
int iwp_sock_create(struct iwp_ep *ep, struct net *net,
		    const struct sockaddr_storage *addr);
int iwp_sock_watch(struct iwp_ep *ep);
void iwp_sock_abandon(struct iwp_ep *ep);
void iwp_sock_watch_listen(struct iwp_ep *ep);
void iwp_sock_unwatch(struct iwp_ep *ep);
size_t iwp_addr_len(const struct sockaddr_storage *addr);

/* mpa.c */
u32 iwp_mpa_interval(bool markers);
int iwp_mpa_request(struct iwp_ep *ep, const void *priv, u16 len);
int iwp_mpa_reply(struct iwp_ep *ep, bool reject, const void *priv, u16 len);
int iwp_mpa_receive(struct iwp_ep *ep, bool reply);
int iwp_mpa_check_request(struct iwp_ep *ep);
int iwp_mpa_check_reply(struct iwp_ep *ep);

/* consumer.c */
struct net *iwp_consumer_net(const struct iw_cm_id *id);
bool iwp_consumer_resolves(const struct iw_cm_id *listener,
			   const struct sockaddr *local);
struct iwp_qp *iwp_consumer_qp(const struct iw_cm_id *id, u32 qpn);

/* connect.c */
void iwp_connect_step(struct iwp_ep *ep);
int iwp_ep_attach(struct iwp_ep *ep, struct iwp_qp *qp);
int iwp_ep_start(struct iwp_ep *ep, bool wait_first);
int iwp_ep_upcall(struct iwp_ep *ep, struct iw_cm_id *id,
		  enum iw_cm_event_type type, int status);
void iwp_ep_established(struct iwp_ep *ep, enum iw_cm_event_type type);

/* listen.c */
void iwp_listen_step(struct iwp_ep *ep);
void iwp_request_step(struct iwp_ep *ep);
void iwp_child_unlink(struct iwp_ep *ep);
void iwp_request_remove(struct iwp_ep *ep);

#endif /* _IWP_CM_INTERNAL_H */
