// SPDX-License-Identifier: GPL-2.0
/*
 * The lock of a socket.
 *
 * It works as sock::sk_lock does, which would do but for one thing: the socket
 * layer copies the values of options below that one, and it is the program that
 * decides when the memory they are in is there (userfaultfd(), files that it serves
 * itself).  Work items, the connection manager's handlers and the removal of a device
 * wait for this one, under which nothing waits for a program (stream/usercopy.c).
 *
 * sock::sk_lock is left to the socket layer, with what it protects there: sk_flags,
 * sk_userlocks, and the reserved part of the socket's memory account.  It comes
 * first: the layer's calls to us, for SO_KEEPALIVE and SO_RCVLOWAT, take this lock.
 */
#include <linux/lockdep.h>
#include <linux/mmap_lock.h>
#include <linux/sched/signal.h>

#include "base.h"

static struct lock_class_key sdp_slock_key;
static struct lock_class_key sdp_lock_key;

static struct sdp_lock *sdp_lock_of(const struct sock *sk)
{
	return &sdp_base(sk)->lock;
}

/**
 * sdp_lock_init() - prepare the lock of a new socket
 * @lock: lock that nobody knows yet
 */
void sdp_lock_init(struct sdp_lock *lock)
{
	spin_lock_init(&lock->slock);
	lockdep_set_class_and_name(&lock->slock, &sdp_slock_key, "slock-SDP");
	lockdep_init_map(&lock->dep_map, "lock-SDP", &sdp_lock_key, 0);
	init_waitqueue_head(&lock->wq);
	lock->owned = false;
}

/**
 * sdp_lock_classify() - have lockdep know a socket's lock as one of another class
 * @sk: socket, locked by its owner
 * @name: the class's name
 * @key: the class
 */
void sdp_lock_classify(struct sock *sk, const char *name,
		       struct lock_class_key *key)
{
	sdp_sock_owned_by_me(sk);
	lock_set_class(&sdp_lock_of(sk)->dep_map, name, key, 0, _RET_IP_);
}

/* Called with slock held, which is given up while the owner is waited for. */
static void sdp_lock_wait(struct sdp_lock *lock)
{
	DEFINE_WAIT(wait);

	lockdep_assert_held(&lock->slock);
	do {
		prepare_to_wait_exclusive(&lock->wq, &wait,
					  TASK_UNINTERRUPTIBLE);
		spin_unlock_bh(&lock->slock);
		schedule();
		spin_lock_bh(&lock->slock);
	} while (lock->owned);
	finish_wait(&lock->wq, &wait);
}

/**
 * sdp_lock_sock_nested() - become the owner of a socket, below another one's lock
 * @sk: socket
 * @subclass: for lockdep: SINGLE_DEPTH_NESTING for a listener's child
 *
 * Context: process context; sleeps while somebody else owns it.
 */
void sdp_lock_sock_nested(struct sock *sk, int subclass)
{
	struct sdp_lock *lock = sdp_lock_of(sk);

	might_sleep();
	mutex_acquire(&lock->dep_map, subclass, 0, _RET_IP_);
	spin_lock_bh(&lock->slock);
	if (lock->owned)
		sdp_lock_wait(lock);
	lock->owned = true;
	spin_unlock_bh(&lock->slock);
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
	/* Whoever waits has come to do so under the spinlock. */
	if (waitqueue_active(&lock->wq))
		wake_up(&lock->wq);
	spin_unlock_bh(&lock->slock);
}

/**
 * sdp_bh_lock_sock() - keep others from becoming the owner
 * @sk: socket; whether somebody owns it already sdp_sock_owned() tells
 *
 * Context: softirq, or softirqs disabled.
 */
void sdp_bh_lock_sock(struct sock *sk)
	__acquires(&sdp_lock_of(sk)->slock)
{
	spin_lock(&sdp_lock_of(sk)->slock);
}

/**
 * sdp_bh_unlock_sock() - the end of what sdp_bh_lock_sock() has begun
 * @sk: socket
 */
void sdp_bh_unlock_sock(struct sock *sk)
	__releases(&sdp_lock_of(sk)->slock)
{
	spin_unlock(&sdp_lock_of(sk)->slock);
}

/**
 * sdp_sock_owned() - whether work has to be left to the socket's owner
 * @sk: socket, after sdp_bh_lock_sock()
 */
bool sdp_sock_owned(const struct sock *sk)
{
	lockdep_assert_held(&sdp_lock_of(sk)->slock);
	return sdp_lock_of(sk)->owned;
}

static bool sdp_wait_is_connected(const struct sock *sk)
{
	return !READ_ONCE(sk->sk_err) && sdp_in_state(sk, SDPF_SEND);
}

/**
 * sdp_wait_connect() - wait until an attempt to connect is over
 * @sk: locked socket; the lock is given up meanwhile
 * @timeo: jiffies to wait; what is left of them is written back
 *
 * Return: 0 if the socket can send; the errno that TCP gives to a writer if not.
 */
int sdp_wait_connect(struct sock *sk, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err;

	sdp_sock_owned_by_me(sk);
	do {
		err = sock_error(sk);
		if (err)
			return err;
		if (!sdp_in_state(sk, SDPF_CONNECTING))
			return -EPIPE;
		if (!*timeo)
			return -EAGAIN;
		if (signal_pending(current))
			return sock_intr_errno(*timeo);
		add_wait_queue(sk_sleep(sk), &wait);
		sdp_wait_event(sk, timeo, sdp_wait_is_connected(sk), &wait);
		remove_wait_queue(sk_sleep(sk), &wait);
	} while (!sdp_wait_is_connected(sk));
	return 0;
}

/**
 * sdp_wait_close() - wait until the peer has all data and the end of the stream
 * @sk: locked socket; the lock is given up meanwhile
 * @timeo: jiffies to wait, 0 = not at all
 */
void sdp_wait_close(struct sock *sk, long timeo)
{
	const u32 closing = TCPF_FIN_WAIT1 | TCPF_CLOSING | TCPF_LAST_ACK;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	sdp_sock_owned_by_me(sk);
	if (!timeo)
		return;
	add_wait_queue(sk_sleep(sk), &wait);
	while (sdp_in_state(sk, closing) && !signal_pending(current) && timeo)
		sdp_wait_event(sk, &timeo, !sdp_in_state(sk, closing), &wait);
	remove_wait_queue(sk_sleep(sk), &wait);
}

/**
 * sdp_lock_init_module() - tell lockdep that a program's memory comes first
 *
 * Whoever faults memory in takes mmap_lock, and so must not own a socket.  From here
 * on lockdep reports the first who does.
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
