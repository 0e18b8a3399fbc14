// SPDX-License-Identifier: GPL-2.0
/*
 * How a stream begins and ends: both its sides together.
 */
#include "stream.h"

/**
 * sdp_stream_init() - prepare a new socket's stream
 * @st: stream, zeroed
 * @link: the connection's RDMA side, which knows the socket
 * @ops: what the layers above do
 */
void sdp_stream_init(struct sdp_stream *st, struct sdp_link *link,
		     const struct sdp_stream_ops *ops)
{
	st->sk = link->sk;
	st->link = link;
	st->ops = ops;
	st->rx_cqe.done = sdp_rx_done;
	INIT_LIST_HEAD(&st->rx.queue);
	INIT_LIST_HEAD(&st->rx.unused);
	sdp_tx_prepare(st);
}

static int sdp_stream_alloc_charged(struct sdp_stream *st)
{
	struct mem_cgroup *old = sdp_mem_account_begin(st->sk);
	int err = sdp_rx_init(st);

	if (!err)
		err = sdp_tx_init(st);
	sdp_mem_account_end(old);
	return err;
}

/**
 * sdp_stream_alloc() - allocate what a connection needs before the first byte
 * @st: stream of a locked socket that nothing else can transmit on yet, whose device is
 *	known
 *
 * What a connection keeps under all circumstances is charged as one piece.
 *
 * Context: process context, may sleep for memory.
 * Return: 0 or a negative errno; sdp_stream_free() is due in both cases.
 */
int sdp_stream_alloc(struct sdp_stream *st)
{
	struct sock *sk = st->sk;
	u32 bytes = sdp_rx_size(st) + SDP_TX_CHUNK;
	int err;

	st->credit = (struct sdp_credit){};
	if (!sdp_mem_charge(sk, bytes))
		return -ENOBUFS;
	err = sdp_stream_alloc_charged(st);
	bytes -= atomic_read(&sk->sk_rmem_alloc) + sk->sk_wmem_queued;
	if (bytes)
		sdp_mem_uncharge(sk, bytes);
	return err;
}

/**
 * sdp_stream_choose() - the peer's Hello or HelloAck is known
 * @st: stream whose features and engine are chosen, of a connection whose path is known
 * @rcv_size: bytes of the peer's receive buffers, header included
 * @bufs: how many of them it has posted
 */
void sdp_stream_choose(struct sdp_stream *st, u32 rcv_size, u32 bufs)
{
	sdp_immediate_choose(st);
	sdp_tx_set_peer(st, rcv_size);
	sdp_credit_init(&st->credit, st->rx.rb.total, bufs);
}

/**
 * sdp_stream_free() - release what a connection had, but for what is to be read
 * @st: stream of a locked socket; its queue pair is gone
 */
void sdp_stream_free(struct sdp_stream *st)
{
	sdp_rx_unmap(st);
	sdp_tx_free(st);
}
