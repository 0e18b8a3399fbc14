// SPDX-License-Identifier: GPL-2.0
/*
 * The options that a new socket has, and the values that follow from options
 * and sysctls together.
 */
#include <linux/jiffies.h>
#include <net/tcp.h>

#include "base.h"

/* TCP doubles its retransmission timeout, a second at first, up to this. */
#define SDP_RTO_MAX_SECS	120U

/**
 * sdp_options_init() - give a socket the options that TCP starts with
 * @opt: options of a new socket, zeroed
 */
void sdp_options_init(struct sdp_options *opt)
{
	opt->quickack = true;
	opt->zcopy_thresh = -1;
	opt->zcopy = -1;
	opt->ip[SDP_IP_TTL] = -1;
	opt->ip[SDP_IP_MTU_DISCOVER] = IP_PMTUDISC_WANT;
	opt->ip[SDP_IPV6_UNICAST_HOPS] = -1;
	opt->ip[SDP_IPV6_MTU_DISCOVER] = IPV6_PMTUDISC_WANT;
}

/**
 * sdp_option_retrans_to_secs() - when TCP would have sent something so often
 * @retrans: number of times, the first after a second
 *
 * Return: seconds.
 */
unsigned int sdp_option_retrans_to_secs(unsigned int retrans)
{
	unsigned int timeout = 1;
	unsigned int secs = 0;

	while (retrans--) {
		secs += timeout;
		timeout = min(2 * timeout, SDP_RTO_MAX_SECS);
	}
	return secs;
}

/**
 * sdp_option_keepidle() - how long a connection is idle before it is probed
 * @sk: socket
 *
 * Return: seconds.
 */
unsigned int sdp_option_keepidle(const struct sock *sk)
{
	const struct sdp_net *sn = sdp_net(sock_net(sk));

	return sdp_base(sk)->opt.keepidle ?: READ_ONCE(sn->keepalive_time);
}

/**
 * sdp_option_keepintvl() - how long one probe may stay unanswered
 * @sk: socket
 *
 * Return: seconds.
 */
unsigned int sdp_option_keepintvl(const struct sock *sk)
{
	const struct sdp_net *sn = sdp_net(sock_net(sk));

	return sdp_base(sk)->opt.keepintvl ?: READ_ONCE(sn->keepalive_intvl);
}

/**
 * sdp_option_keepcnt() - how many times that may happen
 * @sk: socket
 */
unsigned int sdp_option_keepcnt(const struct sock *sk)
{
	const struct sdp_net *sn = sdp_net(sock_net(sk));

	return sdp_base(sk)->opt.keepcnt ?: READ_ONCE(sn->keepalive_probes);
}

/**
 * sdp_option_connect_timeout() - how long connect() tries
 * @sk: socket
 *
 * TCP gives up when the timeout after the last of TCP_SYNCNT repetitions has
 * passed, or after TCP_USER_TIMEOUT.
 *
 * Return: jiffies.
 */
unsigned long sdp_option_connect_timeout(const struct sock *sk)
{
	const struct sdp_net *sn = sdp_net(sock_net(sk));
	const struct sdp_options *opt = &sdp_base(sk)->opt;
	unsigned long timeout;

	if (opt->syncnt)
		timeout = sdp_option_retrans_to_secs(opt->syncnt + 1) * HZ;
	else
		timeout = READ_ONCE(sn->connect_timeout) * HZ;
	if (!opt->user_timeout)
		return timeout;
	/* TCP looks when it repeats its request, after a second at first. */
	return clamp_t(unsigned long, msecs_to_jiffies(opt->user_timeout), HZ,
		       timeout);
}

/**
 * sdp_option_linger2() - how long an orphan waits for the peer's DisConn
 * @sk: socket
 *
 * Return: seconds; -1 if it does not wait.
 */
int sdp_option_linger2(const struct sock *sk)
{
	const struct sdp_net *sn = sdp_net(sock_net(sk));

	return sdp_base(sk)->opt.linger2 ?: (int)READ_ONCE(sn->fin_timeout);
}

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

/**
 * sdp_option_flow() - which engine of flow control a new connection is to use
 * @sk: socket, locked or not
 */
const struct sdp_flow_ops *sdp_option_flow(const struct sock *sk)
{
	return sdp_base(sk)->opt.flow ?: READ_ONCE(sdp_net(sock_net(sk))->flow_control);
}

/**
 * sdp_option_guard() - what protects the memory of a socket's next write
 * @sk: socket, locked or not
 */
const struct sdp_guard_ops *sdp_option_guard(const struct sock *sk)
{
	return READ_ONCE(sdp_base(sk)->opt.guard) ?: READ_ONCE(sdp_net(sock_net(sk))->zcopy_fault);
}

/**
 * sdp_option_zcopy() - which mode of zero copy a new connection is to use
 * @sk: socket, locked or not
 *
 * Return: enum sdp_zcopy_mode.
 */
unsigned int sdp_option_zcopy(const struct sock *sk)
{
	const struct sdp_options *opt = &sdp_base(sk)->opt;

	return opt->zcopy >= 0 ? opt->zcopy : READ_ONCE(sdp_net(sock_net(sk))->zcopy);
}
