// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receive queues that somebody misuses: a program that writes to the queue what
 * no library would, and a peer that is made of a TCP socket and leaves in the middle of a
 * message. Only the connections concerned end. Needs root, and our own iWARP devices.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <rdma/siw-abi.h>
#include <sys/mman.h>
#include <unistd.h>

#include "iwarp_share.h"

#define ENTRIES		64
#define MARK		0x5d9a110c0ffee
/* What the library has mapped for the queue, in whole pages. */
#define QUEUE_BYTES	((ENTRIES * sizeof(struct siw_rqe) + 4095) & ~4095ul)
#define LEN		1000

/* Two connections, one of which ends, and the queue as memory. */
struct scene {
	struct iwarp_share share;
	struct iwarp_pair bad, good;
	struct siw_rqe *queue;
	unsigned int put;
};

static bool is_queue(unsigned long from, unsigned long to)
{
	return to - from == QUEUE_BYTES && ((struct siw_rqe *)from)->id == MARK;
}

static struct siw_rqe *marked_queue(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct siw_rqe *queue = NULL;
	unsigned long from, to;
	char line[256];

	CHECK(maps);
	while (!queue && fgets(line, sizeof(line), maps))
		if (strstr(line, "uverbs") && sscanf(line, "%lx-%lx", &from, &to) == 2 &&
		    is_queue(from, to))
			queue = (struct siw_rqe *)from;
	fclose(maps);
	CHECK(queue);
	return queue;
}

static void post_mark(struct scene *s)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)s->share.mem,
		.length = LEN,
		.lkey = s->share.mr->lkey,
	};
	struct ibv_recv_wr *bad, marked = {
		.wr_id = MARK,
		.sg_list = &sge,
		.num_sge = 1,
	};

	CHECK_EQ(ibv_post_srq_recv(s->share.srq, &marked, &bad), 0);
	s->queue = marked_queue();
	s->put = 1;
}

/* An entry as it should be, and as it is if nobody changes it. */
static struct siw_rqe entry(struct scene *s, uint64_t slot)
{
	struct siw_rqe rqe = {
		.id = slot,
		.num_sge = 1,
	};
	size_t i;

	for (i = 0; i < SIW_MAX_SGE; i++)
		rqe.sge[i] = (struct siw_sge){
			.laddr = (uintptr_t)share_slot(&s->share, slot) + i * LEN,
			.length = LEN,
			.lkey = s->share.mr->lkey,
		};
	return rqe;
}

static void put(struct scene *s, struct siw_rqe rqe)
{
	struct siw_rqe *to = &s->queue[s->put++ % ENTRIES];

	*to = rqe;
	__atomic_store_n(&to->flags, SIW_WQE_VALID, __ATOMIC_RELEASE);
}

static void send_to(struct iwarp_pair *p, size_t len, uint64_t seed)
{
	pattern_fill(p->client.mem, len, seed, 0);
	CHECK_EQ(iwarp_send(&p->client, 0, len, 1), 0);
}

static void expect_message(struct scene *s, struct iwarp_pair *p, uint64_t id, size_t len,
			   uint64_t seed)
{
	struct ibv_wc wc = iwarp_wait(p->server.rcq);

	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	CHECK_EQ(wc.wr_id, id);
	CHECK_EQ(wc.byte_len, len);
	pattern_verify(share_slot(&s->share, id == MARK ? 0 : id), len, seed, 0);
}

static void scene_open(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	share_open(&s->share, ENTRIES, 1);
	iwarp_pair_open(&s->bad);
	iwarp_pair_open(&s->good);
	post_mark(s);
	send_to(&s->bad, LEN, 1);
	expect_message(s, &s->bad, MARK, LEN, 1);
}

static void scene_close(struct scene *s)
{
	iwarp_pair_close(&s->bad);
	iwarp_pair_close(&s->good);
	share_close(&s->share);
}

/* The connection that got the entry ends, and the other one goes on. */
static void expect_end(struct scene *s, uint64_t id, enum ibv_wc_status status)
{
	struct ibv_wc wc = iwarp_wait(s->bad.server.rcq);

	CHECK_EQ(wc.status, status);
	CHECK_EQ(wc.wr_id, id);
	iwarp_wait_disconnected(&s->bad.client);
	iwarp_wait_disconnected(&s->bad.server);
	put(s, entry(s, id + 1));
	send_to(&s->good, LEN, 50);
	expect_message(s, &s->good, id + 1, LEN, 50);
}

/* There is one piece, as the queue was created, whatever the entry says. */
static void more_pieces(void)
{
	struct siw_rqe rqe;
	struct scene s;

	scene_open(&s);
	rqe = entry(&s, 3);
	rqe.num_sge = 255;
	put(&s, rqe);
	send_to(&s.bad, LEN - 1, 2);
	expect_message(&s, &s.bad, 3, LEN - 1, 2);
	rqe.id = 4;
	put(&s, rqe);
	send_to(&s.bad, LEN + 1, 3);
	expect_end(&s, 4, IBV_WC_LOC_LEN_ERR);
	/* Of the message that is too long nothing is in the second piece. */
	CHECK(!share_slot(&s.share, 3)[LEN]);
	scene_close(&s);
}

static void no_piece(void)
{
	struct siw_rqe rqe;
	struct scene s;

	scene_open(&s);
	rqe = entry(&s, 3);
	rqe.num_sge = 0;
	put(&s, rqe);
	send_to(&s.bad, 1, 2);
	expect_end(&s, 3, IBV_WC_LOC_LEN_ERR);
	scene_close(&s);
}

static void with_key(struct scene *s, uint32_t lkey)
{
	struct siw_rqe rqe = entry(s, 3);

	rqe.sge[0].lkey = lkey;
	put(s, rqe);
	send_to(&s->bad, LEN, 2);
	expect_end(s, 3, IBV_WC_LOC_PROT_ERR);
	CHECK(!share_slot(&s->share, 3)[0]);
}

static void wrong_key(void)
{
	struct scene s;

	scene_open(&s);
	with_key(&s, s.share.mr->lkey ^ 1);
	scene_close(&s);
}

/* Requests name memory of the queue's domain, and not of the queue pair's that takes them. */
static void key_of_the_wrong_domain(void)
{
	struct scene s;

	scene_open(&s);
	with_key(&s, s.bad.server.mr->lkey);
	scene_close(&s);
}

static void key_of_the_wrong_domain_joined(void)
{
	iwarp_join(true);
	key_of_the_wrong_domain();
}

struct writer {
	struct siw_rqe *queue;
	struct siw_rqe good, bad;
	bool stop;
};

/* What is read twice is not the same. */
static void *rewrite(void *arg)
{
	struct writer *w = arg;
	unsigned int i;

	for (i = 0; !__atomic_load_n(&w->stop, __ATOMIC_RELAXED); i++) {
		struct siw_rqe *rqe = &w->queue[i / 2 % ENTRIES];

		*rqe = i & 1 ? w->bad : w->good;
		__atomic_store_n(&rqe->flags, SIW_WQE_VALID, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Whatever becomes of it, nothing is written to where no entry has led. */
static void rewritten_meanwhile(void)
{
	struct writer w = { 0 };
	pthread_t thread;
	struct scene s;
	size_t i;

	scene_open(&s);
	w.queue = s.queue;
	w.good = entry(&s, 3);
	w.bad = w.good;
	w.bad.num_sge = 255;
	w.bad.sge[0].length = -1;
	w.bad.sge[0].lkey ^= 1;
	thread_start(&thread, rewrite, &w);
	/* Sooner or later an entry is not good. */
	for (i = 0; i < 50; i++)
		if (iwarp_send(&s.bad.client, 0, LEN, 1))
			break;
	iwarp_wait_disconnected(&s.bad.client);
	iwarp_wait_disconnected(&s.bad.server);
	__atomic_store_n(&w.stop, true, __ATOMIC_RELAXED);
	thread_join(thread);
	for (i = LEN; i < SHARE_SLOT; i++)
		CHECK_EQ(share_slot(&s.share, 3)[i], 0);
	scene_close(&s);
}

/* ---- a peer that is made of a TCP socket ---- */

#define FRAME_LEN	20
#define LENGTH_LEN	2
#define CRC_LEN		4
#define UNTAGGED_LEN	18
#define DDP_UNTAGGED	0x01
#define DDP_LAST	0x40
#define RDMAP_SEND	0x43
#define RDMAP_TERMINATE	0x47
/* Layer DDP, untagged buffer; there is no buffer (RFC 5041, section 8.2). */
#define TERM_DDP_UNTAGGED 0x12
#define TERM_NO_BUFFER	0x02

struct stranger {
	struct iwarp_end server;
	int fd;
};

static void stranger_frames(struct stranger *s)
{
	unsigned char frame[FRAME_LEN] = "MPA ID Req Frame";

	/* Revision 1, without checksums, markers and private data. */
	frame[17] = 1;
	CHECK_EQ(send(s->fd, frame, sizeof(frame), MSG_NOSIGNAL), sizeof(frame));
	iwarp_accept(&s->server);
	CHECK_EQ(recv(s->fd, frame, sizeof(frame), MSG_WAITALL), sizeof(frame));
	CHECK(!memcmp(frame, "MPA ID Rep Frame", 16));
	CHECK_EQ(frame[16], 0);
	CHECK_EQ(frame[18] << 8 | frame[19], 0);
}

static void stranger_connect(struct stranger *s)
{
	struct rdma_cm_id *listener;
	struct addr to;

	memset(s, 0, sizeof(*s));
	iwarp_channel(&s->server);
	listener = iwarp_listen(&s->server, &to, 0);
	s->fd = CHECK_OK(socket(to.sa.sa_family, SOCK_STREAM, IPPROTO_TCP));
	CHECK_OK(connect(s->fd, &to.sa, to.len));
	stranger_frames(s);
	iwarp_wait_event(&s->server, RDMA_CM_EVENT_ESTABLISHED);
	CHECK_OK(rdma_destroy_id(listener));
}

static void stranger_close(struct stranger *s)
{
	iwarp_end_close(&s->server);
	CHECK_OK(close(s->fd));
}

/* A segment of the first message, as long as a multiple of four. */
static void stranger_send(struct stranger *s, uint32_t at, size_t len, bool last)
{
	unsigned char fpdu[LENGTH_LEN + UNTAGGED_LEN + LEN + CRC_LEN] = { 0 };
	unsigned char *ddp = fpdu + LENGTH_LEN;
	uint32_t msn = htobe32(1), offset = htobe32(at);
	uint16_t length = htobe16(UNTAGGED_LEN + len);

	CHECK(len <= LEN && len % 4 == 0);
	memcpy(fpdu, &length, sizeof(length));
	ddp[0] = DDP_UNTAGGED | (last ? DDP_LAST : 0);
	ddp[1] = RDMAP_SEND;
	memcpy(ddp + 10, &msn, sizeof(msn));
	memcpy(ddp + 14, &offset, sizeof(offset));
	pattern_fill(ddp + UNTAGGED_LEN, len, 9, at);
	len += LENGTH_LEN + UNTAGGED_LEN + CRC_LEN;
	CHECK_EQ(send(s->fd, fpdu, len, MSG_NOSIGNAL), len);
}

/* Who has sent too much is told what was missing. */
static void reason_is_told(void)
{
	unsigned char fpdu[LENGTH_LEN + UNTAGGED_LEN + 2];
	struct iwarp_share share;
	struct stranger s;

	share_open(&share, 16, 1);
	stranger_connect(&s);
	stranger_send(&s, 0, 100, true);
	CHECK_EQ(recv(s.fd, fpdu, sizeof(fpdu), MSG_WAITALL), sizeof(fpdu));
	CHECK_EQ(fpdu[LENGTH_LEN + 1], RDMAP_TERMINATE);
	CHECK_EQ(fpdu[LENGTH_LEN + UNTAGGED_LEN], TERM_DDP_UNTAGGED);
	CHECK_EQ(fpdu[LENGTH_LEN + UNTAGGED_LEN + 1], TERM_NO_BUFFER);
	stranger_close(&s);
	share_close(&share);
}

/* Half of a message: its request is taken, and not complete. */
static void take_one(struct iwarp_share *share, struct stranger *s)
{
	unsigned char half[LEN];

	pattern_fill(half, sizeof(half), 9, 0);
	stranger_connect(s);
	stranger_send(s, 0, LEN, false);
	WAIT_FOR(!memcmp(share_slot(share, 0), half, sizeof(half)));
}

/* The rest is there for somebody else. */
static void expect_others(struct iwarp_share *share, struct iwarp_pair *p)
{
	struct ibv_wc wc;
	uint64_t i;

	for (i = 1; i < 4; i++) {
		pattern_fill(p->client.mem, LEN, i, 0);
		CHECK_EQ(iwarp_send(&p->client, 0, LEN, 1), 0);
		iwarp_expect(p->client.scq, IBV_WC_SUCCESS);
		wc = iwarp_wait(p->server.rcq);
		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
		CHECK_EQ(wc.wr_id, i);
		pattern_verify(share_slot(share, i), LEN, i, 0);
	}
}

static void expect_flushed(struct stranger *s)
{
	struct ibv_wc wc = iwarp_wait(s->server.rcq);

	CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(wc.wr_id, 0);
	CHECK_EQ(ibv_poll_cq(s->server.rcq, 1, &wc), 0);
}

/* The one that was taken is flushed before it is told that it was the last. */
static void peer_leaves(void)
{
	struct iwarp_share share;
	struct iwarp_pair p;
	struct stranger s;

	share_open(&share, 16, 1);
	iwarp_pair_open(&p);
	share_post_first(&share, 4);
	take_one(&share, &s);
	CHECK_EQ(share_events(&share, IBV_EVENT_QP_LAST_WQE_REACHED), 0);
	CHECK_OK(shutdown(s.fd, SHUT_WR));
	WAIT_FOR(share_events(&share, IBV_EVENT_QP_LAST_WQE_REACHED) == 1);
	CHECK(share.object[IBV_EVENT_QP_LAST_WQE_REACHED] == s.server.id->qp);
	expect_flushed(&s);
	expect_others(&share, &p);
	stranger_close(&s);
	iwarp_pair_close(&p);
	share_close(&share);
}

static void queue_pair_destroyed(void)
{
	struct iwarp_share share;
	struct iwarp_pair p;
	struct stranger s;

	share_open(&share, 16, 1);
	iwarp_pair_open(&p);
	share_post_first(&share, 4);
	take_one(&share, &s);
	rdma_destroy_qp(s.server.id);
	expect_flushed(&s);
	CHECK_EQ(share_events(&share, IBV_EVENT_QP_LAST_WQE_REACHED), 0);
	expect_others(&share, &p);
	stranger_close(&s);
	iwarp_pair_close(&p);
	share_close(&share);
}

static const struct sdp_case cases[] = {
	CASE(more_pieces, 0),
	CASE(no_piece, 0),
	CASE(wrong_key, 0),
	CASE(key_of_the_wrong_domain, 0),
	CASE(key_of_the_wrong_domain_joined, 0),
	CASE(rewritten_meanwhile, 0),
	CASE(reason_is_told, 0),
	CASE(peer_leaves, 0),
	CASE(queue_pair_destroyed, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
