// SPDX-License-Identifier: GPL-2.0
/*
 * Copies between user space and a locked socket.
 *
 * User space decides when its memory is there (userfaultfd(), FUSE), and so would decide
 * for how long a lock is held under which the kernel waits for that memory.  The socket
 * lock is waited for by work items, by the connection manager's handlers, and by the
 * removal of a device.  So nothing waits for user memory under it: a copy of what is not
 * there fails, the lock is released, the memory is faulted in, and the caller checks all
 * state again.
 *
 * What one call writes, or reads, without having to wait for the peer is contiguous in
 * the stream, as with TCP, whose calls keep the lock: applications whose threads share a
 * socket count on it.  So other calls of the same direction, and nothing else, wait for
 * one that waits for its memory.
 */
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/wait_bit.h>
#include <net/sock.h>

#include "stream.h"

/**
 * sdp_copy_in() - copy what user space writes
 * @to: where to
 * @len: bytes
 * @from: user memory; advanced by @len if it succeeds
 *
 * Context: process context, also with spinlocks; does not wait for user memory.
 * Return: whether all of it was copied; if not, sdp_fault_in() tells whether it
 * is worth another attempt.
 */
bool sdp_copy_in(void *to, size_t len, struct iov_iter *from)
{
	bool all;

	pagefault_disable();
	all = copy_from_iter_full(to, len, from);
	pagefault_enable();
	return all;
}

/**
 * sdp_copy_out() - copy what user space reads
 * @from: where from
 * @len: bytes
 * @to: user memory; advanced by what was copied
 *
 * As with TCP all of it or nothing; but a pipe may be nearly full.
 *
 * Context: any that may sleep; does not wait for user memory.
 * Return: bytes; if there are none, sdp_fault_in() tells whether it is worth
 * another attempt.
 */
size_t sdp_copy_out(const void *from, size_t len, struct iov_iter *to)
{
	size_t copied;

	pagefault_disable();
	copied = copy_to_iter(from, len, to);
	pagefault_enable();
	if (likely(copied == len) || !user_backed_iter(to))
		return copied;
	iov_iter_revert(to, copied);
	return 0;
}

/**
 * sdp_turn_leave() - release the socket lock amid what a call moves
 * @sk: locked socket
 * @turn: counts calls of this direction that do so; NULL for one that leaves the
 *	stream as it is
 *
 * Not to wait for the peer, but for user memory: sdp_turn_enter() follows.
 *
 * Context: process context.
 */
void sdp_turn_leave(struct sock *sk, unsigned int *turn)
{
	sdp_sock_owned_by_me(sk);
	if (turn)
		WRITE_ONCE(*turn, *turn + 1);
	sdp_release_sock(sk);
}

/**
 * sdp_turn_enter() - go on with a call that released the socket lock
 * @sk: socket, which is locked again
 * @turn: as given to sdp_turn_leave()
 *
 * Context: process context.
 */
void sdp_turn_enter(struct sock *sk, unsigned int *turn)
{
	sdp_lock_sock(sk);
	if (!turn)
		return;
	WRITE_ONCE(*turn, *turn - 1);
	/* The waiters' other condition is the lock. */
	if (*turn)
		return;
	/* Pairs with the barrier in prepare_to_wait_event(): see wake_up_bit(). */
	smp_mb();
	wake_up_var(turn);
}

/**
 * sdp_fault_in() - wait for user memory that was not there
 * @sk: locked socket; the lock is released meanwhile
 * @iter: where user space reads or writes
 * @len: bytes that are to be copied
 * @turn: counts calls of this direction that wait so; NULL for one that leaves the
 *	stream as it is
 *
 * It may be gone again when this returns, so that the caller has to repeat this,
 * and whatever the lock protects may be different.
 *
 * Context: process context.
 * Return: 0 if all of it was there; -EFAULT if user space has no such memory,
 * or is killed.
 */
int sdp_fault_in(struct sock *sk, const struct iov_iter *iter, size_t len,
		 unsigned int *turn)
{
	size_t missing;

	sdp_sock_owned_by_me(sk);
	if (!user_backed_iter(iter) || fatal_signal_pending(current))
		return -EFAULT;
	sdp_turn_leave(sk, turn);
	if (iov_iter_rw(iter) == WRITE)
		missing = fault_in_iov_iter_readable(iter, len);
	else
		missing = fault_in_iov_iter_writeable(iter, len);
	sdp_turn_enter(sk, turn);
	return missing ? -EFAULT : 0;
}

/**
 * sdp_turn_wait() - wait until no other call waits for its memory amid its bytes
 * @sk: locked socket; the lock is released meanwhile
 * @turn: counts those calls
 *
 * As with TCP, where it would be the lock that is waited for, this is not a matter of
 * O_NONBLOCK.
 *
 * Context: process context.
 * Return: 0 or -ERESTARTSYS.
 */
int sdp_turn_wait(struct sock *sk, unsigned int *turn)
{
	int err = 0;

	sdp_sock_owned_by_me(sk);
	while (!err && unlikely(*turn)) {
		sdp_release_sock(sk);
		err = wait_var_event_interruptible(turn, !READ_ONCE(*turn));
		sdp_lock_sock(sk);
	}
	return err;
}
