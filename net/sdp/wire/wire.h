/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The messages of the Sockets Direct Protocol (InfiniBand Architecture
 * Specification, volume 1, annex A4): encode and decode, bounds-checked.
 * Nothing else in the module reads or writes a byte of a message.
 *
 * Pure: also compiled in user space by the unit tests and the fuzzer.
 * The layout is described in Documentation/protocol/wire.rst.
 */
#ifndef _SDP_WIRE_H
#define _SDP_WIRE_H

#include <linux/types.h>

/* Every message starts with the Base Sockets Direct Header. */
#define SDP_BSDH_LEN		16
/* The longest extended header, that of SinkAvail, behind the base header. */
#define SDP_MSG_HDR_MAX		(SDP_BSDH_LEN + SDP_SINKAH_LEN)

/* Lengths of the extended headers, without the base header. */
#define SDP_RWCH_LEN		4	/* RdmaWrCompl */
#define SDP_RRCH_LEN		4	/* RdmaRdCompl */
#define SDP_MCH_LEN		4	/* ModeChange */
#define SDP_CRBH_LEN		4	/* ChRcvBuf */
#define SDP_CRBAH_LEN		4	/* ChRcvBufAck */
#define SDP_SUSPCH_LEN		8	/* SuspComm */
#define SDP_SINKAH_LEN		20	/* SinkAvail */
#define SDP_SRCAH_LEN		16	/* SrcAvail */
#define SDP_RAVAH_LEN		20	/* RingAvail, our own */
#define SDP_RSPCH_LEN		4	/* RingSpace, our own */
#define SDP_RDATH_LEN		4	/* RingData, our own */

/* Private data of the connection manager's REQ, as rdma_cm leaves it to us. */
#define SDP_REQ_PRIVATE_LEN	56
/* Private data of REP. */
#define SDP_REP_PRIVATE_LEN	196
/* Hello as we send it: base header, first half of HH, extension block, maybe a token. */
#define SDP_HELLO_LEN		40
#define SDP_HELLO_TOKEN_LEN	48
/* HelloAck fills REP. */
#define SDP_HELLO_ACK_LEN	SDP_REP_PRIVATE_LEN
/* What we put into REJ. */
#define SDP_REJECT_LEN		8

/* Major and minor version in a nibble each. */
#define SDP_VERSION		0x22

/*
 * Receive buffer sizes that make sense, base header included.  A message can
 * never be longer.
 */
#define SDP_RCV_SIZE_MIN	(SDP_BSDH_LEN + 1024U)
#define SDP_RCV_SIZE_MAX	0x40000000U

/* Data is sent only while more than two credits are left, see flow/credit.h. */
#define SDP_PEER_BUFS_MIN	3

/* Message identifiers. */
enum sdp_mid {
	SDP_MID_HELLO		= 0x00,
	SDP_MID_HELLOACK	= 0x01,
	SDP_MID_DISCONN		= 0x02,
	SDP_MID_ABORTCONN	= 0x03,
	SDP_MID_SENDSM		= 0x04,
	SDP_MID_RDMAWRCOMPL	= 0x05,
	SDP_MID_RDMARDCOMPL	= 0x06,
	SDP_MID_MODECHANGE	= 0x07,
	SDP_MID_SRCAVAILCANCEL	= 0x08,
	SDP_MID_SINKAVAILCANCEL	= 0x09,
	SDP_MID_SINKCANCELACK	= 0x0a,
	SDP_MID_CHRCVBUF	= 0x0b,
	SDP_MID_CHRCVBUFACK	= 0x0c,
	SDP_MID_SUSPCOMM	= 0x0d,
	SDP_MID_SUSPCOMMACK	= 0x0e,
	/* Ours, from the reserved ones; only if both Hellos said so. */
	SDP_MID_RINGAVAIL	= 0x80,
	SDP_MID_RINGSPACE	= 0x81,
	SDP_MID_RINGDATA	= 0x82,
	SDP_MID_SINKAVAIL	= 0xfd,
	SDP_MID_SRCAVAIL	= 0xfe,
	SDP_MID_DATA		= 0xff,
};

/* Flags of the base header. */
#define SDP_OOB_PRES		0x01	/* the last byte is urgent */
#define SDP_OOB_PEND		0x02	/* urgent data follows */
#define SDP_REQ_PIPE		0x04	/* asks for pipelined mode */

/* Capabilities in Hello and HelloAck, 4 bits. */
#define SDP_CAP_INVALIDATE	0x1
#define SDP_CAP_EXT_MAXADVERTS	0x2

/* Features in our extension block; both sides must offer one to use it. */
#define SDP_FEAT_CREDIT		0x0001	/* flow control by credits */
#define SDP_FEAT_RDMA		0x0002	/* flow control by RDMA into a ring */
#define SDP_FEAT_NIC		0x0004	/* flow control by the device */
#define SDP_FEAT_MULTI_ADVERT	0x0008	/* several SrcAvail at once */
#define SDP_FEAT_IMMEDIATE	0x0010	/* headers as immediate data */
#define SDP_FEAT_IW_IMMEDIATE	0x0020	/* the same with iWARP, but for writes */
#define SDP_FEAT_SINK		0x0040	/* memory to be written to (SinkAvail) */
#define SDP_FEAT_LOCAL		0x0080	/* both ends are in one kernel, see stream/pair.c */

/* Why a connection was rejected, in our block in REJ. */
enum sdp_reject_reason {
	SDP_REJECT_NONE,	/* nothing was said */
	SDP_REJECT_BACKLOG,	/* the listener is full, try again */
	SDP_REJECT_VERSION,	/* another major version of the protocol */
	SDP_REJECT_RESOURCES,	/* no memory or no queue pair, do not retry */
	SDP_REJECT_PROTOCOL,	/* the Hello was malformed */
};

/**
 * struct sdp_bsdh - Base Sockets Direct Header, in host order
 * @mid: enum sdp_mid
 * @flags: SDP_OOB_PRES, SDP_OOB_PEND, SDP_REQ_PIPE
 * @bufs: receive buffers that the sender has posted, not counting those which
 *	messages after @mseq_ack will consume
 * @len: length of the message, all headers included
 * @mseq: sequence number of this message
 * @mseq_ack: sequence number of the last message received
 */
struct sdp_bsdh {
	u8 mid;
	u8 flags;
	u16 bufs;
	u32 len;
	u32 mseq;
	u32 mseq_ack;
};

/**
 * struct sdp_srcah - SrcAvail: memory that the peer may read from
 * @len: bytes, those that follow in the message included
 * @rkey: key for the RDMA read
 * @vaddr: remote address of the first byte
 */
struct sdp_srcah {
	u32 len;
	u32 rkey;
	u64 vaddr;
};

/**
 * struct sdp_sinkah - SinkAvail: memory that the peer may write to
 * @size: bytes
 * @rkey: key for the RDMA write
 * @vaddr: remote address of the first byte
 * @non_disc: count of messages with payload received, wraps
 */
struct sdp_sinkah {
	u32 size;
	u32 rkey;
	u64 vaddr;
	u32 non_disc;
};

/**
 * struct sdp_ravah - RingAvail: a receive ring that the peer may write to
 * @size: bytes
 * @piece: least bytes of space that are advertised at once
 * @rkey: key for the RDMA writes
 * @vaddr: remote address of the first byte
 */
struct sdp_ravah {
	u32 size;
	u32 piece;
	u32 rkey;
	u64 vaddr;
};

/* Modes of a half connection, in ModeChange. */
enum sdp_mode {
	SDP_MODE_BUFFERED,
	SDP_MODE_COMBINED,
	SDP_MODE_PIPELINED,
};

/**
 * struct sdp_mch - ModeChange
 * @mode: enum sdp_mode
 * @half: which half of the connection changes, the bit of the header
 */
struct sdp_mch {
	u8 mode;
	bool half;
};

/**
 * struct sdp_msg - a decoded message
 * @bsdh: base header
 * @rdma_len: RdmaWrCompl, RdmaRdCompl: bytes transferred
 * @mch: ModeChange
 * @rcv_size: ChRcvBuf, ChRcvBufAck: receive buffer size, base header included
 * @service_id: SuspComm: where to connect again
 * @sinkah: SinkAvail
 * @srcah: SrcAvail
 * @ravah: RingAvail
 * @ring_tail: RingSpace: position in the ring up to which all was read
 * @ring_len: RingData: bytes that were written into the ring
 * @payload_off: where the payload starts, counted from behind the base header
 * @payload_len: bytes of payload, 0 unless Data, SrcAvail or SinkAvail
 * @ends_key: a key is invalidated at the receiver when the message arrives; no
 *	part of its bytes
 * @key: which one
 */
struct sdp_msg {
	struct sdp_bsdh bsdh;
	union {
		u32 rdma_len;
		struct sdp_mch mch;
		u32 rcv_size;
		u64 service_id;
		struct sdp_sinkah sinkah;
		struct sdp_srcah srcah;
		struct sdp_ravah ravah;
		u32 ring_tail;
		u32 ring_len;
	};
	u32 payload_off;
	u32 payload_len;
	bool ends_key;
	u32 key;
};

/**
 * struct sdp_hello - what the active side says when it connects
 * @bufs: receive buffers posted, the peer's first credits
 * @version: SDP_VERSION
 * @ip_version: 4 or 6
 * @cap: SDP_CAP_*
 * @max_adverts: SrcAvail advertisements that the sender can hold, not 0
 * @des_remote_rcv_size: wish for the peer's receive buffers, bytes, base
 *	header included
 * @local_rcv_size: size of the sender's receive buffers, likewise
 * @src_port: TCP port of the sender, host order
 * @has_ext: our extension block is present
 * @ext_features: SDP_FEAT_*, 0 without the block
 * @token: by which the sender's kernel knows its own Hello, 0 = none
 */
struct sdp_hello {
	u16 bufs;
	u8 version;
	u8 ip_version;
	u8 cap;
	u8 max_adverts;
	u32 des_remote_rcv_size;
	u32 local_rcv_size;
	u16 src_port;
	bool has_ext;
	u16 ext_features;
	u64 token;
};

/**
 * struct sdp_hello_ack - what the passive side answers
 * @bufs: receive buffers posted, the peer's first credits
 * @version: SDP_VERSION
 * @cap: SDP_CAP_*
 * @max_adverts: SrcAvail advertisements that the sender can hold
 * @act_rcv_size: size of the sender's receive buffers, bytes, base header
 *	included
 * @has_ext: our extension block is present
 * @ext_features: SDP_FEAT_*, 0 without the block
 */
struct sdp_hello_ack {
	u16 bufs;
	u8 version;
	u8 cap;
	u8 max_adverts;
	u32 act_rcv_size;
	bool has_ext;
	u16 ext_features;
};

/* Whether receive buffers may have that size, base header included. */
static inline bool sdp_rcv_size_ok(u32 size)
{
	return size >= SDP_RCV_SIZE_MIN && size <= SDP_RCV_SIZE_MAX;
}

void sdp_bsdh_encode(const struct sdp_bsdh *bsdh, u8 out[SDP_BSDH_LEN]);
void sdp_bsdh_decode(const u8 *buf, struct sdp_bsdh *bsdh);

u32 sdp_msg_encode(const struct sdp_msg *msg, u8 *buf, u32 size);
int sdp_msg_parse(const u8 *bsdh, const u8 *body, u32 body_len,
		  struct sdp_msg *msg);

u32 sdp_imm_encode(const struct sdp_bsdh *bsdh);
void sdp_imm_parse(u32 imm, u32 len, u32 mseq, u32 mseq_ack,
		   struct sdp_msg *msg);

/* setup.c */
u32 sdp_hello_encode(const struct sdp_hello *hello, u8 *buf, u32 size);
int sdp_hello_parse(const u8 *buf, u32 len, struct sdp_hello *hello);

u32 sdp_hello_ack_encode(const struct sdp_hello_ack *ack, u8 *buf, u32 size);
int sdp_hello_ack_parse(const u8 *buf, u32 len, struct sdp_hello_ack *ack);

u32 sdp_reject_encode(enum sdp_reject_reason reason, u8 *buf, u32 size);
enum sdp_reject_reason sdp_reject_parse(const u8 *buf, u32 len);

#endif /* _SDP_WIRE_H */
