/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An end of an SDP connection made of verbs (sdp_verbs.c): it can do what the
 * module never does, and see what the module does on the wire.
 */
#ifndef SDP_VERBS_H
#define SDP_VERBS_H

#include <rdma/rdma_cma.h>

#include "sdp_test.h"

/* Message identifiers, and features of Hello (Documentation/protocol/wire.rst). */
#define MID_DATA	0xff
#define MID_RINGAVAIL	0x80
#define MID_RINGSPACE	0x81
#define FEAT_ALL	0x0007
#define FEAT_ADVERTS	0x0008
#define FEAT_IMMEDIATE	0x0010
#define FEAT_SINK	0x0040
#define FEAT_LOCAL	0x0080
/* A capability there: who has read invalidates the key. */
#define CAP_INVALIDATE	0x1
#define MID_DISCONN	0x02
#define MID_SENDSM	0x04
#define MID_RDMAWRCOMPL	0x05
#define MID_RDMARDCOMPL	0x06
#define MID_SRCAVAILCANCEL	0x08
#define MID_SINKAVAILCANCEL	0x09
#define MID_SINKCANCELACK	0x0a
#define MID_CHRCVBUF	0x0b
#define MID_SINKAVAIL	0xfd
#define MID_SRCAVAIL	0xfe

#define BSDH_LEN	16
#define HELLO_LEN	40
/* With a token behind. */
#define HELLO_TOKEN_LEN	48
#define HELLO_ACK_LEN	196
/* Payload of our receive buffers, as Hello says. */
#define VERBS_PAYLOAD	4096
/* Receive buffers, and messages that may be on their way to the peer. */
#define VERBS_SLOTS	64
#define VERBS_SLOT	(BSDH_LEN + VERBS_PAYLOAD)
/* Our ring, and the longest piece of it. */
#define VERBS_RING	4096
#define VERBS_PIECE	512

/* What Hello offers: features, advertisements that are held, capabilities; a token or 0. */
struct verbs_offer {
	uint16_t features;
	uint8_t adverts;
	uint8_t cap;
	uint64_t token;
};

/* Memory that is to be read, as SrcAvail describes it. */
struct verbs_source {
	uint32_t len, rkey;
	uint64_t vaddr;
};

/* Memory that is to be written to, as SinkAvail describes it. */
struct verbs_sink {
	uint32_t size, rkey;
	uint64_t vaddr;
	/* How many messages with payload have come. */
	uint32_t count;
};

/* The peer's ring, as RingAvail describes it. */
struct verbs_ring {
	uint32_t size, piece, rkey;
	uint64_t vaddr;
};

struct verbs_end {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	/* Receive buffers, messages to send, and the ring. */
	unsigned char (*in)[VERBS_SLOT];
	unsigned char (*out)[VERBS_SLOT];
	unsigned char *ring;
	unsigned int posted, sent;
	/* Sequence numbers of what was sent and received last. */
	uint32_t mseq, mseq_ack;
	/* Of what is written, each piece of a ring that it takes has a number. */
	bool windows;
	/* What the next messages say of our receive buffers. */
	uint16_t bufs;
	/* What the peer has said last while the connection was set up. */
	unsigned char heard[HELLO_ACK_LEN];
	/* What HelloAck says it can do. */
	uint8_t peer_cap;
	struct verbs_ring peer;
	/* What the peer offered last. */
	struct verbs_source source;
	struct verbs_sink sink;
	/* Receive completions that came while another one was waited for. */
	struct ibv_wc early[VERBS_SLOTS];
	unsigned int early_head, early_tail;
};

/*
 * What has come: a message with a header; one with immediate data, of which
 * @payload is all; or a piece of the ring and its immediate data.
 */
struct verbs_msg {
	bool written;
	bool immediate;
	uint8_t mid;
	uint32_t imm, len;
	const unsigned char *payload;
};

/* What is said at first, up to HELLO_TOKEN_LEN bytes: returns how many. */
size_t verbs_encode_hello(unsigned char *hello, uint16_t bufs,
			  struct verbs_offer offer);
/* Connect; no receive buffer is posted, whatever is said of them. */
void verbs_connect(struct verbs_end *v, const struct addr *to, uint16_t bufs);
void verbs_connect_as(struct verbs_end *v, const struct addr *to, uint16_t bufs,
		      struct verbs_offer offer);
/* The same, from an address that need not be the clients'. */
void verbs_connect_from(struct verbs_end *v, const struct addr *from,
			const struct addr *to, uint16_t bufs,
			struct verbs_offer offer);
/* The same in two steps: any bytes in place of Hello, and the answer. */
void verbs_request(struct verbs_end *v, const struct addr *to, const void *hello, size_t len);
void verbs_established(struct verbs_end *v);
/* The next event of the connection manager must be this one. */
void verbs_event(struct verbs_end *v, enum rdma_cm_event_type want);
/* Listen at the servers' address, and where that is. */
struct addr verbs_listen(struct verbs_end *v);
/* Who asks, and what it offers: it waits for an answer, and nobody else is listened to. */
struct verbs_offer verbs_asked(struct verbs_end *v);
/* Answer with these features, and with so many receive buffers told of. */
void verbs_answer(struct verbs_end *v, uint16_t bufs, uint16_t features);
/*
 * The same with any bytes, and receive buffers posted before the peer may send; and such
 * bytes as there should be: HELLO_ACK_LEN of them.
 */
void verbs_answer_with(struct verbs_end *v, const void *ack, size_t len, unsigned int posted);
size_t verbs_encode_ack(unsigned char *ack, uint16_t bufs, uint16_t features);
void verbs_close(struct verbs_end *v);
/*
 * Say Hello without a queue pair, wait for HelloAck, and leave that unanswered;
 * see whether the peer takes it back; and end this. Not with iWARP.
 */
void verbs_ask(struct verbs_end *v, const struct addr *to);
bool verbs_refused(struct verbs_end *v, int timeout_ms);
void verbs_forget(struct verbs_end *v);
void verbs_post(struct verbs_end *v, unsigned int count);
/* Send a message; the bytes behind the base header as they are. */
void verbs_send(struct verbs_end *v, uint8_t mid, const void *body,
		uint32_t len);
/* The same, and have the peer's device invalidate a key. */
void verbs_send_ending(struct verbs_end *v, uint8_t mid, const void *body,
		       uint32_t len, uint32_t key);
/* Send bytes as they are, and maybe have the peer's device invalidate a key. */
void verbs_send_bytes(struct verbs_end *v, const void *bytes, uint32_t len,
		      const uint32_t *key);
/* Send this with immediate data as the header of a Data message. */
void verbs_send_immediate(struct verbs_end *v, const void *data, uint32_t len);
void verbs_send_ring(struct verbs_end *v, const struct verbs_ring *ring);
/* Our own ring, as it should be described. */
struct verbs_ring verbs_own_ring(const struct verbs_end *v);
/* Write pattern bytes into the peer's memory. */
void verbs_write(struct verbs_end *v, uint64_t vaddr, uint64_t seed,
		 uint64_t pos, uint32_t len);
/* Offer memory; so many bytes of it go with the message. */
void verbs_send_source(struct verbs_end *v, const struct verbs_source *source,
		       const void *head, uint32_t head_len);
/* Our own memory, so many bytes of pattern in it. */
struct verbs_source verbs_own_source(struct verbs_end *v, uint64_t seed,
				     uint64_t pos, uint32_t len);
/* Let the peer write to memory. */
void verbs_send_sink(struct verbs_end *v, const struct verbs_sink *sink);
/*
 * Read the peer's memory into @ring, write to it from there, or have an atomic
 * operation done on it; the status of the completion.
 */
enum ibv_wc_status verbs_access(struct verbs_end *v, enum ibv_wr_opcode opcode,
				uint32_t rkey, uint64_t vaddr, uint32_t len);
enum ibv_wc_status verbs_read(struct verbs_end *v, uint32_t rkey,
			      uint64_t vaddr, uint32_t len);
/* Report so many bytes as read (RdmaRdCompl). */
void verbs_send_read(struct verbs_end *v, uint32_t len);
/* Whether a message has come that nobody has taken. */
bool verbs_pending(struct verbs_end *v);
/* How the next request completes that does not go well. */
enum ibv_wc_status verbs_failure(struct verbs_end *v);
/*
 * The next message that comes; RingAvail, SrcAvail and SinkAvail are noted in @peer,
 * @source and @sink as well.
 */
struct verbs_msg verbs_next(struct verbs_end *v);
/* The next message of this kind, of which empty Data is not the first. */
struct verbs_msg verbs_expect(struct verbs_end *v, uint8_t mid);

/* An AF_SDP socket, and its peer. */
struct rogue {
	int fd;
	struct verbs_end peer;
};

/*
 * Connect a peer, with so many receive buffers told of and posted, to a listener,
 * which is closed; the socket does without Nagle's rule.
 */
struct rogue rogue_accepted(int listener, uint16_t bufs, unsigned int posted,
			    struct verbs_offer offer);
void rogue_close(struct rogue *r);

#endif /* SDP_VERBS_H */
