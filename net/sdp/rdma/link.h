/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The RDMA side of a connection: cm_id, device, queue pair, completion queue.
 */
#ifndef _SDP_LINK_H
#define _SDP_LINK_H

#include <linux/list.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

struct rdma_cgroup;
struct sdp_device;

/* Bits of sdp_link::flags. */
enum sdp_conn_flag {
	SDP_CONN_DEFERRED,	/* completions wait for the socket's owner */
	SDP_CONN_PROBE,		/* a liveness probe waits for the owner */
	SDP_CONN_PAUSE,		/* so does the end of a pause to coalesce */
	SDP_CONN_ASKED,		/* user space polls for data */
	SDP_CONN_ANSWERED,	/* the peer's HelloAck has come */
	SDP_CONN_SETTLED,	/* the handshake is over for rdma_cm, too */
	SDP_CONN_FLUSHED,	/* the queue pair failed before it was set up */
	SDP_CONN_BROKEN,	/* the queue pair is in error, post nothing */
	SDP_CONN_DYING,		/* teardown has begun, events are ignored */
	SDP_CONN_DISCONNECTED,	/* the peer knows that the connection is over */
	SDP_CONN_LINGER,	/* waits for that, or for SDP_TIMER_LINGER_END */
	SDP_CONN_KEEPALIVE,	/* SO_KEEPALIVE has changed */
	SDP_CONN_UNSHARED,	/* a shared port has gone with its device */
	SDP_CONN_GONE,		/* the id's device goes, which waits for the id */
	SDP_CONN_LEAVING,	/* the provider leaves what arrives to reads */
	SDP_CONN_ARRIVING,	/* something has arrived so */
	SDP_CONN_LOCAL,		/* the other end is in this kernel, and no device between */
	SDP_CONN_UNREADY,	/* the queue pair could not be made ready */
};

/* Something may have been left to reads, or may be. */
#define SDP_CONN_LEFT	(BIT(SDP_CONN_LEAVING) | BIT(SDP_CONN_ARRIVING))

/**
 * struct sdp_link_ops - what the layers above do for a link
 * @interrupt: process completions; softirq, the socket lock is held
 * @probe: ask the peer whether it is there; likewise
 * @arriving: wake who reads, for the connection that is the queue pair's context; any
 *	context, with locks of the provider's
 * @broken: the end of the connection begins, for @reason of its link: queue what
 *	takes it apart.  Called once, in any context, with interrupts disabled.
 */
struct sdp_link_ops {
	void (*interrupt)(struct sock *sk);
	void (*probe)(struct sock *sk);
	void (*arriving)(void *context);
	void (*broken)(struct sock *sk);
};

/**
 * struct sdp_link - the RDMA side of a connection
 * @sk: the connection's socket
 * @ops: what the layers above do
 * @id: the connection's identifier in rdma_cm, NULL when there is none
 * @dev: what we keep for the device, NULL until the route is known
 * @dev_node: place in the device's list of connections
 * @pd: protection domain of this connection alone, NULL until the route is known
 * @rdmacg: control group that is charged for it, NULL before user space has it
 * @qp: queue pair, NULL until the route is known
 * @qpn: its number, which stays when it is gone
 * @cq: completion queue, shared with other connections
 * @max_inline: bytes that a send request may take with it, 0 = none
 * @max_sge: pieces of memory that a send request may take
 * @iter_max: bytes that the provider takes from a program's memory by its own copy, 0 =
 *	none
 * @iter_min: bytes of a message from which on the provider may place them in a program's
 *	memory, 0 = never
 * @flags: bits of enum sdp_conn_flag
 * @reason: why the connection ends, a negative errno; 0 = no failure yet
 */
struct sdp_link {
	struct sock *sk;
	const struct sdp_link_ops *ops;
	struct rdma_cm_id *id;
	struct sdp_device *dev;
	struct list_head dev_node;
	struct ib_pd *pd;
	struct rdma_cgroup *rdmacg;
	struct ib_qp *qp;
	u32 qpn;
	struct ib_cq *cq;
	u32 max_inline;
	u32 max_sge;
	u32 iter_max;
	u32 iter_min;
	unsigned long flags;
	int reason;
};

/* Whether requests are executed by who posts them; does not change while any may be. */
static inline bool sdp_link_is_local(const struct sdp_link *link)
{
	return test_bit(SDP_CONN_LOCAL, &link->flags);
}

void sdp_link_end(struct sdp_link *link, int reason);
void sdp_link_sync_end(void);
void sdp_link_wc_error(struct sdp_link *link, const struct ib_wc *wc);
int sdp_link_check_flushed(const struct sdp_link *link);
void sdp_link_kick(struct sdp_link *link);
void sdp_link_probe(struct sdp_link *link);
void sdp_link_poll(const struct sdp_link *link);

#endif /* _SDP_LINK_H */
