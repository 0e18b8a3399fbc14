/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The TCP socket beside an SDP socket, for peers that RDMA does not reach.
 */
#ifndef _SDP_FALLBACK_H
#define _SDP_FALLBACK_H

#include <linux/sdp.h>
#include <net/sock.h>

#include "base/base.h"
#include "lsm.h"

/* Of level SOL_TCP, that are given to TCP whether user space has set them or not. */
#define SDP_FALLBACK_TCP_OPTIONS	10

/**
 * struct sdp_fallback_opts - options of level SOL_SOCKET that TCP shares
 * @linger: jiffies of SO_LINGER
 * @rcvtimeo: jiffies of SO_RCVTIMEO
 * @sndtimeo: jiffies of SO_SNDTIMEO
 * @flags: the flags among them, as in struct sock
 * @sndbuf: bytes of SO_SNDBUF, 0 = not set
 * @rcvbuf: bytes of SO_RCVBUF, 0 = not set
 * @rcvlowat: bytes of SO_RCVLOWAT
 * @priority: SO_PRIORITY
 * @mark: SO_MARK
 * @bound_dev_if: index of SO_BINDTODEVICE
 * @peek_off: SO_PEEK_OFF
 * @reuse: SO_REUSEADDR
 * @reuseport: SO_REUSEPORT
 */
struct sdp_fallback_opts {
	long linger;
	long rcvtimeo;
	long sndtimeo;
	unsigned long flags;
	int sndbuf;
	int rcvbuf;
	int rcvlowat;
	u32 priority;
	u32 mark;
	int bound_dev_if;
	int peek_off;
	u32 reuse;
	u32 reuseport;
};

/**
 * struct sdp_fallback - the fallback of a socket
 * @sk: the socket
 * @tcp: kernel TCP socket, NULL = none.  Protected by the socket lock, for calls in it
 *	by @users, and for lockless readers by RCU; it is another one only when no
 *	attempt uses it
 * @active: TCP carries the connection, or is being asked to; read without lock
 * @users: 1 for @active, and 1 for each system call that is in @tcp.  We lock @tcp
 *	below our own lock only while there is none: user space may delay such a
 *	call, with @tcp locked, for as long as it likes
 * @used: @active was true at some time while this one was @tcp
 * @listens: @tcp has begun to listen; read without lock
 * @wanted: SDP_TCP_FALLBACK: one of SDP_FALLBACK_OFF, _ON and _ONLY
 * @alone: RDMA cannot use the local address
 * @asked: security modules have allowed TCP the address that bind() has chosen
 * @turn: accept() looks for a TCP connection first
 * @reason: enum sdp_fallback_reason
 * @err: error of @tcp that also was stored in our socket, 0 = none
 * @opts: options of ours when they were copied to @tcp last
 * @late: poll() has found news among these, and the lock of @tcp owned by a call
 * @given: likewise those of other levels, all 0 until @carried
 * @given_tcp: values of those of TCP among them that are always carried
 * @carried: options of other levels were copied to @tcp
 * @state_change: callback of @tcp before ours took its place
 * @error_report: likewise
 */
struct sdp_fallback {
	struct sock *sk;
	struct socket *tcp;
	atomic_t users;
	bool active;
	bool used;
	bool alone;
	bool asked;
	bool turn;
	bool listens;
	u8 wanted;
	u8 reason;
	int err;
	struct sdp_fallback_opts opts;
	bool late;
	struct sdp_options given;
	int given_tcp[SDP_FALLBACK_TCP_OPTIONS];
	bool carried;
	void (*state_change)(struct sock *sk);
	void (*error_report)(struct sock *sk);
};

/**
 * struct sdp_fallback_view - what /proc shows of a connection over TCP
 * @state: TCP's state
 * @unread: bytes received and not read
 * @unacked: bytes written and not acknowledged
 */
struct sdp_fallback_view {
	int state;
	u32 unread;
	u32 unacked;
};

/* What user space wants, and what it has: mode.c */
void sdp_fallback_init(struct sdp_fallback *fb, struct sock *sk);
int sdp_fallback_want(struct sdp_fallback *fb, int mode);

/**
 * sdp_fallback_ready() - whether TCP can take what RDMA refuses
 * @fb: the fallback of a locked socket
 *
 * A TCP socket that was used stays even if it shall not be used any more.
 */
static inline bool sdp_fallback_ready(const struct sdp_fallback *fb)
{
	sdp_owned(fb->sk);
	return fb->tcp && fb->wanted;
}

/**
 * sdp_fallback_alone() - whether TCP has to do without RDMA
 * @fb: the fallback of a locked socket
 *
 * Return: true if RDMA cannot use the local address or shall not be used.
 */
static inline bool sdp_fallback_alone(const struct sdp_fallback *fb)
{
	sdp_owned(fb->sk);
	return fb->wanted == SDP_FALLBACK_ONLY || (fb->wanted && fb->alone);
}

/**
 * sdp_fallback_is_left() - whether the TCP socket may be locked below our lock
 * @fb: the fallback of a locked socket
 *
 * Return: true if no call is in it, and none can come.
 */
static inline bool sdp_fallback_is_left(const struct sdp_fallback *fb)
{
	sdp_owned(fb->sk);
	return !atomic_read(&fb->users);
}

/* The TCP socket that carries the connection; NULL if none does. */
static inline struct socket *sdp_fallback_tcp(const struct sdp_fallback *fb)
{
	/* Pairs with the release in sdp_fallback_open(). */
	return smp_load_acquire(&fb->active) ? READ_ONCE(fb->tcp) : NULL;
}

void sdp_fallback_drop(struct sdp_fallback *fb);
const char *sdp_fallback_word(const struct sdp_fallback *fb, bool active);
bool sdp_fallback_view(const struct sdp_fallback *fb,
		       struct sdp_fallback_view *view);

/* The TCP socket itself: tcp.c */
void sdp_fallback_classify(struct sock *sk);
int sdp_fallback_create_tcp(struct sdp_fallback *fb, int family);
void sdp_fallback_release_tcp(struct sdp_fallback *fb);
void sdp_fallback_discard_tcp(struct sdp_fallback *fb);
void sdp_fallback_settle_error(struct sdp_fallback *fb);

/* The connection that it has: tcp.c */
void sdp_fallback_begin(struct sdp_fallback *fb,
			enum sdp_fallback_reason reason);
void sdp_fallback_end(struct sdp_fallback *fb);
void sdp_fallback_adopt(struct sdp_fallback *fb, struct socket *tcp);
void sdp_fallback_graft(struct sdp_fallback *fb, struct socket *sock);

/* What both sockets are to do alike: options.c */
void sdp_fallback_fresh_opts(struct sdp_fallback *fb);
void sdp_fallback_forget_given(struct sdp_fallback *fb);
void sdp_fallback_adopt_opts(struct sdp_fallback *fb, const struct sock *tsk);
void sdp_fallback_sync(struct sdp_fallback *fb);
void sdp_fallback_sync_nowait(struct sdp_fallback *fb);
void sdp_fallback_catch_up(struct sdp_fallback *fb);

/* Calls in the TCP socket: users.c */
void sdp_fallback_open(struct sdp_fallback *fb);
struct socket *sdp_fallback_get(struct sdp_fallback *fb);
void sdp_fallback_put(struct sdp_fallback *fb);
int sdp_fallback_wait_left(struct sdp_fallback *fb);

#endif /* _SDP_FALLBACK_H */
