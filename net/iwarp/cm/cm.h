/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Endpoints: a TCP socket on its way from MPA's set-up to full operation and
 * to its end, or one that listens.
 */
#ifndef _IWP_EP_H
#define _IWP_EP_H

#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include <rdma/iw_cm.h>

#include "wire/wire.h"

struct iwp_device;
struct iwp_qp;

/**
 * enum iwp_ep_state - what an endpoint waits for
 * @IWP_EP_LISTEN: connections
 * @IWP_EP_CONNECTING: TCP's connection
 * @IWP_EP_WAIT_REQ: the peer's MPA request
 * @IWP_EP_REQUESTED: accept or reject, by the consumer
 * @IWP_EP_WAIT_REP: the peer's MPA reply
 * @IWP_EP_FPDU: full operation
 * @IWP_EP_CLOSING: as before, but our own FIN is sent
 * @IWP_EP_CLOSED: nothing
 */
enum iwp_ep_state {
	IWP_EP_LISTEN,
	IWP_EP_CONNECTING,
	IWP_EP_WAIT_REQ,
	IWP_EP_REQUESTED,
	IWP_EP_WAIT_REP,
	IWP_EP_FPDU,
	IWP_EP_CLOSING,
	IWP_EP_CLOSED,
};

/**
 * enum iwp_ep_event - why the endpoint's work runs; bits of @events
 * @IWP_EV_SOCKET: something happened to the socket
 * @IWP_EV_TIMEOUT: it takes too long
 * @IWP_EV_DRAINED: all is sent that was posted before the consumer
 *	disconnected
 * @IWP_EV_ABORT: the consumer, or an error, ends the connection
 * @IWP_EV_FAILED: something was found out that must end the connection
 */
enum iwp_ep_event {
	IWP_EV_SOCKET,
	IWP_EV_TIMEOUT,
	IWP_EV_DRAINED,
	IWP_EV_ABORT,
	IWP_EV_FAILED,
};

/**
 * struct iwp_callbacks - a socket's own callbacks, to be put back
 * @state_change: as in struct sock, like all of them
 * @data_ready: see there
 * @write_space: see there
 * @error_report: see there
 */
struct iwp_callbacks {
	void (*state_change)(struct sock *sk);
	void (*data_ready)(struct sock *sk);
	void (*write_space)(struct sock *sk);
	void (*error_report)(struct sock *sk);
};

/**
 * struct iwp_ep - an endpoint
 * @refs: one while it is not closed, one for each queued run of @work and
 *	@timer, the queue pair's, a child's, and those of callers
 * @lock: protects all that has no other rule; process context only
 * @state: enum iwp_ep_state
 * @dev: device; used only while there is a queue pair or an iw_cm_id
 * @sock: socket, until the last reference is gone
 * @saved: the socket's own callbacks; an accepted one's are the listener's
 * @fpdu: under the socket's lock: data is the queue pair's
 * @cm_id: the connection manager's, with a reference
 * @qp: queue pair, with a reference; under the socket's lock as well
 * @events: enum iwp_ep_event
 * @work: looks at @events
 * @timer: sets IWP_EV_TIMEOUT
 * @free_work: ends it, as the last reference may go in any context
 * @listener: whose child it is, with a reference, or NULL
 * @node: in the listener's @children
 * @request: what the connection manager calls it while nobody has answered its
 *	request; 0 if it never had one
 * @deadline: jiffies at which it has waited for too long, or 0
 * @offer: among those that wait for a peer in this kernel
 * @children: listener: endpoints that have no request yet
 * @children_lock: listener: protects @children and @nr_children
 * @nr_children: listener: how many there are
 * @ird: requests to read that we take at a time
 * @ord: requests to read that we send at a time
 * @mpa: the peer's frame
 * @ours: the frame that we sent
 * @frame: bytes of the peer's frame
 * @received: how many
 * @frame_len: how many there will be, once the fixed part is there
 * @priv: the consumer's part of its private data
 */
struct iwp_ep {
	refcount_t refs;
	struct mutex lock; /* of all below */
	u8 state;
	struct iwp_device *dev;
	struct socket *sock;
	struct iwp_callbacks saved;
	bool fpdu;
	struct iw_cm_id *cm_id;
	struct iwp_qp *qp;
	unsigned long events;
	struct work_struct work;
	struct delayed_work timer;
	struct work_struct free_work;
	struct iwp_ep *listener;
	struct list_head node;
	unsigned long request;
	unsigned long deadline;
	struct hlist_node offer;
	struct list_head children;
	spinlock_t children_lock; /* of children */
	u32 nr_children;
	u16 ird;
	u16 ord;
	struct iwarp_mpa mpa;
	struct iwarp_mpa ours;
	u8 frame[IWARP_MPA_FRAME_MAX];
	u32 received;
	u32 frame_len;
	const u8 *priv;
};

/* ep.c */
int iwp_work_init(void);
void iwp_work_exit(void);
struct iwp_ep *iwp_ep_new(struct iwp_device *dev);
void iwp_ep_get(struct iwp_ep *ep);
void iwp_ep_put(struct iwp_ep *ep);
void iwp_ep_signal(struct iwp_ep *ep, enum iwp_ep_event event);
void iwp_ep_look_later(struct iwp_ep *ep);
void iwp_ep_set_timer(struct iwp_ep *ep, unsigned int seconds);
void iwp_ep_stop_timer(struct iwp_ep *ep);
void iwp_ep_finish(struct iwp_ep *ep, int err);

/* qp/qp.c */
void iwp_qp_signal(struct iwp_qp *qp, enum iwp_ep_event event);

/* sock.c */
int iwp_sock_create(struct iwp_ep *ep, struct net *net,
		    const struct sockaddr_storage *addr);
int iwp_sock_watch(struct iwp_ep *ep);
void iwp_sock_disown(struct iwp_ep *ep);
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
bool iwp_consumer_finds(const struct iw_cm_id *listener,
			const struct sockaddr *local);
struct iwp_qp *iwp_consumer_qp(const struct iw_cm_id *id, u32 qpn);

/* connect.c */
int iwp_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param);
void iwp_connect_step(struct iwp_ep *ep);
int iwp_ep_attach(struct iwp_ep *ep, struct iwp_qp *qp);
int iwp_ep_start(struct iwp_ep *ep, bool wait_first);
int iwp_ep_upcall(struct iwp_ep *ep, struct iw_cm_id *id,
		  enum iw_cm_event_type type, int status);
void iwp_ep_established(struct iwp_ep *ep, enum iw_cm_event_type type);

/* listen.c */
int iwp_create_listen(struct iw_cm_id *id, int backlog);
int iwp_destroy_listen(struct iw_cm_id *id);
int iwp_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int iwp_reject(struct iw_cm_id *id, const void *priv, u8 len);
void iwp_listen_step(struct iwp_ep *ep);
void iwp_request_step(struct iwp_ep *ep);
void iwp_child_unlink(struct iwp_ep *ep);
void iwp_request_forget(struct iwp_ep *ep);
void iwp_requests_forget(struct iwp_device *dev);

#endif /* _IWP_EP_H */
