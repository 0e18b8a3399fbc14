/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What setsockopt() has set below SOL_SOCKET.
 */
#ifndef _SDP_SETTINGS_H
#define _SDP_SETTINGS_H

#include <linux/types.h>

struct sdp_flow_ops;
struct sdp_guard_ops;

/* Options of IP and IPv6 that are kept; socket/sockopt_ip.c has the table. */
enum sdp_ip_option {
	SDP_IP_TOS,
	SDP_IP_TTL,
	SDP_IP_MTU_DISCOVER,
	SDP_IP_RECVERR,
	SDP_IP_RECVTTL,
	SDP_IP_RECVTOS,
	SDP_IP_PKTINFO,
	SDP_IP_FREEBIND,
	SDP_IP_BIND_ADDRESS_NO_PORT,
	SDP_IPV6_TCLASS,
	SDP_IPV6_UNICAST_HOPS,
	SDP_IPV6_MTU_DISCOVER,
	SDP_IPV6_RECVERR,
	SDP_IPV6_RECVHOPLIMIT,
	SDP_IPV6_RECVTCLASS,
	SDP_IPV6_RECVPKTINFO,
	SDP_IPV6_DONTFRAG,
	__SDP_IP_OPTION_MAX
};

/* How many options IP and IPv6 keep themselves; socket/sockopt_inet.c has the table. */
#define SDP_INET_OPTIONS	29

/**
 * struct sdp_options - options of a socket, handed on to accepted children
 * @nodelay: TCP_NODELAY
 * @cork: TCP_CORK
 * @quickack: TCP_QUICKACK
 * @keepalive: SO_KEEPALIVE
 * @syncnt: TCP_SYNCNT, 0 = by the sysctl
 * @keepcnt: TCP_KEEPCNT, 0 = by the sysctl
 * @defer_accept: TCP_DEFER_ACCEPT as TCP keeps it: the number of times that a
 *	timeout of a second, doubled each time, has to pass; not handed on
 * @maxseg: TCP_MAXSEG, bytes
 * @keepidle: TCP_KEEPIDLE, seconds, 0 = by the sysctl
 * @keepintvl: TCP_KEEPINTVL, seconds, 0 = by the sysctl
 * @user_timeout: TCP_USER_TIMEOUT, milliseconds, 0 = none
 * @linger2: TCP_LINGER2, seconds, 0 = by the sysctl, -1 = none
 * @window_clamp: TCP_WINDOW_CLAMP, bytes
 * @notsent_lowat: TCP_NOTSENT_LOWAT, bytes, 0 = none
 * @zcopy_thresh: SDP_ZCOPY_THRESH, bytes, -1 = by default
 * @zcopy: SDP_ZCOPY, enum sdp_zcopy_mode, -1 = by the sysctl
 * @zcopy_recv: SDP_ZCOPY_RECV, likewise
 * @guard: SDP_ZCOPY_FAULT, NULL = by the sysctl
 * @flow: SDP_FLOW_CONTROL, NULL = by the sysctl
 * @ip: options of IP and IPv6
 * @inet: values of those that IP and IPv6 keep themselves
 * @inet_set: which of these user space has set, a bit each
 */
struct sdp_options {
	bool nodelay;
	bool cork;
	bool quickack;
	bool keepalive;
	u8 syncnt;
	u8 keepcnt;
	u8 defer_accept;
	u16 maxseg;
	u16 keepidle;
	u16 keepintvl;
	u32 user_timeout;
	int linger2;
	u32 window_clamp;
	u32 notsent_lowat;
	int zcopy_thresh;
	s8 zcopy;
	s8 zcopy_recv;
	const struct sdp_guard_ops *guard;
	const struct sdp_flow_ops *flow;
	s16 ip[__SDP_IP_OPTION_MAX];
	int inet[SDP_INET_OPTIONS];
	u32 inet_set;
};

/* Room for the name of an engine, a mode or a guard, its end included. */
#define SDP_NAME_MAX	16

#endif /* _SDP_SETTINGS_H */
