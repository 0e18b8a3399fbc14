/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Sockets Direct Protocol: the interface between the kernel and programs.
 */
#ifndef _UAPI_LINUX_SDP_H
#define _UAPI_LINUX_SDP_H

/*
 * The address family.  The kernel's headers give the same number to AF_IB,
 * for which no socket family exists; 27 is what SDP has always used on Linux.
 */
#ifndef AF_SDP
#define AF_SDP	27
#define PF_SDP	AF_SDP
#endif

/*
 * The second door: socket(AF_INET or AF_INET6, SOCK_STREAM, IPPROTO_SDP).  No
 * IP header ever carries this number, which is why it lies beyond 255, where
 * Linux keeps those of its kind (256 is SMC, 262 is MPTCP).
 */
#ifndef IPPROTO_SDP
#define IPPROTO_SDP	257
#endif

/* Socket options that SDP added to level SOL_TCP before it had its own. */
#define SDP_ZCOPY_THRESH	80	/* bytes; int */
#define SDP_LAST_BIND_ERR	81	/* errno of the last bind, get only; int */

/*
 * The level of SDP's own options.  The kernel's levels are handed out one by
 * one and have come to 288; OFED's libsdp has used this one.
 */
#ifndef SOL_SDP
#define SOL_SDP	1025
#endif

/* Options at level SOL_SDP.  Take the next free number, and never reuse one. */
#define SDP_TCP_FALLBACK	1	/* go on over TCP if RDMA refuses; int */
#define SDP_FALLBACK_REASON	2	/* enum sdp_fallback_reason, get only; int */

/* Why a socket has fallen back to TCP. */
enum sdp_fallback_reason {
	SDP_FALLBACK_NONE,		/* it has not */
	SDP_FALLBACK_NO_DEVICE,		/* no RDMA device has or reaches it */
	SDP_FALLBACK_UNREACHABLE,	/* no way to the peer was found */
	SDP_FALLBACK_REFUSED,		/* the peer rejected the request */
	SDP_FALLBACK_TIMEOUT,		/* no answer in time */
	SDP_FALLBACK_RESOURCES,		/* this host could not set it up */
	SDP_FALLBACK_ACCEPTED,		/* the client came over TCP */
};

#endif /* _UAPI_LINUX_SDP_H */
