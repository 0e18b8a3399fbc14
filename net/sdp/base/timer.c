// SPDX-License-Identifier: GPL-2.0
/*
 * The timers of a socket.
 *
 * Each kind of deadline has a handler, which runs in process context with the
 * socket locked.  One delayed work item serves all of them: most sockets never
 * have more than one deadline at a time, and none of these is urgent.
 */
#include <linux/bitops.h>
#include <linux/jiffies.h>

#include "base.h"

/* A pending work item holds a reference to its socket. */
static void sdp_timer_queue(struct sock *sk, unsigned long expires)
{
	struct sdp_timers *timers = &sdp_base(sk)->timers;
	long delay = expires - jiffies;

	timers->next = expires;
	if (!mod_delayed_work(sdp_wq, &timers->work, max(delay, 0L)))
		sock_hold(sk);
}

static void sdp_timer_queue_first(struct sock *sk)
{
	const struct sdp_timers *timers = &sdp_base(sk)->timers;
	unsigned long first = jiffies + MAX_JIFFY_OFFSET;
	unsigned int which;

	for_each_set_bit(which, &timers->armed, __SDP_TIMER_MAX)
		if (time_before(timers->expires[which], first))
			first = timers->expires[which];
	if (timers->armed)
		sdp_timer_queue(sk, first);
}

static void sdp_timer_work(struct work_struct *work)
{
	struct sdp_base *base = container_of(to_delayed_work(work), struct sdp_base, timers.work);
	struct sdp_timers *timers = &base->timers;
	struct sock *sk = &base->sk;
	unsigned long now = jiffies;
	unsigned int which;

	sdp_lock_sock(sk);
	for (which = 0; which < __SDP_TIMER_MAX; which++) {
		if (!test_bit(which, &timers->armed) ||
		    time_after(timers->expires[which], now))
			continue;
		__clear_bit(which, &timers->armed);
		base->ops->timer(sk, which);
	}
	sdp_timer_queue_first(sk);
	sdp_release_sock(sk);
	sock_put(sk);
}

/**
 * sdp_timer_init() - prepare the timers of a new socket
 * @sk: socket
 */
void sdp_timer_init(struct sock *sk)
{
	INIT_DELAYED_WORK(&sdp_base(sk)->timers.work, sdp_timer_work);
}

/**
 * sdp_timer_arm() - set a deadline, or move it
 * @sk: locked socket (by its owner or in softirq)
 * @which: deadline
 * @delay: jiffies until then
 */
void sdp_timer_arm(struct sock *sk, enum sdp_timer which,
		   unsigned long delay)
{
	struct sdp_timers *timers = &sdp_base(sk)->timers;
	unsigned long expires = jiffies + delay;

	sdp_owned(sk);
	timers->expires[which] = expires;
	__set_bit(which, &timers->armed);
	/* An item that runs too early finds out when it should. */
	if (!delayed_work_pending(&timers->work) ||
	    time_before(expires, timers->next))
		sdp_timer_queue(sk, expires);
}

/**
 * sdp_timer_disarm_all() - nothing is to happen to this socket any more
 * @sk: locked socket, which the caller holds
 */
void sdp_timer_disarm_all(struct sock *sk)
{
	sdp_owned(sk);
	sdp_base(sk)->timers.armed = 0;
	if (cancel_delayed_work(&sdp_base(sk)->timers.work))
		__sock_put(sk);
}
