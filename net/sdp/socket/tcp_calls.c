// SPDX-License-Identifier: GPL-2.0
/*
 * Socket calls on a connection that TCP carries.  None of them takes our socket lock:
 * they may wait for user space, with the TCP socket locked.  Each gets the TCP socket
 * from sdp_fallback_get(), and releases it.
 */
#include <linux/net.h>
#include <linux/sched/signal.h>
#include <linux/sdp.h>
#include <linux/tcp.h>

#include "base/base.h"
#include "fallback/fallback.h"
#include "socket.h"

/* An attempt over RDMA that TCP may have to go on with. */
static bool sdp_fallback_undecided(const struct sdp_fallback *fb)
{
	return READ_ONCE(fb->tcp) && sdp_in_state(fb->sk, TCPF_SYN_SENT) &&
	       !sdp_fallback_tcp(fb);
}

/* By itself, so that each call does not pay for what it has on the stack. */
static noinline int sdp_fallback_wait(struct sdp_fallback *fb, long timeo, u32 epoch)
{
	const struct sdp_stream *st = &sdp_conn(fb->sk)->stream;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err = 0;

	add_wait_queue(sk_sleep(fb->sk), &wait);
	while (!err && sdp_fallback_undecided(fb)) {
		if (!timeo)
			err = -EAGAIN;
		else if (signal_pending(current))
			err = sock_intr_errno(timeo);
		else
			timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
		if (!sdp_stream_is(st, epoch))
			err = -EPIPE;
	}
	remove_wait_queue(sk_sleep(fb->sk), &wait);
	return err;
}

/**
 * sdp_fallback_wait_get() - wait until it is decided what carries a socket's data
 * @fb: the fallback of a socket, not locked
 * @timeo: jiffies to wait for the decision
 * @epoch: set to the connection that the call is for, sdp_stream::epoch
 *
 * Return: the TCP socket, which one of the calls below has to release; NULL if it is
 * RDMA, or nothing yet; an error pointer if there was no time.
 */
struct socket *sdp_fallback_wait_get(struct sdp_fallback *fb, long timeo, u32 *epoch)
{
	struct socket *tcp;
	int err;

	*epoch = READ_ONCE(sdp_conn(fb->sk)->stream.epoch);
	if (likely(!READ_ONCE(fb->tcp)))
		return NULL;
	err = sdp_fallback_wait(fb, timeo, *epoch);
	if (err)
		return ERR_PTR(err);
	tcp = sdp_fallback_get(fb);
	/* It may be that of the next connection. */
	if (!tcp || sdp_stream_is(&sdp_conn(fb->sk)->stream, *epoch))
		return tcp;
	sdp_fallback_put(fb);
	return ERR_PTR(-EPIPE);
}

static void sdp_fallback_enter(struct sdp_fallback *fb)
{
	sdp_fallback_sync(fb);
	sdp_fallback_settle_error(fb);
}

static void sdp_fallback_leave(struct sdp_fallback *fb)
{
	sdp_fallback_catch_up(fb);
	sdp_fallback_settle_error(fb);
	sdp_fallback_put(fb);
}

/**
 * sdp_fallback_sendmsg() - sendmsg() over TCP
 * @fb: the fallback of a socket
 * @tcp: its TCP socket
 * @msg: what to send, with flags
 *
 * Return: as sdp_sendmsg().
 */
int sdp_fallback_sendmsg(struct sdp_fallback *fb, struct socket *tcp,
			 struct msghdr *msg)
{
	int ret;

	sdp_fallback_enter(fb);
	/* Security modules judge this socket, too. */
	ret = sock_sendmsg(tcp, msg);
	sdp_fallback_leave(fb);
	return ret;
}

/**
 * sdp_fallback_recvmsg() - recvmsg() over TCP
 * @fb: the fallback of a socket
 * @tcp: its TCP socket
 * @msg: where to put the data
 * @flags: flags
 *
 * Return: as sdp_recvmsg().
 */
int sdp_fallback_recvmsg(struct sdp_fallback *fb, struct socket *tcp,
			 struct msghdr *msg, int flags)
{
	int ret;

	sdp_fallback_enter(fb);
	ret = sock_recvmsg(tcp, msg, flags);
	sdp_fallback_leave(fb);
	return ret;
}

/**
 * sdp_fallback_splice_read() - splice() from TCP
 * @fb: the fallback of a socket
 * @tcp: its TCP socket
 * @ppos: position, which a stream has none of
 * @pipe: pipe, locked
 * @len: bytes wanted
 * @flags: SPLICE_F_NONBLOCK and its like
 *
 * Return: as sdp_splice_read().
 */
ssize_t sdp_fallback_splice_read(struct sdp_fallback *fb, struct socket *tcp,
				 loff_t *ppos, struct pipe_inode_info *pipe,
				 size_t len, unsigned int flags)
{
	ssize_t ret;

	sdp_fallback_enter(fb);
	ret = READ_ONCE(tcp->ops)->splice_read(tcp, ppos, pipe, len, flags);
	sdp_fallback_leave(fb);
	return ret;
}

/**
 * sdp_fallback_splice_eof() - sendfile() has promised more than it had
 * @fb: the fallback of a socket
 * @tcp: its TCP socket
 */
void sdp_fallback_splice_eof(struct sdp_fallback *fb, struct socket *tcp)
{
	const struct proto_ops *ops = READ_ONCE(tcp->ops);

	if (ops->splice_eof)
		ops->splice_eof(tcp);
	sdp_fallback_leave(fb);
}

/**
 * sdp_fallback_poll() - the events of a TCP socket
 * @fb: the fallback of a socket; the caller is on its wait queue already, which TCP
 *	wakes
 * @file: its file
 * @tcp: its TCP socket
 */
__poll_t sdp_fallback_poll(struct sdp_fallback *fb, struct file *file,
			   struct socket *tcp)
{
	__poll_t mask;

	sdp_fallback_sync_nowait(fb);
	sdp_fallback_settle_error(fb);
	mask = READ_ONCE(tcp->ops)->poll(file, tcp, NULL);
	sdp_fallback_put(fb);
	return mask;
}

/**
 * sdp_fallback_getname() - the address of either end
 * @fb: the fallback of a socket
 * @tcp: its TCP socket
 * @addr: where to put it, in the form that this socket uses
 * @peer: of the other end
 *
 * Return: its length, or a negative errno.
 */
int sdp_fallback_getname(struct sdp_fallback *fb, struct socket *tcp,
			 struct sockaddr *addr, int peer)
{
	struct sockaddr_storage name;
	struct sdp_addr got;
	int ret;

	ret = READ_ONCE(tcp->ops)->getname(tcp, (struct sockaddr *)&name, peer);
	sdp_fallback_put(fb);
	if (ret < 0)
		return ret;
	sdp_addr_from_rdma(&name, &got);
	return sdp_addr_to_user(&got, sdp_base(fb->sk)->v6, addr);
}

/**
 * sdp_fallback_shutdown() - shutdown() over TCP
 * @fb: the fallback of a socket
 * @tcp: its TCP socket
 * @how: SHUT_RD, SHUT_WR or SHUT_RDWR
 *
 * Return: 0 or a negative errno.
 */
int sdp_fallback_shutdown(struct sdp_fallback *fb, struct socket *tcp, int how)
{
	int err;

	sdp_fallback_enter(fb);
	err = READ_ONCE(tcp->ops)->shutdown(tcp, how);
	sdp_fallback_leave(fb);
	return err;
}

/**
 * sdp_fallback_ioctl() - SIOCINQ and its like
 * @fb: the fallback of a socket
 * @tcp: its TCP socket
 * @cmd: command
 * @arg: user pointer
 *
 * Return: 0 or a negative errno.
 */
int sdp_fallback_ioctl(struct sdp_fallback *fb, struct socket *tcp,
		       unsigned int cmd, unsigned long arg)
{
	int err;

	sdp_fallback_enter(fb);
	err = READ_ONCE(tcp->ops)->ioctl(tcp, cmd, arg);
	sdp_fallback_leave(fb);
	return err;
}

/**
 * sdp_fallback_setsockopt() - set an option of the fallback at SOL_SDP
 * @fb: the fallback of a socket, not locked
 * @optname: option
 * @optval: value, an int
 * @optlen: its length
 *
 * Return: 0 or a negative errno.
 */
int sdp_fallback_setsockopt(struct sdp_fallback *fb, int optname,
			    sockptr_t optval, unsigned int optlen)
{
	int val;
	int err;

	if (optname != SDP_TCP_FALLBACK)
		return -ENOPROTOOPT;
	err = sdp_int_get(&val, optval, optlen);
	if (err)
		return err;
	sdp_lock_sock(fb->sk);
	err = sdp_fallback_want(fb, val);
	sdp_release_sock(fb->sk);
	return err;
}

/*
 * Of the protocols that are put upon TCP only "tls" leaves the file alone: SMC's
 * takes its private data for its own socket, and the file is not TCP's here.
 */
static int sdp_fallback_set_ulp(struct socket *tcp, sockptr_t optval,
				unsigned int optlen)
{
	char name[SDP_NAME_MAX];
	int err;

	err = sdp_name_get(name, optval, optlen);
	if (err)
		return err;
	if (strcmp(name, "tls"))
		return -ENOENT;
	return READ_ONCE(tcp->ops)->setsockopt(tcp, SOL_TCP, TCP_ULP,
					       KERNEL_SOCKPTR(name),
					       strlen(name));
}

/* With fast open connect() would send nothing, and a write would connect. */
static bool sdp_fallback_is_fastopen(int level, int optname)
{
	return level == SOL_TCP &&
	       (optname == TCP_FASTOPEN || optname == TCP_FASTOPEN_CONNECT ||
		optname == TCP_FASTOPEN_KEY ||
		optname == TCP_FASTOPEN_NO_COOKIE);
}

/**
 * sdp_fallback_set_tcp() - set an option of a TCP socket
 * @fb: the fallback of a socket
 * @tcp: its TCP socket
 * @level: level
 * @optname: option
 * @optval: value
 * @optlen: its length
 *
 * Return: 0; -ENOENT for another protocol upon TCP than "tls"; -ENOPROTOOPT for
 * fast open; or what TCP says.
 */
int sdp_fallback_set_tcp(struct sdp_fallback *fb, struct socket *tcp, int level,
			 int optname, sockptr_t optval, unsigned int optlen)
{
	int err;

	if (level == SOL_TCP && optname == TCP_ULP)
		err = sdp_fallback_set_ulp(tcp, optval, optlen);
	else if (sdp_fallback_is_fastopen(level, optname))
		err = -ENOPROTOOPT;
	else
		err = READ_ONCE(tcp->ops)->setsockopt(tcp, level, optname,
						      optval, optlen);
	sdp_fallback_leave(fb);
	return err;
}

/**
 * sdp_fallback_get_tcp() - read an option of a TCP socket
 * @fb: the fallback of a socket
 * @tcp: its TCP socket
 * @level: level
 * @optname: option
 * @optval: where to put the value
 * @optlen: room there; set to the value's length
 *
 * Return: what TCP says.
 */
int sdp_fallback_get_tcp(struct sdp_fallback *fb, struct socket *tcp, int level,
			 int optname, char __user *optval, int __user *optlen)
{
	int err;

	err = READ_ONCE(tcp->ops)->getsockopt(tcp, level, optname, optval,
					      optlen);
	sdp_fallback_leave(fb);
	return err;
}

/**
 * sdp_fallback_mmap() - mmap()
 * @fb: the fallback of a socket
 * @file: its file
 * @tcp: its TCP socket
 * @vma: the new mapping
 *
 * TCP's lock is not taken, because it takes page faults under it.
 *
 * Context: process context, with mmap_lock for writing.
 * Return: what TCP says.
 */
int sdp_fallback_mmap(struct sdp_fallback *fb, struct file *file, struct socket *tcp,
		      struct vm_area_struct *vma)
{
	int err = READ_ONCE(tcp->ops)->mmap(file, tcp, vma);

	sdp_fallback_put(fb);
	return err;
}

/**
 * sdp_fallback_set_peek_off() - SO_PEEK_OFF
 * @fb: the fallback of a socket
 * @val: offset, -1 = none
 *
 * TCP moves its own on with what is read, so that setting the same value again
 * means something.
 *
 * Return: 0
 */
int sdp_fallback_set_peek_off(struct sdp_fallback *fb, int val)
{
	struct socket *tcp = sdp_fallback_get(fb);

	if (tcp) {
		WRITE_ONCE(tcp->sk->sk_peek_off, val);
		sdp_fallback_put(fb);
	}
	return sk_set_peek_off(fb->sk, val);
}

/**
 * sdp_fallback_getsockopt() - read an option of the fallback at SOL_SDP
 * @fb: the fallback of a socket
 * @optname: option
 * @val: set to its value
 *
 * Return: 0 or -ENOPROTOOPT.
 */
int sdp_fallback_getsockopt(struct sdp_fallback *fb, int optname, int *val)
{
	switch (optname) {
	case SDP_TCP_FALLBACK:
		*val = fb->wanted;
		return 0;
	case SDP_FALLBACK_REASON:
		*val = fb->reason;
		return 0;
	default:
		return -ENOPROTOOPT;
	}
}
