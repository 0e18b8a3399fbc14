/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The timers of a socket: many deadlines, one delayed work item.
 */
#ifndef _SDP_TIMER_H
#define _SDP_TIMER_H

#include <linux/types.h>
#include <linux/workqueue.h>

struct sock;

/*
 * What can become due.  Handlers are in the order of this list, the connection's in
 * conn/timers.c and the others in socket/sock.c.
 */
enum sdp_timer {
	SDP_TIMER_CONNECT,	/* repeat a request that was put off */
	SDP_TIMER_SYN,		/* give up to connect */
	SDP_TIMER_DEFER,	/* let accept() have a child without data */
	SDP_TIMER_HOLD,		/* send what has waited for more long enough */
	SDP_TIMER_PERSIST,	/* probe a peer that lets us wait */
	SDP_TIMER_USER,		/* give up data that is not acknowledged */
	SDP_TIMER_KEEPALIVE,	/* probe an idle peer */
	SDP_TIMER_ORPHAN,	/* check whether an orphan makes progress */
	SDP_TIMER_QUIET,	/* check whether the send ring is in use */
	SDP_TIMER_FALLBACK,	/* stop to wait for an answer over RDMA */
	SDP_TIMER_FLUSH,	/* send what waits for the next call */
	SDP_TIMER_UPDATE,	/* advertise what was read */
	SDP_TIMER_RELIEF,	/* make room for a peer while user space does not read */
	SDP_TIMER_GREETING,	/* give up a peer that has to speak first, or speak again */
	SDP_TIMER_LINGER_END,	/* stop to wait for the peer's answer to the end */
	SDP_TIMER_ASYNC,	/* check pages of asynchronous zero copy */
	SDP_TIMER_READ,		/* likewise, those that are read into */
	SDP_TIMER_SHARE,	/* a shared port has gone with its device */
	__SDP_TIMER_MAX
};

/**
 * struct sdp_timers - the timers of a socket
 * @work: runs at @next or earlier; holds the socket while it is pending
 * @next: jiffies of the earliest deadline that @work was queued for
 * @armed: bits of enum sdp_timer
 * @expires: jiffies of each deadline whose bit is set
 *
 * All but @work is protected by the socket lock.
 */
struct sdp_timers {
	struct delayed_work work;
	unsigned long next;
	unsigned long armed;
	unsigned long expires[__SDP_TIMER_MAX];
};

void sdp_timer_init(struct sock *sk);
void sdp_timer_arm(struct sock *sk, enum sdp_timer which,
		   unsigned long delay);
void sdp_timer_disarm_all(struct sock *sk);

#endif /* _SDP_TIMER_H */
