/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SO_TIMESTAMP and its like.
 */
#ifndef _SDP_TIMESTAMP_H
#define _SDP_TIMESTAMP_H

#include <linux/ktime.h>
#include <linux/net_tstamp.h>
#include <net/sock.h>

struct msghdr;

/*
 * The clock is read only if a socket wants timestamps.  Whoever changes another of its flags
 * meanwhile holds its lock, and leaves this one as it is.
 */
static inline ktime_t sdp_timestamp_now(const struct sock *sk)
{
	bool wanted = data_race(sock_flag(sk, SOCK_RCVTSTAMP)) ||
		      (READ_ONCE(sk->sk_tsflags) &
		       SOF_TIMESTAMPING_RX_SOFTWARE);

	return unlikely(wanted) ? ktime_get_real() : 0;
}

void sdp_timestamp_put(struct msghdr *msg, const struct sock *sk,
		       ktime_t stamp);

#endif /* _SDP_TIMESTAMP_H */
