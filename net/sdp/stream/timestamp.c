// SPDX-License-Identifier: GPL-2.0
/*
 * SO_TIMESTAMP and its like: when the data arrived that a read has returned.
 */
#include <linux/ktime.h>
#include <linux/net_tstamp.h>
#include <linux/socket.h>
#include <net/scm.h>
#include <net/sock.h>

#include "stream.h"

static void sdp_timestamp_put_ns(struct msghdr *msg, bool new,
				 struct timespec64 ts)
{
	struct __kernel_timespec kts = { ts.tv_sec, ts.tv_nsec };
	struct __kernel_old_timespec old = { ts.tv_sec, ts.tv_nsec };

	if (new)
		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMPNS_NEW, sizeof(kts),
			 &kts);
	else
		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMPNS_OLD, sizeof(old),
			 &old);
}

static void sdp_timestamp_put_us(struct msghdr *msg, bool new,
				 struct timespec64 ts)
{
	struct __kernel_sock_timeval stv = { ts.tv_sec, ts.tv_nsec / 1000 };
	struct __kernel_old_timeval old = { ts.tv_sec, ts.tv_nsec / 1000 };

	if (new)
		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMP_NEW, sizeof(stv), &stv);
	else
		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMP_OLD, sizeof(old), &old);
}

/**
 * sdp_timestamp_put() - report to user space when its data arrived
 * @msg: message that is being received, whose control data this becomes
 * @sk: socket, not locked, whose options say whether, and in which form
 * @stamp: wall clock time
 */
void sdp_timestamp_put(struct msghdr *msg, const struct sock *sk,
		       ktime_t stamp)
{
	struct scm_timestamping_internal tss = {};
	bool new = sock_flag(sk, SOCK_TSTAMP_NEW);

	tss.ts[0] = stamp;
	if (sock_flag(sk, SOCK_RCVTSTAMPNS))
		sdp_timestamp_put_ns(msg, new, ktime_to_timespec64(stamp));
	else if (sock_flag(sk, SOCK_RCVTSTAMP))
		sdp_timestamp_put_us(msg, new, ktime_to_timespec64(stamp));
	if (!(READ_ONCE(sk->sk_tsflags) & SOF_TIMESTAMPING_SOFTWARE))
		return;
	if (new)
		put_cmsg_scm_timestamping64(msg, &tss);
	else
		put_cmsg_scm_timestamping(msg, &tss);
}
