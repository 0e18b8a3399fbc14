// SPDX-License-Identifier: GPL-2.0
/*
 * Which port a socket has: one of its own, or one that it shares.
 */
#include "base/base.h"
#include "fallback/fallback.h"
#include "conn/conn.h"
#include "socket.h"

/**
 * sdp_sock_bind() - reserve the socket's local address
 * @ssk: locked socket, whose local address says what is wanted, and which has no
 *	port
 * @dual: the unspecified address stands for IPv6 and IPv4
 *
 * Context: process context.
 * Return: as sdp_cm_bind().
 */
int sdp_sock_bind(struct sdp_sock *ssk, bool dual)
{
	if (!sdp_share_wanted(ssk))
		return sdp_cm_bind(&ssk->conn, dual);
	ssk->conn.last_bind_err = sdp_share_bind(ssk, dual);
	return ssk->conn.last_bind_err;
}

/**
 * sdp_sock_keep_port() - hold on to a port when the connection that used it is over
 * @ssk: locked socket
 *
 * As with TCP a port that user space has chosen stays reserved until close().  The
 * identifier that had it is gone, so that another socket may have taken it; then the
 * next call that needs the port reports that.
 *
 * Context: process context.
 */
void sdp_sock_keep_port(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	struct sdp_addr shown = ssk->base.local;
	int last = ssk->conn.last_bind_err;

	sdp_owned(sk);
	if (sk->sk_state != TCP_CLOSE || sock_flag(sk, SOCK_DEAD) ||
	    !ssk->conn.bound_port || ssk->conn.link.id || ssk->share ||
	    sdp_fallback_tcp(sdp_fallback(sk)) ||
	    sdp_fallback_alone(&ssk->fallback))
		return;
	/* The address was the route's choice, and may be another next time. */
	if (!ssk->conn.bound_addr)
		sdp_addr_set_any(&ssk->base.local, ssk->base.v6);
	sdp_sock_bind(ssk, sdp_is_dual(sk));
	ssk->base.local = shown;
	ssk->conn.last_bind_err = last;
}
