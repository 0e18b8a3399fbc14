// SPDX-License-Identifier: GPL-2.0
/*
 * TCP_INFO and SDP_INFO: what is known of a connection.
 */
#include <linux/build_bug.h>
#include <linux/jiffies.h>
#include <linux/sdp.h>
#include <linux/tcp.h>

#include "base/base.h"
#include "flow/flow.h"
#include "stream/stream.h"
#include "socket.h"

/* User space is built with the layout: fields are added at the end only. */
#define SDP_INFO_AT(field, at) \
	static_assert(offsetof(struct sdp_info, sdpi_##field) == (at))

SDP_INFO_AT(device, 8);
SDP_INFO_AT(features, 72);
SDP_INFO_AT(backlog, 100);
SDP_INFO_AT(bytes_sent, 128);
SDP_INFO_AT(flow_reason, 216);
SDP_INFO_AT(flushes, 240);
SDP_INFO_AT(fill, 304);
SDP_INFO_AT(zcopy_sent, 368);
SDP_INFO_AT(zcopy, 424);
SDP_INFO_AT(ring_reason, 428);
SDP_INFO_AT(guard_copies, 440);
static_assert(__SDP_FLUSH_MAX <= SDP_FLUSH_ROOM);

static u32 sdp_info_ms_since(unsigned long then)
{
	return jiffies_to_msecs(jiffies - then);
}

/* As with TCP, a listener's queue takes the place of what is in flight. */
static void sdp_info_tcp_listener(const struct sock *sk, struct tcp_info *info)
{
	info->tcpi_unacked = READ_ONCE(sk->sk_ack_backlog);
	info->tcpi_sacked = READ_ONCE(sk->sk_max_ack_backlog);
}

static void sdp_info_tcp_counters(const struct sdp_conn_stats *stats,
				  struct tcp_info *info)
{
	info->tcpi_last_data_sent = sdp_info_ms_since(stats->last_out);
	info->tcpi_last_data_recv = sdp_info_ms_since(stats->last_in);
	info->tcpi_last_ack_recv = sdp_info_ms_since(stats->last_heard);
	info->tcpi_bytes_acked = stats->bytes_acked;
	info->tcpi_bytes_received = stats->bytes_in;
	info->tcpi_bytes_sent = stats->bytes_out;
	info->tcpi_segs_out = stats->msgs_out;
	info->tcpi_segs_in = stats->msgs_in;
	info->tcpi_data_segs_out = stats->data_out;
	info->tcpi_data_segs_in = stats->data_in;
}

/* What the credits are worth, in bytes. */
static u32 sdp_info_window(const struct sdp_conn *conn)
{
	u64 credits = sdp_credit_available(&conn->stream.credit);
	const struct sdp_outring *out = &conn->stream.tx.out;

	return out->size ? min(credits * out->piece, (u64)out->size) :
			   credits * conn->stream.tx.max_payload;
}

/* Messages stand for segments, and credits for the windows. */
static void sdp_info_tcp_connection(struct sdp_sock *ssk,
				    struct tcp_info *info)
{
	const struct sdp_conn *conn = &ssk->conn;
	const struct sdp_tx *tx = &conn->stream.tx;

	sdp_info_tcp_counters(&conn->stream.stats, info);
	info->tcpi_probes = tx->probing;
	info->tcpi_snd_mss = tx->max_payload;
	info->tcpi_rcv_mss = conn->stream.rx.rb.size;
	info->tcpi_advmss = conn->stream.rx.rb.size;
	info->tcpi_rcv_space = conn->stream.rx.rb.bytes;
	info->tcpi_notsent_bytes = sdp_ring_unsent(&tx->ring);
	if (!conn->link.qp)
		return;
	info->tcpi_rto = SDP_ACK_TIMEOUT_US;
	info->tcpi_unacked = tx->wr_head - tx->wr_tail;
	info->tcpi_snd_cwnd = conn->stream.credit.tx_bufs;
	info->tcpi_snd_wnd = sdp_info_window(conn);
}

static void sdp_info_tcp(struct sdp_sock *ssk, struct tcp_info *info)
{
	struct sock *sk = &ssk->sk;

	info->tcpi_state = sdp_state_shown(sk->sk_state);
	/* An adapter is not paced. */
	info->tcpi_pacing_rate = ~0ULL;
	info->tcpi_max_pacing_rate = ~0ULL;
	if (sk->sk_state == TCP_LISTEN)
		sdp_info_tcp_listener(sk, info);
	else
		sdp_info_tcp_connection(ssk, info);
}

static void sdp_info_counters(const struct sdp_conn_stats *stats,
			      struct sdp_info *info)
{
	size_t i;

	info->sdpi_last_data_sent = sdp_info_ms_since(stats->last_out);
	info->sdpi_last_data_recv = sdp_info_ms_since(stats->last_in);
	info->sdpi_last_heard = sdp_info_ms_since(stats->last_heard);
	info->sdpi_bytes_sent = stats->bytes_out;
	info->sdpi_bytes_acked = stats->bytes_acked;
	info->sdpi_bytes_received = stats->bytes_in;
	info->sdpi_msgs_out = stats->msgs_out;
	info->sdpi_msgs_in = stats->msgs_in;
	info->sdpi_data_msgs_out = stats->data_out;
	info->sdpi_data_msgs_in = stats->data_in;
	info->sdpi_credit_updates = stats->credit_updates;
	info->sdpi_credit_stalls = stats->credit_stalls;
	info->sdpi_send_waits = stats->send_waits;
	info->sdpi_probes = stats->probes;
	info->sdpi_coalesced = stats->coalesced;
	info->sdpi_zcopy_sent = stats->zcopy_out;
	info->sdpi_zcopy_received = stats->zcopy_in;
	info->sdpi_zcopy_refusals = stats->zcopy_refusals;
	info->sdpi_zcopy_cancels = stats->zcopy_cancels;
	info->sdpi_async_sent = stats->async_out;
	info->sdpi_guard_refusals = stats->guard_refusals;
	info->sdpi_guard_faults = stats->guard_faults;
	info->sdpi_guard_waits = stats->guard_waits;
	info->sdpi_guard_copies = stats->guard_copies;
	for (i = 0; i < ARRAY_SIZE(stats->flushes); i++)
		info->sdpi_flushes[i] = stats->flushes[i];
	for (i = 0; i < ARRAY_SIZE(stats->fill); i++)
		info->sdpi_fill[i] = stats->fill[i];
}

static void sdp_info_live(const struct sdp_sock *ssk, struct sdp_info *info)
{
	const struct sdp_conn *conn = &ssk->conn;

	info->sdpi_flow = conn->stream.flow->id;
	info->sdpi_flow_reason = conn->flow_reason;
	info->sdpi_zcopy = sdp_zcopy_mode(&ssk->conn.zcopy);
	info->sdpi_port = conn->link.qp->port;
	info->sdpi_probing = conn->stream.tx.probing;
	info->sdpi_qp_num = conn->link.qp->qp_num;
	strscpy(info->sdpi_device, ssk->conn.dev_name,
		sizeof(info->sdpi_device));
	info->sdpi_features = conn->stream.features;
	info->sdpi_tx_credits = sdp_credit_available(&conn->stream.credit);
	info->sdpi_rx_credits = conn->stream.credit.rx_advertised;
	info->sdpi_rx_buffers = conn->stream.rx.rb.total;
	info->sdpi_rx_buffer_size = conn->stream.rx.rb.size;
	info->sdpi_max_payload = conn->stream.tx.max_payload;
	info->sdpi_tx_ring = conn->stream.tx.ring.size;
	info->sdpi_rx_ring = conn->stream.rx.ring.pos.size;
	info->sdpi_rx_ring_used = sdp_inring_used(&conn->stream.rx.ring.pos);
	info->sdpi_peer_ring = conn->stream.tx.out.size;
	if (info->sdpi_rx_ring)
		info->sdpi_ring_reason = conn->stream.rx.ring.need.why;
}

static void sdp_info_sdp(struct sdp_sock *ssk, struct sdp_info *info)
{
	const struct sdp_conn *conn = &ssk->conn;
	struct sdp_fallback_view tcp;

	if (sdp_fallback_view(&ssk->fallback, &tcp)) {
		info->sdpi_state = tcp.state;
		info->sdpi_unread = tcp.unread;
		info->sdpi_unacked = tcp.unacked;
		return;
	}
	info->sdpi_state = sdp_state_shown(ssk->sk.sk_state);
	if (ssk->sk.sk_state == TCP_LISTEN) {
		info->sdpi_backlog = READ_ONCE(ssk->sk.sk_ack_backlog);
		return;
	}
	info->sdpi_unread = conn->stream.rx.bytes;
	info->sdpi_unacked = sdp_tx_outstanding(&ssk->conn.stream);
	info->sdpi_unsent = sdp_ring_unsent(&conn->stream.tx.ring);
	sdp_info_counters(&conn->stream.stats, info);
	if (conn->link.qp && !sdp_in_state(&ssk->sk, SDPF_CONNECTING))
		sdp_info_live(ssk, info);
}

static int sdp_info_answer(const void *info, size_t size, int len,
			   char __user *optval, int __user *optlen)
{
	len = min_t(size_t, len, size);
	if (put_user(len, optlen) || copy_to_user(optval, info, len))
		return -EFAULT;
	return 0;
}

/**
 * sdp_tcp_info() - answer TCP_INFO
 * @sk: socket, not locked
 * @len: room for the answer, not negative
 * @optval: where to put it
 * @optlen: set to what was written
 *
 * What an adapter does not report, round trip times first of all, is 0.
 *
 * Return: 0 or -EFAULT.
 */
int sdp_tcp_info(struct sock *sk, int len, char __user *optval,
		 int __user *optlen)
{
	struct tcp_info info = {};

	sdp_lock_sock(sk);
	sdp_info_tcp(sdp_sk(sk), &info);
	sdp_release_sock(sk);
	return sdp_info_answer(&info, sizeof(info), len, optval, optlen);
}

/**
 * sdp_sdp_info() - answer SDP_INFO
 * @sk: socket, not locked
 * @len: room for the answer, not negative
 * @optval: where to put it
 * @optlen: set to what was written
 *
 * Return: 0 or -EFAULT.
 */
int sdp_sdp_info(struct sock *sk, int len, char __user *optval,
		 int __user *optlen)
{
	struct sdp_info info = {};

	sdp_lock_sock(sk);
	sdp_info_sdp(sdp_sk(sk), &info);
	sdp_release_sock(sk);
	return sdp_info_answer(&info, sizeof(info), len, optval, optlen);
}
