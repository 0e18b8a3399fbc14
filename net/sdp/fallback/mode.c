// SPDX-License-Identifier: GPL-2.0
/*
 * Whether a socket may use TCP, or nothing else (SDP_TCP_FALLBACK and its sysctl), and
 * whether it does.
 */
#include <linux/tcp.h>

#include "base/base.h"
#include "fallback.h"
#include "lsm.h"

/**
 * sdp_fallback_init() - whether a new socket may fall back
 * @fb: its fallback
 * @sk: the socket
 */
void sdp_fallback_init(struct sdp_fallback *fb, struct sock *sk)
{
	bool on = READ_ONCE(sdp_net(sock_net(sk))->tcp_fallback);

	fb->sk = sk;
	fb->wanted = on && sdp_lsm_known() ? SDP_FALLBACK_ON : SDP_FALLBACK_OFF;
}

/**
 * sdp_fallback_drop() - close the TCP socket if user space has not used it
 * @fb: the fallback of a locked socket
 *
 * Then it need not wait for close().
 */
void sdp_fallback_drop(struct sdp_fallback *fb)
{
	sdp_owned(fb->sk);
	if (fb->used)
		return;
	sdp_fallback_release_tcp(fb);
	WRITE_ONCE(fb->alone, false);
}

/**
 * sdp_fallback_want() - set SDP_TCP_FALLBACK
 * @fb: the fallback of a locked socket
 * @mode: SDP_FALLBACK_OFF, SDP_FALLBACK_ON or SDP_FALLBACK_ONLY
 *
 * What bind() has reserved for a transport that is not used any more is kept or
 * released, and what it has not reserved for the other one is made up for by
 * connect() or listen().
 *
 * Return: 0; -EINVAL for another mode; -EISCONN once the transport is chosen or
 * being chosen; -EOPNOTSUPP if LSM hooks cannot be called for TCP.
 */
int sdp_fallback_want(struct sdp_fallback *fb, int mode)
{
	sdp_owned(fb->sk);
	if (fb->sk->sk_state != TCP_CLOSE || fb->active)
		return -EISCONN;
	if (mode < SDP_FALLBACK_OFF || mode > SDP_FALLBACK_ONLY)
		return -EINVAL;
	if (mode != SDP_FALLBACK_OFF && !sdp_lsm_known())
		return -EOPNOTSUPP;
	WRITE_ONCE(fb->wanted, mode);
	if (mode == SDP_FALLBACK_OFF)
		sdp_fallback_drop(fb);
	return 0;
}

/* What /proc says of a connection over TCP, by the reason for it. */
static const char * const sdp_fallback_words[] = {
	[SDP_FALLBACK_NONE] = "tcp",
	[SDP_FALLBACK_NO_DEVICE] = "tcp:no-device",
	[SDP_FALLBACK_UNREACHABLE] = "tcp:unreachable",
	[SDP_FALLBACK_REFUSED] = "tcp:refused",
	[SDP_FALLBACK_TIMEOUT] = "tcp:timeout",
	[SDP_FALLBACK_RESOURCES] = "tcp:resources",
	[SDP_FALLBACK_ACCEPTED] = "tcp:accepted",
	[SDP_FALLBACK_CHOSEN] = "tcp:chosen",
};

/**
 * sdp_fallback_word() - say for /proc what TCP carries, and why
 * @fb: the fallback of a socket
 * @active: sdp_fallback_view() has found a connection over TCP
 *
 * Context: any, without locks.
 * Return: a string, or NULL if it is all RDMA's.
 */
const char *sdp_fallback_word(const struct sdp_fallback *fb, bool active)
{
	if (active)
		return sdp_fallback_words[READ_ONCE(fb->reason)];
	if (!sdp_in_state(fb->sk, TCPF_LISTEN) || !READ_ONCE(fb->tcp))
		return NULL;
	if (READ_ONCE(fb->wanted) == SDP_FALLBACK_ONLY)
		return sdp_fallback_words[SDP_FALLBACK_CHOSEN];
	return READ_ONCE(fb->alone) ?
		       sdp_fallback_words[SDP_FALLBACK_NO_DEVICE] : "both";
}

/**
 * sdp_fallback_view() - look at a connection over TCP from outside
 * @fb: the fallback of a socket
 * @view: to fill
 *
 * Context: any, without locks; what is seen need not be of one moment.
 * Return: whether TCP carries the socket's connection.
 */
bool sdp_fallback_view(const struct sdp_fallback *fb,
		       struct sdp_fallback_view *view)
{
	const struct tcp_sock *tp;
	struct socket *tcp;
	struct sock *tsk;

	/* What was a TCP socket stays one until RCU readers have left. */
	rcu_read_lock();
	tcp = sdp_fallback_tcp(fb);
	tsk = tcp ? READ_ONCE(tcp->sk) : NULL;
	if (tsk) {
		tp = tcp_sk(tsk);
		view->state = READ_ONCE(tsk->sk_state);
		view->unread = max_t(int, READ_ONCE(tp->rcv_nxt) -
					  READ_ONCE(tp->copied_seq), 0);
		view->unacked = READ_ONCE(tp->write_seq) -
				READ_ONCE(tp->snd_una);
	}
	rcu_read_unlock();
	return tsk;
}
