// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets as seen from outside: no lock is held while one is looked at, so that numbers
 * may be of two moments.
 */
#include "base/base.h"
#include "stream/stream.h"
#include "socket/socket.h"
#include "view.h"

/**
 * sdp_view_next() - find the first socket whose number is at least so high
 * @sn: namespace
 * @number: number to begin with; set to that of the socket that was found
 *
 * A list of all is read with one look-up for each, however many there are, and no lock is
 * held while one is shown: any user may ask for it, as often as they like.
 *
 * Context: process or softirq.
 * Return: the socket, held, or NULL if there is none.
 */
struct sock *sdp_view_next(struct sdp_net *sn, unsigned long *number)
{
	struct sock *sk;

	xa_lock_bh(&sn->sockets);
	sk = xa_find(&sn->sockets, number, ULONG_MAX, XA_PRESENT);
	/* A socket is there until its destructor has waited for the lock. */
	while (sk && !refcount_inc_not_zero(&sk->sk_refcnt))
		sk = xa_find_after(&sn->sockets, number, ULONG_MAX, XA_PRESENT);
	xa_unlock_bh(&sn->sockets);
	return sk;
}

/* A listener shows its queues as ss(8) does: waiting children, and the limit. */
static void sdp_view_queues(const struct sdp_sock *ssk, struct sdp_view *view)
{
	const struct sock *sk = &ssk->sk;

	if (sdp_in_state(sk, TCPF_LISTEN)) {
		view->rqueue = READ_ONCE(sk->sk_ack_backlog);
		view->wqueue = READ_ONCE(sk->sk_max_ack_backlog);
	} else {
		view->rqueue = READ_ONCE(ssk->conn.stream.rx.bytes);
		view->wqueue = sdp_tx_outstanding(&ssk->conn.stream);
	}
}

static void sdp_view_live(const struct sdp_conn *conn, struct sdp_view *view)
{
	view->live = true;
	view->tx_credits = sdp_credit_available(&conn->stream.credit);
	view->rx_credits = READ_ONCE(conn->stream.credit.rx_advertised);
	view->flow = conn->stream.flow->name;
	view->flow_why = READ_ONCE(conn->flow_reason);
	view->dev = sdp_link_is_local(&conn->link) ? "local" : conn->dev_name;
	view->qpn = READ_ONCE(conn->link.qpn);
	view->ring = READ_ONCE(conn->stream.rx.ring.pos.size);
	view->ring_used = sdp_inring_used(&conn->stream.rx.ring.pos);
	view->peer_ring = READ_ONCE(conn->stream.tx.out.size);
	if (view->ring)
		view->ring_why = READ_ONCE(conn->stream.rx.ring.need.why);
	view->zcopy = sdp_zcopy_mode(&conn->zcopy);
}

/**
 * sdp_view_socket() - look at a socket
 * @ssk: socket, held and not locked
 * @view: to fill
 *
 * Context: any, without locks.
 */
void sdp_view_socket(const struct sdp_sock *ssk, struct sdp_view *view)
{
	struct sdp_fallback_view tcp;
	bool over_tcp = sdp_fallback_view(&ssk->fallback, &tcp);
	const char *word = sdp_fallback_word(&ssk->fallback, over_tcp);

	*view = (struct sdp_view) {
		.v4 = sdp_addr_is_v4(&ssk->base.local) && sdp_addr_is_v4(&ssk->base.peer),
		.state = sdp_state_shown(READ_ONCE(ssk->sk.sk_state)),
	};
	if (READ_ONCE(ssk->conn.link.qp))
		sdp_view_live(&ssk->conn, view);
	if (word)
		view->flow = word;
	if (over_tcp) {
		view->state = tcp.state;
		view->rqueue = tcp.unread;
		view->wqueue = tcp.unacked;
	} else {
		sdp_view_queues(ssk, view);
	}
}
