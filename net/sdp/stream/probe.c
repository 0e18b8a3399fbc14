// SPDX-License-Identifier: GPL-2.0
/*
 * Probes: requests that carry nothing, for what their completion or the peer's answer says.
 */
#include <linux/jiffies.h>

#include "stream.h"

/**
 * sdp_tx_idle() - whether memory may be registered now
 * @st: stream of a locked socket
 * @reading: the device reads memory of the peer
 *
 * With some devices a registration must not share the send queue with what may
 * have to be sent again (SDP_QUIRK_REG_ALONE).  Then nothing is in flight if this says
 * yes; if not, check again at a completion or at the end of the read.
 */
bool sdp_tx_idle(struct sdp_stream *st, bool reading)
{
	sdp_owned(st->sk);
	if (!(st->link->dev->quirks & SDP_QUIRK_REG_ALONE) || sdp_link_is_local(st->link))
		return true;
	if (reading)
		return false;
	if (!sdp_tx_posted(&st->tx))
		return true;
	if (st->tx.since_signal)
		sdp_tx_probe(st);
	return false;
}

/* What has gone before it without a completion of its own completes with it. */
static bool sdp_tx_post_question(struct sdp_stream *st)
{
	struct sdp_msg msg = {
		.bsdh.mid = SDP_MID_DATA,
		.bsdh.flags = sdp_oob_flags(&st->tx, false),
	};

	return sdp_tx_post_msg(st, &msg, st->tx.since_signal);
}

/*
 * Sends an empty message that the peer has to answer, which is Data (see
 * sdp_credit_is_probe()), and never RingSpace.  Credits that it does not
 * know of yet have to go first, or they would be taken for what the message is
 * about.  Without a credit to ask with there is no need to: then the peer has
 * to return one by itself.
 */
static void sdp_tx_ask(struct sdp_stream *st)
{
	struct sdp_credit *credit = &st->credit;

	if (credit->rx_posted != credit->rx_advertised &&
	    st->ops->may_send(st->sk, SDP_MID_DATA, 0) &&
	    !sdp_tx_post_empty(st))
		return;
	if (sdp_credit_may_probe(credit) && sdp_tx_room(&st->tx, 0) &&
	    !sdp_tx_post_question(st))
		return;
	sdp_alive_stalled(st);
}

/* A zero-byte RDMA write touches no memory and needs no credit. */
static bool sdp_tx_post_probe(struct sdp_stream *st)
{
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &st->tx_cqe,
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
		},
	};

	sdp_tx_account(st, 0, true)->done = &st->probed;
	return sdp_tx_submit(st, &wr.wr, false);
}

/**
 * sdp_tx_probed() - a probe has completed
 * @done: the stream's
 */
void sdp_tx_probed(struct sdp_done *done)
{
	container_of(done, struct sdp_stream, probed)->tx.probing = false;
}

/**
 * sdp_tx_nudge() - have the device look at its send queue
 * @st: stream of a locked socket with a queue pair
 *
 * Posting anything does that, where a device needs it (SDP_QUIRK_LAZY_INV).
 */
void sdp_tx_nudge(struct sdp_stream *st)
{
	sdp_owned(st->sk);
	if (st->link->dev->quirks & SDP_QUIRK_LAZY_INV &&
	    sdp_tx_room(&st->tx, 0) &&
	    !test_bit(SDP_CONN_BROKEN, &st->link->flags))
		sdp_tx_post_probe(st);
}

/**
 * sdp_tx_probe() - find out whether the peer's queue pair still answers
 * @st: stream of a locked socket
 *
 * If the peer or the wire is gone a zero-byte RDMA write completes in error
 * after the usual retries.  Standard SDP uses it for keepalive.  Its completion
 * also says that everything sent before has arrived.
 *
 * With iWARP a write completes when the local device has taken it, and a message is
 * sent instead.
 */
void sdp_tx_probe(struct sdp_stream *st)
{
	struct sdp_tx *tx = &st->tx;

	sdp_owned(st->sk);
	if (tx->probing || !tx->wr || !sdp_tx_room(tx, 0) ||
	    test_bit(SDP_CONN_BROKEN, &st->link->flags) ||
	    sdp_in_state(st->sk, SDPF_CONNECTING))
		return;
	tx->probing = true;
	st->stats.probes++;
	tx->probe_at = jiffies;
	if (!st->link->dev->acked_on_completion) {
		sdp_tx_ask(st);
		return;
	}
	if (sdp_tx_post_probe(st))
		sdp_alive_stalled(st);
}
