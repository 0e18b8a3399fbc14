// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that goes away while bytes that were placed in it early wait for the
 * hole before them to be filled: once its region is deregistered no byte of it
 * is touched any more, and the connection ends as if all had come in order.
 * Needs root, and our own iWARP devices.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "iwarp_wire.h"

/* What is where in the server's memory, and in the client's what goes there. */
#define HOLE		0
#define DOOMED		MIB
#define SAFE		(2 * MIB)
/* Three of these fit into TCP's first window: all is sent before any is lost. */
#define LEN		12000
#define UNTOUCHED	0xa5

struct scene {
	struct iwarp_pair p;
	/* The server, with the region that is to go for its memory. */
	struct iwarp_end doomed;
	struct wire_fault fault;
	long terminated;
};

static void register_doomed(struct scene *s)
{
	s->doomed = s->p.server;
	s->doomed.mr = ibv_reg_mr(s->doomed.pd, s->doomed.mem + DOOMED, LEN,
				  IBV_ACCESS_LOCAL_WRITE |
				  IBV_ACCESS_REMOTE_WRITE);
	CHECK(s->doomed.mr);
}

static void begin(struct scene *s)
{
	struct iwarp_pair *p = &s->p;

	wire_find();
	wire_is("");
	wire_segments_are(1);
	iwarp_ask(true, true);
	iwarp_pair_open(p);
	register_doomed(s);
	pattern_fill(p->client.mem, END_MEM, 1, 0);
	memset(p->server.mem, UNTOUCHED, END_MEM);
	s->terminated = iwarp_counter(&p->client, "rx_terminates");
	CHECK_EQ(iwarp_recv(&p->server, HOLE, LEN, 1), 0);
	s->fault = wire_loses_one();
}

/* One of the client's requests, to the same place of the server's memory. */
struct request {
	enum ibv_wr_opcode opcode;
	size_t at;
	uint32_t rkey;
};

/*
 * All at once: after a while TCP sends nothing new until the first packet, which
 * is the hole, has come through.
 */
static void post(struct scene *s, const struct request *requests, int count)
{
	struct ibv_send_wr *bad, wrs[3] = { 0 };
	struct ibv_sge sges[3];
	int i;

	for (i = 0; i < count; i++) {
		const struct request *r = &requests[i];

		sges[i].addr = iwarp_address(&s->p.client, r->at);
		sges[i].length = LEN;
		sges[i].lkey = s->p.client.mr->lkey;
		wrs[i].opcode = r->opcode;
		wrs[i].sg_list = &sges[i];
		wrs[i].num_sge = 1;
		wrs[i].wr.rdma.remote_addr = iwarp_address(&s->p.server, r->at);
		wrs[i].wr.rdma.rkey = r->rkey;
		wrs[i].next = i < count - 1 ? &wrs[i + 1] : NULL;
	}
	CHECK_EQ(ibv_post_send(s->p.client.id->qp, wrs, &bad), 0);
}

static bool is_there(struct scene *s, size_t at)
{
	/* Another reads and writes it behind the compiler's back. */
	__sync_synchronize();
	return !memcmp(s->p.server.mem + at, s->p.client.mem + at, LEN);
}

static void check_untouched(struct scene *s)
{
	size_t i;

	for (i = DOOMED; i < SAFE; i++)
		CHECK_EQ(s->p.server.mem[i], UNTOUCHED);
}

/* All of it, before its turn. */
static void wait_placed_early(struct scene *s, size_t at)
{
	struct ibv_wc wc;

	WAIT_FOR(is_there(s, at));
	CHECK_EQ(ibv_poll_cq(s->p.server.rcq, 1, &wc), 0);
	CHECK_EQ(ibv_poll_cq(s->p.server.scq, 1, &wc), 0);
}

static void deregister(struct scene *s)
{
	CHECK_EQ(ibv_dereg_mr(s->doomed.mr), 0);
	s->doomed.mr = NULL;
	memset(s->p.server.mem + DOOMED, UNTOUCHED, LEN);
}

static void fill_hole(struct scene *s)
{
	wire_heals(&s->fault);
	iwarp_expect(s->p.server.rcq, IBV_WC_SUCCESS);
	pattern_verify(s->p.server.mem + HOLE, LEN, 1, HOLE);
}

/* The server tells why. */
static void end_terminated(struct scene *s)
{
	iwarp_wait_disconnected(&s->p.client);
	iwarp_wait_disconnected(&s->p.server);
	CHECK_EQ(iwarp_counter(&s->p.client, "rx_terminates"),
		 s->terminated + 1);
	check_untouched(s);
	if (s->doomed.mr)
		deregister(s);
	iwarp_pair_close(&s->p);
}

static void write_to_doomed(struct scene *s)
{
	const struct request requests[] = {
		{ IBV_WR_SEND, HOLE },
		{ IBV_WR_RDMA_WRITE, DOOMED, s->doomed.mr->rkey },
	};

	post(s, requests, ARRAY_SIZE(requests));
	wait_placed_early(s, DOOMED);
}

static void written(void)
{
	struct scene s;

	begin(&s);
	write_to_doomed(&s);
	deregister(&s);
	fill_hole(&s);
	end_terminated(&s);
}

/* It is the same memory, but not what the peer was given access to. */
static void written_and_registered_anew(void)
{
	struct scene s;

	begin(&s);
	write_to_doomed(&s);
	deregister(&s);
	register_doomed(&s);
	fill_hole(&s);
	end_terminated(&s);
}

/* What comes early after that is not placed, but what is behind it is. */
static void written_later(void)
{
	struct request requests[] = {
		{ IBV_WR_SEND, HOLE },
		{ IBV_WR_RDMA_WRITE, DOOMED },
		{ IBV_WR_RDMA_WRITE, SAFE },
	};
	struct scene s;

	begin(&s);
	requests[1].rkey = s.doomed.mr->rkey;
	requests[2].rkey = s.p.server.mr->rkey;
	deregister(&s);
	post(&s, requests, ARRAY_SIZE(requests));
	wait_placed_early(&s, SAFE);
	check_untouched(&s);
	fill_hole(&s);
	end_terminated(&s);
}

static void received(void)
{
	static const struct request requests[] = {
		{ IBV_WR_SEND, HOLE },
		{ IBV_WR_SEND, DOOMED },
	};
	struct scene s;

	begin(&s);
	CHECK_EQ(iwarp_recv(&s.doomed, DOOMED, LEN, 3), 0);
	post(&s, requests, ARRAY_SIZE(requests));
	wait_placed_early(&s, DOOMED);
	deregister(&s);
	fill_hole(&s);
	iwarp_expect(s.p.server.rcq, IBV_WC_LOC_PROT_ERR);
	end_terminated(&s);
}

/* The client answers both at once. */
static void post_reads(struct scene *s)
{
	static const size_t at[2] = { SAFE, DOOMED };
	struct ibv_send_wr *bad, wrs[2] = { 0 };
	struct ibv_sge sges[2];
	int i;

	for (i = 0; i < 2; i++) {
		sges[i].addr = iwarp_address(&s->p.server, at[i]);
		sges[i].length = LEN;
		sges[i].lkey = i ? s->doomed.mr->lkey : s->p.server.mr->lkey;
		wrs[i].opcode = IBV_WR_RDMA_READ;
		wrs[i].sg_list = &sges[i];
		wrs[i].num_sge = 1;
		wrs[i].wr.rdma.remote_addr = iwarp_address(&s->p.client, at[i]);
		wrs[i].wr.rdma.rkey = s->p.client.mr->rkey;
	}
	wrs[0].next = &wrs[1];
	CHECK_EQ(ibv_post_send(s->p.server.id->qp, wrs, &bad), 0);
}

static void read_by_us(void)
{
	struct scene s;

	begin(&s);
	post_reads(&s);
	wait_placed_early(&s, DOOMED);
	deregister(&s);
	wire_heals(&s.fault);
	iwarp_expect(s.p.server.scq, IBV_WC_SUCCESS);
	CHECK(is_there(&s, SAFE));
	iwarp_expect(s.p.server.scq, IBV_WC_LOC_PROT_ERR);
	end_terminated(&s);
}

/* What was placed is still there, and so it need not be placed once more. */
static void nothing_goes(void)
{
	struct scene s;
	long early;

	begin(&s);
	early = iwarp_counter(&s.p.server, "rx_early_bytes");
	write_to_doomed(&s);
	fill_hole(&s);
	WAIT_FOR(iwarp_counter(&s.p.server, "rx_early_bytes") >= early + LEN);
	CHECK(is_there(&s, DOOMED));
	deregister(&s);
	iwarp_pair_close(&s.p);
}

static void queue_pair_destroyed(void)
{
	struct scene s;

	begin(&s);
	write_to_doomed(&s);
	rdma_destroy_qp(s.p.server.id);
	deregister(&s);
	/* The end may be told with a selective acknowledgment, which is lost. */
	wire_heals(&s.fault);
	iwarp_wait_disconnected(&s.p.client);
	check_untouched(&s);
	iwarp_pair_close(&s.p);
}

/* There is nobody any more who could deregister anything. */
static void process_killed(void)
{
	struct scene s;
	int ready[2];
	pid_t child;
	char c;

	CHECK_OK(pipe(ready));
	child = fork_child();
	if (!child) {
		begin(&s);
		write_to_doomed(&s);
		CHECK_EQ(write(ready[1], "", 1), 1);
		pause();
	}
	close(ready[1]);
	CHECK_EQ(read(ready[0], &c, 1), 1);
	kill_child(child);
	/* Whoever comes next finds all in order. */
	nothing_goes();
}

static const struct sdp_case cases[] = {
	CASE(nothing_goes, 0),
	CASE(written, 0),
	CASE(written_and_registered_anew, 0),
	CASE(written_later, 0),
	CASE(received, 0),
	CASE(read_by_us, 0),
	CASE(queue_pair_destroyed, 0),
	CASE(process_killed, 0),
};

static void tidy_up(void)
{
	wire_find();
	wire_segments_are(65535);
	iwarp_ask(false, false);
}

int main(int argc, char **argv)
{
	int status = sdp_main(argc, argv, cases, ARRAY_SIZE(cases));

	tidy_up();
	return status;
}
