// SPDX-License-Identifier: GPL-2.0
/*
 * The lock of a socket.
 *
 * It works as sock::sk_lock does, which would do but for one thing: the socket layer
 * copies the values of options below that one, and user space decides when the memory
 * they are in is there (userfaultfd(), FUSE).  Work items, the connection manager's
 * handlers and the removal of a device wait for this one, under which nothing waits
 * for user space (stream/usercopy.c).
 *
 * sock::sk_lock is left to the socket layer, with what it protects there: sk_flags,
 * sk_userlocks, and the reserved part of the socket's memory account.  It is the outer
 * lock: the layer's calls to us, for SO_KEEPALIVE and SO_RCVLOWAT, take this one.
 */
#include <linux/lockdep.h>
#include <linux/mmap_lock.h>

#include "base.h"

static struct lock_class_key sdp_slock_key;
static struct lock_class_key sdp_lock_key;

static struct sdp_lock *sdp_lock_of(const struct sock *sk)
{
	return &sdp_base(sk)->lock;
}

/**
 * sdp_lock_init() - prepare the lock of a new socket
 * @lock: lock of an unpublished socket
 */
void sdp_lock_init(struct sdp_lock *lock)
{
	spin_lock_init(&lock->slock);
	lockdep_set_class_and_name(&lock->slock, &sdp_slock_key, "slock-SDP");
	lockdep_init_map(&lock->dep_map, "lock-SDP", &sdp_lock_key, 0);
	init_waitqueue_head(&lock->wq);
	lock->owned = false;
}

/* Called with slock held, which is given up while the owner is waited for. */
static void sdp_lock_wait(struct sdp_lock *lock)
	__must_hold(&lock->slock)
{
	DEFINE_WAIT(wait);

	do {
		prepare_to_wait_exclusive(&lock->wq, &wait,
					  TASK_UNINTERRUPTIBLE);
		spin_unlock_bh(&lock->slock);
		schedule();
		spin_lock_bh(&lock->slock);
	} while (lock->owned);
	finish_wait(&lock->wq, &wait);
}

static void sdp_lock_take(struct sdp_lock *lock)
{
	lockdep_assert_held(&lock->slock);
	if (lock->owned)
		sdp_lock_wait(lock);
	lock->owned = true;
}

/**
 * sdp_lock_sock_nested() - become the owner of a socket, below another one's lock
 * @sk: socket
 * @subclass: the kind of the socket
 *
 * Context: process context; sleeps while the socket is owned.
 */
void sdp_lock_sock_nested(struct sock *sk, enum sdp_lock_subclass subclass)
{
	struct sdp_lock *lock = sdp_lock_of(sk);

	might_sleep();
	/* Lockdep reports a deadlock before it happens. */
	mutex_acquire(&lock->dep_map, subclass, 0, _RET_IP_);
	mutex_release(&lock->dep_map, _RET_IP_);
	spin_lock_bh(&lock->slock);
	sdp_lock_take(lock);
	spin_unlock_bh(&lock->slock);
	/* The last owner may have changed its class: sdp_fallback_classify(). */
	mutex_acquire(&lock->dep_map, subclass, 0, _RET_IP_);
}

/**
 * sdp_release_sock() - let a socket go, and do what softirq has left to do
 * @sk: socket that the caller owns
 */
void sdp_release_sock(struct sock *sk)
{
	struct sdp_lock *lock = sdp_lock_of(sk);

	spin_lock_bh(&lock->slock);
	sdp_base(sk)->ops->catch_up(sk);
	mutex_release(&lock->dep_map, _RET_IP_);
	lock->owned = false;
	/* Waiters are added under the spinlock. */
	if (waitqueue_active(&lock->wq))
		wake_up(&lock->wq);
	spin_unlock_bh(&lock->slock);
}

/**
 * sdp_lock_init_module() - teach lockdep that mmap_lock is outside of the socket lock
 *
 * Faulting in user memory takes mmap_lock, and so is forbidden to owners of a socket.
 * From here on lockdep reports the first violation.
 *
 * Context: the process that loads the module.
 */
void __init sdp_lock_init_module(void)
{
#ifdef CONFIG_LOCKDEP
	struct mm_struct *mm = current->mm;
	struct lockdep_map map;

	if (!mm)
		return;
	lockdep_init_map(&map, "lock-SDP", &sdp_lock_key, 0);
	mmap_read_lock(mm);
	lock_map_acquire(&map);
	lock_map_release(&map);
	mmap_read_unlock(mm);
#endif
}
