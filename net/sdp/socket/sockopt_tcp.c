// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options at level SOL_TCP, with TCP's rules for what is valid.
 * Documentation/user/options.rst says what each of them does here.
 */
#include <linux/sdp.h>
#include <net/tcp.h>

#include "base/base.h"
#include "stream/stream.h"
#include "conn/conn.h"
#include "socket.h"

/* Until they know better, TCP sockets go by these. */
#define SDP_DEFAULT_MSS		TCP_MSS_DEFAULT

/* TCP doubles its retransmission timeout, a second at first, up to this. */
#define SDP_RTO_MAX_SECS	120U

/* Limits of SDP_ZCOPY_THRESH that user space relies on. */
#define SDP_ZCOPY_THRESH_MAX	(1024 * 1024)

static bool sdp_in_range(int val, int min, int max)
{
	return val >= min && val <= max;
}

/**
 * sdp_tcp_retrans_to_secs() - when TCP would have sent something so often
 * @retrans: number of times, the first after a second
 *
 * Return: seconds.
 */
unsigned int sdp_tcp_retrans_to_secs(unsigned int retrans)
{
	unsigned int timeout = 1;
	unsigned int secs = 0;

	while (retrans--) {
		secs += timeout;
		timeout = min(2 * timeout, SDP_RTO_MAX_SECS);
	}
	return secs;
}

static u8 sdp_tcp_secs_to_retrans(int secs)
{
	u8 retrans = 0;

	while (retrans < U8_MAX &&
	       secs > (int)sdp_tcp_retrans_to_secs(retrans))
		retrans++;
	return retrans;
}

static int sdp_tcp_set_keepalive(struct sdp_sock *ssk, int optname, int val)
{
	int max = optname == TCP_KEEPCNT ? MAX_TCP_KEEPCNT :
		  optname == TCP_KEEPIDLE ? MAX_TCP_KEEPIDLE :
					    MAX_TCP_KEEPINTVL;

	if (!sdp_in_range(val, 1, max))
		return -EINVAL;
	if (optname == TCP_KEEPCNT)
		WRITE_ONCE(ssk->base.opt.keepcnt, val);
	else if (optname == TCP_KEEPIDLE)
		WRITE_ONCE(ssk->base.opt.keepidle, val);
	else
		WRITE_ONCE(ssk->base.opt.keepintvl, val);
	sdp_alive_options_changed(&ssk->conn);
	return 0;
}

static int sdp_tcp_set_window_clamp(struct sdp_sock *ssk, int val)
{
	if (!val && ssk->sk.sk_state != TCP_CLOSE)
		return -EINVAL;
	ssk->base.opt.window_clamp = val ? max_t(int, val, SOCK_MIN_RCVBUF / 2) : 0;
	return 0;
}

/* What decides when data leaves may let it leave now. */
static int sdp_tcp_set_push(struct sdp_sock *ssk, int optname, int val)
{
	if (optname == TCP_CORK)
		ssk->base.opt.cork = val;
	else
		ssk->base.opt.nodelay = val;
	/* As with TCP, no delay gets past the cork, once. */
	if (optname == TCP_NODELAY && val)
		sdp_tx_force(&ssk->conn, SDP_FLUSH_CALL);
	else
		sdp_tx_flush(&ssk->conn);
	return 0;
}

static int sdp_tcp_set_linger2(struct sdp_sock *ssk, int val)
{
	WRITE_ONCE(ssk->base.opt.linger2, clamp(val, -1, TCP_FIN_TIMEOUT_MAX / HZ));
	return 0;
}

static int sdp_tcp_set_zcopy_thresh(struct sdp_sock *ssk, int val)
{
	if (val && val != -1 &&
	    !sdp_in_range(val, PAGE_SIZE, SDP_ZCOPY_THRESH_MAX))
		return -EINVAL;
	ssk->base.opt.zcopy_thresh = val;
	return 0;
}

static int sdp_tcp_set(struct sdp_sock *ssk, int optname, int val)
{
	struct sdp_options *opt = &ssk->base.opt;

	switch (optname) {
	case TCP_NODELAY:
	case TCP_CORK:
		return sdp_tcp_set_push(ssk, optname, val);
	case TCP_KEEPIDLE:
	case TCP_KEEPINTVL:
	case TCP_KEEPCNT:
		return sdp_tcp_set_keepalive(ssk, optname, val);
	case TCP_LINGER2:
		return sdp_tcp_set_linger2(ssk, val);
	case TCP_WINDOW_CLAMP:
		return sdp_tcp_set_window_clamp(ssk, val);
	case SDP_ZCOPY_THRESH:
		return sdp_tcp_set_zcopy_thresh(ssk, val);
	case TCP_DEFER_ACCEPT:
		WRITE_ONCE(opt->defer_accept, sdp_tcp_secs_to_retrans(val));
		return 0;
	case TCP_QUICKACK:
		opt->quickack = val;
		return 0;
	case TCP_NOTSENT_LOWAT:
		WRITE_ONCE(opt->notsent_lowat, val);
		ssk->sk.sk_write_space(&ssk->sk);
		return 0;
	case TCP_MAXSEG:
		if (val && !sdp_in_range(val, TCP_MIN_MSS, MAX_TCP_WINDOW))
			return -EINVAL;
		opt->maxseg = val;
		return 0;
	case TCP_SYNCNT:
		if (!sdp_in_range(val, 1, MAX_TCP_SYNCNT))
			return -EINVAL;
		opt->syncnt = val;
		return 0;
	case TCP_USER_TIMEOUT:
		if (val < 0)
			return -EINVAL;
		if (!opt->user_timeout)
			sdp_alive_begin_user_timeout(&ssk->conn);
		opt->user_timeout = val;
		sdp_alive_options_changed(&ssk->conn);
		return 0;
	default:
		return -ENOPROTOOPT;
	}
}

/**
 * sdp_tcp_setsockopt() - set an option at level SOL_TCP
 * @sk: socket, not locked
 * @optname: option
 * @optval: value, an int
 * @optlen: its length
 *
 * Return: 0; -ENOPROTOOPT for what does not exist; -EINVAL; -EFAULT.
 */
int sdp_tcp_setsockopt(struct sock *sk, int optname, sockptr_t optval,
		       unsigned int optlen)
{
	int val;
	int err = sdp_int_get(&val, optval, optlen);

	if (err)
		return err;
	sdp_lock_sock(sk);
	err = sdp_tcp_set(sdp_sk(sk), optname, val);
	sdp_release_sock(sk);
	return err;
}

/* A connected socket says what messages take, as TCP says what segments do. */
static int sdp_tcp_maxseg(const struct sdp_sock *ssk)
{
	if (ssk->base.opt.maxseg &&
	    sdp_in_state(&ssk->sk, TCPF_CLOSE | TCPF_LISTEN))
		return ssk->base.opt.maxseg;
	return READ_ONCE(ssk->conn.stream.tx.max_payload) ?: SDP_DEFAULT_MSS;
}

/* How many repetitions fit in the time that the sysctl allows. */
static int sdp_tcp_syncnt(const struct sdp_sock *ssk)
{
	const struct sdp_net *sn = sdp_net(sock_net(&ssk->sk));
	unsigned int timeout = READ_ONCE(sn->connect_timeout);

	if (ssk->base.opt.syncnt)
		return ssk->base.opt.syncnt;
	return max(sdp_tcp_secs_to_retrans(timeout), 2) - 1;
}

/**
 * sdp_tcp_getsockopt() - read an option at level SOL_TCP that is an int
 * @sk: socket, locked or not
 * @optname: option
 * @val: set to the value
 *
 * Return: 0 or -ENOPROTOOPT.
 */
int sdp_tcp_getsockopt(struct sock *sk, int optname, int *val)
{
	const struct sdp_sock *ssk = sdp_sk(sk);
	const struct sdp_options *opt = &ssk->base.opt;

	switch (optname) {
	case TCP_NODELAY:
		*val = opt->nodelay;
		break;
	case TCP_CORK:
		*val = opt->cork;
		break;
	case TCP_QUICKACK:
		*val = opt->quickack;
		break;
	case TCP_MAXSEG:
		*val = sdp_tcp_maxseg(ssk);
		break;
	case TCP_KEEPIDLE:
		*val = sdp_option_keepidle(&ssk->sk);
		break;
	case TCP_KEEPINTVL:
		*val = sdp_option_keepintvl(&ssk->sk);
		break;
	case TCP_KEEPCNT:
		*val = sdp_option_keepcnt(&ssk->sk);
		break;
	case TCP_SYNCNT:
		*val = sdp_tcp_syncnt(ssk);
		break;
	case TCP_LINGER2:
		*val = sdp_option_linger2(&ssk->sk);
		break;
	case TCP_DEFER_ACCEPT:
		*val = sdp_tcp_retrans_to_secs(opt->defer_accept);
		break;
	case TCP_WINDOW_CLAMP:
		*val = opt->window_clamp;
		break;
	case TCP_USER_TIMEOUT:
		*val = opt->user_timeout;
		break;
	case TCP_NOTSENT_LOWAT:
		*val = opt->notsent_lowat;
		break;
	case SDP_ZCOPY_THRESH:
		*val = opt->zcopy_thresh;
		break;
	case SDP_LAST_BIND_ERR:
		*val = ssk->conn.last_bind_err;
		break;
	default:
		return -ENOPROTOOPT;
	}
	return 0;
}
