// SPDX-License-Identifier: GPL-2.0
/*
 * What is yet to arrive at the peer, and how we learn that it has.
 */
#include <linux/jiffies.h>

#include "rdma/rdma.h"
#include "conn/conn.h"
#include "socket/socket.h"
#include "tx.h"

/* Twice what the device's retries take. */
#define SDP_PROBE_TIMEOUT	(15 * HZ)

/*
 * The peer has not acknowledged all that has to arrive.  It does not have to
 * do so at once, so that this asks for a probe and not for patience.
 */
static bool sdp_tx_unacked(const struct sdp_sock *ssk)
{
	const struct sdp_conn *conn = &ssk->conn;

	return (s32)(conn->credit.tx_acked - conn->tx.last_seq) < 0;
}

/**
 * sdp_tx_waiting() - whether something is yet to arrive at the peer
 * @ssk: locked socket with a connection
 *
 * That is data, posted or waiting for credits, DisConn, or a probe.
 */
bool sdp_tx_waiting(const struct sdp_sock *ssk)
{
	const struct sdp_conn *conn = &ssk->conn;

	return sdp_ring_used(&conn->tx.ring) || conn->tx.probing ||
	       conn->zcopy.async_out ||
	       (ssk->fin_queued && !ssk->fin_acked) ||
	       (conn->link.dev && conn->link.dev->iwarp && sdp_tx_unacked(ssk));
}

/**
 * sdp_tx_heard() - a message has come from the peer
 * @ssk: locked socket (by its owner or in softirq)
 *
 * With iWARP this is what answers a probe, and says that DisConn has arrived.
 * Otherwise it gives a probe more time, which may be slow because much data is
 * on its way before it.
 */
void sdp_tx_heard(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.tx;

	tx->probe_at = jiffies;
	if (!ssk->conn.link.dev->iwarp)
		return;
	tx->probing = false;
	if (ssk->fin_sent && !ssk->fin_acked && !sdp_tx_unacked(ssk))
		sdp_sock_fin_acked(ssk);
}

/**
 * sdp_tx_silent() - whether no completion will tell that the ring has room
 * @ssk: locked socket
 *
 * What waits for credits will ask for one when it is posted.
 */
bool sdp_tx_silent(const struct sdp_sock *ssk)
{
	const struct sdp_tx *tx = &ssk->conn.tx;

	return sdp_ring_used(&tx->ring) && tx->wait_head == tx->wait_tail &&
	       tx->signaled == tx->signaled_seen;
}

/**
 * sdp_tx_ask_for_room() - have a completion tell of room, if somebody waits for it
 * @ssk: locked socket (by its owner or in softirq) with a connection
 *
 * What was posted before that, by a writer who had room enough, may not have
 * asked for its completion.
 */
void sdp_tx_ask_for_room(struct sdp_sock *ssk)
{
	const struct socket *sock = ssk->sk.sk_socket;

	if (sock && test_bit(SOCK_NOSPACE, &sock->flags) && sdp_tx_silent(ssk))
		sdp_tx_probe(ssk);
}

/**
 * sdp_tx_probe_overdue() - whether a probe has neither arrived nor failed
 * @ssk: locked socket
 *
 * The device's own retries end long before; this is for those that forget
 * them, as Soft-RoCE can when its link goes down.
 */
bool sdp_tx_probe_overdue(const struct sdp_sock *ssk)
{
	return ssk->conn.tx.probing &&
	       time_after(jiffies,
			  ssk->conn.tx.probe_at + SDP_PROBE_TIMEOUT);
}
