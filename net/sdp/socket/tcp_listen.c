// SPDX-License-Identifier: GPL-2.0
/*
 * Fallback to TCP: a listener's TCP side, and the connections that come over it.
 */
#include <linux/net.h>
#include <net/inet_connection_sock.h>

#include "base/base.h"
#include "fallback/fallback.h"
#include "socket.h"

/**
 * sdp_fallback_listen() - listen on the TCP side, too, or change its backlog
 * @ssk: locked socket, bound
 * @backlog: connections that may wait for accept()
 *
 * Return: 0, also if there is no TCP side; or a negative errno.
 */
int sdp_fallback_listen(struct sdp_sock *ssk, int backlog)
{
	struct socket *tcp = ssk->fallback.tcp;
	int err;

	sdp_owned(&ssk->sk);
	if (!sdp_fallback_ready(&ssk->fallback))
		return 0;
	sdp_fallback_carry(ssk);
	sdp_fallback_sync(&ssk->fallback);
	err = sdp_lsm_listen(tcp, backlog);
	if (!err)
		err = READ_ONCE(tcp->ops)->listen(tcp, backlog);
	if (err)
		return err;
	/* Pairs with the acquire in sdp_fallback_listener_gone(). */
	smp_store_release(&ssk->fallback.listens, true);
	return 0;
}

/**
 * sdp_fallback_listen_alone() - RDMA cannot listen, or cannot any more
 * @fb: the fallback of a locked socket
 *
 * Return: whether TCP listens.
 */
bool sdp_fallback_listen_alone(struct sdp_fallback *fb)
{
	sdp_owned(fb->sk);
	if (!sdp_fallback_ready(fb))
		return false;
	if (fb->wanted == SDP_FALLBACK_ONLY)
		return true;
	sdp_dbg(fb->sk, "RDMA cannot listen, TCP does alone");
	WRITE_ONCE(fb->alone, true);
	SDP_INC_STATS(sock_net(fb->sk), SDP_MIB_FALLBACKLISTENS);
	return true;
}

/**
 * sdp_fallback_listener_gone() - whether the TCP side was ended by itself (ss --kill)
 * @fb: the fallback of a listener, locked or not
 *
 * Its error becomes ours, as a callback would do that a listener must not have.
 */
bool sdp_fallback_listener_gone(struct sdp_fallback *fb)
{
	struct socket *tcp;
	struct sock *tsk;
	bool gone = false;
	int err;

	/* Pairs with the release in sdp_fallback_listen(). */
	if (likely(!smp_load_acquire(&fb->listens)))
		return false;
	/* What was a TCP socket stays one until RCU readers have left. */
	rcu_read_lock();
	tcp = READ_ONCE(fb->tcp);
	tsk = tcp ? READ_ONCE(tcp->sk) : NULL;
	if (tsk && refcount_inc_not_zero(&tsk->sk_refcnt)) {
		/* It may have been another one's memory until now. */
		gone = READ_ONCE(fb->tcp) == tcp && READ_ONCE(tcp->sk) == tsk &&
		       sdp_in_state(tsk, TCPF_CLOSE);
		err = gone ? xchg(&tsk->sk_err, 0) : 0;
		if (err)
			WRITE_ONCE(fb->sk->sk_err, err);
		sock_put(tsk);
	}
	rcu_read_unlock();
	return gone;
}

/**
 * sdp_fallback_listen_stop() - end listening
 * @fb: the fallback of a locked socket in state LISTEN
 *
 * Connections that were not accepted are reset.
 */
void sdp_fallback_listen_stop(struct sdp_fallback *fb)
{
	struct socket *tcp = fb->tcp;

	sdp_sock_owned_by_me(fb->sk);
	if (tcp) {
		/* ss --kill stores the error before it releases that lock. */
		lock_sock(tcp->sk);
		sdp_fallback_listener_gone(fb);
		release_sock(tcp->sk);
	}
	WRITE_ONCE(fb->listens, false);
	if (tcp && fb->used) {
		READ_ONCE(tcp->ops)->shutdown(tcp, SHUT_RD);
		sdp_fallback_forget_given(fb);
	} else {
		sdp_fallback_drop(fb);
	}
}

/**
 * sdp_fallback_accept_waiting() - whether TCP has a connection to accept
 * @fb: the fallback of a listener, locked or not
 */
bool sdp_fallback_accept_waiting(const struct sdp_fallback *fb)
{
	struct socket *tcp;
	struct sock *tsk;
	bool waiting = false;

	if (likely(!READ_ONCE(fb->tcp)))
		return false;
	/* What was a TCP socket stays one until RCU readers have left. */
	rcu_read_lock();
	tcp = READ_ONCE(fb->tcp);
	tsk = tcp ? READ_ONCE(tcp->sk) : NULL;
	if (tsk)
		waiting = inet_csk_listen_poll(tsk);
	rcu_read_unlock();
	return waiting;
}

/**
 * sdp_fallback_accept() - take a connection that came over TCP
 * @parent: locked listener
 * @err: set to a negative errno if there is none
 *
 * Return: a socket that sdp_fallback_graft() has to give to its file; or NULL,
 * with no error if the connection that was seen has gone again.
 */
struct sock *sdp_fallback_accept(struct sdp_sock *parent, int *err)
{
	struct sdp_sock *child;
	struct socket *tcp;
	struct sock *sk;

	sdp_owned(&parent->sk);
	sk = sdp_sock_alloc_child(&parent->sk, GFP_KERNEL);
	if (!sk) {
		*err = -ENOBUFS;
		return NULL;
	}
	child = sdp_sk(sk);
	/* What waits there has been given these. */
	child->fallback.opts = parent->fallback.opts;
	sdp_fallback_sync(&parent->fallback);
	*err = kernel_accept(parent->fallback.tcp, &tcp, O_NONBLOCK);
	if (*err) {
		sk_common_release(sk);
		/* It was seen, and has gone again. */
		if (*err == -EAGAIN)
			*err = 0;
		return NULL;
	}
	sdp_fallback_adopt(&child->fallback, tcp);
	return sk;
}
