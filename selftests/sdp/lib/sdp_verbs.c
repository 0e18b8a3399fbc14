// SPDX-License-Identifier: GPL-2.0
/* An end of an SDP connection made of verbs, for the AF_SDP selftests. */
#define _GNU_SOURCE
#include <endian.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "sdp_memory.h"
#include "sdp_verbs.h"

#define RAVAH_LEN	20
#define SRCAH_LEN	16
#define SINKAH_LEN	20
/* Of a work request, that it is one for receiving, or an access to memory. */
#define WR_RECV		0x8000
#define WR_ACCESS	0x4000
#define RESOLVE_MS	4000
/* How long the peer is to wait if we are not ready: 10 ms, in the code for it. */
#define RNR_TIMER	20
/* Queue pairs that do not exist, from here on; each is good for one request. */
#define NO_QUEUE_PAIR	0xf00000

static void put16(unsigned char *to, uint16_t value)
{
	value = htobe16(value);
	memcpy(to, &value, sizeof(value));
}

static void put32(unsigned char *to, uint32_t value)
{
	value = htobe32(value);
	memcpy(to, &value, sizeof(value));
}

static void put64(unsigned char *to, uint64_t value)
{
	value = htobe64(value);
	memcpy(to, &value, sizeof(value));
}

static uint32_t get32(const unsigned char *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return be32toh(value);
}

static uint64_t get64(const unsigned char *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return be64toh(value);
}

size_t verbs_encode_hello(unsigned char *hello, uint16_t bufs,
			  struct verbs_offer offer)
{
	memset(hello, 0, HELLO_LEN);
	put16(hello + 2, bufs);
	put32(hello + 4, HELLO_LEN);
	hello[16] = 0x22;
	hello[17] = 4 << 4 | offer.cap;
	hello[19] = offer.adverts;
	put32(hello + 20, VERBS_SLOT);
	put32(hello + 24, VERBS_SLOT);
	memcpy(hello + 32, "SDPX\1\10", 6);
	put16(hello + 38, offer.features);
	if (!offer.token)
		return HELLO_LEN;
	put32(hello + 4, HELLO_TOKEN_LEN);
	hello[37] = 16;
	put64(hello + HELLO_LEN, offer.token);
	return HELLO_TOKEN_LEN;
}

/* What HelloAck, the private data of the answer, has at this place. */
static uint8_t event_private(const struct rdma_cm_event *event, uint8_t at)
{
	const struct rdma_conn_param *param = &event->param.conn;

	return at < param->private_data_len ?
	       ((const uint8_t *)param->private_data)[at] : 0;
}

static void verbs_event(struct verbs_end *v, enum rdma_cm_event_type want)
{
	struct rdma_cm_event *event;

	CHECK_OK(rdma_get_cm_event(v->channel, &event));
	if (event->event != want)
		FAIL("expected %s, got %s with status %d",
		     rdma_event_str(want), rdma_event_str(event->event),
		     event->status);
	if (want == RDMA_CM_EVENT_ESTABLISHED)
		v->peer_cap = event_private(event, 17) & 0xf;
	CHECK_OK(rdma_ack_cm_event(event));
}

static void verbs_memory(struct verbs_end *v)
{
	size_t slots = VERBS_SLOTS * VERBS_SLOT;
	size_t len = 2 * slots + VERBS_RING;
	unsigned char *mem = calloc(1, len);

	CHECK(mem);
	v->in = (void *)mem;
	v->out = (void *)(mem + slots);
	v->ring = mem + 2 * slots;
	v->mr = ibv_reg_mr(v->pd, mem, len, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	CHECK(v->mr);
}

static void verbs_queue_pair(struct verbs_end *v)
{
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = VERBS_SLOTS,
			.max_recv_wr = VERBS_SLOTS,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	v->pd = ibv_alloc_pd(v->id->verbs);
	CHECK(v->pd);
	v->cq = ibv_create_cq(v->id->verbs, 4 * VERBS_SLOTS, NULL, NULL, 0);
	CHECK(v->cq);
	attr.send_cq = v->cq;
	attr.recv_cq = v->cq;
	CHECK_OK(rdma_create_qp(v->id, v->pd, &attr));
	verbs_memory(v);
}

/* The connection manager's choice would be 0.66 s. */
static void verbs_be_patient_for_less(struct verbs_end *v)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.min_rnr_timer = RNR_TIMER,
	};

	CHECK_EQ(ibv_modify_qp(v->id->qp, &attr,
			       IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER), 0);
}

void verbs_connect(struct verbs_end *v, const struct addr *to, uint16_t bufs)
{
	verbs_connect_as(v, to, bufs, (struct verbs_offer){ FEAT_ALL, 1 });
}

static void verbs_channel(struct verbs_end *v)
{
	memset(v, 0, sizeof(*v));
	v->channel = rdma_create_event_channel();
	if (!v->channel)
		sdp_skip("no access to the connection manager: %s",
			 strerrorname_np(errno));
}

static void verbs_resolve(struct verbs_end *v, const struct addr *from,
			  const struct addr *to)
{
	struct addr src = *from, dst = *to;

	verbs_channel(v);
	CHECK_OK(rdma_create_id(v->channel, &v->id, v, RDMA_PS_IB));
	CHECK_OK(rdma_resolve_addr(v->id, &src.sa, &dst.sa, RESOLVE_MS));
	verbs_event(v, RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK_OK(rdma_resolve_route(v->id, RESOLVE_MS));
	verbs_event(v, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void verbs_hello(struct verbs_end *v, uint16_t bufs,
			struct verbs_offer offer)
{
	static unsigned int asked;
	unsigned char hello[HELLO_TOKEN_LEN];
	struct rdma_conn_param param = {
		.private_data = hello,
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 6,
		.rnr_retry_count = 7,
		.qp_num = NO_QUEUE_PAIR + asked++,
	};

	v->bufs = bufs;
	param.private_data_len = verbs_encode_hello(hello, bufs, offer);
	CHECK_OK(rdma_connect(v->id, &param));
}

void verbs_connect_as(struct verbs_end *v, const struct addr *to, uint16_t bufs,
		      struct verbs_offer offer)
{
	struct addr from = client_addr(0);

	verbs_connect_from(v, &from, to, bufs, offer);
}

void verbs_connect_from(struct verbs_end *v, const struct addr *from,
			const struct addr *to, uint16_t bufs,
			struct verbs_offer offer)
{
	verbs_resolve(v, from, to);
	verbs_queue_pair(v);
	verbs_hello(v, bufs, offer);
	verbs_event(v, RDMA_CM_EVENT_ESTABLISHED);
	verbs_be_patient_for_less(v);
}

void verbs_ask(struct verbs_end *v, const struct addr *to)
{
	struct addr from = client_addr(0);

	verbs_resolve(v, &from, to);
	verbs_hello(v, 8, (struct verbs_offer){ FEAT_ALL, 1 });
	verbs_event(v, RDMA_CM_EVENT_CONNECT_RESPONSE);
}

struct addr verbs_listen(struct verbs_end *v)
{
	struct addr at = server_addr(0);

	verbs_channel(v);
	CHECK_OK(rdma_create_id(v->channel, &v->id, v, RDMA_PS_IB));
	CHECK_OK(rdma_bind_addr(v->id, &at.sa));
	CHECK_OK(rdma_listen(v->id, 1));
	return server_addr(ntohs(rdma_get_src_port(v->id)));
}

struct verbs_offer verbs_asked(struct verbs_end *v)
{
	const unsigned char *hello;
	struct rdma_cm_event *event;
	struct rdma_cm_id *listener;
	struct verbs_offer offer;

	CHECK_OK(rdma_get_cm_event(v->channel, &event));
	CHECK_EQ(event->event, RDMA_CM_EVENT_CONNECT_REQUEST);
	hello = event->param.conn.private_data;
	offer = (struct verbs_offer){
		.features = hello[38] << 8 | hello[39],
		.adverts = hello[19],
		.cap = hello[17] & 0xf,
		.token = hello[37] == 16 ? get64(hello + HELLO_LEN) : 0,
	};
	listener = v->id;
	v->id = event->id;
	CHECK_OK(rdma_ack_cm_event(event));
	CHECK_OK(rdma_destroy_id(listener));
	return offer;
}

void verbs_answer(struct verbs_end *v, uint16_t bufs, uint16_t features)
{
	unsigned char ack[HELLO_ACK_LEN] = { 0x01 };
	struct rdma_conn_param param = {
		.private_data = ack,
		.private_data_len = sizeof(ack),
		.responder_resources = 1,
		.initiator_depth = 1,
		.rnr_retry_count = 7,
	};

	put16(ack + 2, bufs);
	put32(ack + 4, sizeof(ack));
	ack[16] = 0x22;
	ack[19] = 1;
	put32(ack + 20, VERBS_SLOT);
	memcpy(ack + 24, "SDPX\1\10", 6);
	put16(ack + 30, features);
	v->bufs = bufs;
	verbs_queue_pair(v);
	CHECK_OK(rdma_accept(v->id, &param));
}

bool verbs_refused(struct verbs_end *v, int timeout_ms)
{
	struct pollfd p = { .fd = v->channel->fd, .events = POLLIN };

	if (!CHECK_OK(poll(&p, 1, timeout_ms)))
		return false;
	verbs_event(v, RDMA_CM_EVENT_REJECTED);
	return true;
}

void verbs_forget(struct verbs_end *v)
{
	CHECK_OK(rdma_destroy_id(v->id));
	rdma_destroy_event_channel(v->channel);
}

void verbs_close(struct verbs_end *v)
{
	rdma_destroy_qp(v->id);
	CHECK_OK(rdma_destroy_id(v->id));
	CHECK_EQ(ibv_dereg_mr(v->mr), 0);
	CHECK_EQ(ibv_destroy_cq(v->cq), 0);
	CHECK_EQ(ibv_dealloc_pd(v->pd), 0);
	rdma_destroy_event_channel(v->channel);
	free(v->in);
}

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

/* The next message; the request's kind is the caller's affair. */
static void verbs_post_message(struct verbs_end *v, struct ibv_send_wr *wr,
			       uint8_t mid, const void *body, uint32_t len)
{
	unsigned char *msg = v->out[v->sent++ % VERBS_SLOTS];
	struct ibv_sge sge = {
		.addr = (uintptr_t)msg,
		.length = BSDH_LEN + len,
		.lkey = v->mr->lkey,
	};
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	msg[0] = mid;
	msg[1] = 0;
	put16(msg + 2, v->bufs);
	put32(msg + 4, BSDH_LEN + len);
	put32(msg + 8, ++v->mseq);
	put32(msg + 12, v->mseq_ack);
	memcpy(msg + BSDH_LEN, body, len);
	CHECK_EQ(ibv_post_send(v->id->qp, wr, &bad), 0);
}

void verbs_send(struct verbs_end *v, uint8_t mid, const void *body,
		uint32_t len)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	verbs_post_message(v, &wr, mid, body, len);
}

void verbs_send_ending(struct verbs_end *v, uint8_t mid, const void *body,
		       uint32_t len, uint32_t key)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND_WITH_INV,
		.invalidate_rkey = key,
		/* Where siw's library looks for it. */
		.wr.rdma.rkey = key,
	};

	verbs_post_message(v, &wr, mid, body, len);
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

void rogue_expect_broken(struct rogue *r, long before)
{
	WAIT_FOR(sdp_stat("ProtocolErrors") == before + 1);
	CHECK_EQ(recv_until_end(r->fd), EPROTO);
	rogue_close(r);
}
