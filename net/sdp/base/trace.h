/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints, /sys/kernel/tracing/events/sdp: Documentation/user/tracing.rst lists
 * them for users.
 *
 * Words are stored as the numbers that they have in the code, and become text only
 * when a trace is read.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sdp

#if !defined(_SDP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SDP_TRACE_H

#include <linux/tracepoint.h>
#include <trace/misc/rdma.h>

#include "wait.h"

struct ib_send_wr;
struct ib_wc;
struct sdp_bsdh;
struct sock;

#ifndef _SDP_TRACE_WORDS
#define _SDP_TRACE_WORDS

/* Why what was held back leaves, beside enum sdp_flush: its message is full. */
#define SDP_TRACE_FULL		__SDP_FLUSH_MAX

/* Why an offer is not read. */
enum sdp_trace_refusal {
	SDP_REFUSAL_OFF,	/* this end does not take part */
	SDP_REFUSAL_SLEEPER,	/* a program sleeps that only a copy would wake */
	SDP_REFUSAL_POLL,	/* a program has asked for what is there */
	SDP_REFUSAL_READ,	/* the program's read cannot take it */
};

#endif /* _SDP_TRACE_WORDS */

TRACE_DEFINE_ENUM(TCP_ESTABLISHED);
TRACE_DEFINE_ENUM(TCP_SYN_SENT);
TRACE_DEFINE_ENUM(TCP_SYN_RECV);
TRACE_DEFINE_ENUM(TCP_FIN_WAIT1);
TRACE_DEFINE_ENUM(TCP_FIN_WAIT2);
TRACE_DEFINE_ENUM(TCP_CLOSE);
TRACE_DEFINE_ENUM(TCP_CLOSE_WAIT);
TRACE_DEFINE_ENUM(TCP_LAST_ACK);
TRACE_DEFINE_ENUM(TCP_LISTEN);
TRACE_DEFINE_ENUM(TCP_CLOSING);

#define sdp_show_state(state)				\
	__print_symbolic(state,				\
		{ TCP_ESTABLISHED,	"ESTABLISHED" },	\
		{ TCP_SYN_SENT,		"SYN_SENT" },	\
		{ TCP_SYN_RECV,		"SYN_RECV" },	\
		{ TCP_FIN_WAIT1,	"FIN_WAIT1" },	\
		{ TCP_FIN_WAIT2,	"FIN_WAIT2" },	\
		{ TCP_CLOSE,		"CLOSE" },	\
		{ TCP_CLOSE_WAIT,	"CLOSE_WAIT" },	\
		{ TCP_LAST_ACK,		"LAST_ACK" },	\
		{ TCP_LISTEN,		"LISTEN" },	\
		{ TCP_CLOSING,		"CLOSING" },	\
		{ SDP_TIME_WAIT,	"TIME_WAIT" })

TRACE_DEFINE_ENUM(SDP_MID_HELLO);
TRACE_DEFINE_ENUM(SDP_MID_HELLOACK);
TRACE_DEFINE_ENUM(SDP_MID_DISCONN);
TRACE_DEFINE_ENUM(SDP_MID_ABORTCONN);
TRACE_DEFINE_ENUM(SDP_MID_SENDSM);
TRACE_DEFINE_ENUM(SDP_MID_RDMAWRCOMPL);
TRACE_DEFINE_ENUM(SDP_MID_RDMARDCOMPL);
TRACE_DEFINE_ENUM(SDP_MID_MODECHANGE);
TRACE_DEFINE_ENUM(SDP_MID_SRCAVAILCANCEL);
TRACE_DEFINE_ENUM(SDP_MID_SINKAVAILCANCEL);
TRACE_DEFINE_ENUM(SDP_MID_SINKCANCELACK);
TRACE_DEFINE_ENUM(SDP_MID_CHRCVBUF);
TRACE_DEFINE_ENUM(SDP_MID_CHRCVBUFACK);
TRACE_DEFINE_ENUM(SDP_MID_SUSPCOMM);
TRACE_DEFINE_ENUM(SDP_MID_SUSPCOMMACK);
TRACE_DEFINE_ENUM(SDP_MID_RINGAVAIL);
TRACE_DEFINE_ENUM(SDP_MID_RINGSPACE);
TRACE_DEFINE_ENUM(SDP_MID_RINGDATA);
TRACE_DEFINE_ENUM(SDP_MID_SINKAVAIL);
TRACE_DEFINE_ENUM(SDP_MID_SRCAVAIL);
TRACE_DEFINE_ENUM(SDP_MID_DATA);

#define sdp_show_mid(mid)						\
	__print_symbolic(mid,						\
		{ SDP_MID_HELLO,		"Hello" },		\
		{ SDP_MID_HELLOACK,		"HelloAck" },		\
		{ SDP_MID_DISCONN,		"DisConn" },		\
		{ SDP_MID_ABORTCONN,		"AbortConn" },		\
		{ SDP_MID_SENDSM,		"SendSm" },		\
		{ SDP_MID_RDMAWRCOMPL,		"RdmaWrCompl" },	\
		{ SDP_MID_RDMARDCOMPL,		"RdmaRdCompl" },	\
		{ SDP_MID_MODECHANGE,		"ModeChange" },		\
		{ SDP_MID_SRCAVAILCANCEL,	"SrcAvailCancel" },	\
		{ SDP_MID_SINKAVAILCANCEL,	"SinkAvailCancel" },	\
		{ SDP_MID_SINKCANCELACK,	"SinkCancelAck" },	\
		{ SDP_MID_CHRCVBUF,		"ChRcvBuf" },		\
		{ SDP_MID_CHRCVBUFACK,		"ChRcvBufAck" },	\
		{ SDP_MID_SUSPCOMM,		"SuspComm" },		\
		{ SDP_MID_SUSPCOMMACK,		"SuspCommAck" },	\
		{ SDP_MID_RINGAVAIL,		"RingAvail" },		\
		{ SDP_MID_RINGSPACE,		"RingSpace" },		\
		{ SDP_MID_RINGDATA,		"RingData" },		\
		{ SDP_MID_SINKAVAIL,		"SinkAvail" },		\
		{ SDP_MID_SRCAVAIL,		"SrcAvail" },		\
		{ SDP_MID_DATA,			"Data" })

#define sdp_show_flags(flags)			\
	__print_flags(flags, "|",		\
		{ SDP_OOB_PRES,	"OOB_PRES" },	\
		{ SDP_OOB_PEND,	"OOB_PEND" },	\
		{ SDP_REQ_PIPE,	"REQ_PIPE" })

TRACE_DEFINE_ENUM(SDP_RING_SHORT);
TRACE_DEFINE_ENUM(SDP_RING_FULL);
TRACE_DEFINE_ENUM(SDP_RING_LONGER);

#define sdp_show_ring(why)				\
	__print_symbolic(why,				\
			 { SDP_RING_SHORT,  "short" },	\
			 { SDP_RING_FULL,   "full" },	\
			 { SDP_RING_LONGER, "longer" })

TRACE_DEFINE_ENUM(SDP_WAIT_NONE);
TRACE_DEFINE_ENUM(SDP_WAIT_WRITE);
TRACE_DEFINE_ENUM(SDP_WAIT_CORK);
TRACE_DEFINE_ENUM(SDP_WAIT_MORE);
TRACE_DEFINE_ENUM(SDP_WAIT_BURST);
TRACE_DEFINE_ENUM(SDP_WAIT_NAGLE);
TRACE_DEFINE_ENUM(SDP_WAIT_ZCOPY);
TRACE_DEFINE_ENUM(SDP_WAIT_QUEUE);
TRACE_DEFINE_ENUM(SDP_WAIT_CREDITS);
TRACE_DEFINE_ENUM(SDP_WAIT_SPACE);
TRACE_DEFINE_ENUM(SDP_WAIT_CALL);

#define sdp_show_wait(wait)				\
	__print_symbolic(wait,				\
		{ SDP_WAIT_NONE,		"none" },	\
		{ SDP_WAIT_WRITE,	"write" },	\
		{ SDP_WAIT_CORK,		"cork" },	\
		{ SDP_WAIT_MORE,		"more" },	\
		{ SDP_WAIT_BURST,	"burst" },	\
		{ SDP_WAIT_NAGLE,	"nagle" },	\
		{ SDP_WAIT_ZCOPY,	"zcopy" },	\
		{ SDP_WAIT_QUEUE,	"queue" },	\
		{ SDP_WAIT_CREDITS,	"credits" },	\
		{ SDP_WAIT_SPACE,	"space" },	\
		{ SDP_WAIT_CALL,		"call" })

TRACE_DEFINE_ENUM(SDP_FLUSH_CALL);
TRACE_DEFINE_ENUM(SDP_FLUSH_INTERRUPT);
TRACE_DEFINE_ENUM(SDP_FLUSH_TIMER);
TRACE_DEFINE_ENUM(SDP_FLUSH_PAUSE);
TRACE_DEFINE_ENUM(__SDP_FLUSH_MAX);

#define sdp_show_cause(cause)				\
	__print_symbolic(cause,				\
		{ SDP_FLUSH_CALL,	"call" },	\
		{ SDP_FLUSH_INTERRUPT,	"interrupt" },	\
		{ SDP_FLUSH_TIMER,	"timer" },	\
		{ SDP_FLUSH_PAUSE,	"pause" },	\
		{ SDP_TRACE_FULL,	"full" })

TRACE_DEFINE_ENUM(SDP_REFUSAL_OFF);
TRACE_DEFINE_ENUM(SDP_REFUSAL_SLEEPER);
TRACE_DEFINE_ENUM(SDP_REFUSAL_POLL);
TRACE_DEFINE_ENUM(SDP_REFUSAL_READ);

#define sdp_show_refusal(why)				\
	__print_symbolic(why,				\
		{ SDP_REFUSAL_OFF,	"off" },	\
		{ SDP_REFUSAL_SLEEPER,	"sleeper" },	\
		{ SDP_REFUSAL_POLL,	"poll" },	\
		{ SDP_REFUSAL_READ,	"read" })

TRACE_DEFINE_ENUM(SDP_FALLBACK_NO_DEVICE);
TRACE_DEFINE_ENUM(SDP_FALLBACK_UNREACHABLE);
TRACE_DEFINE_ENUM(SDP_FALLBACK_REFUSED);
TRACE_DEFINE_ENUM(SDP_FALLBACK_TIMEOUT);
TRACE_DEFINE_ENUM(SDP_FALLBACK_RESOURCES);
TRACE_DEFINE_ENUM(SDP_FALLBACK_ACCEPTED);
TRACE_DEFINE_ENUM(SDP_FALLBACK_CHOSEN);

#define sdp_show_fallback(reason)				\
	__print_symbolic(reason,				\
		{ SDP_FALLBACK_NO_DEVICE,	"no-device" },	\
		{ SDP_FALLBACK_UNREACHABLE,	"unreachable" },	\
		{ SDP_FALLBACK_REFUSED,		"refused" },	\
		{ SDP_FALLBACK_TIMEOUT,		"timeout" },	\
		{ SDP_FALLBACK_RESOURCES,	"resources" },	\
		{ SDP_FALLBACK_ACCEPTED,	"accepted" },	\
		{ SDP_FALLBACK_CHOSEN,		"chosen" })

TRACE_DEFINE_ENUM(IB_WR_RDMA_WRITE);
TRACE_DEFINE_ENUM(IB_WR_RDMA_WRITE_WITH_IMM);
TRACE_DEFINE_ENUM(IB_WR_SEND);
TRACE_DEFINE_ENUM(IB_WR_SEND_WITH_IMM);
TRACE_DEFINE_ENUM(IB_WR_SEND_WITH_INV);
TRACE_DEFINE_ENUM(IB_WR_LOCAL_INV);
TRACE_DEFINE_ENUM(IB_WR_REG_MR);

/* Those that are posted here; the RDMA core posts reads. */
#define sdp_show_wr_opcode(opcode)					\
	__print_symbolic(opcode,					\
		{ IB_WR_RDMA_WRITE,		"RDMA_WRITE" },		\
		{ IB_WR_RDMA_WRITE_WITH_IMM,	"RDMA_WRITE_WITH_IMM" },	\
		{ IB_WR_SEND,			"SEND" },		\
		{ IB_WR_SEND_WITH_IMM,		"SEND_WITH_IMM" },	\
		{ IB_WR_SEND_WITH_INV,		"SEND_WITH_INV" },	\
		{ IB_WR_LOCAL_INV,		"LOCAL_INV" },		\
		{ IB_WR_REG_MR,			"REG_MR" })

TRACE_DEFINE_ENUM(IB_WC_SEND);
TRACE_DEFINE_ENUM(IB_WC_RDMA_WRITE);
TRACE_DEFINE_ENUM(IB_WC_RDMA_READ);
TRACE_DEFINE_ENUM(IB_WC_LOCAL_INV);
TRACE_DEFINE_ENUM(IB_WC_REG_MR);
TRACE_DEFINE_ENUM(IB_WC_RECV);
TRACE_DEFINE_ENUM(IB_WC_RECV_RDMA_WITH_IMM);

/* A completion in error does not say of what it is. */
#define SDP_TRACE_NO_OPCODE	0xff

#define sdp_show_wc_opcode(opcode)					\
	__print_symbolic(opcode,					\
		{ IB_WC_SEND,			"SEND" },		\
		{ IB_WC_RDMA_WRITE,		"RDMA_WRITE" },		\
		{ IB_WC_RDMA_READ,		"RDMA_READ" },		\
		{ IB_WC_LOCAL_INV,		"LOCAL_INV" },		\
		{ IB_WC_REG_MR,			"REG_MR" },		\
		{ IB_WC_RECV,			"RECV" },		\
		{ IB_WC_RECV_RDMA_WITH_IMM,	"RECV_RDMA_WITH_IMM" },	\
		{ SDP_TRACE_NO_OPCODE,		"unknown" })

/* A socket enters another state; emitted before that, so that it has its old one. */
TRACE_EVENT_CONDITION(sdp_state,
		      TP_PROTO(const struct sock *sk, int state),
		      TP_ARGS(sk, state),
		      TP_CONDITION(sk->sk_state != state),
		      TP_STRUCT__entry(__field(const void *, skaddr)
				       __field(u16, sport)
				       __field(u16, dport)
				       __field(u8, oldstate)
				       __field(u8, newstate)),
		      TP_fast_assign(__entry->skaddr = sk;
				     __entry->sport = ntohs(sdp_base(sk)->local.port);
				     __entry->dport = ntohs(sdp_base(sk)->peer.port);
				     __entry->oldstate = sk->sk_state;
				     __entry->newstate = state),
		      TP_printk("sk=%p sport=%u dport=%u old=%s new=%s",
				__entry->skaddr, __entry->sport, __entry->dport,
				sdp_show_state(__entry->oldstate),
				sdp_show_state(__entry->newstate)));

/* A message, and how many bytes of payload it has, written into a ring or not. */
DECLARE_EVENT_CLASS(sdp_msg,
		    TP_PROTO(const struct sock *sk, const struct sdp_bsdh *bsdh, u32 len),
		    TP_ARGS(sk, bsdh, len),
		    TP_STRUCT__entry(__field(const void *, skaddr)
				     __field(u16, sport)
				     __field(u16, dport)
				     __field(u32, len)
				     __field(u32, mseq)
				     __field(u32, mseq_ack)
				     __field(u16, bufs)
				     __field(u8, mid)
				     __field(u8, flags)),
		    TP_fast_assign(__entry->skaddr = sk;
				   __entry->sport = ntohs(sdp_base(sk)->local.port);
				   __entry->dport = ntohs(sdp_base(sk)->peer.port);
				   __entry->len = len;
				   __entry->mseq = bsdh->mseq;
				   __entry->mseq_ack = bsdh->mseq_ack;
				   __entry->bufs = bsdh->bufs;
				   __entry->mid = bsdh->mid;
				   __entry->flags = bsdh->flags),
		    TP_printk("sk=%p sport=%u dport=%u mid=%s len=%u flags=%s bufs=%u mseq=%u mseq_ack=%u",
			      __entry->skaddr, __entry->sport, __entry->dport,
			      sdp_show_mid(__entry->mid), __entry->len,
			      __entry->flags ? sdp_show_flags(__entry->flags) : "none",
			      __entry->bufs,
			      __entry->mseq, __entry->mseq_ack));

DEFINE_EVENT(sdp_msg, sdp_msg_out,
	     TP_PROTO(const struct sock *sk, const struct sdp_bsdh *bsdh, u32 len),
	     TP_ARGS(sk, bsdh, len));

DEFINE_EVENT(sdp_msg, sdp_msg_in,
	     TP_PROTO(const struct sock *sk, const struct sdp_bsdh *bsdh, u32 len),
	     TP_ARGS(sk, bsdh, len));

/* Data begins to wait for the peer. */
TRACE_EVENT(sdp_credit_stall,
	    TP_PROTO(const struct sock *sk, const char *engine, u8 wait, u32 credits,
		     u32 space),
	    TP_ARGS(sk, engine, wait, credits, space),
	    TP_STRUCT__entry(__field(const void *, skaddr)
			     __field(u16, sport)
			     __field(u16, dport)
			     __field(u32, credits)
			     __field(u32, space)
			     __array(char, engine, SDP_NAME_MAX)
			     __field(u8, missing)),
	    TP_fast_assign(__entry->skaddr = sk;
			   __entry->sport = ntohs(sdp_base(sk)->local.port);
			   __entry->dport = ntohs(sdp_base(sk)->peer.port);
			   __entry->credits = credits;
			   __entry->space = space;
			   strscpy(__entry->engine, engine, SDP_NAME_MAX);
			   __entry->missing = wait),
	    TP_printk("sk=%p sport=%u dport=%u engine=%s missing=%s credits=%u space=%u",
		      __entry->skaddr, __entry->sport, __entry->dport,
		      __entry->engine, sdp_show_wait(__entry->missing),
		      __entry->credits, __entry->space));

/* A ring takes the place of receive buffers. */
TRACE_EVENT(sdp_ring,
	    TP_PROTO(const struct sock *sk, u32 bytes, u8 why),
	    TP_ARGS(sk, bytes, why),
	    TP_STRUCT__entry(__field(const void *, skaddr)
			     __field(u16, sport)
			     __field(u16, dport)
			     __field(u32, bytes)
			     __field(u8, why)),
	    TP_fast_assign(__entry->skaddr = sk;
			   __entry->sport = ntohs(sdp_base(sk)->local.port);
			   __entry->dport = ntohs(sdp_base(sk)->peer.port);
			   __entry->bytes = bytes;
			   __entry->why = why),
	    TP_printk("sk=%p sport=%u dport=%u bytes=%u why=%s",
		      __entry->skaddr, __entry->sport, __entry->dport,
		      __entry->bytes, sdp_show_ring(__entry->why)));

/* Bytes are appended to a message that was not empty: it has so many now. */
TRACE_EVENT_CONDITION(sdp_coalesce,
		      TP_PROTO(const struct sock *sk, u32 bytes, u32 len),
		      TP_ARGS(sk, bytes, len),
		      TP_CONDITION(bytes != len),
		      TP_STRUCT__entry(__field(const void *, skaddr)
				       __field(u16, sport)
				       __field(u16, dport)
				       __field(u32, bytes)
				       __field(u32, len)),
		      TP_fast_assign(__entry->skaddr = sk;
				     __entry->sport = ntohs(sdp_base(sk)->local.port);
				     __entry->dport = ntohs(sdp_base(sk)->peer.port);
				     __entry->bytes = bytes;
				     __entry->len = len),
		      TP_printk("sk=%p sport=%u dport=%u bytes=%u len=%u",
				__entry->skaddr, __entry->sport, __entry->dport,
				__entry->bytes, __entry->len));

/* What has waited leaves, be it for the peer's space or for company. */
TRACE_EVENT(sdp_flush,
	    TP_PROTO(const struct sock *sk, u32 unsent, u8 cause, u8 wait),
	    TP_ARGS(sk, unsent, cause, wait),
	    TP_STRUCT__entry(__field(const void *, skaddr)
			     __field(u16, sport)
			     __field(u16, dport)
			     __field(u32, unsent)
			     __field(u8, cause)
			     __field(u8, wait)),
	    TP_fast_assign(__entry->skaddr = sk;
			   __entry->sport = ntohs(sdp_base(sk)->local.port);
			   __entry->dport = ntohs(sdp_base(sk)->peer.port);
			   __entry->unsent = unsent;
			   __entry->cause = cause;
			   __entry->wait = wait),
	    TP_printk("sk=%p sport=%u dport=%u cause=%s waited=%s unsent=%u",
		      __entry->skaddr, __entry->sport, __entry->dport,
		      sdp_show_cause(__entry->cause),
		      sdp_show_wait(__entry->wait), __entry->unsent));

/* The peer is let read memory; a call waits for that, or none does. */
TRACE_EVENT(sdp_zcopy_offer,
	    TP_PROTO(const struct sock *sk, u32 len, u32 rkey, bool async),
	    TP_ARGS(sk, len, rkey, async),
	    TP_STRUCT__entry(__field(const void *, skaddr)
			     __field(u16, sport)
			     __field(u16, dport)
			     __field(u32, len)
			     __field(u32, rkey)
			     __field(bool, async)),
	    TP_fast_assign(__entry->skaddr = sk;
			   __entry->sport = ntohs(sdp_base(sk)->local.port);
			   __entry->dport = ntohs(sdp_base(sk)->peer.port);
			   __entry->len = len;
			   __entry->rkey = rkey;
			   __entry->async = async),
	    TP_printk("sk=%p sport=%u dport=%u mode=%s len=%u rkey=0x%x",
		      __entry->skaddr, __entry->sport, __entry->dport,
		      __entry->async ? "async" : "sync",
		      __entry->len, __entry->rkey));

/* An RDMA read of what the peer offers: so much of what was left of that. */
TRACE_EVENT(sdp_zcopy_read,
	    TP_PROTO(const struct sock *sk, u32 len, u32 rkey, u32 left),
	    TP_ARGS(sk, len, rkey, left),
	    TP_STRUCT__entry(__field(const void *, skaddr)
			     __field(u16, sport)
			     __field(u16, dport)
			     __field(u32, len)
			     __field(u32, rkey)
			     __field(u32, left)),
	    TP_fast_assign(__entry->skaddr = sk;
			   __entry->sport = ntohs(sdp_base(sk)->local.port);
			   __entry->dport = ntohs(sdp_base(sk)->peer.port);
			   __entry->len = len;
			   __entry->rkey = rkey;
			   __entry->left = left),
	    TP_printk("sk=%p sport=%u dport=%u len=%u rkey=0x%x left=%u",
		      __entry->skaddr, __entry->sport, __entry->dport,
		      __entry->len, __entry->rkey, __entry->left));

/* So many of the peer's offers are not read to their end, but come by copy. */
TRACE_EVENT(sdp_zcopy_refuse,
	    TP_PROTO(const struct sock *sk, u32 offers, u8 why),
	    TP_ARGS(sk, offers, why),
	    TP_STRUCT__entry(__field(const void *, skaddr)
			     __field(u16, sport)
			     __field(u16, dport)
			     __field(u32, offers)
			     __field(u8, why)),
	    TP_fast_assign(__entry->skaddr = sk;
			   __entry->sport = ntohs(sdp_base(sk)->local.port);
			   __entry->dport = ntohs(sdp_base(sk)->peer.port);
			   __entry->offers = offers;
			   __entry->why = why),
	    TP_printk("sk=%p sport=%u dport=%u why=%s offers=%u",
		      __entry->skaddr, __entry->sport, __entry->dport,
		      sdp_show_refusal(__entry->why), __entry->offers));

/* A write is over whose memory the program has touched too early. */
TRACE_EVENT_CONDITION(sdp_guard_fault,
		      TP_PROTO(const struct sock *sk, u32 pages, u32 touched, u32 waited,
			       u32 copied),
		      TP_ARGS(sk, pages, touched, waited, copied),
		      TP_CONDITION(touched),
		      TP_STRUCT__entry(__field(const void *, skaddr)
				       __field(u16, sport)
				       __field(u16, dport)
				       __field(u32, pages)
				       __field(u32, touched)
				       __field(u32, waited)
				       __field(u32, copied)),
		      TP_fast_assign(__entry->skaddr = sk;
				     __entry->sport = ntohs(sdp_base(sk)->local.port);
				     __entry->dport = ntohs(sdp_base(sk)->peer.port);
				     __entry->pages = pages;
				     __entry->touched = touched;
				     __entry->waited = waited;
				     __entry->copied = copied),
		      TP_printk("sk=%p sport=%u dport=%u pages=%u touched=%u waited=%u copied=%u",
				__entry->skaddr, __entry->sport, __entry->dport,
				__entry->pages, __entry->touched, __entry->waited,
				__entry->copied));

/* TCP takes over; the ports are those of its socket. */
TRACE_EVENT(sdp_fallback,
	    TP_PROTO(const struct sock *sk, const struct sock *tsk, u8 reason),
	    TP_ARGS(sk, tsk, reason),
	    TP_STRUCT__entry(__field(const void *, skaddr)
			     __field(u16, sport)
			     __field(u16, dport)
			     __field(u8, reason)),
	    TP_fast_assign(__entry->skaddr = sk;
			   __entry->sport = tsk->sk_num;
			   __entry->dport = ntohs(tsk->sk_dport);
			   __entry->reason = reason),
	    TP_printk("sk=%p sport=%u dport=%u reason=%s",
		      __entry->skaddr, __entry->sport, __entry->dport,
		      sdp_show_fallback(__entry->reason)));

/* A work request is about to be posted to the send queue. */
TRACE_EVENT(sdp_post,
	    TP_PROTO(const struct sock *sk, const struct ib_send_wr *wr),
	    TP_ARGS(sk, wr),
	    TP_STRUCT__entry(__field(const void *, skaddr)
			     __field(u16, sport)
			     __field(u16, dport)
			     __field(u32, len)
			     __field(u8, opcode)
			     __field(bool, signaled)
			     __field(bool, inlined)),
	    TP_fast_assign(__entry->skaddr = sk;
			   __entry->sport = ntohs(sdp_base(sk)->local.port);
			   __entry->dport = ntohs(sdp_base(sk)->peer.port);
			   __entry->len = sdp_trace_wr_len(wr);
			   __entry->opcode = wr->opcode;
			   __entry->signaled = wr->send_flags & IB_SEND_SIGNALED;
			   __entry->inlined = wr->send_flags & IB_SEND_INLINE),
	    TP_printk("sk=%p sport=%u dport=%u opcode=%s len=%u signaled=%d inline=%d",
		      __entry->skaddr, __entry->sport, __entry->dport,
		      sdp_show_wr_opcode(__entry->opcode), __entry->len,
		      __entry->signaled, __entry->inlined));

/* A completion; how many bytes it is about is known of what was received. */
TRACE_EVENT(sdp_completion,
	    TP_PROTO(const struct sock *sk, const struct ib_wc *wc, bool recv),
	    TP_ARGS(sk, wc, recv),
	    TP_STRUCT__entry(__field(const void *, skaddr)
			     __field(u16, sport)
			     __field(u16, dport)
			     __field(u32, bytes)
			     __field(u8, opcode)
			     __field(u8, status)
			     __field(bool, recv)),
	    TP_fast_assign(__entry->skaddr = sk;
			   __entry->sport = ntohs(sdp_base(sk)->local.port);
			   __entry->dport = ntohs(sdp_base(sk)->peer.port);
			   __entry->bytes = recv && !wc->status ? wc->byte_len : 0;
			   __entry->opcode = wc->status ? SDP_TRACE_NO_OPCODE : wc->opcode;
			   __entry->status = wc->status;
			   __entry->recv = recv),
	    TP_printk("sk=%p sport=%u dport=%u queue=%s opcode=%s status=%s bytes=%u",
		      __entry->skaddr, __entry->sport, __entry->dport,
		      __entry->recv ? "receive" : "send",
		      sdp_show_wc_opcode(__entry->opcode),
		      rdma_show_wc_status(__entry->status), __entry->bytes));

#endif /* _SDP_TRACE_H */

/* Found by -I of the folder above, as every header of another folder is. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH base
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
