// SPDX-License-Identifier: GPL-2.0
/*
 * Connections of other programs, whose memory a peer tries to reach through its
 * own: with the keys and addresses that it was never told, and with such as it
 * could derive from its own.
 *
 * Who is refused loses his own connection, so that each try takes a new one.
 */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_mpa.h"
#include "sdp_verbs.h"

#define SEED	47
#define BUFS	16
#define PAGE	4096UL
/* Of the module. */
#define RING	(16 * KIB)
/* What makes it allocate one, and what is in it then. */
#define FIRST_MESSAGES	2
#define FIRST_BYTES	1000
#define FIRST	(FIRST_MESSAGES * FIRST_BYTES)
#define UNREAD	(RING / 2)
/* From where in a page on a program's memory is offered, and how much. */
#define SKIP	104
#define OFFER	(2 * VERBS_RING)
#define THRESH	4096
/* How many keys and addresses are looked at. */
#define LOOKS	8
/* Connections that try something each. */
#define TRIES	5

/* Memory of a connection that its peer was told of. */
struct target {
	uint32_t rkey;
	uint64_t vaddr;
};

static struct rogue new_rogue(int listener, uint16_t features)
{
	struct verbs_offer offer = { features, 4 };

	return rogue_accepted(listener, BUFS, 3 * BUFS, offer);
}

/* ---- who is to be left alone ---- */

/* The module has a ring, of which its peer knows. */
static struct rogue with_ring(void)
{
	struct rogue r = new_rogue(engine_listener("rdma", RING), FEAT_ALL);
	unsigned char data[FIRST_BYTES];
	int i;

	expect_flow(r.fd, "rdma");
	for (i = 0; i < FIRST_MESSAGES; i++) {
		pattern_fill(data, sizeof(data), SEED, i * sizeof(data));
		verbs_send(&r.peer, MID_DATA, data, sizeof(data));
	}
	while (!r.peer.peer.size)
		verbs_next(&r.peer);
	return r;
}

static struct target ring_target(const struct rogue *r)
{
	return (struct target){ r->peer.peer.rkey, r->peer.peer.vaddr };
}

/* Half of the ring is full; a process cannot announce a write over iWARP. */
static void fill_ring(struct rogue *r)
{
	const struct verbs_ring *ring = &r->peer.peer;
	uint64_t done;

	if (over_iwarp())
		return;
	for (done = 0; done < UNREAD; done += ring->piece)
		verbs_write(&r->peer, ring->vaddr + done, SEED, FIRST + done,
			    ring->piece);
}

static uint64_t in_ring(void)
{
	return over_iwarp() ? 0 : UNREAD;
}

/* What was there is read as it was written, and what is said is heard. */
static void expect_unharmed(struct rogue *r)
{
	struct verbs_msg msg;

	recv_pattern(r->fd, SEED, 0, FIRST + in_ring(), 5000);
	send_pattern(r->fd, SEED, 0, 100, 100);
	do {
		msg = verbs_next(&r->peer);
	} while (msg.mid != MID_DATA || !msg.len);
	CHECK_EQ(msg.len, 100);
	pattern_verify(msg.payload, msg.len, SEED, 0);
	rogue_close(r);
}

static unsigned char *out;

/* A program that writes. */
struct writer {
	pthread_t thread;
	int fd;
};

static void *write_offer(void *arg)
{
	struct writer *w = arg;

	CHECK_EQ(send(w->fd, out, OFFER, MSG_NOSIGNAL), OFFER);
	return NULL;
}

static struct rogue with_threshold(void)
{
	struct rogue r;

	skip_where_copied();
	r = new_rogue(new_listener(1), FEAT_ALL | FEAT_ADVERTS);
	set_int(r.fd, SOL_TCP, SDP_ZCOPY_THRESH, THRESH);
	out = aligned_alloc(PAGE, OFFER + PAGE);
	CHECK(out);
	out += SKIP;
	pattern_fill(out, OFFER, SEED, 0);
	return r;
}

/*
 * A program waits in a write until its peer has read what was offered.  If that
 * takes long the module asks for an end; to the offer before, it may have, too.
 */
static struct target offer(struct rogue *r, struct writer *w)
{
	struct verbs_msg msg;

	w->fd = r->fd;
	thread_start(&w->thread, write_offer, w);
	do {
		msg = verbs_next(&r->peer);
	} while ((msg.mid == MID_DATA && !msg.len) ||
		 msg.mid == MID_SRCAVAILCANCEL);
	CHECK_EQ(msg.mid, MID_SRCAVAIL);
	CHECK_EQ(r->peer.source.len, OFFER);
	return (struct target){ r->peer.source.rkey, r->peer.source.vaddr };
}

/* It is, and the next write can be. */
static void expect_offer_taken(struct rogue *r, struct writer *w)
{
	const struct verbs_source *source = &r->peer.source;
	uint32_t pos;

	for (pos = 0; pos < OFFER; pos += VERBS_RING) {
		CHECK_EQ(verbs_read(&r->peer, source->rkey, source->vaddr + pos,
				    VERBS_RING), IBV_WC_SUCCESS);
		pattern_verify(r->peer.ring, VERBS_RING, SEED, pos);
	}
	verbs_send_read(&r->peer, OFFER);
	thread_join(w->thread);
	pattern_verify(out, OFFER, SEED, 0);
}

/* ---- who does not leave them alone ---- */

static bool is_over(int fd)
{
	return poll_now(fd) & (POLLERR | POLLHUP);
}

/* Of iWARP only reads tell who has posted them whether they were allowed. */
static void try_access(enum ibv_wr_opcode opcode, struct target t)
{
	struct rogue r = new_rogue(new_listener(1), FEAT_ALL);
	enum ibv_wc_status status;

	memset(r.peer.ring, 0x55, VERBS_RING);
	status = verbs_access(&r.peer, opcode, t.rkey, t.vaddr, 8);
	if (!over_iwarp() || opcode == IBV_WR_RDMA_READ)
		CHECK(status != IBV_WC_SUCCESS);
	WAIT_FOR(is_over(r.fd));
	rogue_close(&r);
}

static void try_all(struct target t)
{
	try_access(IBV_WR_RDMA_READ, t);
	try_access(IBV_WR_RDMA_WRITE, t);
	if (over_iwarp())
		return;
	try_access(IBV_WR_ATOMIC_FETCH_AND_ADD, t);
	try_access(IBV_WR_ATOMIC_CMP_AND_SWP, t);
}

/* Over iWARP without the library of software iWARP, which takes the key from elsewhere. */
static void try_ending_by_mpa(uint32_t key)
{
	int fd, listener = new_listener(1);
	struct addr addr = local_addr(listener);
	struct verbs_offer offer = { FEAT_ALL, 4 };
	struct mpa_end m;

	mpa_connect(&m, &addr, offer);
	fd = mpa_accept(&m, listener);
	CHECK_OK(close(listener));
	mpa_send(&m);
	WAIT_FOR(info_of(fd).sdpi_msgs_in == m.mseq);
	mpa_send_ending(&m, key);
	WAIT_FOR(is_over(fd));
	CHECK_OK(close(fd));
	mpa_close(&m);
}

static void try_ending(uint32_t key)
{
	struct rogue r;

	if (over_iwarp()) {
		try_ending_by_mpa(key);
		return;
	}
	r = new_rogue(new_listener(1), FEAT_ALL);
	verbs_send_ending(&r.peer, MID_DATA, NULL, 0, key);
	WAIT_FOR(is_over(r.fd));
	rogue_close(&r);
}

/* Keys of others, by what a device gives out; addresses, by what is usual. */
static void try_what_can_be_derived(struct target t, uint32_t own_key)
{
	const struct target guesses[] = {
		{ t.rkey ^ 1, t.vaddr }, { t.rkey + 1, t.vaddr },
		{ t.rkey - 1, t.vaddr }, { t.rkey & ~0xffU, t.vaddr },
		{ t.rkey | 0xff, t.vaddr },
		{ own_key + 0x100, 0 }, { own_key - 0x100, 0 },
		{ own_key + 1, 0 }, { own_key, 0 },
		{ t.rkey, 0 }, { t.rkey, t.vaddr % PAGE },
		{ t.rkey, t.vaddr - 8 }, { t.rkey, t.vaddr + RING },
		{ t.rkey, -8ULL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(guesses); i++)
		try_access(IBV_WR_RDMA_WRITE, guesses[i]);
}

/* Binds a window to memory of this device by its key; the completion's status. */
static enum ibv_wc_status bind_window(struct verbs_end *v, struct target t)
{
	struct ibv_mw *window = ibv_alloc_mw(v->pd, IBV_MW_TYPE_2);
	struct ibv_mr region = { .context = v->id->verbs, .pd = v->pd, .lkey = t.rkey };
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_BIND_MW };
	struct ibv_wc wc;

	if (!window)
		sdp_skip("no memory windows: %s", strerrorname_np(errno));
	wr.bind_mw.mw = window;
	wr.bind_mw.rkey = ibv_inc_rkey(window->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
		.mr = &region,
		.addr = t.vaddr,
		.length = 8,
		.mw_access_flags = IBV_ACCESS_REMOTE_READ,
	};
	CHECK_EQ(ibv_post_send(v->id->qp, &wr, &bad), 0);
	WAIT_FOR(ibv_poll_cq(v->cq, 1, &wc) > 0);
	CHECK_EQ(ibv_dealloc_mw(window), 0);
	return wc.status;
}

/* By one who has a queue pair on the same device, where regions are looked up. */
static void try_binding(struct target t)
{
	struct verbs_offer offer = { FEAT_ALL, 4 };
	int listener = new_listener(1);
	struct addr addr = local_addr(listener);
	struct addr from = server_addr(0);
	struct rogue r;

	verbs_connect_from(&r.peer, &from, &addr, BUFS, offer);
	r.fd = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_OK(close(listener));
	CHECK(bind_window(&r.peer, t) != IBV_WC_SUCCESS);
	rogue_close(&r);
}

/* ---- cases ---- */

static void neighbours_ring(void)
{
	struct rogue r = with_ring();

	fill_ring(&r);
	try_all(ring_target(&r));
	expect_unharmed(&r);
}

static void neighbours_offer(void)
{
	struct rogue r = with_threshold();
	struct writer w;

	try_all(offer(&r, &w));
	expect_offer_taken(&r, &w);
	rogue_close(&r);
}

static void neighbours_memory_bound(void)
{
	struct rogue r = with_ring(), offering = with_threshold();
	struct writer w;

	if (over_iwarp())
		sdp_skip("iWARP has no memory windows here");
	fill_ring(&r);
	try_binding(ring_target(&r));
	try_binding(offer(&offering, &w));
	expect_offer_taken(&offering, &w);
	rogue_close(&offering);
	expect_unharmed(&r);
}

static void derived_from_ones_own(void)
{
	struct rogue r = with_ring(), own = with_ring();

	fill_ring(&r);
	try_what_can_be_derived(ring_target(&r), own.peer.peer.rkey);
	rogue_close(&own);
	expect_unharmed(&r);
}

static void key_guessed_and_ended(void)
{
	struct rogue r = with_ring();
	int i;

	fill_ring(&r);
	for (i = 1; i <= TRIES; i++)
		try_ending(r.peer.peer.rkey ^ i);
	expect_unharmed(&r);
}

/* What was offered can still be read. */
static void neighbours_offer_ended(void)
{
	struct rogue r = with_threshold();
	struct writer w;

	try_ending(offer(&r, &w).rkey);
	expect_offer_taken(&r, &w);
	rogue_close(&r);
}

/*
 * Soft-RoCE ends a key for whoever knows it.  Its owner loses the connection by
 * that, but no byte, and none is a wrong one.
 */
static void key_known_and_ended(void)
{
	struct rogue r, other;

	if (over_iwarp()) {
		neighbours_offer_ended();
		return;
	}
	r = with_ring();
	fill_ring(&r);
	other = new_rogue(new_listener(1), FEAT_ALL);
	verbs_send_ending(&other.peer, MID_DATA, NULL, 0, r.peer.peer.rkey);
	recv_pattern(r.fd, SEED, 0, FIRST + in_ring(), 5000);
	verbs_write(&r.peer, r.peer.peer.vaddr + UNREAD, SEED, FIRST + UNREAD,
		    100);
	if (recv(r.fd, r.peer.ring, 100, MSG_WAITALL) == 100)
		pattern_verify(r.peer.ring, 100, SEED, FIRST + UNREAD);
	else
		CHECK(is_over(r.fd));
	rogue_close(&other);
	rogue_close(&r);
}

/* What is told of is different, and nowhere near to what was before. */
static void expect_scattered(const struct target *t, size_t count,
			     uint64_t offset)
{
	size_t i, same = 0;

	for (i = 0; i < count; i++)
		CHECK_EQ(t[i].vaddr % PAGE, offset);
	for (i = 1; i < count; i++) {
		uint64_t a = t[i - 1].vaddr, b = t[i].vaddr;

		CHECK((a > b ? a - b : b - a) > 1ULL << 32);
		same += (uint8_t)(t[i].rkey - t[i - 1].rkey) ==
			(uint8_t)(t[1].rkey - t[0].rkey);
	}
	CHECK(same < count - 1);
}

/* iWARP's STags are our provider's; others count them. */
static void expect_scattered_indices(const struct target *t, size_t count)
{
	size_t i, near = 0;

	for (i = 1; i < count; i++)
		near += llabs((long long)(t[i].rkey >> 8) -
			      (long long)(t[i - 1].rkey >> 8)) < 1 << 10;
	CHECK(near < count - 1);
}

static void rings_cannot_be_predicted(void)
{
	struct rogue r[LOOKS];
	struct target t[LOOKS];
	int i;

	for (i = 0; i < LOOKS; i++) {
		r[i] = with_ring();
		t[i] = ring_target(&r[i]);
	}
	expect_scattered(t, LOOKS, 0);
	if (over_iwarp())
		expect_scattered_indices(t, LOOKS);
	for (i = 0; i < LOOKS; i++)
		rogue_close(&r[i]);
}

/* Those of which the same region was registered are some transfers apart. */
static void offers_cannot_be_predicted(void)
{
	struct rogue r = with_threshold();
	struct target t[LOOKS], all;
	uint32_t index = 0;
	struct writer w;
	int n = 0;

	while (n < LOOKS) {
		all = offer(&r, &w);
		if (!n)
			index = all.rkey >> 8;
		if (all.rkey >> 8 == index)
			t[n++] = all;
		expect_offer_taken(&r, &w);
		verbs_post(&r.peer, 3 * BUFS - (r.peer.posted - r.peer.mseq_ack));
		verbs_send(&r.peer, MID_DATA, NULL, 0);
	}
	expect_scattered(t, LOOKS, SKIP);
	rogue_close(&r);
}

static const struct sdp_case cases[] = {
	CASE(neighbours_ring, CASE_SDP_ONLY),
	CASE(neighbours_offer, CASE_SDP_ONLY),
	CASE(neighbours_memory_bound, CASE_SDP_ONLY),
	CASE(derived_from_ones_own, CASE_SDP_ONLY | CASE_LONG),
	CASE(key_guessed_and_ended, CASE_SDP_ONLY),
	CASE(key_known_and_ended, CASE_SDP_ONLY),
	CASE(rings_cannot_be_predicted, CASE_SDP_ONLY),
	CASE(offers_cannot_be_predicted, CASE_SDP_ONLY | CASE_LONG),
};

int main(int argc, char **argv)
{
	return zcopy_main("sync", argc, argv, cases, ARRAY_SIZE(cases));
}
