// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options below SOL_SOCKET, which the socket layer handles, and ioctls.
 */
#include <linux/in6.h>
#include <linux/sdp.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <net/inet_common.h>
#include <asm/ioctls.h>

#include "conn.h"
#include "oob.h"
#include "sock.h"
#include "tx.h"

static int sdp_set_tcp(struct sdp_sock *ssk, int optname, int val)
{
	switch (optname) {
	case TCP_NODELAY:
		ssk->nodelay = !!val;
		break;
	case TCP_CORK:
		ssk->cork = !!val;
		break;
	default:
		return -ENOPROTOOPT;
	}
	/* What waited for company may have to leave now. */
	sdp_tx_flush(ssk);
	return 0;
}

static int sdp_set_ipv6(struct sdp_sock *ssk, int optname, int val)
{
	if (optname != IPV6_V6ONLY)
		return -ENOPROTOOPT;
	if (ssk->bound)
		return -EINVAL;
	ssk->v6only = !!val;
	return 0;
}

/**
 * sdp_setsockopt() - set an option at level SOL_TCP or SOL_IPV6
 * @sock: socket
 * @level: level
 * @optname: option
 * @optval: value, an int
 * @optlen: its length
 *
 * Return: 0; -ENOPROTOOPT for what does not exist; -EINVAL; -EFAULT.
 */
int sdp_setsockopt(struct socket *sock, int level, int optname,
		   sockptr_t optval, unsigned int optlen)
{
	struct sock *sk = sock->sk;
	struct socket *tcp;
	int val;
	int err;

	if (level == SOL_SDP)
		return sdp_fallback_setsockopt(sdp_sk(sk), optname, optval,
					       optlen);
	tcp = sdp_fallback_tcp(sk);
	if (tcp)
		return READ_ONCE(tcp->ops)->setsockopt(tcp, level, optname,
						       optval, optlen);
	if (level != SOL_TCP && level != SOL_IPV6)
		return -ENOPROTOOPT;
	if (optlen < sizeof(int))
		return -EINVAL;
	/* Before the lock: the memory may be slow to come. */
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;

	lock_sock(sk);
	if (level == SOL_TCP)
		err = sdp_set_tcp(sdp_sk(sk), optname, val);
	else
		err = sdp_set_ipv6(sdp_sk(sk), optname, val);
	release_sock(sk);
	if (!err)
		sdp_fallback_option_set(sk);
	return err;
}

static int sdp_get_tcp(const struct sdp_sock *ssk, int optname, int *val)
{
	switch (optname) {
	case TCP_NODELAY:
		*val = ssk->nodelay;
		return 0;
	case TCP_CORK:
		*val = ssk->cork;
		return 0;
	case TCP_MAXSEG:
		*val = READ_ONCE(ssk->conn.tx.max_payload);
		return 0;
	case SDP_LAST_BIND_ERR:
		*val = ssk->last_bind_err;
		return 0;
	default:
		return -ENOPROTOOPT;
	}
}

/**
 * sdp_getsockopt() - read an option at level SOL_TCP or SOL_IPV6
 * @sock: socket
 * @level: level
 * @optname: option
 * @optval: where to put the value, an int
 * @optlen: room there; set to what was written
 *
 * Return: 0; -EOPNOTSUPP for a level that does not exist; otherwise as
 * sdp_setsockopt().
 */
int sdp_getsockopt(struct socket *sock, int level, int optname,
		   char __user *optval, int __user *optlen)
{
	struct sdp_sock *ssk = sdp_sk(sock->sk);
	struct socket *tcp;
	int val = 0;
	int err = 0;
	int len;

	tcp = sdp_fallback_tcp(sock->sk);
	if (tcp && level != SOL_SDP)
		return READ_ONCE(tcp->ops)->getsockopt(tcp, level, optname,
						       optval, optlen);
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	if (level == SOL_SDP)
		err = sdp_fallback_getsockopt(ssk, optname, &val);
	else if (level == SOL_TCP)
		err = sdp_get_tcp(ssk, optname, &val);
	else if (level == SOL_IPV6 && optname == IPV6_V6ONLY)
		val = ssk->v6only;
	else if (level == SOL_IPV6)
		err = -ENOPROTOOPT;
	else
		err = -EOPNOTSUPP;
	if (err)
		return err;
	len = min_t(unsigned int, len, sizeof(int));
	if (put_user(len, optlen) || copy_to_user(optval, &val, len))
		return -EFAULT;
	return 0;
}

/* Bytes not acknowledged, which asks the peer if its answer may be late. */
static int sdp_ioctl_outq(struct sock *sk)
{
	struct sdp_sock *ssk = sdp_sk(sk);

	if (sdp_tx_outstanding(ssk) && ssk->conn.qp)
		sdp_tx_probe(ssk);
	return sdp_tx_outstanding(ssk);
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
	struct socket *tcp = sdp_fallback_tcp(sk);
	int answer = 0;
	int err = 0;

	if (tcp)
		return sdp_fallback_ioctl(sk, tcp, cmd, arg);
	lock_sock(sk);
	if (sk->sk_state == TCP_LISTEN && cmd != SIOCATMARK)
		err = -EINVAL;
	switch (cmd) {
	case SIOCINQ:
		answer = sdp_oob_inq(sdp_sk(sk));
		break;
	case SIOCOUTQ:
		if (!err)
			answer = sdp_ioctl_outq(sk);
		break;
	case SIOCOUTQNSD:
		answer = sdp_ring_unsent(&sdp_sk(sk)->conn.tx.ring);
		break;
	case SIOCATMARK:
		answer = sdp_oob_at_mark(sdp_sk(sk));
		break;
	default:
		err = -ENOIOCTLCMD;
	}
	release_sock(sk);
	if (err == -ENOIOCTLCMD)
		return inet_ioctl(sock, cmd, arg);
	return err ? err : put_user(answer, (int __user *)arg);
}
