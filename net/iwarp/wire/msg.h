/* SPDX-License-Identifier: GPL-2.0 */
/*
 * iWARP headers: MPA (RFC 5044, startup RFC 6581), DDP (RFC 5041) and RDMAP (RFC 5040,
 * extensions RFC 7306); encoding and decoding with all checks. Nothing else in the
 * module accesses a header's bytes, except for markers and the CRC, which are in
 * marker.h and framing.h.
 *
 * Pure: also compiled in user space by the unit tests and the fuzzers.
 * Documentation/protocol/iwarp.rst describes the layout.
 */
#ifndef _IWARP_MSG_H
#define _IWARP_MSG_H

#include <linux/types.h>

/*
 * An FPDU is ULPDU_Length, the ULPDU, 0 to 3 bytes of padding to a multiple of four,
 * and the CRC. All header lengths below include ULPDU_Length.
 */
#define IWARP_ULPDU_LENGTH_LEN	2
#define IWARP_CRC_LEN		4
/*
 * ULPDU_Length and the DDP and RDMAP control fields, common to tagged and untagged
 * headers.
 */
#define IWARP_CTRL_LEN		4
#define IWARP_TAGGED_LEN	16
#define IWARP_UNTAGGED_LEN	20
#define IWARP_HDR_MAX		IWARP_UNTAGGED_LEN

/* Payload lengths of control messages, after the untagged header. */
#define IWARP_READ_REQ_LEN	28
#define IWARP_IMMEDIATE_LEN	8
#define IWARP_ATOMIC_REQ_LEN	52
#define IWARP_ATOMIC_RESP_LEN	12
#define IWARP_TERMINATE_MIN	4
#define IWARP_TERMINATE_MAX	52
/* The maximum of these. */
#define IWARP_CONTROL_MAX	52

/*
 * Maximum ULPDU length that is sent. A marker in a longer FPDU could not point back to
 * its start (RFC 5044, section 4.3).
 */
#define IWARP_MULPDU_MAX	64768U
/* Minimum MULPDU (RFC 5044, section 4.5). */
#define IWARP_MULPDU_MIN	128U

/* MPA Request and Reply: fixed part, and maximum private data. */
#define IWARP_MPA_HDR_LEN	20
#define IWARP_MPA_PD_MAX	512
/* IRD and ORD, at the start of the private data with RFC 6581. */
#define IWARP_MPA_DEPTHS_LEN	4
#define IWARP_MPA_FRAME_MAX	(IWARP_MPA_HDR_LEN + IWARP_MPA_PD_MAX)

#define IWARP_MPA_REV_1		1
#define IWARP_MPA_REV_2		2

/* Maximum IRD or ORD, and the value for no negotiation (RFC 6581). */
#define IWARP_DEPTH_MAX		0x3ffe
#define IWARP_DEPTH_NO_NEGOTIATION	0x3fff

/* RDMAP messages (RFC 5040, section 4.2; RFC 7306, section 4). */
enum iwarp_opcode {
	IWARP_WRITE		= 0x0,
	IWARP_READ_REQ		= 0x1,
	IWARP_READ_RESP		= 0x2,
	IWARP_SEND		= 0x3,
	IWARP_SEND_INV		= 0x4,
	IWARP_SEND_SE		= 0x5,
	IWARP_SEND_SE_INV	= 0x6,
	IWARP_TERMINATE		= 0x7,
	IWARP_IMMEDIATE		= 0x8,
	IWARP_IMMEDIATE_SE	= 0x9,
	IWARP_ATOMIC_REQ	= 0xa,
	IWARP_ATOMIC_RESP	= 0xb,
};

/* Queues of untagged messages. */
enum iwarp_qn {
	IWARP_QN_SEND,		/* sends and immediate data */
	IWARP_QN_READ,		/* RDMA Read Requests, atomic requests */
	IWARP_QN_TERMINATE,
	IWARP_QN_ATOMIC,	/* atomic responses */
	IWARP_QN_COUNT
};

#define IWARP_ERROR(layer, type, code) \
	(0x10000 | (layer) << 12 | (type) << 8 | (code))

/*
 * Error codes of Terminate messages: RFC 5040, section 4.8, RFC 5041, section 7,
 * RFC 5044, section 8; the last three RFC 6581.
 */
enum iwarp_error {
	IWARP_OK,

	/* RDMAP: local catastrophe */
	IWARP_E_RDMAP_LOCAL	= IWARP_ERROR(0, 0, 0x00),
	/* RDMAP: remote protection, of an RDMA Read Request's data source */
	IWARP_E_PROT_STAG	= IWARP_ERROR(0, 1, 0x00),
	IWARP_E_PROT_BOUNDS	= IWARP_ERROR(0, 1, 0x01),
	IWARP_E_PROT_ACCESS	= IWARP_ERROR(0, 1, 0x02),
	IWARP_E_PROT_STREAM	= IWARP_ERROR(0, 1, 0x03),
	IWARP_E_PROT_WRAP	= IWARP_ERROR(0, 1, 0x04),
	IWARP_E_PROT_INVALIDATE	= IWARP_ERROR(0, 1, 0x09),
	IWARP_E_PROT_OTHER	= IWARP_ERROR(0, 1, 0xff),
	/* RDMAP: remote operation */
	IWARP_E_OP_VERSION	= IWARP_ERROR(0, 2, 0x05),
	IWARP_E_OP_OPCODE	= IWARP_ERROR(0, 2, 0x06),
	IWARP_E_OP_STREAM	= IWARP_ERROR(0, 2, 0x07),
	IWARP_E_OP_GLOBAL	= IWARP_ERROR(0, 2, 0x08),
	IWARP_E_OP_INVALIDATE	= IWARP_ERROR(0, 2, 0x09),
	IWARP_E_OP_OTHER	= IWARP_ERROR(0, 2, 0xff),

	/* DDP: local catastrophe */
	IWARP_E_DDP_LOCAL	= IWARP_ERROR(1, 0, 0x00),
	/* DDP: tagged buffer */
	IWARP_E_TAGGED_STAG	= IWARP_ERROR(1, 1, 0x00),
	IWARP_E_TAGGED_BOUNDS	= IWARP_ERROR(1, 1, 0x01),
	IWARP_E_TAGGED_STREAM	= IWARP_ERROR(1, 1, 0x02),
	IWARP_E_TAGGED_WRAP	= IWARP_ERROR(1, 1, 0x03),
	IWARP_E_TAGGED_VERSION	= IWARP_ERROR(1, 1, 0x04),
	/* DDP: untagged buffer */
	IWARP_E_UNTAGGED_QN	= IWARP_ERROR(1, 2, 0x01),
	IWARP_E_UNTAGGED_NOBUF	= IWARP_ERROR(1, 2, 0x02),
	IWARP_E_UNTAGGED_MSN	= IWARP_ERROR(1, 2, 0x03),
	IWARP_E_UNTAGGED_MO	= IWARP_ERROR(1, 2, 0x04),
	IWARP_E_UNTAGGED_LONG	= IWARP_ERROR(1, 2, 0x05),
	IWARP_E_UNTAGGED_VERSION = IWARP_ERROR(1, 2, 0x06),

	/* MPA */
	IWARP_E_MPA_LOST	= IWARP_ERROR(2, 0, 0x01),
	IWARP_E_MPA_CRC		= IWARP_ERROR(2, 0, 0x02),
	IWARP_E_MPA_MARKER	= IWARP_ERROR(2, 0, 0x03),
	IWARP_E_MPA_FRAME	= IWARP_ERROR(2, 0, 0x04),
	IWARP_E_MPA_LOCAL	= IWARP_ERROR(2, 0, 0x05),
	IWARP_E_MPA_IRD		= IWARP_ERROR(2, 0, 0x06),
	IWARP_E_MPA_RTR		= IWARP_ERROR(2, 0, 0x07),
};

/* Layer of an error: 0 RDMAP, 1 DDP, 2 MPA. */
static inline u8 iwarp_error_layer(enum iwarp_error error)
{
	return error >> 12 & 0xf;
}

/* Error type; its meaning depends on the layer. */
static inline u8 iwarp_error_type(enum iwarp_error error)
{
	return error >> 8 & 0xf;
}

/* Error code; its meaning depends on the type. */
static inline u8 iwarp_error_code(enum iwarp_error error)
{
	return error & 0xff;
}

/**
 * struct iwarp_hdr - ULPDU_Length, DDP and RDMAP header of a segment
 * @payload_len: bytes of payload after the header
 * @opcode: enum iwarp_opcode; implies a tagged or untagged header
 * @last: last segment of its message
 * @stag: tagged: data sink; %IWARP_SEND_INV and %IWARP_SEND_SE_INV: STag to invalidate;
 *	else 0
 * @to: tagged: offset of the first byte of payload
 * @qn: untagged: enum iwarp_qn
 * @msn: untagged: message sequence number, starting with 1
 * @mo: untagged: offset of the segment in its message
 */
struct iwarp_hdr {
	u16 payload_len;
	u8 opcode;
	bool last;
	u32 stag;
	union {
		u64 to;
		struct {
			u32 qn;
			u32 msn;
			u32 mo;
		};
	};
};

/**
 * struct iwarp_read_req - payload of an RDMA Read Request
 * @sink_stag: data sink
 * @sink_to: offset of the first byte in the data sink
 * @len: number of bytes
 * @src_stag: data source
 * @src_to: offset of the first byte in the data source
 */
struct iwarp_read_req {
	u32 sink_stag;
	u64 sink_to;
	u32 len;
	u32 src_stag;
	u64 src_to;
};

/**
 * struct iwarp_terminate - payload of a received Terminate
 * @error: error code, possibly not in the enum
 * @has_len: @seg_len is valid
 * @has_hdr: @hdr is valid
 * @has_read: @read is valid
 * @seg_len: length of the segment in error
 * @hdr: its DDP and RDMAP header, not checked
 * @read: the RDMA Read Request in error, not checked
 */
struct iwarp_terminate {
	enum iwarp_error error;
	bool has_len;
	bool has_hdr;
	bool has_read;
	u16 seg_len;
	struct iwarp_hdr hdr;
	struct iwarp_read_req read;
};

/* RTR messages of the initiator (RFC 6581). */
#define IWARP_RTR_SEND		0x1	/* zero-length Send */
#define IWARP_RTR_WRITE		0x2	/* zero-length RDMA Write */
#define IWARP_RTR_READ		0x4	/* zero-length RDMA Read */

/**
 * struct iwarp_mpa - an MPA Request or Reply
 * @reply: it is a Reply
 * @markers: the frame's sender wants markers in what it receives
 * @crc: the frame's sender wants checksums, in both directions
 * @long_fpdus: the frame's sender takes FPDUs that are longer than TCP's segments
 * @reject: Reply: the connection is rejected
 * @enhanced: the fields below are valid, revision 2 only
 * @rev: %IWARP_MPA_REV_1 or %IWARP_MPA_REV_2
 * @peer_to_peer: the initiator sends first, with an RTR message
 * @rtr: mask of IWARP_RTR_*; Request: supported, Reply: chosen
 * @ird: inbound RDMA Read depth of the frame's sender, or %IWARP_DEPTH_NO_NEGOTIATION
 * @ord: outbound RDMA Read depth of the frame's sender, likewise
 * @priv_len: length of the consumer's private data
 */
struct iwarp_mpa {
	bool reply;
	bool markers;
	bool crc;
	bool long_fpdus;
	bool reject;
	bool enhanced;
	u8 rev;
	bool peer_to_peer;
	u8 rtr;
	u16 ird;
	u16 ord;
	u16 priv_len;
};

/* Whether the message's segments are tagged. */
static inline bool iwarp_opcode_tagged(u8 opcode)
{
	return opcode == IWARP_WRITE || opcode == IWARP_READ_RESP;
}

/*
 * Whether it is immediate data, which takes a receive request without using its memory.
 */
static inline bool iwarp_opcode_immediate(u8 opcode)
{
	return opcode == IWARP_IMMEDIATE || opcode == IWARP_IMMEDIATE_SE;
}

/* Whether the message takes a receive request. */
static inline bool iwarp_opcode_receives(u8 opcode)
{
	return (opcode >= IWARP_SEND && opcode <= IWARP_SEND_SE_INV) ||
	       iwarp_opcode_immediate(opcode);
}

/* Whether it requests a solicited event at the peer. */
static inline bool iwarp_opcode_solicited(u8 opcode)
{
	return opcode == IWARP_SEND_SE || opcode == IWARP_SEND_SE_INV ||
	       opcode == IWARP_IMMEDIATE_SE;
}

/* Whether it invalidates an STag at the peer. */
static inline bool iwarp_opcode_invalidates(u8 opcode)
{
	return opcode == IWARP_SEND_INV || opcode == IWARP_SEND_SE_INV;
}

/*
 * Whether the message is one short segment that the provider interprets instead of
 * placing it: requests, Terminate, immediate data, atomic responses.
 */
static inline bool iwarp_opcode_control(u8 opcode)
{
	return opcode == IWARP_READ_REQ || opcode >= IWARP_TERMINATE;
}

/* Length of the header, including ULPDU_Length. */
static inline u32 iwarp_hdr_len(u8 opcode)
{
	return iwarp_opcode_tagged(opcode) ? IWARP_TAGGED_LEN :
					     IWARP_UNTAGGED_LEN;
}

/* Padding of a ULPDU, to a multiple of four with ULPDU_Length. */
static inline u32 iwarp_pad_len(u32 ulpdu_len)
{
	return -(IWARP_ULPDU_LENGTH_LEN + ulpdu_len) & 3;
}

/* Length of an FPDU without markers, a multiple of four. */
static inline u32 iwarp_fpdu_len(u32 ulpdu_len)
{
	return IWARP_ULPDU_LENGTH_LEN + ulpdu_len + iwarp_pad_len(ulpdu_len) +
	       IWARP_CRC_LEN;
}

/* Length of the ULPDU that starts with a header. */
static inline u32 iwarp_ulpdu_len(const struct iwarp_hdr *hdr)
{
	return iwarp_hdr_len(hdr->opcode) - IWARP_ULPDU_LENGTH_LEN +
	       hdr->payload_len;
}

u32 iwarp_hdr_encode(const struct iwarp_hdr *hdr, u8 buf[IWARP_HDR_MAX]);
u32 iwarp_hdr_peek_len(const u8 ctrl[IWARP_CTRL_LEN]);
enum iwarp_error iwarp_hdr_parse(const u8 *buf, struct iwarp_hdr *hdr);

void iwarp_read_req_encode(const struct iwarp_read_req *req,
			   u8 buf[IWARP_READ_REQ_LEN]);
enum iwarp_error iwarp_read_req_parse(const u8 buf[IWARP_READ_REQ_LEN],
				      struct iwarp_read_req *req);

void iwarp_immediate_encode(u64 data, u8 buf[IWARP_IMMEDIATE_LEN]);
u64 iwarp_immediate_parse(const u8 buf[IWARP_IMMEDIATE_LEN]);

/* term.c */
u32 iwarp_terminate_encode(enum iwarp_error error, const u8 *fpdu, u32 len,
			   u8 buf[IWARP_TERMINATE_MAX]);
enum iwarp_error iwarp_terminate_parse(const u8 *buf, u32 len,
				       struct iwarp_terminate *term);

/* mpa.c */
u32 iwarp_mpa_encode(const struct iwarp_mpa *mpa, const u8 *priv, u8 *buf,
		     u32 size);
enum iwarp_error iwarp_mpa_parse(const u8 hdr[IWARP_MPA_HDR_LEN], bool reply,
				 struct iwarp_mpa *mpa, u32 *pd_len);
enum iwarp_error iwarp_mpa_parse_pd(const u8 *pd, u32 pd_len,
				    struct iwarp_mpa *mpa, const u8 **priv);

#endif /* _IWARP_MSG_H */
