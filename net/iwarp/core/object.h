/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs and endpoints: what they consist of, and who refers to them.
 */
#ifndef _IWP_OBJECT_H
#define _IWP_OBJECT_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include "wire/wire.h"
#include "request.h"
#include "transfer.h"

struct iwp_device;
struct iwp_ep;
struct iwp_loopback_dir;
struct iwp_loopback_pair;
struct iwp_qp;

/**
 * enum iwp_qp_state - what a queue pair can do
 * @IWP_QP_IDLE: take receive requests
 * @IWP_QP_RTS: everything
 * @IWP_QP_CLOSING: receive, and send what was posted before
 * @IWP_QP_ERROR: nothing; requests are flushed
 *
 * Only forwards, one way.
 */
enum iwp_qp_state {
	IWP_QP_IDLE,
	IWP_QP_RTS,
	IWP_QP_CLOSING,
	IWP_QP_ERROR,
};

/**
 * struct iwp_loopback - how a queue pair is joined with one of this kernel
 * @local: what joins the two, or NULL; for good
 * @out: where its requests are executed, if it is joined and not in error
 * @in: where the peer's are
 */
struct iwp_loopback {
	struct iwp_loopback_pair *pair;
	struct iwp_loopback_dir *out;
	struct iwp_loopback_dir *in;
};

/**
 * struct iwp_flush_poll - looks for what a process posts to a queue pair in error
 * @work: does it
 * @delay: when it will look again, jiffies
 */
struct iwp_flush_poll {
	struct delayed_work work;
	unsigned long delay;
};

/**
 * struct iwp_qp_ops - what lower layers have the higher ones do
 * @loopback_kick: have a lane look at what it has to do; any context
 * @error: put the queue pair in error, and flush its requests; socket's lock held
 *
 * None of them is called for a segment that goes well.
 */
struct iwp_qp_ops {
	void (*loopback_kick)(struct iwp_loopback_dir *dir);
	void (*error)(struct iwp_qp *qp);
};

/**
 * struct iwp_qp - a queue pair
 * @ibqp: what the RDMA core knows; first, as the core allocates it
 * @dev: device
 * @ops: of the layers above
 * @state: enum iwp_qp_state; changed under @lock, and, while there is a
 *	connection, under the socket's lock
 * @lock: protects @ep
 * @ep: the connection, a reference, or NULL
 * @refs: the user's, the endpoint's, the connection manager's, the work's
 * @released: no reference is left
 * @destroying: the user gives it up: no more events
 * @sq: send queue
 * @rq: receive queue
 * @tx: what is being sent; under the socket's lock
 * @rx: what is being received; under the socket's lock
 * @design: enum iwp_design
 * @engine_start: when the engine's work began that processors do now
 * @ack: when what was received is acknowledged; under the socket's lock
 * @flush_poll: flushes what is posted after that, once it is in error
 * @loopback: joins it with a queue pair of this kernel
 * @failure: why iwp_qp_fail() wants the connection to end
 */
struct iwp_qp {
	struct ib_qp ibqp;
	struct iwp_device *dev;
	const struct iwp_qp_ops *ops;
	u8 state;
	spinlock_t lock; /* of ep and state */
	struct iwp_ep *ep;
	refcount_t refs;
	struct completion released;
	bool destroying;
	struct iwp_sq sq;
	struct iwp_rq rq;
	struct iwp_tx tx;
	struct iwp_rx rx;
	u8 design;
	u64 engine_start;
	struct iwp_ack ack;
	struct iwp_flush_poll flush_poll;
	struct iwp_loopback loopback;
	enum iwarp_error failure;
};

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
 * @saved_cb: the socket's own callbacks; an accepted one's are the listener's
 * @fpdu: under the socket's lock: data is the queue pair's
 * @cm_id: the connection manager's, with a reference
 * @qp: queue pair, with a reference; under the socket's lock as well
 * @events: enum iwp_ep_event
 * @work: looks at @events
 * @timer: sets IWP_EV_TIMEOUT
 * @free_work: ends it, as the last reference may go in any context
 * @listener: whose child it is, with a reference, or NULL
 * @node: in the listener's @children
 * @request_id: what the connection manager calls it while nobody has answered its
 *	request; 0 if it never had one
 * @deadline: jiffies at which it has waited for too long, or 0
 * @offer_node: among those that wait for a peer in this kernel
 * @children: listener: endpoints that have no request yet
 * @children_lock: listener: protects @children and @nr_children
 * @nr_children: listener: how many there are
 * @ird: requests to read that we take at a time
 * @ord: requests to read that we send at a time
 * @mpa_rx: the peer's frame
 * @mpa_tx: the frame that we sent
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
	struct iwp_callbacks saved_cb;
	bool fpdu;
	struct iw_cm_id *cm_id;
	struct iwp_qp *qp;
	unsigned long events;
	struct work_struct work;
	struct delayed_work timer;
	struct work_struct free_work;
	struct iwp_ep *listener;
	struct list_head node;
	unsigned long request_id;
	unsigned long deadline;
	struct hlist_node offer_node;
	struct list_head children;
	spinlock_t children_lock; /* of children */
	u32 nr_children;
	u16 ird;
	u16 ord;
	struct iwarp_mpa mpa_rx;
	struct iwarp_mpa mpa_tx;
	u8 frame[IWARP_MPA_FRAME_MAX];
	u32 received;
	u32 frame_len;
	const u8 *priv;
};

static inline struct iwp_qp *iwp_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct iwp_qp, ibqp);
}

static inline bool iwp_qp_kernel(const struct iwp_qp *qp)
{
	return rdma_is_kernel_res(&qp->ibqp.res);
}

/* Where what is posted to the queue pair is executed, or NULL. */
static inline struct iwp_loopback_dir *iwp_loopback_out(const struct iwp_qp *qp)
{
	return READ_ONCE(qp->loopback.out);
}

/* What fills its receive requests, or NULL. */
static inline struct iwp_loopback_dir *iwp_loopback_in(const struct iwp_qp *qp)
{
	/* Pairs with iwp_loopback_detach(): who has left has flushed. */
	return smp_load_acquire(&qp->loopback.in);
}

void iwp_qp_get(struct iwp_qp *qp);
void iwp_qp_put(struct iwp_qp *qp);
struct iwp_qp *iwp_qp_find(struct ib_device *ibdev, u32 qpn);
struct iwp_ep *iwp_qp_ep(struct iwp_qp *qp);
void iwp_qp_signal(struct iwp_qp *qp, enum iwp_ep_event event);
bool iwp_qp_change_state(struct iwp_qp *qp, unsigned long from, enum iwp_qp_state to);
void iwp_qp_abort(struct iwp_qp *qp);
void iwp_qp_fail(struct iwp_qp *qp, enum iwarp_error error);

void iwp_ep_init(struct iwp_ep *ep, work_func_t work);
void iwp_ep_get(struct iwp_ep *ep);
void iwp_ep_put(struct iwp_ep *ep);
void iwp_ep_signal(struct iwp_ep *ep, enum iwp_ep_event event);
void iwp_ep_start_timer(struct iwp_ep *ep, unsigned long delay);

int iwp_objects_init(void);
void iwp_objects_exit(void);

#endif /* _IWP_OBJECT_H */
