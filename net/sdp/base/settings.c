// SPDX-License-Identifier: GPL-2.0
/*
 * The options that a new socket has, and the values that follow from options
 * and sysctls together.
 */
#include <linux/jiffies.h>
#include <net/tcp.h>

#include "net.h"
#include "settings.h"
#include "socket/socket.h"

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
 * @ssk: socket
 *
 * Return: seconds.
 */
unsigned int sdp_option_keepidle(const struct sdp_sock *ssk)
{
	const struct sdp_net *sn = sdp_net(sock_net(&ssk->sk));

	return ssk->opt.keepidle ?: READ_ONCE(sn->keepalive_time);
}

/**
 * sdp_option_keepintvl() - how long one probe may stay unanswered
 * @ssk: socket
 *
 * Return: seconds.
 */
unsigned int sdp_option_keepintvl(const struct sdp_sock *ssk)
{
	const struct sdp_net *sn = sdp_net(sock_net(&ssk->sk));

	return ssk->opt.keepintvl ?: READ_ONCE(sn->keepalive_intvl);
}

/**
 * sdp_option_keepcnt() - how many times that may happen
 * @ssk: socket
 */
unsigned int sdp_option_keepcnt(const struct sdp_sock *ssk)
{
	const struct sdp_net *sn = sdp_net(sock_net(&ssk->sk));

	return ssk->opt.keepcnt ?: READ_ONCE(sn->keepalive_probes);
}

/**
 * sdp_option_connect_timeout() - how long connect() tries
 * @ssk: socket
 *
 * TCP gives up when the timeout after the last of TCP_SYNCNT repetitions has
 * passed, or after TCP_USER_TIMEOUT.
 *
 * Return: jiffies.
 */
unsigned long sdp_option_connect_timeout(const struct sdp_sock *ssk)
{
	const struct sdp_net *sn = sdp_net(sock_net(&ssk->sk));
	const struct sdp_options *opt = &ssk->opt;
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
 * @ssk: socket
 *
 * Return: seconds; -1 if it does not wait.
 */
int sdp_option_linger2(const struct sdp_sock *ssk)
{
	const struct sdp_net *sn = sdp_net(sock_net(&ssk->sk));

	return ssk->opt.linger2 ?: (int)READ_ONCE(sn->fin_timeout);
}
