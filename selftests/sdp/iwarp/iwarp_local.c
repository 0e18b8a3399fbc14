// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs of one kernel that are joined: nothing of what they move is to
 * be seen on the wire, and everything else is as it is over the wire.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "iwarp_end.h"
#include "sdp_bytes.h"
#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_verbs.h"

#define FROM	0		/* where data is in the sender's memory */
#define TO	MIB		/* where it goes in the receiver's */
#define UNTOUCHED 0xa5

/* ---- what the wire carries ---- */

/* The @nth number behind a word. */
static unsigned long long number_behind(const char *text, const char *word,
					int nth)
{
	unsigned long long n = 0;
	char *end;

	text = strstr(text, word);
	CHECK(text);
	for (text += strlen(word); nth--; text = end) {
		n = strtoull(text, &end, 10);
		CHECK(end != text);
	}
	return n;
}

/* Bytes of all IP packets that were sent, of both kinds. */
static unsigned long long ip_bytes(void)
{
	char text[16384], *names;
	unsigned long long n;

	file_read("/proc/net/snmp6", text, sizeof(text));
	n = number_behind(text, "Ip6OutOctets", 1);
	file_read("/proc/net/netstat", text, sizeof(text));
	names = strstr(text, "IpExt:");
	CHECK(names);
	/* OutOctets are the eighth value in the line behind that of the names. */
	return n + number_behind(names + 1, "IpExt:", 8);
}

static void move_one_of_each(struct iwarp_pair *p)
{
	struct iwarp_end *c = &p->client, *s = &p->server;

	pattern_fill(c->mem + FROM, MIB, 1, 0);
	CHECK_EQ(iwarp_recv(s, TO, MIB, 1), 0);
	CHECK_EQ(iwarp_send(c, FROM, MIB, 1), 0);
	iwarp_expect(s->rcq, IBV_WC_SUCCESS);
	iwarp_expect(c->scq, IBV_WC_SUCCESS);
	pattern_verify(s->mem + TO, MIB, 1, 0);
	CHECK_EQ(iwarp_write(c, FROM, MIB, s->mr->rkey,
			     iwarp_address(s, 2 * MIB)), 0);
	iwarp_expect(c->scq, IBV_WC_SUCCESS);
	CHECK_EQ(iwarp_read(c, TO, MIB, s->mr->rkey,
			    iwarp_address(s, 2 * MIB)), 0);
	iwarp_expect(c->scq, IBV_WC_SUCCESS);
	pattern_verify(c->mem + TO, MIB, 1, 0);
}

static unsigned long long bytes_for_three(bool joined)
{
	unsigned long long before;
	struct iwarp_pair p;

	iwarp_join(joined);
	iwarp_pair_open(&p);
	before = ip_bytes();
	move_one_of_each(&p);
	before = ip_bytes() - before;
	iwarp_pair_close(&p);
	return before;
}

static void wire_carries_nothing(void)
{
	long counted = device_counters("local_bytes");

	CHECK(bytes_for_three(false) > 3 * MIB);
	CHECK_EQ(device_counters("local_bytes"), counted);
	CHECK(bytes_for_three(true) < MIB / 8);
	/* The counters are read anew only now and then. */
	WAIT_FOR(device_counters("local_bytes") == (long)(counted + 3 * MIB));
}

/* ---- what is refused ---- */

enum { CLIENT_SEND, CLIENT_RECV, SERVER_SEND, SERVER_RECV, QUEUES };
#define POSTED_MAX 3

/* How each request ended, in the order of the queue. */
struct outcome {
	int posted[QUEUES];
	int status[QUEUES][POSTED_MAX];
};

typedef void (*refusal)(struct iwarp_pair *p, struct outcome *o);

static void post_write(struct iwarp_pair *p, struct outcome *o, uint32_t rkey,
		       size_t at)
{
	CHECK_EQ(iwarp_write(&p->client, FROM, 64, rkey,
			     iwarp_address(&p->server, at)), 0);
	o->posted[CLIENT_SEND]++;
}

static void post_read(struct iwarp_pair *p, struct outcome *o, uint32_t rkey,
		      size_t at)
{
	CHECK_EQ(iwarp_read(&p->client, TO, 64, rkey,
			    iwarp_address(&p->server, at)), 0);
	o->posted[CLIENT_SEND]++;
}

static void post_send(struct iwarp_pair *p, struct outcome *o, size_t len)
{
	CHECK_EQ(iwarp_send(&p->client, FROM, len, 2), 0);
	o->posted[CLIENT_SEND]++;
}

static void post_recv(struct iwarp_pair *p, struct outcome *o, size_t len)
{
	CHECK_EQ(iwarp_recv(&p->server, TO, len, 2), 0);
	o->posted[SERVER_RECV]++;
}

static void write_to_wrong_key(struct iwarp_pair *p, struct outcome *o)
{
	post_write(p, o, p->server.mr->rkey + 1, TO);
}

static void write_beyond_region(struct iwarp_pair *p, struct outcome *o)
{
	post_write(p, o, p->server.mr->rkey, END_MEM - 63);
}

static void read_of_wrong_key(struct iwarp_pair *p, struct outcome *o)
{
	post_read(p, o, p->server.mr->rkey + 1, TO);
}

static void read_beyond_region(struct iwarp_pair *p, struct outcome *o)
{
	post_read(p, o, p->server.mr->rkey, END_MEM - 63);
}

static void send_too_long(struct iwarp_pair *p, struct outcome *o)
{
	post_recv(p, o, 100);
	post_recv(p, o, 200);
	post_send(p, o, 101);
}

static void second_send_without_buffer(struct iwarp_pair *p, struct outcome *o)
{
	post_recv(p, o, 100);
	post_send(p, o, 100);
	post_send(p, o, 100);
}

static void send_of_wrong_memory(struct iwarp_pair *p, struct outcome *o)
{
	post_recv(p, o, 100);
	p->client.mr->lkey++;
	post_send(p, o, 100);
	p->client.mr->lkey--;
}

static void receive_in_wrong_memory(struct iwarp_pair *p, struct outcome *o)
{
	p->server.mr->lkey++;
	post_recv(p, o, 100);
	p->server.mr->lkey--;
	post_send(p, o, 100);
}

static void read_into_wrong_memory(struct iwarp_pair *p, struct outcome *o)
{
	p->client.mr->lkey++;
	post_read(p, o, p->server.mr->rkey, TO);
	p->client.mr->lkey--;
}

static struct outcome outcome_of(refusal refused, bool joined)
{
	struct outcome o = {};
	struct iwarp_pair p;
	struct ibv_cq *cqs[QUEUES];
	int q, i;

	iwarp_join(joined);
	iwarp_pair_open(&p);
	memset(p.server.mem + TO, UNTOUCHED, MIB);
	/* One more that has nothing to do with it. */
	CHECK_EQ(iwarp_recv(&p.client, TO, 1, 1), 0);
	o.posted[CLIENT_RECV]++;
	refused(&p, &o);
	iwarp_wait_disconnected(&p.client);
	iwarp_wait_disconnected(&p.server);
	cqs[CLIENT_SEND] = p.client.scq;
	cqs[CLIENT_RECV] = p.client.rcq;
	cqs[SERVER_SEND] = p.server.scq;
	cqs[SERVER_RECV] = p.server.rcq;
	for (q = 0; q < QUEUES; q++)
		for (i = 0; i < o.posted[q]; i++)
			o.status[q][i] = iwarp_wait(cqs[q]).status;
	iwarp_pair_close(&p);
	return o;
}

static void refused_alike(void)
{
	static const struct {
		const char *name;
		refusal refused;
	} all[] = {
		{ "a write to a wrong key", write_to_wrong_key },
		{ "a write beyond its region", write_beyond_region },
		{ "a read of a wrong key", read_of_wrong_key },
		{ "a read beyond its region", read_beyond_region },
		{ "a message that is too long", send_too_long },
		{ "a message without a buffer", second_send_without_buffer },
		{ "a message of wrong memory", send_of_wrong_memory },
		{ "a message into wrong memory", receive_in_wrong_memory },
		{ "a read into wrong memory", read_into_wrong_memory },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		struct outcome wire = outcome_of(all[i].refused, false);
		struct outcome joined = outcome_of(all[i].refused, true);
		int q, n;

		for (q = 0; q < QUEUES; q++)
			for (n = 0; n < wire.posted[q]; n++)
				if (wire.status[q][n] != joined.status[q][n])
					FAIL("%s: request %d of queue %d: %s apart, %s joined",
					     all[i].name, n, q,
					     ibv_wc_status_str(wire.status[q][n]),
					     ibv_wc_status_str(joined.status[q][n]));
	}
}

/* ---- both directions ---- */

#define SLOTS		16
#define SLOT_LEN	60000

struct flow {
	struct iwarp_end *from;
	struct iwarp_end *to;
	unsigned int count;	/* messages, 0: without end */
	unsigned int seed;
	int progress;		/* a byte is written here now and then, if not -1 */
	pthread_t thread;
};

static size_t flow_len(unsigned int i)
{
	return 1 + (i * 7919) % SLOT_LEN;
}

static void flow_post(struct flow *f, unsigned int i)
{
	size_t at = i % SLOTS * SLOT_LEN;

	pattern_fill(f->from->mem + FROM + at, flow_len(i), f->seed + i, 0);
	CHECK_EQ(iwarp_recv(f->to, TO + at, flow_len(i), 1), 0);
	CHECK_EQ(iwarp_send(f->from, FROM + at, flow_len(i), 1), 0);
}

static void flow_check(struct flow *f, unsigned int i)
{
	struct ibv_wc wc = iwarp_wait(f->to->rcq);

	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	CHECK_EQ(wc.byte_len, flow_len(i));
	pattern_verify(f->to->mem + TO + i % SLOTS * SLOT_LEN, flow_len(i),
		       f->seed + i, 0);
	iwarp_expect(f->from->scq, IBV_WC_SUCCESS);
	if (f->progress >= 0 && i % SLOTS == 0)
		CHECK_EQ(write(f->progress, "x", 1), 1);
}

static void *flow_run(void *arg)
{
	struct flow *f = arg;
	unsigned int i;

	for (i = 0; !f->count || i < f->count + SLOTS; i++) {
		if (i >= SLOTS)
			flow_check(f, i - SLOTS);
		if (!f->count || i < f->count)
			flow_post(f, i);
	}
	return NULL;
}

static void flow_both_ways(struct iwarp_pair *p, unsigned int count, int progress)
{
	struct flow there = { &p->client, &p->server, count, 1, progress };
	struct flow back = { &p->server, &p->client, count, 1 << 20, -1 };

	thread_start(&there.thread, flow_run, &there);
	thread_start(&back.thread, flow_run, &back);
	thread_join(there.thread);
	thread_join(back.thread);
}

static void both_directions(void)
{
	struct iwarp_pair p;

	iwarp_join(true);
	iwarp_pair_open(&p);
	flow_both_ways(&p, scaled_count(600), -1);
	iwarp_pair_close(&p);
}

/* ---- a receiver that holds ---- */

/* The request itself waits, and what is behind it. */
static void held_requests_wait(void)
{
	struct iwarp_pair p;
	struct ibv_wc wc;
	int i;

	iwarp_join(true);
	iwarp_set("hold", true);
	iwarp_pair_open(&p);
	iwarp_set("hold", false);
	pattern_fill(p.client.mem + FROM, SLOT_LEN, 4, 0);
	for (i = 0; i < 3; i++)
		CHECK_EQ(iwarp_send(&p.client, FROM, SLOT_LEN, 1), 0);
	for (i = 0; i < 3; i++) {
		CHECK_EQ(ibv_poll_cq(p.client.scq, 1, &wc), 0);
		memset(p.server.mem + TO, UNTOUCHED, SLOT_LEN);
		CHECK_EQ(iwarp_recv(&p.server, TO, SLOT_LEN, 1), 0);
		iwarp_expect(p.server.rcq, IBV_WC_SUCCESS);
		pattern_verify(p.server.mem + TO, SLOT_LEN, 4, 0);
		iwarp_expect(p.client.scq, IBV_WC_SUCCESS);
	}
	CHECK_EQ(iwarp_send(&p.client, FROM, SLOT_LEN, 1), 0);
	CHECK_OK(rdma_disconnect(p.server.id));
	iwarp_wait_disconnected(&p.client);
	iwarp_wait_disconnected(&p.server);
	iwarp_expect(p.client.scq, IBV_WC_WR_FLUSH_ERR);
	iwarp_pair_close(&p);
}

/* ---- a peer of AF_SDP ---- */

#define SHORT	16

/* A message of SDP in its place, without regard to what the peer has room for. */
static void prepare_message(struct verbs_end *v, unsigned int i, struct ibv_sge *sge,
			    struct ibv_send_wr *wr)
{
	unsigned char *msg = v->out[i];

	memset(msg, 0, BSDH_LEN);
	msg[0] = MID_DATA;
	put16(msg + 2, v->bufs);
	put32(msg + 4, BSDH_LEN + SHORT);
	put32(msg + 8, ++v->mseq);
	put32(msg + 12, v->mseq_ack);
	pattern_fill(msg + BSDH_LEN, SHORT, 5, i * SHORT);
	*sge = (struct ibv_sge){ (uintptr_t)msg, BSDH_LEN + SHORT, v->mr->lkey };
	*wr = (struct ibv_send_wr){
		.next = wr + 1,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	};
}

/* All of it comes, or the socket says that the peer had no credit for so much. */
static void read_all_or_refuse(int fd, size_t len)
{
	unsigned char buf[VERBS_PAYLOAD];
	size_t got = 0;
	long n;

	while (got < len && (n = recv(fd, buf, sizeof(buf), 0)) > 0) {
		pattern_verify(buf, n, 5, got);
		got += n;
	}
	CHECK(got == len || (n < 0 && errno == EPROTO));
}

/*
 * Posted at once, they come to a receiver that posts buffers only when it has seen some:
 * those for which there was none wait for that, and the receiver not for them.
 */
static void more_than_credits(void)
{
	struct verbs_offer offer = { FEAT_ALL, 1 };
	struct ibv_send_wr *bad, wrs[VERBS_SLOTS / 2];
	struct ibv_sge sges[ARRAY_SIZE(wrs)];
	unsigned int i;
	struct rogue r;

	r = rogue_accepted(engine_listener("nic", 16 * KIB), 8, 8, offer);
	for (i = 0; i < ARRAY_SIZE(wrs); i++)
		prepare_message(&r.peer, i, &sges[i], &wrs[i]);
	wrs[i - 1].next = NULL;
	CHECK_EQ(ibv_post_send(r.peer.id->qp, wrs, &bad), 0);
	read_all_or_refuse(r.fd, ARRAY_SIZE(wrs) * SHORT);
	rogue_close(&r);
}

/* ---- what ends under it ---- */

static void killed_in_mid_transfer(void)
{
	struct iwarp_pair p;
	int i, pipe_fd[2];
	char byte;
	pid_t pid;

	iwarp_join(true);
	for (i = 0; i < 3; i++) {
		CHECK_OK(pipe(pipe_fd));
		pid = fork_child();
		if (!pid) {
			iwarp_pair_open(&p);
			flow_both_ways(&p, 0, pipe_fd[1]);
		}
		CHECK_EQ(read(pipe_fd[0], &byte, 1), 1);
		CHECK_EQ(read(pipe_fd[0], &byte, 1), 1);
		kill_child(pid);
		close(pipe_fd[0]);
		close(pipe_fd[1]);
	}
	iwarp_pair_open(&p);
	move_one_of_each(&p);
	iwarp_pair_close(&p);
}

struct writer {
	struct iwarp_pair *p;
	uint32_t rkey;
	unsigned int done;
	pthread_t thread;
};

/* Until it is refused, and what is behind that, flushed. */
static void *write_on(void *arg)
{
	struct writer *w = arg;
	struct iwarp_pair *p = w->p;

	while (!iwarp_write(&p->client, FROM, MIB, w->rkey,
			    iwarp_address(&p->server, TO)) &&
	       iwarp_wait(p->client.scq).status == IBV_WC_SUCCESS)
		__atomic_add_fetch(&w->done, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Once the region is gone, not a byte of it changes. */
static void region_ends_under_writes(void)
{
	struct iwarp_pair p;
	struct writer w = { .p = &p };
	size_t i;

	iwarp_join(true);
	iwarp_pair_open(&p);
	w.rkey = p.server.mr->rkey;
	thread_start(&w.thread, write_on, &w);
	WAIT_FOR(__atomic_load_n(&w.done, __ATOMIC_RELAXED) > 5);
	CHECK_EQ(ibv_dereg_mr(p.server.mr), 0);
	memset(p.server.mem, UNTOUCHED, END_MEM);
	iwarp_wait_disconnected(&p.client);
	iwarp_wait_disconnected(&p.server);
	thread_join(w.thread);
	for (i = 0; i < END_MEM; i++)
		CHECK_EQ(p.server.mem[i], UNTOUCHED);
	p.server.mr = ibv_reg_mr(p.server.pd, p.server.mem, END_MEM, 0);
	CHECK(p.server.mr);
	iwarp_pair_close(&p);
}

/* What was posted before is delivered before the end is. */
static void disconnect_delivers_first(void)
{
	struct iwarp_pair p;
	size_t i;

	iwarp_join(true);
	iwarp_pair_open(&p);
	for (i = 0; i < SLOTS; i++)
		CHECK_EQ(iwarp_recv(&p.server, TO, SLOT_LEN, 1), 0);
	for (i = 0; i < SLOTS; i++)
		CHECK_EQ(iwarp_send(&p.client, FROM, SLOT_LEN, 1), 0);
	CHECK_OK(rdma_disconnect(p.client.id));
	iwarp_wait_disconnected(&p.client);
	iwarp_wait_disconnected(&p.server);
	for (i = 0; i < SLOTS; i++) {
		iwarp_expect(p.client.scq, IBV_WC_SUCCESS);
		iwarp_expect(p.server.rcq, IBV_WC_SUCCESS);
	}
	iwarp_pair_close(&p);
}

static const struct sdp_case cases[] = {
	CASE(wire_carries_nothing, CASE_IPV6),
	CASE(refused_alike, 0),
	CASE(both_directions, 0),
	CASE(more_than_credits, 0),
	CASE(held_requests_wait, 0),
	CASE(killed_in_mid_transfer, 0),
	CASE(region_ends_under_writes, 0),
	CASE(disconnect_delivers_first, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
