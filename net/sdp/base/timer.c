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

#include "socket/accept.h"
#include "conn/keepalive.h"
#include "conn/cm.h"
#include "stream/rx.h"
#include "conn/share.h"
#include "socket/socket.h"
#include "timer.h"
#include "stream/tx.h"

static void (* const sdp_timer_handlers[])(struct sdp_sock *ssk) = {
	[SDP_TIMER_CONNECT] = sdp_sock_connect_again,
	[SDP_TIMER_SYN] = sdp_sock_connect_timeout,
	[SDP_TIMER_DEFER] = sdp_accept_ready,
	[SDP_TIMER_HOLD] = sdp_tx_force,
	[SDP_TIMER_PERSIST] = sdp_alive_persist,
	[SDP_TIMER_USER] = sdp_alive_user_timeout,
	[SDP_TIMER_KEEPALIVE] = sdp_alive_keepalive,
	[SDP_TIMER_ORPHAN] = sdp_sock_check_orphan,
	[SDP_TIMER_QUIET] = sdp_tx_trim,
	[SDP_TIMER_FALLBACK] = sdp_fallback_timeout,
	[SDP_TIMER_FLUSH] = sdp_tx_late,
	[SDP_TIMER_UPDATE] = sdp_tx_update_late,
	[SDP_TIMER_RELIEF] = sdp_rx_relieve,
	[SDP_TIMER_GREETING] = sdp_cm_check_greeting,
	[SDP_TIMER_PART] = sdp_conn_part,
	[SDP_TIMER_ASYNC] = sdp_zasync_watch,
	[SDP_TIMER_SHARE] = sdp_share_check,
};

/* A pending work item holds a reference to its socket. */
static void sdp_timer_queue(struct sdp_sock *ssk, unsigned long expires)
{
	struct sdp_timers *timers = &ssk->timers;
	long delay = expires - jiffies;

	timers->next = expires;
	if (!mod_delayed_work(sdp_wq, &timers->work, max(delay, 0L)))
		sock_hold(&ssk->sk);
}

static void sdp_timer_queue_first(struct sdp_sock *ssk)
{
	const struct sdp_timers *timers = &ssk->timers;
	unsigned long first = jiffies + MAX_JIFFY_OFFSET;
	unsigned int which;

	for_each_set_bit(which, &timers->armed, __SDP_TIMER_MAX)
		if (time_before(timers->expires[which], first))
			first = timers->expires[which];
	if (timers->armed)
		sdp_timer_queue(ssk, first);
}

static void sdp_timer_work(struct work_struct *work)
{
	struct sdp_sock *ssk = container_of(to_delayed_work(work),
					    struct sdp_sock, timers.work);
	struct sdp_timers *timers = &ssk->timers;
	struct sock *sk = &ssk->sk;
	unsigned long now = jiffies;
	unsigned int which;

	sdp_lock_sock(sk);
	for (which = 0; which < __SDP_TIMER_MAX; which++) {
		if (!test_bit(which, &timers->armed) ||
		    time_after(timers->expires[which], now))
			continue;
		__clear_bit(which, &timers->armed);
		sdp_timer_handlers[which](ssk);
	}
	sdp_timer_queue_first(ssk);
	sdp_release_sock(sk);
	sock_put(sk);
}

/**
 * sdp_timer_init() - prepare the timers of a new socket
 * @ssk: socket
 */
void sdp_timer_init(struct sdp_sock *ssk)
{
	INIT_DELAYED_WORK(&ssk->timers.work, sdp_timer_work);
}

/**
 * sdp_timer_arm() - set a deadline, or move it
 * @ssk: locked socket (by its owner or in softirq)
 * @which: deadline
 * @delay: jiffies until then
 */
void sdp_timer_arm(struct sdp_sock *ssk, enum sdp_timer which,
		   unsigned long delay)
{
	struct sdp_timers *timers = &ssk->timers;
	unsigned long expires = jiffies + delay;

	timers->expires[which] = expires;
	__set_bit(which, &timers->armed);
	/* An item that runs too early finds out when it should. */
	if (!delayed_work_pending(&timers->work) ||
	    time_before(expires, timers->next))
		sdp_timer_queue(ssk, expires);
}

/**
 * sdp_timer_arm_once() - set a deadline unless it is set already
 * @ssk: locked socket (by its owner or in softirq)
 * @which: deadline
 * @delay: jiffies until then
 */
void sdp_timer_arm_once(struct sdp_sock *ssk, enum sdp_timer which,
			unsigned long delay)
{
	if (!test_bit(which, &ssk->timers.armed))
		sdp_timer_arm(ssk, which, delay);
}

/**
 * sdp_timer_disarm() - take a deadline back
 * @ssk: locked socket (by its owner or in softirq)
 * @which: deadline
 */
void sdp_timer_disarm(struct sdp_sock *ssk, enum sdp_timer which)
{
	__clear_bit(which, &ssk->timers.armed);
}

/**
 * sdp_timer_disarm_all() - nothing is to happen to this socket any more
 * @ssk: locked socket, which the caller holds
 */
void sdp_timer_disarm_all(struct sdp_sock *ssk)
{
	ssk->timers.armed = 0;
	if (cancel_delayed_work(&ssk->timers.work))
		__sock_put(&ssk->sk);
}
