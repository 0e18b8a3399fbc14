/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lock of a socket, which user space cannot hold.
 */
#ifndef _SDP_LOCK_H
#define _SDP_LOCK_H

#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <net/sock.h>

/**
 * struct sdp_lock - the lock of a socket, of the same shape as sock::sk_lock
 * @slock: held by softirq while it works, and to become or cease to be the owner
 * @owned: a process has the lock, and may sleep; what softirq wants is deferred
 * @wq: waiters for the owner
 * @dep_map: the owner's part of the lock, for lockdep
 */
struct sdp_lock {
	spinlock_t slock; /* protects @owned; softirq works under it */
	bool owned;
	wait_queue_head_t wq;
	struct lockdep_map dep_map;
};

/**
 * enum sdp_lock_subclass - which sockets' locks nest, for lockdep
 * @SDP_LOCK_ANY: the socket of a call, or of a work item
 * @SDP_LOCK_CHILD: one that was not accepted yet, below its listener's lock or in the
 *	handler of its request
 * @SDP_LOCK_PORT: the owner of a shared port, below the lock of one that shares it
 * @SDP_LOCK_LISTEN: the socket of listen(): if rdma_listen() fails on the second device, it
 *	takes the handler mutex of identifiers of its own, where nobody waits for this lock
 */
enum sdp_lock_subclass {
	SDP_LOCK_ANY,
	SDP_LOCK_CHILD,
	SDP_LOCK_PORT,
	SDP_LOCK_LISTEN,
};

void sdp_lock_init(struct sdp_lock *lock);
void sdp_lock_sock_nested(struct sock *sk, enum sdp_lock_subclass subclass);
void sdp_release_sock(struct sock *sk);
void __init sdp_lock_init_module(void);

/**
 * sdp_lock_sock() - become the owner of a socket
 * @sk: socket
 *
 * Context: process context; sleeps while the socket is owned.
 */
static inline void sdp_lock_sock(struct sock *sk)
{
	sdp_lock_sock_nested(sk, SDP_LOCK_ANY);
}

/**
 * sdp_timeo_spend() - part of a timeout was spent in a wait that had a limit of its own
 * @timeo: jiffies that are left, MAX_SCHEDULE_TIMEOUT for ever
 * @spent: jiffies, not more than that
 */
static inline void sdp_timeo_spend(long *timeo, long spent)
{
	if (*timeo != MAX_SCHEDULE_TIMEOUT)
		*timeo -= spent;
}

/*
 * Gives up the lock until @condition is true, a signal has come or *@timeo is over.
 * @wait is on the socket's wait queue, with woken_wake_function().
 */
#define sdp_wait_event(sk, timeo, condition, wait)			\
do {									\
	struct sock *__sk = (sk);					\
	long *__timeo = (timeo);					\
									\
	sdp_release_sock(__sk);						\
	if (!(condition))						\
		*__timeo = wait_woken(wait, TASK_INTERRUPTIBLE,	\
				      *__timeo);			\
	sdp_lock_sock(__sk);						\
} while (0)

#endif /* _SDP_LOCK_H */
