// SPDX-License-Identifier: GPL-2.0
/*
 * Calls in the TCP socket of a fallback.
 *
 * TCP faults user memory in with its socket locked, so that a call may keep the lock
 * for as long as user space likes.  As long as TCP carries the connection only calls
 * on the same socket wait.  But an attempt that has failed, or a connection that was
 * dissolved, leaves a TCP socket that the next attempt locks below our lock, and in a
 * worker.  So nothing new begins before the last call has left.
 */
#include <linux/wait_bit.h>

#include "base/base.h"
#include "fallback.h"

/**
 * sdp_fallback_open() - let calls into the TCP socket
 * @fb: the fallback of a locked or a new, unpublished socket
 */
void sdp_fallback_open(struct sdp_fallback *fb)
{
	WARN_ON_ONCE(atomic_read(&fb->users));
	trace_sdp_fallback(fb->sk, fb->tcp->sk, fb->reason);
	fb->used = true;
	/* Options are set on TCP alone from now on, and in the end it forgets some. */
	sdp_fallback_forget_given(fb);
	/* Before active: who sees that finds TCP in use (sdp_fallback_wait_get()). */
	atomic_set(&fb->users, 1);
	/* Pairs with the acquire in sdp_fallback_tcp(). */
	smp_store_release(&fb->active, true);
	/* Waiters for the end of another attempt go by this one. */
	smp_mb();
	wake_up_var(&fb->users);
}

/**
 * sdp_fallback_get() - enter the TCP socket
 * @fb: the fallback of a socket, locked or not
 *
 * Return: the TCP socket if it carries the connection, and sdp_fallback_put() is
 * due; or NULL.
 */
struct socket *sdp_fallback_get(struct sdp_fallback *fb)
{
	if (likely(!sdp_fallback_tcp(fb)) || !atomic_inc_not_zero(&fb->users))
		return NULL;
	/* A caller that saw it active before sdp_fallback_end() must not keep it in use. */
	if (READ_ONCE(fb->active))
		return fb->tcp;
	sdp_fallback_put(fb);
	return NULL;
}

/**
 * sdp_fallback_put() - leave the TCP socket
 * @fb: the fallback of a socket, locked or not
 */
void sdp_fallback_put(struct sdp_fallback *fb)
{
	atomic_t *users = &fb->users;

	if (atomic_dec_and_test(users))
		wake_up_var(users);
}

/**
 * sdp_fallback_wait_left() - wait until the last call has left the TCP socket of an
 *	attempt that is over
 * @fb: the fallback of a locked socket; the lock is released meanwhile.  Nothing
 *	happens while TCP carries the connection
 *
 * Like TCP, whose callers would wait for its lock here, this is not a matter of
 * O_NONBLOCK.
 *
 * Context: process context.
 * Return: 0 or -ERESTARTSYS.
 */
int sdp_fallback_wait_left(struct sdp_fallback *fb)
{
	int err = 0;

	sdp_owned(fb->sk);
	while (!err && !fb->active && !sdp_fallback_is_left(fb)) {
		sdp_release_sock(fb->sk);
		err = wait_var_event_interruptible(&fb->users,
						   !atomic_read(&fb->users) ||
						   READ_ONCE(fb->active));
		sdp_lock_sock(fb->sk);
	}
	return err;
}
