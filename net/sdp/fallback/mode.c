// SPDX-License-Identifier: GPL-2.0
/*
 * Whether a socket may use TCP, or nothing else: SDP_TCP_FALLBACK and its sysctl.
 */
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
 * sdp_fallback_ready() - whether TCP can take what RDMA refuses
 * @fb: the fallback of a locked socket
 *
 * A TCP socket that was used stays even if it shall not be used any more.
 */
bool sdp_fallback_ready(const struct sdp_fallback *fb)
{
	sdp_owned(fb->sk);
	return fb->tcp && fb->wanted;
}

/**
 * sdp_fallback_alone() - whether TCP has to do without RDMA
 * @fb: the fallback of a locked socket
 *
 * Return: true if RDMA cannot use the local address or shall not be used.
 */
bool sdp_fallback_alone(const struct sdp_fallback *fb)
{
	sdp_owned(fb->sk);
	return fb->wanted == SDP_FALLBACK_ONLY || (fb->wanted && fb->alone);
}

/**
 * sdp_fallback_drop() - close the TCP socket if nobody but us has used it
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
 * given back, and what it has not reserved for the other one is made up for by
 * connect() or listen().
 *
 * Return: 0; -EINVAL for another mode; -EISCONN once the transport is chosen or
 * being chosen; -EOPNOTSUPP if security modules cannot be asked about TCP.
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

/**
 * sdp_fallback_count() - TCP carries a connection
 * @fb: the fallback of a socket, locked or new
 * @reason: why
 */
void sdp_fallback_count(struct sdp_fallback *fb,
			enum sdp_fallback_reason reason)
{
	WRITE_ONCE(fb->reason, reason);
	SDP_INC_STATS(sock_net(fb->sk), SDP_MIB_FALLBACKNODEVICE + reason -
						SDP_FALLBACK_NO_DEVICE);
}
