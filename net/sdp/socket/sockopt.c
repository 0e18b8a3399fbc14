// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options by level, and ioctls.  Those at SOL_SOCKET are the socket
 * layer's, but for one.
 */
#include <linux/sdp.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <net/inet_common.h>
#include <asm/ioctls.h>

#include "base/base.h"
#include "guard/guard.h"
#include "stream/stream.h"
#include "conn/conn.h"
#include "socket.h"

/* The driver of old took SO_KEEPALIVE at a level of its own. */
#define SOL_SDP_CLASSIC		AF_SDP

/**
 * sdp_int_get() - take the value of an option that is an int
 * @val: set to it
 * @optval: value
 * @optlen: its length
 *
 * Context: process context, without the socket lock: the memory may be slow to come.
 * Return: 0; -EINVAL if it is too short; -EFAULT.
 */
int sdp_int_get(int *val, sockptr_t optval, unsigned int optlen)
{
	if (optlen < sizeof(*val))
		return -EINVAL;
	return copy_from_sockptr(val, optval, sizeof(*val)) ? -EFAULT : 0;
}

/**
 * sdp_name_get() - take the value of an option that is a name
 * @name: set to it
 * @optval: the name
 * @optlen: its length
 *
 * As with TCP_CONGESTION a name may be cut off anywhere, and need not end in a
 * zero.
 *
 * Return: 0; -EINVAL without a name; -EFAULT.
 */
int sdp_name_get(char name[SDP_NAME_MAX], sockptr_t optval,
		 unsigned int optlen)
{
	long len;

	if (optlen < 1)
		return -EINVAL;
	len = strncpy_from_sockptr(name, optval,
				   min_t(long, SDP_NAME_MAX - 1, optlen));
	if (len < 0)
		return -EFAULT;
	name[len] = 0;
	return 0;
}

/**
 * sdp_name_put() - give the value of an option that is a name
 * @name: name
 * @len: room for it, not negative
 * @optval: where to put it, with zeros behind it up to SDP_NAME_MAX
 * @optlen: set to what was written
 *
 * Return: 0 or -EFAULT.
 */
int sdp_name_put(const char *name, int len, char __user *optval,
		 int __user *optlen)
{
	char buf[SDP_NAME_MAX];

	strscpy_pad(buf, name, sizeof(buf));
	len = min_t(unsigned int, len, sizeof(buf));
	if (put_user(len, optlen) || copy_to_user(optval, buf, len))
		return -EFAULT;
	return 0;
}

static int sdp_set_level(struct socket *sock, int level, int optname,
			 sockptr_t optval, unsigned int optlen)
{
	switch (level) {
	case SOL_TCP:
		return sdp_tcp_setsockopt(sock->sk, optname, optval, optlen);
	case SOL_IP:
	case SOL_IPV6:
		return sdp_ip_setsockopt(sock->sk, level, optname, optval,
					 optlen);
	case SOL_SDP_CLASSIC:
		if (optname == SO_KEEPALIVE)
			return sock_setsockopt(sock, SOL_SOCKET, optname,
					       optval, optlen);
		return -ENOPROTOOPT;
	default:
		return -ENOPROTOOPT;
	}
}

/* Older kernels keep SOL_SOCKET to themselves, and refuse it for our family. */
static bool sdp_is_zerocopy(int level, int optname)
{
	return (level == SOL_SOCKET && optname == SO_ZEROCOPY) ||
	       (level == SOL_SDP && optname == SDP_ZEROCOPY);
}

static int sdp_set_zerocopy(struct sock *sk, sockptr_t optval,
			    unsigned int optlen)
{
	int val;
	int err = sdp_int_get(&val, optval, optlen);

	if (err)
		return err;
	if (val < 0 || val > 1)
		return -EINVAL;
	lock_sock(sk);
	sock_valbool_flag(sk, SOCK_ZEROCOPY, val);
	release_sock(sk);
	return 0;
}

/* The socket layer lets other families have it. */
static int sdp_set_reuseport(struct sock *sk, sockptr_t optval,
			     unsigned int optlen)
{
	int val;
	int err = sdp_int_get(&val, optval, optlen);

	if (err)
		return err;
	lock_sock(sk);
	sk->sk_reuseport = !!val;
	release_sock(sk);
	return 0;
}

/**
 * sdp_setsockopt() - set an option
 * @sock: socket
 * @level: level
 * @optname: option
 * @optval: value
 * @optlen: its length
 *
 * Return: 0; -ENOPROTOOPT for what does not exist; -EINVAL; -EFAULT.
 */
int sdp_setsockopt(struct socket *sock, int level, int optname,
		   sockptr_t optval, unsigned int optlen)
{
	struct sock *sk = sock->sk;
	struct socket *tcp;
	int err;

	if (sdp_is_zerocopy(level, optname))
		return sdp_set_zerocopy(sk, optval, optlen);
	if (level == SOL_SOCKET && optname == SO_REUSEPORT)
		return sdp_set_reuseport(sk, optval, optlen);
	if (level == SOL_SOCKET)
		return sock_setsockopt(sock, level, optname, optval, optlen);
	if (level == SOL_SDP && optname == SDP_FLOW_CONTROL)
		return sdp_flow_setsockopt(sk, optval, optlen);
	if (level == SOL_SDP && optname == SDP_ZCOPY)
		return sdp_zcopy_setsockopt(sk, optval, optlen);
	if (level == SOL_SDP && optname == SDP_ZCOPY_FAULT)
		return sdp_guard_setsockopt(sk, optval, optlen);
	if (level == SOL_SDP && optname == SDP_ZCOPY_RECV)
		return sdp_zcopy_recv_setsockopt(sk, optval, optlen);
	if (level == SOL_SDP)
		return sdp_fallback_setsockopt(sdp_fallback(sk), optname,
					       optval, optlen);
	tcp = sdp_fallback_get(sdp_fallback(sk));
	if (tcp)
		return sdp_fallback_set_tcp(sdp_fallback(sk), tcp, level,
					    optname, optval, optlen);
	err = sdp_set_level(sock, level, optname, optval, optlen);
	if (err)
		return err;
	sdp_fallback_option_set(sk);
	/* TCP may have taken over meanwhile, with the value from before. */
	tcp = sdp_fallback_get(sdp_fallback(sk));
	return tcp ? sdp_fallback_set_tcp(sdp_fallback(sk), tcp, level, optname,
					  optval, optlen) :
		     0;
}

static int sdp_get_zerocopy(const struct sock *sk, int *val)
{
	*val = sock_flag(sk, SOCK_ZEROCOPY);
	return 0;
}

static int sdp_classic_getsockopt(const struct sock *sk, int optname, int *val)
{
	if (optname != SO_KEEPALIVE)
		return -ENOPROTOOPT;
	*val = sock_flag(sk, SOCK_KEEPOPEN);
	return 0;
}

/**
 * sdp_getsockopt() - read an option
 * @sock: socket
 * @level: level
 * @optname: option
 * @optval: where to put the value
 * @optlen: room there; set to what was written
 *
 * Return: 0; -EOPNOTSUPP or -ENOPROTOOPT for a level that does not exist; otherwise
 * as sdp_setsockopt().
 */
int sdp_getsockopt(struct socket *sock, int level, int optname,
		   char __user *optval, int __user *optlen)
{
	struct sock *sk = sock->sk;
	struct socket *tcp;
	int val = 0;
	int err;
	int len;

	tcp = level == SOL_SDP ? NULL : sdp_fallback_get(sdp_fallback(sk));
	if (tcp)
		return sdp_fallback_get_tcp(sdp_fallback(sk), tcp, level,
					    optname, optval, optlen);
	if (level == SOL_IP || level == SOL_IPV6)
		return sdp_ip_getsockopt(sk, level, optname, optval,
					 optlen);
	/* IP and IPv6 have different errors for a level that they do not know. */
	if (level != SOL_TCP && level != SOL_SDP && level != SOL_SDP_CLASSIC)
		return sk->sk_family == AF_INET6 ? -ENOPROTOOPT : -EOPNOTSUPP;
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	if (level == SOL_SDP && optname == SDP_INFO)
		return sdp_sdp_info(sk, len, optval, optlen);
	if (level == SOL_SDP && optname == SDP_FLOW_CONTROL)
		return sdp_flow_getsockopt(sk, len, optval, optlen);
	if (level == SOL_SDP && optname == SDP_ZCOPY)
		return sdp_zcopy_getsockopt(sk, len, optval, optlen);
	if (level == SOL_SDP && optname == SDP_ZCOPY_FAULT)
		return sdp_guard_getsockopt(sk, len, optval, optlen);
	if (level == SOL_SDP && optname == SDP_ZCOPY_RECV)
		return sdp_zcopy_recv_getsockopt(sk, len, optval, optlen);
	if (level == SOL_TCP && optname == TCP_INFO)
		return sdp_tcp_info(sk, len, optval, optlen);
	if (level == SOL_TCP && optname == TCP_ZEROCOPY_RECEIVE)
		return sdp_mmap_getsockopt(sock, len, optval, optlen);
	if (sdp_is_zerocopy(level, optname))
		err = sdp_get_zerocopy(sk, &val);
	else if (level == SOL_SDP)
		err = sdp_fallback_getsockopt(sdp_fallback(sk), optname, &val);
	else if (level == SOL_TCP)
		err = sdp_tcp_getsockopt(sk, optname, &val);
	else
		err = sdp_classic_getsockopt(sk, optname, &val);
	if (err)
		return err;
	len = min_t(unsigned int, len, sizeof(int));
	if (put_user(len, optlen) || copy_to_user(optval, &val, len))
		return -EFAULT;
	return 0;
}

/**
 * sdp_set_peek_off() - SO_PEEK_OFF
 * @sk: socket
 * @val: offset, -1 = none
 *
 * Return: 0
 */
int sdp_set_peek_off(struct sock *sk, int val)
{
	return sdp_fallback_set_peek_off(sdp_fallback(sk), val);
}

/**
 * sdp_set_rcvlowat() - SO_RCVLOWAT
 * @sk: socket, locked by the socket layer (sock::sk_lock); our lock may be free, or
 *	the caller's
 * @val: bytes, limited as TCP limits them
 *
 * Return: 0
 */
int sdp_set_rcvlowat(struct sock *sk, int val)
{
	int limit = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_rmem[2]);

	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		limit = sk->sk_rcvbuf;
	WRITE_ONCE(sk->sk_rcvlowat, min(val, limit / 2) ?: 1);
	/* What has come may suffice now; poll() looks without a lock, too. */
	if (sdp_rx_readable(&sdp_sk(sk)->conn.stream))
		sk->sk_data_ready(sk);
	return 0;
}

/*
 * Bytes not acknowledged, which probes the peer if its acknowledgment may be late.  The
 * end of the stream counts for one, as with TCP: a caller that waits for zero knows then
 * that the peer has all of it.
 */
static int sdp_ioctl_outq(struct sock *sk)
{
	struct sdp_sock *ssk = sdp_sk(sk);
	bool fin = ssk->conn.link.qp && ssk->conn.stream.fin_queued && !ssk->conn.stream.fin_acked;

	if (sdp_tx_outstanding(&ssk->conn.stream) && ssk->conn.link.qp)
		sdp_tx_probe(&ssk->conn.stream);
	return sdp_tx_outstanding(&ssk->conn.stream) + fin;
}

/**
 * sdp_ioctl() - SIOCINQ, SIOCOUTQ, SIOCOUTQNSD, SIOCATMARK, and what the inet
 *	families answer on any socket
 * @sock: socket
 * @cmd: command
 * @arg: user pointer to the int that answers
 *
 * Return: 0; -EINVAL for a listener; -ENOIOCTLCMD for what is not ours.
 */
int sdp_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct sock *sk = sock->sk;
	struct socket *tcp = sdp_fallback_get(sdp_fallback(sk));
	int answer = 0;
	int err = 0;

	if (tcp)
		return sdp_fallback_ioctl(sdp_fallback(sk), tcp, cmd, arg);
	sdp_lock_sock(sk);
	sdp_integrated_pull(&sdp_sk(sk)->conn.stream);
	if (sk->sk_state == TCP_LISTEN && cmd != SIOCATMARK)
		err = -EINVAL;
	switch (cmd) {
	case SIOCINQ:
		answer = sdp_oob_inq(&sdp_sk(sk)->conn.stream) ?:
			 sdp_zasync_read_inq(&sdp_sk(sk)->conn.zcopy);
		if (!answer)
			sdp_zrecv_asked(&sdp_sk(sk)->conn.zcopy);
		break;
	case SIOCOUTQ:
		if (!err)
			answer = sdp_ioctl_outq(sk);
		break;
	case SIOCOUTQNSD:
		answer = sdp_ring_unsent(&sdp_sk(sk)->conn.stream.tx.ring) +
			 READ_ONCE(sdp_conn(sk)->zcopy.unsent_bytes);
		break;
	case SIOCATMARK:
		answer = sdp_oob_at_mark(&sdp_sk(sk)->conn.stream);
		break;
	default:
		err = -ENOIOCTLCMD;
	}
	sdp_release_sock(sk);
	if (err == -ENOIOCTLCMD)
		return inet_ioctl(sock, cmd, arg);
	return err ? err : put_user(answer, (int __user *)arg);
}
