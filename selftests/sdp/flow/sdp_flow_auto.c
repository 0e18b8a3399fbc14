// SPDX-License-Identifier: GPL-2.0
/*
 * Flow control that is left to the module: which traffic gets a ring, and for which
 * reason.
 */
#define _GNU_SOURCE
#include <netinet/tcp.h>

#include "sdp_engine.h"
#include "sdp_memory.h"

#define SHORT		100

static struct pair auto_pair(void)
{
	struct pair p = pair_wanting("auto");

	set_int(p.client, IPPROTO_TCP, TCP_NODELAY, 1);
	set_int(p.server, IPPROTO_TCP, TCP_NODELAY, 1);
	if (info_of(p.client).sdpi_flow == SDP_FLOW_CREDIT)
		sdp_skip("the device carries no engine with rings");
	return p;
}

static void short_messages_get_a_ring(void)
{
	struct pair p = auto_pair();
	struct sdp_info server;
	uint64_t up = 0, down = 0;

	flow_until_ring(p.client, p.server, FLOW_UP, &up, SHORT);
	server = info_of(p.server);
	CHECK_EQ(server.sdpi_ring_reason, SDP_RING_SHORT);
	CHECK_EQ(server.sdpi_flow, info_of(p.client).sdpi_flow);
	WAIT_FOR(info_of(p.client).sdpi_peer_ring == server.sdpi_rx_ring);
	/* The other direction is another matter. */
	CHECK(!flow_has_ring(p.client));
	CHECK_EQ(info_of(p.client).sdpi_ring_reason, SDP_RING_NONE);
	flow_until_ring(p.server, p.client, FLOW_DOWN, &down, SHORT);
	CHECK_EQ(info_of(p.client).sdpi_ring_reason, SDP_RING_SHORT);
	exchange(p.client, p.server, scaled(MIB));
	close_pair(p);
}

static void medium_messages_get_a_ring(void)
{
	struct pair p = auto_pair();
	uint64_t up = 0;

	flow_until_ring(p.client, p.server, FLOW_UP, &up, 4 * KIB);
	exchange(p.client, p.server, scaled(MIB));
	close_pair(p);
}

static void answers_get_none(void)
{
	struct pair p = auto_pair();
	uint64_t up = 0, down = 0;
	unsigned int i;

	for (i = 0; i < 200; i++) {
		flow_move(p.client, p.server, FLOW_UP, &up, SHORT);
		flow_move(p.server, p.client, FLOW_DOWN, &down, SHORT);
	}
	CHECK(!flow_has_ring(p.client) && !flow_has_ring(p.server));
	CHECK_EQ(info_of(p.server).sdpi_ring_reason, SDP_RING_NONE);
	close_pair(p);
}

static void long_messages_get_buffers(void)
{
	struct pair p = auto_pair();
	uint64_t up = scaled(32 * MIB);
	struct pattern_task writer = { .fd = p.client, .seed = FLOW_UP, .len = up };
	struct sdp_info info;

	pattern_task_start(&writer);
	recv_pattern(p.server, FLOW_UP, 0, up, 256 * KIB);
	pattern_task_end(&writer);
	info = info_of(p.server);
	CHECK(!info.sdpi_rx_ring);
	CHECK(info.sdpi_rx_buffer_size > 32 * KIB);
	/* Short ones come later: there is a ring then, beside the long buffers. */
	flow_until_ring(p.client, p.server, FLOW_UP, &up, SHORT);
	CHECK_EQ(info_of(p.server).sdpi_ring_reason, SDP_RING_SHORT);
	exchange(p.client, p.server, scaled(4 * MIB));
	close_pair(p);
}

/* Nothing is read, so that credits may end before there is a stream to be seen. */
static void unread_messages_get_a_ring(void)
{
	struct pair p = auto_pair();
	struct stopwatch w = start_watch();
	unsigned char buf[SHORT];
	uint64_t up, ms;

	set_timeout(p.client, SO_SNDTIMEO, wait_limit_ms() / 4);
	for (up = 0; !flow_has_ring(p.server); up += SHORT) {
		pattern_fill(buf, SHORT, FLOW_UP, up);
		ms = watch_ms(w);
		if (send(p.client, buf, SHORT, 0) == SHORT)
			continue;
		CHECK_EQ(errno, EAGAIN);
		if (ms > up / SHORT * FLOW_SOON_MS / 2)
			sdp_skip("this kernel is too slow for a stream");
		FAIL("no ring after %llu bytes", (unsigned long long)up);
	}
	if (info_of(p.server).sdpi_ring_reason != SDP_RING_FULL)
		CHECK_EQ(info_of(p.server).sdpi_ring_reason, SDP_RING_SHORT);
	recv_pattern(p.server, FLOW_UP, 0, up, up);
	exchange(p.client, p.server, scaled(MIB));
	close_pair(p);
}

/* As much memory as the program allows, and it does so after it has connected. */
static void ring_within_rcvbuf(void)
{
	struct pair p = auto_pair(), q = auto_pair();
	uint64_t up = 0;

	set_int(p.server, SOL_SOCKET, SO_RCVBUF, 64 * KIB);
	flow_until_ring(p.client, p.server, FLOW_UP, &up, SHORT);
	CHECK_EQ(info_of(p.server).sdpi_rx_ring, 64 * KIB);
	exchange(p.client, p.server, scaled(MIB));
	close_pair(p);
	/* The first buffers have about as much. */
	up = 0;
	set_int(q.server, SOL_SOCKET, SO_RCVBUF, 20000);
	flow_move_each(q.client, q.server, FLOW_UP, &up, 200, SHORT);
	exchange(q.client, q.server, scaled(MIB));
	CHECK(!flow_has_ring(q.server));
	close_pair(q);
}

static void peer_with_credits(void)
{
	struct pair p = engine_pair("auto", "credit", 64 * KIB);
	uint64_t up = 0;

	expect_flow(p.client, "credit");
	expect_flow(p.server, "credit");
	CHECK_EQ(info_of(p.server).sdpi_flow_reason, SDP_FLOW_REASON_NONE);
	flow_move_each(p.client, p.server, FLOW_UP, &up, 200, SHORT);
	CHECK(!flow_has_ring(p.server));
	exchange(p.client, p.server, scaled(MIB));
	close_pair(p);
}

static const struct sdp_case cases[] = {
	CASE(short_messages_get_a_ring, CASE_SDP_ONLY),
	CASE(medium_messages_get_a_ring, CASE_SDP_ONLY),
	CASE(answers_get_none, CASE_SDP_ONLY),
	CASE(long_messages_get_buffers, CASE_SDP_ONLY),
	CASE(unread_messages_get_a_ring, CASE_SDP_ONLY),
	CASE(ring_within_rcvbuf, CASE_SDP_ONLY),
	CASE(peer_with_credits, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
