// SPDX-License-Identifier: GPL-2.0
/*
 * The TCP socket of a fallback.
 *
 * It is an ordinary TCP socket of user space that only lacks a descriptor of its own:
 * it has the namespace, the control groups and the owner of the TCP sockets that the
 * process creates itself.  And it sleeps and wakes on the wait queue of the SDP
 * socket, so that waiters there (poll, epoll, SIGIO, a blocked call) are woken by
 * either transport and need no forwarding.  What TCP keeps in its struct sock and
 * others read from ours, the error, goes through two callbacks.
 */
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/lockdep.h>
#include <linux/net.h>
#include <net/tcp.h>

#include "base/base.h"
#include "fallback.h"

/*
 * Lets an unpublished TCP socket act through our file: the
 * descriptor's owner gets SIGURG, ss(8) finds the process by the inode, and packet
 * filters the file's credentials.
 */
static void sdp_fallback_share_tcp(struct socket *tcp, struct socket *sock)
{
	struct sock *tsk = tcp->sk;

	SOCK_INODE(tcp)->i_ino = SOCK_INODE(sock)->i_ino;
	lock_sock(tsk);
	WRITE_ONCE(tcp->file, sock->file);
	/* Whether anybody wants SIGIO is written at our wait queue. */
	sock_set_flag(tsk, SOCK_FASYNC);
	write_lock_bh(&tsk->sk_callback_lock);
	rcu_assign_pointer(tsk->sk_wq, &sock->wq);
	write_unlock_bh(&tsk->sk_callback_lock);
	release_sock(tsk);
}

/*
 * TCP faults user memory in below the lock of its socket, so that lockdep would take
 * every socket lock above any of TCP's for one that waits for user space.  We take
 * that of a TCP socket which no system call uses; lockdep knows classes only, so that
 * sockets with one are of another class.
 */
static struct lock_class_key sdp_fallback_lock_key;

/**
 * sdp_fallback_classify() - tell lockdep that a socket has a TCP socket
 * @sk: socket, locked by its owner
 */
void sdp_fallback_classify(struct sock *sk)
{
	sdp_sock_owned_by_me(sk);
	lock_set_class(&sdp_base(sk)->lock.dep_map, "lock-SDP-FALLBACK",
		       &sdp_fallback_lock_key, 0, _RET_IP_);
}

/**
 * sdp_fallback_create_tcp() - create the TCP socket
 * @fb: the fallback of a locked socket with a file and without a TCP socket
 * @family: AF_INET or AF_INET6
 *
 * Context: process context.
 * Return: 0 or a negative errno, as socket() gives it.
 */
int sdp_fallback_create_tcp(struct sdp_fallback *fb, int family)
{
	struct socket *tcp;
	int err;

	sdp_owned(fb->sk);
	err = __sock_create(sock_net(fb->sk), family, SOCK_STREAM, IPPROTO_TCP,
			    &tcp, 0);
	if (err)
		return err;
	sdp_fallback_classify(fb->sk);
	sdp_fallback_share_tcp(tcp, fb->sk->sk_socket);
	sdp_fallback_fresh_opts(fb);
	WRITE_ONCE(fb->tcp, tcp);
	return 0;
}

static struct sdp_fallback *sdp_fallback_owner(const struct sock *tsk)
{
	return __locked_read_sk_user_data_with_flags(tsk, 0);
}

/* Undoes sdp_fallback_attach_tcp(), if that has done anything. */
static void sdp_fallback_detach_tcp(struct sdp_fallback *fb)
{
	struct sock *tsk = fb->tcp->sk;
	bool attached;

	write_lock_bh(&tsk->sk_callback_lock);
	attached = sdp_fallback_owner(tsk) == fb;
	if (attached) {
		tsk->sk_state_change = fb->state_change;
		tsk->sk_error_report = fb->error_report;
		rcu_assign_sk_user_data(tsk, NULL);
	}
	write_unlock_bh(&tsk->sk_callback_lock);
	if (attached)
		__sock_put(fb->sk);
}

/**
 * sdp_fallback_release_tcp() - close the TCP socket, if there is one
 * @fb: the fallback of a socket that no call can use TCP of any more, which the
 *	caller holds
 *
 * Waits only if SO_LINGER says so.
 *
 * Context: process context, with or without the socket lock.
 */
void sdp_fallback_release_tcp(struct sdp_fallback *fb)
{
	struct socket *tcp = fb->tcp;

	if (!tcp)
		return;
	sdp_fallback_detach_tcp(fb);
	WRITE_ONCE(fb->tcp, NULL);
	/* With the lock held no signals are sent to the file's owner. */
	lock_sock(tcp->sk);
	WRITE_ONCE(tcp->file, NULL);
	release_sock(tcp->sk);
	sock_release(tcp);
}

/* Undoes sdp_fallback_share_tcp(), so that our file may go first. */
static void sdp_fallback_unshare_tcp(struct socket *tcp)
{
	struct sock *tsk = tcp->sk;

	lock_sock(tsk);
	WRITE_ONCE(tcp->file, NULL);
	write_lock_bh(&tsk->sk_callback_lock);
	rcu_assign_pointer(tsk->sk_wq, &tcp->wq);
	write_unlock_bh(&tsk->sk_callback_lock);
	release_sock(tsk);
}

/**
 * sdp_fallback_discard_tcp() - drop the TCP socket, also one that has been in use
 * @fb: the fallback of a locked socket that TCP does not connect, with no call in
 *	its TCP socket
 *
 * When one that was used is closed, a ULP or a sockmap may have to wait for others.
 * That must not be below our lock, so that it gets a file of its own: the last
 * reference to a file is dropped on the return to user space.
 */
void sdp_fallback_discard_tcp(struct sdp_fallback *fb)
{
	struct socket *tcp = fb->tcp;
	struct file *file;

	sdp_owned(fb->sk);
	WARN_ON_ONCE(fb->active || !sdp_fallback_is_left(fb));
	if (!fb->used) {
		sdp_fallback_release_tcp(fb);
		return;
	}
	sdp_fallback_detach_tcp(fb);
	WRITE_ONCE(fb->tcp, NULL);
	fb->used = false;
	WRITE_ONCE(fb->err, 0);
	sdp_fallback_unshare_tcp(tcp);
	/* If there is no memory for a file this closes the socket at once. */
	file = sock_alloc_file(tcp, O_CLOEXEC, NULL);
	if (!IS_ERR(file))
		fput(file);
}

/* The error is in both sockets; the first that reports it clears it in both. */
static void sdp_fallback_post_error(struct sdp_fallback *fb,
				    const struct sock *tsk)
{
	int err = READ_ONCE(tsk->sk_err);

	if (!err)
		return;
	WRITE_ONCE(fb->sk->sk_err, err);
	/* With this, sk_err above is visible, unless it was reported already. */
	smp_store_release(&fb->err, err);
}

/**
 * sdp_fallback_settle_error() - clear an error that was reported
 * @fb: the fallback of a socket with a TCP socket, locked or not
 *
 * SO_ERROR reads our error, TCP's calls theirs.
 */
void sdp_fallback_settle_error(struct sdp_fallback *fb)
{
	struct sock *tsk = fb->tcp->sk;
	struct sock *sk = fb->sk;
	/* Pairs with the release in sdp_fallback_post_error(). */
	int err = smp_load_acquire(&fb->err);

	if (likely(!err) || (READ_ONCE(sk->sk_err) && READ_ONCE(tsk->sk_err)))
		return;
	/* Another one may have come since. */
	cmpxchg(&fb->err, err, 0);
	cmpxchg(&sk->sk_err, err, 0);
	cmpxchg(&tsk->sk_err, err, 0);
}

/* Takes over the addresses of a TCP socket that is connected. */
static void sdp_fallback_names(struct sdp_fallback *fb, const struct sock *tsk)
{
	struct sdp_base *base = sdp_base(fb->sk);

	base->local.port = htons(tsk->sk_num);
	base->peer.port = tsk->sk_dport;
#if IS_ENABLED(CONFIG_IPV6)
	if (tsk->sk_family == AF_INET6) {
		base->local.ip = tsk->sk_v6_rcv_saddr;
		base->peer.ip = tsk->sk_v6_daddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(tsk->sk_rcv_saddr, &base->local.ip);
	ipv6_addr_set_v4mapped(tsk->sk_daddr, &base->peer.ip);
}

static void sdp_fallback_state_change(struct sock *tsk)
{
	struct sdp_fallback *fb;

	read_lock_bh(&tsk->sk_callback_lock);
	fb = sdp_fallback_owner(tsk);
	if (fb) {
		sdp_fallback_post_error(fb, tsk);
		if (tsk->sk_state == TCP_ESTABLISHED)
			sdp_fallback_names(fb, tsk);
		fb->state_change(tsk);
	}
	read_unlock_bh(&tsk->sk_callback_lock);
}

static void sdp_fallback_error_report(struct sock *tsk)
{
	struct sdp_fallback *fb;

	read_lock_bh(&tsk->sk_callback_lock);
	fb = sdp_fallback_owner(tsk);
	if (fb) {
		sdp_fallback_post_error(fb, tsk);
		fb->error_report(tsk);
	}
	read_unlock_bh(&tsk->sk_callback_lock);
}

/*
 * Lets errors of a connection become ours.  The callbacks' pointer holds our socket.
 * A listener has none: its children would inherit them.  Nor has a connection whose
 * pointer is in use: a BPF program of the control group may have put it into a
 * sockmap before it was accepted.  Its errors are TCP's alone.
 */
static void sdp_fallback_attach_tcp(struct sdp_fallback *fb)
{
	struct sock *tsk = fb->tcp->sk;

	write_lock_bh(&tsk->sk_callback_lock);
	if (tsk->sk_user_data) {
		write_unlock_bh(&tsk->sk_callback_lock);
		return;
	}
	sock_hold(fb->sk);
	fb->state_change = tsk->sk_state_change;
	fb->error_report = tsk->sk_error_report;
	__rcu_assign_sk_user_data_with_flags(tsk, fb, SK_USER_DATA_NOCOPY);
	tsk->sk_state_change = sdp_fallback_state_change;
	tsk->sk_error_report = sdp_fallback_error_report;
	/* It may have failed before. */
	sdp_fallback_post_error(fb, tsk);
	write_unlock_bh(&tsk->sk_callback_lock);
}

/* Says, and counts, why TCP carries a connection. */
static void sdp_fallback_count(struct sdp_fallback *fb,
			       enum sdp_fallback_reason reason)
{
	WRITE_ONCE(fb->reason, reason);
	SDP_INC_STATS(sock_net(fb->sk), SDP_MIB_FALLBACKNODEVICE + reason -
						SDP_FALLBACK_NO_DEVICE);
}

/**
 * sdp_fallback_begin() - TCP is about to connect a socket
 * @fb: the fallback of a locked socket that TCP can connect
 * @reason: why
 */
void sdp_fallback_begin(struct sdp_fallback *fb,
			enum sdp_fallback_reason reason)
{
	sdp_owned(fb->sk);
	sdp_fallback_count(fb, reason);
	/* What has ended the last connection is not said of this one. */
	WRITE_ONCE(fb->err, 0);
	WRITE_ONCE(fb->sk->sk_err, 0);
	sdp_fallback_attach_tcp(fb);
}

/**
 * sdp_fallback_end() - TCP does not connect a socket any more
 * @fb: the fallback of a locked socket, after sdp_fallback_begin()
 *
 * No more calls are let into the TCP socket; those that are in it go on.
 */
void sdp_fallback_end(struct sdp_fallback *fb)
{
	sdp_sock_owned_by_me(fb->sk);
	sdp_fallback_detach_tcp(fb);
	WRITE_ONCE(fb->reason, SDP_FALLBACK_NONE);
	if (!fb->active)
		return;
	/* The next attempt must not report it. */
	xchg(&fb->tcp->sk->sk_err, 0);
	WRITE_ONCE(fb->active, false);
	sdp_fallback_put(fb);
}

/**
 * sdp_fallback_adopt() - have a child that has come over TCP
 * @fb: the fallback of a new, unpublished socket, with its listener's
 *	options, and with those that TCP's listener had when the connection came
 * @tcp: the connection, accepted
 */
void sdp_fallback_adopt(struct sdp_fallback *fb, struct socket *tcp)
{
	fb->tcp = tcp;
	sdp_fallback_count(fb, SDP_FALLBACK_ACCEPTED);
	sdp_fallback_names(fb, tcp->sk);
	sdp_fallback_adopt_opts(fb, tcp->sk);
	sdp_fallback_open(fb);
}

/**
 * sdp_fallback_graft() - give an accepted connection to its file
 * @fb: the fallback of a socket; nothing happens if TCP does not carry it
 * @sock: the file's socket, grafted
 */
void sdp_fallback_graft(struct sdp_fallback *fb, struct socket *sock)
{
	if (!fb->active)
		return;
	sdp_fallback_share_tcp(fb->tcp, sock);
	sdp_fallback_attach_tcp(fb);
}
