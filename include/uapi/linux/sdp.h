/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Sockets Direct Protocol: the interface between the kernel and programs.
 */
#ifndef _UAPI_LINUX_SDP_H
#define _UAPI_LINUX_SDP_H

#include <linux/types.h>

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
 * Linux keeps those of its kind.  Of these 256 is SMC, 262 is MPTCP, and patches
 * that are under way want 257 for SMB Direct and 261 for QUIC.
 */
#ifndef IPPROTO_SDP
#define IPPROTO_SDP	259
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
#define SDP_TCP_FALLBACK	1	/* what TCP is used for, see below; int */
#define SDP_FALLBACK_REASON	2	/* enum sdp_fallback_reason, get only; int */
#define SDP_INFO		3	/* struct sdp_info, get only */
#define SDP_FLOW_CONTROL	4	/* engine of flow control; string */
#define SDP_ZCOPY		5	/* "off", "sync" or "async"; string */
#define SDP_ZEROCOPY		6	/* SO_ZEROCOPY on any kernel; int */
#define SDP_ZCOPY_FAULT		7	/* "copy" or "block"; string */
#define SDP_ZCOPY_RECV		8	/* "sync" or "async"; string */

/* Values of SDP_TCP_FALLBACK. */
#define SDP_FALLBACK_OFF	0	/* nothing: RDMA or an error */
#define SDP_FALLBACK_ON		1	/* whatever RDMA refuses */
#define SDP_FALLBACK_ONLY	2	/* everything: RDMA is not asked */

/* Why a socket has fallen back to TCP. */
enum sdp_fallback_reason {
	SDP_FALLBACK_NONE,		/* it has not */
	SDP_FALLBACK_NO_DEVICE,		/* no RDMA device has or reaches it */
	SDP_FALLBACK_UNREACHABLE,	/* no way to the peer was found */
	SDP_FALLBACK_REFUSED,		/* the peer rejected the request */
	SDP_FALLBACK_TIMEOUT,		/* no answer in time */
	SDP_FALLBACK_RESOURCES,		/* this host could not set it up */
	SDP_FALLBACK_ACCEPTED,		/* the client came over TCP */
	SDP_FALLBACK_CHOSEN,		/* the program wanted TCP only */
};

/* Engines of flow control. */
enum sdp_flow {
	SDP_FLOW_NONE,		/* not connected */
	SDP_FLOW_CREDIT,	/* credits for receive buffers */
	SDP_FLOW_RDMA,		/* the sender fills the receiver's ring */
	SDP_FLOW_NIC,		/* likewise, by windows that are posted */
	SDP_FLOW_AUTO,		/* wanted only: what suits, see SDP_RING_* */
};

/* Why the receive buffers of a connection have become a ring. */
enum sdp_ring_reason {
	SDP_RING_NONE,		/* they have not */
	SDP_RING_SHORT,		/* short messages came one after the other */
	SDP_RING_FULL,		/* the peer had used up its credits */
	SDP_RING_LONGER,	/* the peer asked for longer buffers */
};

/* Why a connection does not use the engine that was wanted. */
enum sdp_flow_reason {
	SDP_FLOW_REASON_NONE,	/* it does */
	SDP_FLOW_REASON_DEVICE,	/* the device cannot do it */
	SDP_FLOW_REASON_PEER,	/* the peer does not offer it */
};

/* What becomes of large writes, see Documentation/protocol/zero-copy.rst. */
enum sdp_zcopy_mode {
	SDP_ZCOPY_OFF,		/* they are copied */
	SDP_ZCOPY_SYNC,		/* they wait until the peer has read them */
	SDP_ZCOPY_ASYNC,	/* they return at once */
};

/* What has sent data on that had waited for the peer's space. */
enum sdp_flush {
	SDP_FLUSH_CALL,		/* a call of the program */
	SDP_FLUSH_INTERRUPT,	/* the interrupt that told of the space */
	SDP_FLUSH_TIMER,	/* a timer: neither came, or a cork was in for too long */
	SDP_FLUSH_PAUSE,	/* not space: more was expected, and did not come */
	__SDP_FLUSH_MAX
};

/* Room for these and later ones: struct sdp_info keeps its layout. */
#define SDP_FLUSH_ROOM	8

/* Steps in which the fill of the receive buffers is counted. */
#define SDP_FILL_STEPS	8

/*
 * What is known of a socket.  The kernel gives as much as the program has room
 * for; later versions add fields at the end, and zeros stand for what a kernel
 * does not know or a socket does not have.  Counters are those of the current
 * connection, or of the last.
 */
struct sdp_info {
	__u8	sdpi_state;		/* as in /proc/net/sdp */
	__u8	sdpi_flow;		/* enum sdp_flow */
	__u8	sdpi_port;		/* of the RDMA device */
	__u8	sdpi_probing;		/* a probe is unanswered */
	__u32	sdpi_qp_num;		/* queue pair */
	char	sdpi_device[64];	/* RDMA device, "" for none */
	__u32	sdpi_features;		/* in use with this peer: protocol/wire.rst */

	/* Flow control, in messages. */
	__u32	sdpi_tx_credits;	/* that may be sent to the peer */
	__u32	sdpi_rx_credits;	/* that the peer may send */
	__u32	sdpi_rx_buffers;	/* that this end can hold */
	__u32	sdpi_rx_buffer_size;	/* payload bytes of each */
	__u32	sdpi_max_payload;	/* bytes of a message to the peer */
	__u32	sdpi_tx_ring;		/* bytes of the send ring */

	__u32	sdpi_backlog;		/* of a listener: waiting for accept() */

	/* Queues, in bytes. */
	__u32	sdpi_unread;		/* received, not read */
	__u32	sdpi_unacked;		/* written, not known to have arrived */
	__u32	sdpi_unsent;		/* of these, not sent */

	/* Milliseconds since then. */
	__u32	sdpi_last_data_sent;
	__u32	sdpi_last_data_recv;
	__u32	sdpi_last_heard;	/* anything from the peer */

	__u64	sdpi_bytes_sent;	/* payload */
	__u64	sdpi_bytes_acked;	/* of these, known to have arrived */
	__u64	sdpi_bytes_received;
	__u64	sdpi_msgs_out;		/* all messages */
	__u64	sdpi_msgs_in;
	__u64	sdpi_data_msgs_out;	/* messages with payload */
	__u64	sdpi_data_msgs_in;
	__u64	sdpi_credit_updates;	/* messages that only return credits */
	__u64	sdpi_credit_stalls;	/* data found no credit */
	__u64	sdpi_send_waits;	/* a writer found no room */
	__u64	sdpi_probes;		/* probes sent */

	__u32	sdpi_flow_reason;	/* enum sdp_flow_reason */

	/* Engines with rings, in bytes; 0 until there is a ring. */
	__u32	sdpi_rx_ring;		/* size of the receive ring */
	__u32	sdpi_rx_ring_used;	/* of this, received and not read */
	__u32	sdpi_peer_ring;		/* size of the peer's ring */
	__u64	sdpi_coalesced;		/* writes that joined a waiting one */
	__u64	sdpi_flushes[SDP_FLUSH_ROOM];
	/* Arrivals of data by how full the receive buffers then were. */
	__u64	sdpi_fill[SDP_FILL_STEPS];

	/* Without a copy, see Documentation/protocol/zero-copy.rst: bytes of the above. */
	__u64	sdpi_zcopy_sent;
	__u64	sdpi_zcopy_received;
	__u64	sdpi_zcopy_refusals;	/* offers that no read could take */
	__u64	sdpi_zcopy_cancels;	/* offers that the peer did not read */
	__u64	sdpi_async_sent;	/* by writes that did not wait */
	__u64	sdpi_guard_refusals;	/* writes of memory without protection */
	__u64	sdpi_guard_faults;	/* pages written to before they were sent */
	__u32	sdpi_zcopy;		/* enum sdp_zcopy_mode */
	__u32	sdpi_ring_reason;	/* enum sdp_ring_reason, of sdpi_rx_ring */
	__u64	sdpi_guard_waits;	/* of these, those that had to be waited for */
	__u64	sdpi_guard_copies;	/* of these, copied after a while */
};

#endif /* _UAPI_LINUX_SDP_H */
