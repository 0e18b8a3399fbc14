// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a socket.
 */
#include "base.h"

/**
 * sdp_set_state() - enter a state
 * @sk: locked socket
 * @state: one of TCP's states, or SDP_TIME_WAIT
 */
void sdp_set_state(struct sock *sk, int state)
{
	trace_sdp_state(sk, state);
	/* Pairs with READ_ONCE() in poll() and /proc. */
	WRITE_ONCE(sk->sk_state, state);
}
