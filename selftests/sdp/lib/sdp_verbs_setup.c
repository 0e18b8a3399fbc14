// SPDX-License-Identifier: GPL-2.0
/* How an end of an SDP connection made of verbs is set up, and closed. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>

#include "sdp_bytes.h"
#include "sdp_verbs.h"

#define RESOLVE_MS	4000
/* How long the peer is to wait if we are not ready: 10 ms, in the code for it. */
#define RNR_TIMER	20
/* Queue pairs that do not exist, from here on; each is good for one request. */
#define NO_QUEUE_PAIR	0xf00000

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

/* What the peer has said with it. */
static void verbs_note_private(struct verbs_end *v, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *param = &event->param.conn;

	memset(v->heard, 0, sizeof(v->heard));
	if (param->private_data_len)
		memcpy(v->heard, param->private_data,
		       param->private_data_len < sizeof(v->heard) ?
		       param->private_data_len : sizeof(v->heard));
	if (event->event == RDMA_CM_EVENT_ESTABLISHED)
		v->peer_cap = v->heard[17] & 0xf;
}

/* The next event, which must be this one. */
static struct rdma_cm_event *verbs_get_event(struct verbs_end *v, enum rdma_cm_event_type want)
{
	struct pollfd p = { .fd = v->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (!CHECK_OK(poll(&p, 1, wait_limit_ms())))
		FAIL("waited in vain for %s", rdma_event_str(want));
	CHECK_OK(rdma_get_cm_event(v->channel, &event));
	if (event->event != want)
		FAIL("expected %s, got %s with status %d",
		     rdma_event_str(want), rdma_event_str(event->event),
		     event->status);
	verbs_note_private(v, event);
	return event;
}

void verbs_event(struct verbs_end *v, enum rdma_cm_event_type want)
{
	CHECK_OK(rdma_ack_cm_event(verbs_get_event(v, want)));
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

/* The request, with these bytes; without a queue pair it is given one that is not there. */
static void verbs_say(struct verbs_end *v, const void *hello, size_t len)
{
	static unsigned int asked;
	struct rdma_conn_param param = {
		.private_data = hello,
		.private_data_len = len,
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 6,
		.rnr_retry_count = 7,
		.qp_num = NO_QUEUE_PAIR + asked++,
	};

	CHECK_OK(rdma_connect(v->id, &param));
}

static void verbs_hello(struct verbs_end *v, uint16_t bufs,
			struct verbs_offer offer)
{
	unsigned char hello[HELLO_TOKEN_LEN];

	v->bufs = bufs;
	verbs_say(v, hello, verbs_encode_hello(hello, bufs, offer));
}

void verbs_request(struct verbs_end *v, const struct addr *to, const void *hello, size_t len)
{
	struct addr from = client_addr(0);

	verbs_resolve(v, &from, to);
	verbs_queue_pair(v);
	verbs_say(v, hello, len);
}

void verbs_established(struct verbs_end *v)
{
	verbs_event(v, RDMA_CM_EVENT_ESTABLISHED);
	verbs_be_patient_for_less(v);
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
	verbs_established(v);
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
	struct rdma_cm_event *event = verbs_get_event(v, RDMA_CM_EVENT_CONNECT_REQUEST);
	const unsigned char *hello = v->heard;
	struct rdma_cm_id *listener = v->id;

	v->id = event->id;
	CHECK_OK(rdma_ack_cm_event(event));
	CHECK_OK(rdma_destroy_id(listener));
	return (struct verbs_offer){
		.features = get16(hello + 38),
		.adverts = hello[19],
		.cap = hello[17] & 0xf,
		.token = hello[37] == 16 ? get64(hello + HELLO_LEN) : 0,
	};
}

void verbs_answer_with(struct verbs_end *v, const void *ack, size_t len, unsigned int posted)
{
	struct rdma_conn_param param = {
		.private_data = ack,
		.private_data_len = len,
		.responder_resources = 1,
		.initiator_depth = 1,
		.rnr_retry_count = 7,
	};

	verbs_queue_pair(v);
	verbs_post(v, posted);
	CHECK_OK(rdma_accept(v->id, &param));
}

size_t verbs_encode_ack(unsigned char *ack, uint16_t bufs, uint16_t features)
{
	memset(ack, 0, HELLO_ACK_LEN);
	ack[0] = 0x01;
	put16(ack + 2, bufs);
	put32(ack + 4, HELLO_ACK_LEN);
	ack[16] = 0x22;
	ack[19] = 1;
	put32(ack + 20, VERBS_SLOT);
	memcpy(ack + 24, "SDPX\1\10", 6);
	put16(ack + 30, features);
	return HELLO_ACK_LEN;
}

void verbs_answer(struct verbs_end *v, uint16_t bufs, uint16_t features)
{
	unsigned char ack[HELLO_ACK_LEN];

	v->bufs = bufs;
	verbs_answer_with(v, ack, verbs_encode_ack(ack, bufs, features), 0);
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
