/* SPDX-License-Identifier: GPL-2.0 */
/* Queue pairs and endpoints, and their references. */
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
struct iwp_srq;

/**
 * enum iwp_qp_state - queue pair states
 * @IWP_QP_IDLE: not connected; receive requests may be posted
 * @IWP_QP_RTS: connected
 * @IWP_QP_CLOSING: receives, and sends what was posted before the disconnect
 * @IWP_QP_ERROR: requests are flushed
 *
 * A state only changes to a later one.
 */
enum iwp_qp_state {
	IWP_QP_IDLE,
	IWP_QP_RTS,
	IWP_QP_CLOSING,
	IWP_QP_ERROR,
};

/**
 * struct iwp_loopback - a queue pair's link to a peer in this kernel
 * @pair: state shared with the peer, or NULL; never changes back to NULL
 * @out: direction that executes this queue pair's send queue; NULL without loopback,
 *	and after the flush in the error state
 * @in: direction that executes the peer's send queue, likewise
 */
struct iwp_loopback {
	struct iwp_loopback_pair *pair;
	struct iwp_loopback_dir *out;
	struct iwp_loopback_dir *in;
};

/**
 * struct iwp_flush_poll - polls the queues of a user queue pair in error
 * @work: flushes requests posted since the last run
 * @delay: until the next run, jiffies
 */
struct iwp_flush_poll {
	struct delayed_work work;
	unsigned long delay;
};

/**
 * struct iwp_qp_ops - calls from lower layers to higher ones
 * @loopback_kick: have a loopback direction check for work; any context
 * @error: move the queue pair to the error state and flush it; socket lock held
 *
 * Neither is called on the fast path over TCP.
 */
struct iwp_qp_ops {
	void (*loopback_kick)(struct iwp_loopback_dir *dir);
	void (*error)(struct iwp_qp *qp);
};

/**
 * struct iwp_qp - a queue pair
 * @ibqp: the RDMA core's part; first, as the core allocates the structure
 * @dev: device
 * @ops: calls to higher layers
 * @state: enum iwp_qp_state; changed under @lock and, while there is a connection,
 *	under the socket lock
 * @lock: protects @ep and @state
 * @ep: endpoint, with a reference, or NULL
 * @refs: references of the consumer, the endpoint, iw_cm, work items and timers
 * @released: completed when @refs is zero
 * @destroying: destruction has begun: no more asynchronous events
 * @sq: send queue
 * @rq: receive queue, without entries if there is @srq
 * @srq: shared receive queue that takes its place, or NULL
 * @tx: transmit state; under the socket lock
 * @rx: receive state; under the socket lock
 * @design: enum iwp_design
 * @engine_start: ktime_get_ns() at iwp_engine_enter()
 * @ack: delayed acknowledgments; under the socket lock
 * @flush_poll: flushes user requests posted in the error state
 * @loopback: link to a peer in this kernel
 * @failure: error code of iwp_qp_fail()
 */
struct iwp_qp {
	struct ib_qp ibqp;
	struct iwp_device *dev;
	const struct iwp_qp_ops *ops;
	u8 state;
	spinlock_t lock; /* protects ep and state */
	struct iwp_ep *ep;
	refcount_t refs;
	struct completion released;
	bool destroying;
	struct iwp_sq sq;
	struct iwp_rq rq;
	struct iwp_srq *srq;
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
 * enum iwp_ep_state - endpoint states
 * @IWP_EP_LISTEN: listening
 * @IWP_EP_CONNECTING: waits for the TCP connection
 * @IWP_EP_WAIT_REQ: waits for the peer's MPA Request
 * @IWP_EP_REQUESTED: waits for the consumer to accept or reject
 * @IWP_EP_WAIT_REP: waits for the peer's MPA Reply
 * @IWP_EP_FPDU: Full Operation Phase (RFC 5044, section 7)
 * @IWP_EP_CLOSING: as %IWP_EP_FPDU, after our FIN
 * @IWP_EP_CLOSED: closed
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
 * enum iwp_ep_event - events for the endpoint's work, bits of @events
 * @IWP_EV_SOCKET: the socket's state or data changed
 * @IWP_EV_TIMEOUT: the timer expired
 * @IWP_EV_DRAINED: everything posted before the consumer's disconnect was sent
 * @IWP_EV_ABORT: abort by the consumer or after an error
 * @IWP_EV_FAILED: iwp_qp_fail() was called
 */
enum iwp_ep_event {
	IWP_EV_SOCKET,
	IWP_EV_TIMEOUT,
	IWP_EV_DRAINED,
	IWP_EV_ABORT,
	IWP_EV_FAILED,
};

/**
 * struct iwp_callbacks - original socket callbacks, to be restored
 * @state_change: sk_state_change
 * @data_ready: sk_data_ready
 * @write_space: sk_write_space
 * @error_report: sk_error_report
 */
struct iwp_callbacks {
	void (*state_change)(struct sock *sk);
	void (*data_ready)(struct sock *sk);
	void (*write_space)(struct sock *sk);
	void (*error_report)(struct sock *sk);
};

/**
 * struct iwp_ep - an endpoint
 * @refs: one until closed, one for each queued run of @work and @timer, those of the
 *	queue pair, of children and of callers
 * @lock: protects all fields without another rule; process context only
 * @state: enum iwp_ep_state
 * @dev: device; valid only while there is a queue pair or an iw_cm_id
 * @sock: socket, released with the last reference
 * @saved_cb: original socket callbacks; an accepted socket's are the listener's
 * @fpdu: socket data belongs to the queue pair; under the socket lock
 * @cm_id: iw_cm_id, with a reference
 * @qp: queue pair, with a reference; written under @lock, also read under the socket
 *	lock
 * @events: pending enum iwp_ep_event
 * @work: handles @events
 * @timer: sets %IWP_EV_TIMEOUT
 * @free_work: frees the endpoint in process context
 * @listener: listening endpoint, with a reference, or NULL
 * @node: entry in the listener's @children
 * @request_id: provider_data of an unanswered request; 0 if there never was one
 * @deadline: jiffies at which the current wait times out, or 0
 * @offer_node: entry in iwp_offers, for a loopback peer
 * @children: listener: endpoints without a complete MPA Request
 * @children_lock: listener: protects @children and @nr_children
 * @nr_children: listener: number of @children
 * @ird: inbound RDMA Read depth
 * @ord: outbound RDMA Read depth
 * @mpa_rx: the peer's MPA frame, parsed
 * @mpa_tx: the MPA frame that we sent
 * @frame: the peer's MPA frame, raw
 * @received: bytes received into @frame
 * @frame_len: length of the frame, known once its fixed part is received
 * @priv: the consumer's private data in @frame
 */
struct iwp_ep {
	refcount_t refs;
	struct mutex lock; /* protects all below */
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
	spinlock_t children_lock; /* protects children */
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

/* The direction that executes the send queue, or NULL. */
static inline struct iwp_loopback_dir *iwp_loopback_out(const struct iwp_qp *qp)
{
	return READ_ONCE(qp->loopback.out);
}

/* The direction that fills receive requests, or NULL. */
static inline struct iwp_loopback_dir *iwp_loopback_in(const struct iwp_qp *qp)
{
	/* Pairs with iwp_loopback_detach(): NULL means that it has flushed. */
	return smp_load_acquire(&qp->loopback.in);
}

void iwp_qp_get(struct iwp_qp *qp);
void iwp_qp_put(struct iwp_qp *qp);
struct iwp_qp *iwp_qp_find(struct ib_device *ibdev, u32 qpn);
struct iwp_ep *iwp_qp_ep(struct iwp_qp *qp);
void iwp_qp_signal(struct iwp_qp *qp, enum iwp_ep_event event);
bool iwp_qp_change_state_locked(struct iwp_qp *qp, unsigned long from, enum iwp_qp_state to);
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
