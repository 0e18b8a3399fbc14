// SPDX-License-Identifier: GPL-2.0
/* Memory: buffers that grow and shrink, their limits, and who is charged. */
#define _GNU_SOURCE
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"

/* The fewest receive buffers. */
#define LEAST_RECEIVE	(4 * 4 * KIB)
/* Of net.sdp.num_buffers and buffer_size as they are by default. */
#define LARGEST_BUFFER	(64 * KIB)
#define MOST_BUFFERS	16

/* ---- what a connection takes ---- */

static void idle_connection_is_cheap(void)
{
	struct pair p = new_pair();
	int fd[] = { p.client, p.server }, i;

	for (i = 0; i < 2; i++) {
		CHECK_EQ(mem_received(fd[i]), FIRST_RECEIVE);
		CHECK_EQ(mem_sent(fd[i]), RING_PIECE);
		CHECK_EQ(mem_info(fd[i], SK_MEMINFO_FWD_ALLOC), 0);
	}
	/* A few bytes make it no dearer. */
	exchange(p.client, p.server, 1000);
	for (i = 0; i < 2; i++)
		CHECK(mem_received(fd[i]) + mem_sent(fd[i]) < 64 * KIB);
	close_pair(p);
}

static void all_memory_comes_back(void)
{
	struct pair p;

	/* Earlier connections may not be gone yet. */
	WAIT_FOR(sdp_stat("MemPages") == 0);
	WAIT_FOR(sdp_stat("Sockets") == 0);
	p = new_pair();
	CHECK_EQ(sdp_stat("MemPages"),
		 2 * (FIRST_RECEIVE + RING_PIECE) / (4 * KIB));
	CHECK_EQ(sdp_stat("Sockets"), 2);
	exchange(p.client, p.server, scaled(4 * MIB));
	send_pattern(p.client, 1, 0, 100000, 100000);
	close_pair(p);
	WAIT_FOR(sdp_stat("MemPages") == 0);
	WAIT_FOR(sdp_stat("Sockets") == 0);
}

/* Data that came before the end stays charged until it is read. */
static void unread_data_after_the_end(void)
{
	struct pair p = new_pair();

	send_pattern(p.client, 9, 0, 10000, 10000);
	wait_inq(p.server, 10000);
	CHECK_OK(shutdown(p.server, SHUT_WR));
	CHECK_OK(close(p.client));
	WAIT_FOR(mem_sent(p.server) == 0);
	CHECK(mem_received(p.server) >= 10000);
	recv_pattern(p.server, 9, 0, 10000, 3000);
	CHECK_EQ(recv_until_end(p.server), 0);
	CHECK_EQ(mem_received(p.server), 0);
}

/* Neither an account nor the kernel's checkers know of whole pages. */
static void pages_of_rings_come_back(void)
{
	unsigned int i, count = scaled_count(30);
	size_t before;

	if (kernel_keeps_freed())
		sdp_skip("this kernel keeps what is freed");
	close_pair(flow_open("rdma", MIB).p);
	before = available_memory();
	for (i = 0; i < count; i++)
		close_pair(flow_open("rdma", MIB).p);
	/* Two rings each: others may use less than half of that meanwhile. */
	WAIT_FOR(available_memory() + count * MIB > before);
}

/* ---- growth ---- */

static void grow(struct pair p)
{
	uint64_t end = now_ms() + wait_limit_ms();

	while (get_int(p.client, SOL_TCP, TCP_MAXSEG) != LARGEST_BUFFER ||
	       get_int(p.server, SOL_TCP, TCP_MAXSEG) != LARGEST_BUFFER) {
		if (now_ms() > end)
			FAIL("messages stay at %d and %d bytes",
			     get_int(p.client, SOL_TCP, TCP_MAXSEG),
			     get_int(p.server, SOL_TCP, TCP_MAXSEG));
		exchange(p.client, p.server, 256 * KIB);
	}
}

static void both_directions_grow_at_once(void)
{
	struct pair p = new_pair();
	size_t most = MOST_BUFFERS * LARGEST_BUFFER + FIRST_RECEIVE;

	CHECK_EQ(get_int(p.client, SOL_TCP, TCP_MAXSEG), 4 * KIB);
	grow(p);
	exchange(p.client, p.server, scaled(8 * MIB));
	CHECK(mem_received(p.client) >= 4 * LARGEST_BUFFER);
	CHECK(mem_received(p.server) >= 4 * LARGEST_BUFFER);
	CHECK(mem_received(p.client) <= most);
	CHECK(mem_received(p.server) <= most);
	close_pair(p);
}

/* A side that only receives small messages keeps its small buffers. */
static void only_the_receiver_of_much_grows(void)
{
	struct pair p = new_pair();
	uint64_t pos;

	for (pos = 0; pos < 4 * MIB; pos += 512 * KIB) {
		struct pattern_task t = { p.client, 5, pos, 512 * KIB };

		pattern_task_start(&t);
		recv_pattern(p.server, 5, pos, 512 * KIB, 100000);
		pattern_task_end(&t);
		send_pattern(p.server, 6, pos / MIB, 1, 1);
		recv_pattern(p.client, 6, pos / MIB, 1, 1);
	}
	CHECK(mem_received(p.server) >= 4 * LARGEST_BUFFER);
	CHECK_EQ(mem_received(p.client), FIRST_RECEIVE);
}

/* Each part just fits, as sendfile() gives them, but they belong together. */
static void parts_of_more_grow(void)
{
	uint64_t end = now_ms() + wait_limit_ms(), pos = 0;
	unsigned char part[4 * KIB];
	struct pair p = new_pair();
	unsigned int i;

	while (get_int(p.client, SOL_TCP, TCP_MAXSEG) != LARGEST_BUFFER) {
		if (now_ms() > end)
			FAIL("messages stay at %d bytes",
			     get_int(p.client, SOL_TCP, TCP_MAXSEG));
		for (i = 0; i < 20; i++) {
			pattern_fill(part, sizeof(part), 15,
				     pos + i * sizeof(part));
			CHECK_EQ(send(p.client, part, sizeof(part),
				      i < 19 ? MSG_MORE : 0), sizeof(part));
		}
		recv_pattern(p.server, 15, pos, i * sizeof(part), 100000);
		pos += i * sizeof(part);
	}
	close_pair(p);
}

/* Messages that just fit, and just do not, while the size grows under them. */
static void every_size_boundary(void)
{
	struct pair p = new_pair();
	uint64_t pos[2] = { 0 };
	size_t size;
	int i, delta;

	set_int(p.client, SOL_TCP, TCP_NODELAY, 1);
	set_int(p.server, SOL_TCP, TCP_NODELAY, 1);
	for (size = 4 * KIB; size <= 2 * LARGEST_BUFFER; size *= 2)
		for (delta = -1; delta <= 1; delta++)
			for (i = 0; i < 6; i++) {
				int from = i % 2 ? p.server : p.client;
				int to = i % 2 ? p.client : p.server;

				send_pattern(from, 7 + i % 2, pos[i % 2],
					     size + delta, size + delta);
				recv_pattern(to, 7 + i % 2, pos[i % 2],
					     size + delta, size + delta);
				pos[i % 2] += size + delta;
			}
	CHECK_EQ(get_int(p.client, SOL_TCP, TCP_MAXSEG), LARGEST_BUFFER);
	close_pair(p);
}

/* Nobody reads, so that the credits run out again and again. */
static void many_small_messages_get_more_buffers(void)
{
	struct pair p = pair_wanting("credit");
	int i;

	set_int(p.client, SOL_TCP, TCP_NODELAY, 1);
	for (i = 0; i < MOST_BUFFERS - 2; i++) {
		send_pattern(p.client, 3, i, 1, 1);
		wait_inq(p.server, i + 1);
	}
	WAIT_FOR(mem_received(p.server) == MOST_BUFFERS * 4 * KIB);
	recv_pattern(p.server, 3, 0, i, 5);
	exchange(p.client, p.server, scaled(MIB));
}

/* ---- limits of one socket ---- */

static void smallest_rcvbuf(void)
{
	struct pair p = new_limited_pair(1);

	CHECK_EQ(mem_received(p.server), LEAST_RECEIVE);
	exchange(p.client, p.server, scaled(2 * MIB));
	/* The last buffer may be on its way back still. */
	WAIT_FOR(mem_received(p.server) == LEAST_RECEIVE);
	WAIT_FOR(mem_received(p.client) == LEAST_RECEIVE);
}

static void rcvbuf_limits_growth(void)
{
	struct pair p = new_limited_pair(50000);
	size_t most = get_int(p.server, SOL_SOCKET, SO_RCVBUF) + FIRST_RECEIVE;

	CHECK_EQ(get_int(p.server, SOL_SOCKET, SO_RCVBUF), 100000);
	exchange(p.client, p.server, scaled(4 * MIB));
	CHECK(get_int(p.client, SOL_TCP, TCP_MAXSEG) > (int)(4 * KIB));
	CHECK(get_int(p.client, SOL_TCP, TCP_MAXSEG) <= 100000 / 4);
	CHECK(mem_received(p.server) <= most);
	CHECK(mem_received(p.client) <= most);
}

static void rcvbuf_raised_later(void)
{
	struct pair p = new_limited_pair(1);

	exchange(p.client, p.server, scaled(MIB));
	set_int(p.server, SOL_SOCKET, SO_RCVBUFFORCE, MIB);
	set_int(p.client, SOL_SOCKET, SO_RCVBUFFORCE, MIB);
	grow(p);
	CHECK(mem_received(p.server) >= 4 * LARGEST_BUFFER);
}

static void rcvbuf_lowered_later(void)
{
	struct pair p = new_pair();
	size_t least = 4 * LARGEST_BUFFER;

	grow(p);
	set_int(p.server, SOL_SOCKET, SO_RCVBUF, 1);
	set_int(p.client, SOL_SOCKET, SO_RCVBUF, 1);
	exchange(p.client, p.server, scaled(8 * MIB));
	/* What was promised to the peer, and no more. */
	CHECK(mem_received(p.server) <= least);
	CHECK(mem_received(p.client) <= least);
}

/* As with TCP, twice the wish is what there is. */
static void sizes_read_back_doubled(void)
{
	static const int option[][2] = {
		{ SO_SNDBUF, SO_SNDBUF }, { SO_RCVBUF, SO_RCVBUF },
		{ SO_SNDBUFFORCE, SO_SNDBUF }, { SO_RCVBUFFORCE, SO_RCVBUF },
	};
	struct pair p = new_pair();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(option); i++) {
		set_int(p.client, SOL_SOCKET, option[i][0], 50000);
		CHECK_EQ(get_int(p.client, SOL_SOCKET, option[i][1]), 100000);
	}
	exchange(p.client, p.server, scaled(MIB));
	close_pair(p);
}

/* ---- the send ring ---- */

static void quiet_ring_gives_memory_back(void)
{
	struct pair p = new_pair();
	uint64_t sent = fill_pipe(p.client, 5);

	CHECK(mem_sent(p.client) > RING_PIECE);
	recv_pattern(p.server, 5, 0, sent, 64 * KIB);
	WAIT_FOR(mem_sent(p.client) == RING_PIECE);
	exchange(p.client, p.server, scaled(MIB));
}

/* Small writes use the same piece of memory again and again. */
static void small_sender_stays_small(void)
{
	struct pair p = new_pair();
	int i, count = scaled_count(3000);

	for (i = 0; i < count; i++) {
		send_pattern(p.client, 2, i * 100L, 100, 100);
		recv_pattern(p.server, 2, i * 100L, 100, 100);
	}
	CHECK(mem_sent(p.client) <= 2 * RING_PIECE);
}

static uint64_t refill(int fd, uint64_t seed, uint64_t pos)
{
	char buf[1000];
	ssize_t n;

	for (;;) {
		pattern_fill(buf, sizeof(buf), seed, pos);
		n = send(fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0)
			break;
		pos += n;
	}
	CHECK_EQ(errno, EAGAIN);
	return pos;
}

/* More fits in at once, behind what is there; the ring's memory is moved. */
static void sndbuf_raised_when_full(void)
{
	struct pair p = new_pair();
	uint64_t sent, more;

	/* Only so many messages may wait, so they have to be long. */
	grow(p);
	set_int(p.client, SOL_SOCKET, SO_SNDBUF, 100000);
	/* So that the ring's data starts somewhere in its middle. */
	exchange(p.client, p.server, 70000);
	sent = fill_pipe(p.client, 8);
	set_int(p.client, SOL_SOCKET, SO_SNDBUFFORCE, 2 * MIB);
	wait_poll(p.client, POLLOUT);
	more = refill(p.client, 8, sent);
	CHECK(more >= sent + MIB);
	recv_pattern(p.server, 8, 0, more, 64 * KIB);
	exchange(p.client, p.server, scaled(MIB));
}

static void sndbuf_lowered_when_full(void)
{
	struct pair p = new_pair();
	uint64_t sent = fill_pipe(p.client, 8), end;

	set_int(p.client, SOL_SOCKET, SO_SNDBUF, 10000);
	CHECK_EQ(refill(p.client, 8, sent), sent);
	recv_pattern(p.server, 8, 0, sent, 64 * KIB);
	wait_poll(p.client, POLLOUT);
	WAIT_FOR(mem_sent(p.client) == RING_PIECE);
	end = refill(p.client, 8, sent);
	CHECK(end > sent);
	CHECK(mem_sent(p.client) <= 2 * RING_PIECE);
	recv_pattern(p.server, 8, sent, end - sent, 64 * KIB);
}

static const struct sdp_case cases[] = {
	CASE(idle_connection_is_cheap, CASE_SDP_ONLY),
	CASE(all_memory_comes_back, CASE_SDP_ONLY),
	CASE(unread_data_after_the_end, CASE_SDP_ONLY),
	CASE(pages_of_rings_come_back, CASE_SDP_ONLY),
	CASE(both_directions_grow_at_once, CASE_SDP_ONLY),
	CASE(only_the_receiver_of_much_grows, CASE_SDP_ONLY),
	CASE(parts_of_more_grow, CASE_SDP_ONLY),
	CASE(every_size_boundary, CASE_SDP_ONLY),
	CASE(many_small_messages_get_more_buffers, CASE_SDP_ONLY),
	CASE(smallest_rcvbuf, CASE_SDP_ONLY),
	CASE(rcvbuf_limits_growth, CASE_SDP_ONLY),
	CASE(rcvbuf_raised_later, CASE_SDP_ONLY),
	CASE(rcvbuf_lowered_later, CASE_SDP_ONLY),
	CASE(sizes_read_back_doubled, 0),
	CASE(quiet_ring_gives_memory_back, CASE_SDP_ONLY),
	CASE(small_sender_stays_small, CASE_SDP_ONLY),
	CASE(sndbuf_raised_when_full, CASE_SDP_ONLY),
	CASE(sndbuf_lowered_when_full, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
