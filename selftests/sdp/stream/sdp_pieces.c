// SPDX-License-Identifier: GPL-2.0
/* Long pieces of large rings, and the send ring's memory that they are taken from. */
#include <netinet/tcp.h>

#include "sdp_engine.h"

/* Long writes become long messages, a quarter of the ring each. */
static void long_pieces(const char *engine)
{
	struct flow_pair f = flow_open(engine, MIB);
	uint64_t before = info_of(f.p.client).sdpi_data_msgs_out;
	uint64_t part = 512 * KIB;
	int i;

	for (i = 0; i < 8; i++)
		flow_move(f.p.client, f.p.server, FLOW_UP, &f.up, part);
	/* A piece ends where the ring does. */
	CHECK(info_of(f.p.client).sdpi_data_msgs_out - before <= 8 * part / (160 * KIB));
	close_pair(f.p);
}

/* Writes what fits, so many bytes at most. */
static void write_some(struct flow_pair *f, uint64_t *sent, size_t len)
{
	unsigned char buf[9000];
	ssize_t n;

	CHECK(len <= sizeof(buf));
	pattern_fill(buf, len, FLOW_UP, *sent);
	n = send(f->p.client, buf, len, MSG_DONTWAIT);
	if (n > 0)
		*sent += n;
	else
		CHECK_EQ(errno, EAGAIN);
}

/*
 * Memory that two connections have got in turn does not lie together, and a long
 * piece would have it in more places than a work request can name.
 */
static void scattered_memory(const char *engine)
{
	struct flow_pair f = flow_open(engine, MIB);
	struct flow_pair other = flow_open(engine, MIB);
	uint64_t sent = f.up, other_sent = other.up;
	int i;

	for (i = 0; i < 300; i++) {
		write_some(&f, &sent, 9000);
		write_some(&other, &other_sent, 9000);
	}
	recv_pattern(f.p.server, FLOW_UP, f.up, sent - f.up, 50000);
	f.up = sent;
	for (i = 0; i < 8; i++)
		flow_move(f.p.client, f.p.server, FLOW_UP, &f.up, 500000);
	close_pair(f.p);
	close_pair(other.p);
}

static void rdma_long_pieces(void)
{
	long_pieces("rdma");
}

static void nic_long_pieces(void)
{
	long_pieces("nic");
}

static void rdma_scattered_memory(void)
{
	scattered_memory("rdma");
}

static void nic_scattered_memory(void)
{
	scattered_memory("nic");
}

/* Of the 25 that 100 KiB take in the first buffers. */
#define FEW	14

/* How many messages the first write of a connection makes, which is long. */
static uint64_t first_long_write(void)
{
	struct pair p = pair_wanting("credit");
	struct sdp_info info;

	set_int(p.client, SOL_TCP, TCP_NODELAY, 1);
	send_pattern(p.client, 1, 0, 100 * KIB, 100 * KIB);
	recv_pattern(p.server, 1, 0, 100 * KIB, 100 * KIB);
	info = info_of(p.client);
	/* All of it may have left before the answer of the peer has come. */
	CHECK(info.sdpi_data_msgs_out > FEW || info.sdpi_max_payload >= 32 * KIB);
	close_pair(p);
	return info.sdpi_data_msgs_out;
}

/*
 * What the peer's small buffers cannot take waits for longer ones, and then leaves in
 * messages of their length, although it was cut before.  If these come late, more has
 * left by then.
 */
static void cut_write_is_joined(void)
{
	WAIT_FOR(first_long_write() <= FEW);
}

static const struct sdp_case cases[] = {
	CASE(cut_write_is_joined, CASE_SDP_ONLY),
	CASE(rdma_long_pieces, CASE_SDP_ONLY),
	CASE(nic_long_pieces, CASE_SDP_ONLY),
	CASE(rdma_scattered_memory, CASE_SDP_ONLY),
	CASE(nic_scattered_memory, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
