/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An end of an SDP connection made of verbs (sdp_verbs.c): it can do what the
 * module never does, and see what the module does on the wire.
 */
#ifndef SDP_VERBS_H
#define SDP_VERBS_H

#include <rdma/rdma_cma.h>

#include "sdp_test.h"

/* Message identifiers, and features of Hello (Documentation/wire.rst). */
#define MID_DATA	0xff
#define MID_RINGAVAIL	0x80
#define MID_RINGSPACE	0x81
#define FEAT_ALL	0x0007

#define BSDH_LEN	16
/* Payload of our receive buffers, as Hello says. */
#define VERBS_PAYLOAD	4096
/* Receive buffers, and messages that may be on their way to the peer. */
#define VERBS_SLOTS	64
#define VERBS_SLOT	(BSDH_LEN + VERBS_PAYLOAD)
/* Our ring, and the longest piece of it. */
#define VERBS_RING	4096
#define VERBS_PIECE	512

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
	/* What the next messages say of our receive buffers. */
	uint16_t bufs;
	struct verbs_ring peer;
};

/* What has come: a message, or a piece of the ring and its immediate data. */
struct verbs_msg {
	bool written;
	uint8_t mid;
	uint32_t imm, len;
	const unsigned char *payload;
};

/* Connect; no receive buffer is posted, whatever is said of them. */
void verbs_connect(struct verbs_end *v, const struct addr *to, uint16_t bufs);
void verbs_close(struct verbs_end *v);
void verbs_post(struct verbs_end *v, unsigned int count);
/* Send a message; the bytes behind the base header as they are. */
void verbs_send(struct verbs_end *v, uint8_t mid, const void *body,
		uint32_t len);
void verbs_send_ring(struct verbs_end *v, const struct verbs_ring *ring);
/* Our own ring, as it should be described. */
struct verbs_ring verbs_own_ring(const struct verbs_end *v);
/* Write pattern bytes into the peer's memory. */
void verbs_write(struct verbs_end *v, uint64_t vaddr, uint64_t seed,
		 uint64_t pos, uint32_t len);
/* The next message that comes; RingAvail is noted in @peer as well. */
struct verbs_msg verbs_next(struct verbs_end *v);

#endif /* SDP_VERBS_H */
