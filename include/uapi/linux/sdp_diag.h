/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Sockets Direct Protocol: sockets listed by NETLINK_SOCK_DIAG, see sock_diag(7).
 */
#ifndef _UAPI_LINUX_SDP_DIAG_H
#define _UAPI_LINUX_SDP_DIAG_H

#include <linux/types.h>

/*
 * The request, of type SOCK_DIAG_BY_FAMILY and with NLM_F_DUMP; exactly this long.  What
 * must be zero may get a meaning later.
 */
struct sdp_diag_req {
	__u8	sdiag_family;	/* AF_SDP */
	__u8	sdiag_protocol;	/* must be 0 */
	__u16	pad;		/* must be 0 */
	__u32	sdr_states;	/* 1 << state of those wanted */
	__u32	sdr_show;	/* 1 << (attribute - 1) of those wanted */
	__u32	reserved;	/* must be 0 */
};

/* The answer, one message for each socket, with attributes behind it. */
struct sdp_diag_msg {
	__u8	sdiag_family;	/* AF_SDP */
	__u8	sdm_state;	/* TCP's numbers, as in /proc/net/sdp */
	__u8	sdm_addr_family; /* AF_INET: the first word of addresses; or AF_INET6 */
	__u8	pad;
	__be16	sdm_sport;
	__be16	sdm_dport;
	__be32	sdm_src[4];
	__be32	sdm_dst[4];
	__u32	sdm_uid;
	__u32	sdm_rqueue;	/* bytes; of a listener: connections that wait */
	__u32	sdm_wqueue;	/* bytes; of a listener: the backlog */
	__u32	sdm_cookie[2];
	__u32	pad2;
	__u64	sdm_ino;	/* 0: no file refers to it */
};

/*
 * Names, credits, queue pairs and what may not be told are left out where there are none.  These
 * structures get longer at their end; those of the request and of the message do not.
 */
enum sdp_diag_attr {
	SDP_DIAG_UNSPEC,
	SDP_DIAG_FLOW,		/* string: engine of flow control, or what stands for TCP */
	SDP_DIAG_DEVICE,	/* string: RDMA device, or local */
	SDP_DIAG_CREDITS,	/* struct sdp_diag_credits */
	SDP_DIAG_RING,		/* struct sdp_diag_ring */
	SDP_DIAG_ZCOPY,		/* struct sdp_diag_zcopy */
	SDP_DIAG_SKMEMINFO,	/* __u32[SK_MEMINFO_VARS]; CAP_NET_ADMIN only */
	SDP_DIAG_TIMEOUTS,	/* struct sdp_diag_timeouts; CAP_NET_ADMIN only */
	SDP_DIAG_QPN,		/* __u32: number of the queue pair */
	SDP_DIAG_FLOW_WHY,	/* __u32: enum sdp_flow_reason, of a connection */
	__SDP_DIAG_MAX
};

#define SDP_DIAG_MAX	(__SDP_DIAG_MAX - 1)

/* In messages. */
struct sdp_diag_credits {
	__u32	tx;		/* that may be sent to the peer */
	__u32	rx;		/* that the peer may send */
};

struct sdp_diag_ring {
	__u32	size;		/* bytes; 0 without a ring, here and below */
	__u32	used;		/* of this, received and not read */
	__u32	peer_size;	/* bytes */
	__u32	reason;		/* enum sdp_ring_reason */
	__u64	stalls;		/* times that data began to wait for the peer */
	__u64	coalesced;	/* writes that joined a waiting one */
	__u64	flushes[8];	/* by enum sdp_flush, with room for later ones */
};

/* Counters of the connection, or of the last; in bytes unless noted. */
struct sdp_diag_zcopy {
	__u32	connected;	/* mode is that of a connection */
	__u32	mode;		/* enum sdp_zcopy_mode */
	__u64	sent;
	__u64	sent_zcopy;	/* of these, without a copy */
	__u64	sent_async;	/* of these, by writes that did not wait */
	__u64	received;
	__u64	received_zcopy;
	__u64	refusals;	/* offers that no read could take */
	__u64	cancels;	/* offers that the peer did not read */
	__u64	guard_refusals;	/* writes of memory without protection */
	__u64	guard_faults;	/* pages written to before they were sent */
};

struct sdp_diag_timeouts {
	__u32	keepalive;	/* SO_KEEPALIVE is set */
	__u32	keepidle;	/* seconds, here and below; the namespace's by default */
	__u32	keepintvl;
	__u32	keepcnt;	/* probes */
	__u32	user_timeout;	/* milliseconds, 0 for none */
	__s32	linger2;	/* seconds, -1 for none */
};

#endif /* _UAPI_LINUX_SDP_DIAG_H */
