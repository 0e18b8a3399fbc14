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

/* The clock is read only if a socket wants timestamps. */
static inline ktime_t sdp_timestamp_now(const struct sock *sk)
{
	/* Whoever changes another flag meanwhile holds the lock, and leaves this one. */
	bool wanted = data_race(sock_flag(sk, SOCK_RCVTSTAMP)) ||
		      (READ_ONCE(sk->sk_tsflags) &
		       SOF_TIMESTAMPING_RX_SOFTWARE);

	return unlikely(wanted) ? ktime_get_real() : 0;
}

void sdp_timestamp_put(struct msghdr *msg, const struct sock *sk,
		       ktime_t stamp);

#endif /* _SDP_TIMESTAMP_H */
