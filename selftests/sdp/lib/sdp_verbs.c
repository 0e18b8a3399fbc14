// SPDX-License-Identifier: GPL-2.0
/* An end of an SDP connection made of verbs, for the AF_SDP selftests. */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <unistd.h>

#include "sdp_bytes.h"
#include "sdp_memory.h"
#include "sdp_verbs.h"

#define RAVAH_LEN	20
#define SRCAH_LEN	16
#define SINKAH_LEN	20
/* Of a work request, that it is one for receiving, or an access to memory. */
#define WR_RECV		0x8000
#define WR_ACCESS	0x4000

void verbs_post(struct verbs_end *v, unsigned int count)
{
	struct ibv_recv_wr *bad;

	while (count--) {
		unsigned int slot = v->posted++ % VERBS_SLOTS;
		struct ibv_sge sge = {
			.addr = (uintptr_t)v->in[slot],
			.length = VERBS_SLOT,
			.lkey = v->mr->lkey,
		};
		struct ibv_recv_wr wr = {
			.wr_id = WR_RECV | slot,
			.sg_list = &sge,
			.num_sge = 1,
		};

		CHECK_EQ(ibv_post_recv(v->id->qp, &wr, &bad), 0);
	}
}

void verbs_send_bytes(struct verbs_end *v, const void *bytes, uint32_t len,
		      const uint32_t *key)
{
	unsigned char *msg = v->out[v->sent++ % VERBS_SLOTS];
	struct ibv_sge sge = {
		.addr = (uintptr_t)msg,
		.length = len,
		.lkey = v->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = key ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND,
	};

	CHECK(len <= VERBS_SLOT);
	memcpy(msg, bytes, len);
	if (key) {
		wr.invalidate_rkey = *key;
		/* Where siw's library looks for it. */
		wr.wr.rdma.rkey = *key;
	}
	CHECK_EQ(ibv_post_send(v->id->qp, &wr, &bad), 0);
}

static void verbs_send_message(struct verbs_end *v, uint8_t mid, const void *body, uint32_t len,
			       const uint32_t *key)
{
	unsigned char msg[VERBS_SLOT] = { mid };

	CHECK(len <= sizeof(msg) - BSDH_LEN);
	put16(msg + 2, v->bufs);
	put32(msg + 4, BSDH_LEN + len);
	put32(msg + 8, ++v->mseq);
	put32(msg + 12, v->mseq_ack);
	memcpy(msg + BSDH_LEN, body, len);
	verbs_send_bytes(v, msg, BSDH_LEN + len, key);
}

void verbs_send(struct verbs_end *v, uint8_t mid, const void *body,
		uint32_t len)
{
	verbs_send_message(v, mid, body, len, NULL);
}

void verbs_send_ending(struct verbs_end *v, uint8_t mid, const void *body,
		       uint32_t len, uint32_t key)
{
	verbs_send_message(v, mid, body, len, &key);
}

static __be32 verbs_immediate(const struct verbs_end *v)
{
	return htobe32((v->mseq_ack & 0x3fff) << 16 | v->bufs);
}

void verbs_send_immediate(struct verbs_end *v, const void *data, uint32_t len)
{
	unsigned char *msg = v->out[v->sent++ % VERBS_SLOTS];
	struct ibv_sge sge = {
		.addr = (uintptr_t)msg,
		.length = len,
		.lkey = v->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = verbs_immediate(v),
	};

	CHECK(len <= VERBS_SLOT);
	v->mseq++;
	memcpy(msg, data, len);
	CHECK_EQ(ibv_post_send(v->id->qp, &wr, &bad), 0);
}

struct verbs_ring verbs_own_ring(const struct verbs_end *v)
{
	return (struct verbs_ring){
		.size = VERBS_RING,
		.piece = VERBS_PIECE,
		.rkey = v->mr->rkey,
		.vaddr = (uintptr_t)v->ring,
	};
}

void verbs_send_ring(struct verbs_end *v, const struct verbs_ring *ring)
{
	unsigned char body[RAVAH_LEN];

	put32(body, ring->size);
	put32(body + 4, ring->piece);
	put32(body + 8, ring->rkey);
	put64(body + 12, ring->vaddr);
	verbs_send(v, MID_RINGAVAIL, body, sizeof(body));
}

/* How many sequence numbers so many bytes take that are written into a ring. */
static uint32_t verbs_numbers(const struct verbs_end *v, uint32_t piece,
			      uint32_t len)
{
	return v->windows && len ? (len - 1) / piece + 1 : 1;
}

void verbs_write(struct verbs_end *v, uint64_t vaddr, uint64_t seed,
		 uint64_t pos, uint32_t len)
{
	unsigned int slot = v->sent++ % VERBS_SLOTS;
	struct ibv_sge sge = {
		.addr = (uintptr_t)v->out[slot],
		.length = len,
		.lkey = v->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = len ? 1 : 0,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = verbs_immediate(v),
		.wr.rdma.remote_addr = vaddr,
		.wr.rdma.rkey = v->peer.rkey,
	};

	CHECK(len <= VERBS_SLOT);
	v->mseq += verbs_numbers(v, v->peer.piece, len);
	pattern_fill(v->out[slot], len, seed, pos);
	CHECK_EQ(ibv_post_send(v->id->qp, &wr, &bad), 0);
}

/* The next receive work request that completes. */
static struct ibv_wc verbs_completion(struct verbs_end *v)
{
	struct ibv_wc wc;

	if (v->early_head != v->early_tail)
		return v->early[v->early_tail++ % VERBS_SLOTS];
	for (;;) {
		WAIT_FOR(ibv_poll_cq(v->cq, 1, &wc) > 0);
		if (wc.status)
			FAIL("a work request has failed: %s",
			     ibv_wc_status_str(wc.status));
		if (wc.wr_id & WR_RECV)
			return wc;
	}
}

bool verbs_pending(struct verbs_end *v)
{
	struct ibv_wc wc;

	while (v->early_head == v->early_tail && ibv_poll_cq(v->cq, 1, &wc) > 0)
		if (!wc.status && wc.wr_id & WR_RECV)
			v->early[v->early_head++ % VERBS_SLOTS] = wc;
	return v->early_head != v->early_tail;
}

enum ibv_wc_status verbs_failure(struct verbs_end *v)
{
	struct ibv_wc wc;

	do {
		WAIT_FOR(ibv_poll_cq(v->cq, 1, &wc) > 0);
	} while (!wc.status);
	return wc.status;
}

/* Of the fields for the two kinds of access only one set is there. */
static void verbs_address(struct ibv_send_wr *wr, uint32_t rkey, uint64_t vaddr)
{
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	    wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr->wr.atomic.remote_addr = vaddr;
		wr->wr.atomic.rkey = rkey;
		wr->wr.atomic.compare_add = 1;
	} else {
		wr->wr.rdma.remote_addr = vaddr;
		wr->wr.rdma.rkey = rkey;
	}
}

enum ibv_wc_status verbs_access(struct verbs_end *v, enum ibv_wr_opcode opcode,
				uint32_t rkey, uint64_t vaddr, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)v->ring,
		.length = len,
		.lkey = v->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = WR_ACCESS,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
	};
	struct ibv_wc wc;

	CHECK(len <= VERBS_RING);
	verbs_address(&wr, rkey, vaddr);
	CHECK_EQ(ibv_post_send(v->id->qp, &wr, &bad), 0);
	for (;;) {
		WAIT_FOR(ibv_poll_cq(v->cq, 1, &wc) > 0);
		if (wc.wr_id & WR_ACCESS)
			return wc.status;
		if (wc.status)
			return wc.status;
		if (wc.wr_id & WR_RECV)
			v->early[v->early_head++ % VERBS_SLOTS] = wc;
	}
}

enum ibv_wc_status verbs_read(struct verbs_end *v, uint32_t rkey,
			      uint64_t vaddr, uint32_t len)
{
	return verbs_access(v, IBV_WR_RDMA_READ, rkey, vaddr, len);
}

void verbs_send_read(struct verbs_end *v, uint32_t len)
{
	len = htobe32(len);
	verbs_send(v, MID_RDMARDCOMPL, &len, sizeof(len));
}

struct verbs_source verbs_own_source(struct verbs_end *v, uint64_t seed,
				     uint64_t pos, uint32_t len)
{
	CHECK(len <= VERBS_RING);
	pattern_fill(v->ring, len, seed, pos);
	return (struct verbs_source){
		.len = len,
		.rkey = v->mr->rkey,
		.vaddr = (uintptr_t)v->ring,
	};
}

void verbs_send_source(struct verbs_end *v, const struct verbs_source *source,
		       const void *head, uint32_t head_len)
{
	unsigned char body[SRCAH_LEN + VERBS_PAYLOAD];

	CHECK(head_len <= VERBS_PAYLOAD - SRCAH_LEN);
	put32(body, source->len);
	put32(body + 4, source->rkey);
	put64(body + 8, source->vaddr);
	memcpy(body + SRCAH_LEN, head, head_len);
	verbs_send(v, MID_SRCAVAIL, body, SRCAH_LEN + head_len);
}

void verbs_send_sink(struct verbs_end *v, const struct verbs_sink *sink)
{
	unsigned char body[SINKAH_LEN];

	put32(body, sink->size);
	put32(body + 4, sink->rkey);
	put64(body + 8, sink->vaddr);
	put32(body + 16, sink->count);
	verbs_send(v, MID_SINKAVAIL, body, sizeof(body));
}

static void verbs_note_sink(struct verbs_end *v, const unsigned char *body)
{
	v->sink.size = get32(body);
	v->sink.rkey = get32(body + 4);
	v->sink.vaddr = get64(body + 8);
	v->sink.count = get32(body + 16);
}

static void verbs_note_source(struct verbs_end *v, const unsigned char *body)
{
	v->source.len = get32(body);
	v->source.rkey = get32(body + 4);
	v->source.vaddr = get64(body + 8);
}

static void verbs_note_ring(struct verbs_end *v, const unsigned char *body)
{
	v->peer.size = get32(body);
	v->peer.piece = get32(body + 4);
	v->peer.rkey = get32(body + 8);
	v->peer.vaddr = get64(body + 12);
}

struct verbs_msg verbs_next(struct verbs_end *v)
{
	struct ibv_wc wc = verbs_completion(v);
	const unsigned char *msg = v->in[wc.wr_id % VERBS_SLOTS];

	if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
		v->mseq_ack += verbs_numbers(v, VERBS_PIECE, wc.byte_len);
		return (struct verbs_msg){
			.written = true,
			.mid = MID_DATA,
			.imm = be32toh(wc.imm_data),
			.len = wc.byte_len,
		};
	}
	v->mseq_ack++;
	if (wc.wc_flags & IBV_WC_WITH_IMM)
		return (struct verbs_msg){
			.immediate = true,
			.mid = MID_DATA,
			.imm = be32toh(wc.imm_data),
			.len = wc.byte_len,
			.payload = msg,
		};
	CHECK(wc.byte_len >= BSDH_LEN);
	CHECK_EQ(get32(msg + 4), wc.byte_len);
	CHECK_EQ(get32(msg + 8), v->mseq_ack);
	if (msg[0] == MID_RINGAVAIL)
		verbs_note_ring(v, msg + BSDH_LEN);
	if (msg[0] == MID_SRCAVAIL)
		verbs_note_source(v, msg + BSDH_LEN);
	if (msg[0] == MID_SINKAVAIL)
		verbs_note_sink(v, msg + BSDH_LEN);
	return (struct verbs_msg){
		.mid = msg[0],
		.len = wc.byte_len - BSDH_LEN,
		.payload = msg + BSDH_LEN,
	};
}

struct verbs_msg verbs_expect(struct verbs_end *v, uint8_t mid)
{
	struct verbs_msg msg;

	do {
		msg = verbs_next(v);
	} while (msg.mid == MID_DATA && !msg.len);
	CHECK_EQ(msg.mid, mid);
	return msg;
}

struct rogue rogue_accepted(int listener, uint16_t bufs, unsigned int posted,
			    struct verbs_offer offer)
{
	struct addr addr = local_addr(listener);
	struct rogue r;

	verbs_connect_as(&r.peer, &addr, bufs, offer);
	verbs_post(&r.peer, posted);
	/* The module says nothing over iWARP before it was spoken to. */
	if (over_iwarp())
		verbs_send(&r.peer, MID_DATA, NULL, 0);
	r.fd = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_OK(close(listener));
	set_int(r.fd, SOL_TCP, TCP_NODELAY, 1);
	return r;
}

void rogue_close(struct rogue *r)
{
	/* Nobody is there to take a DisConn. */
	set_linger(r->fd, 1, 0);
	CHECK_OK(close(r->fd));
	verbs_close(&r->peer);
}
