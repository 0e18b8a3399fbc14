// SPDX-License-Identifier: GPL-2.0
/*
 * Small writes that join a message that waits, and small reads of many bytes:
 * what else a call may ask for in the middle of them, or run into.
 */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sdp_engine.h"

#define RING		(64 * KIB)
#define SMALL		50
/* Writes of a burst before the one that matters: the device's share is used up. */
#define BEFORE		40

/* So many small writes, of which the last wait for others. */
static void write_small(struct flow_pair *f, uint64_t *sent, int count)
{
	while (count--) {
		send_pattern(f->p.client, FLOW_UP, *sent, SMALL, SMALL);
		*sent += SMALL;
	}
}

/* All that was sent, in small reads. */
static void read_small(struct flow_pair *f, uint64_t sent)
{
	recv_pattern(f->p.server, FLOW_UP, f->up, sent - f->up, SMALL - 7);
	f->up = sent;
}

/* A burst in which other calls join what waits, until one really has. */
static void in_a_burst(struct flow_pair *f, void (*call)(struct flow_pair *, uint64_t *))
{
	struct sdp_info before, after;

	set_int(f->p.client, SOL_TCP, TCP_NODELAY, 1);
	WAIT_FOR(({
		uint64_t sent = f->up;

		before = info_of(f->p.client);
		write_small(f, &sent, BEFORE);
		call(f, &sent);
		write_small(f, &sent, BEFORE);
		read_small(f, sent);
		after = info_of(f->p.client);
		after.sdpi_coalesced - before.sdpi_coalesced > BEFORE;
	}));
	close_pair(f->p);
}

/* Memory that ends in the middle of what is to be written or read. */
static char *half_mapped(size_t len)
{
	long page = sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(map != MAP_FAILED);
	CHECK_OK(munmap(map + page, page));
	return map + page - len / 2;
}

static void unmap_half(char *half, size_t len)
{
	CHECK_OK(munmap(half + len / 2 - sysconf(_SC_PAGESIZE),
			sysconf(_SC_PAGESIZE)));
}

static void write_from_nowhere(struct flow_pair *f, uint64_t *sent)
{
	char *half = half_mapped(SMALL);

	(void)sent;
	memset(half, 'x', SMALL / 2);
	CHECK_ERR(send(f->p.client, half, SMALL, 0), EFAULT);
	unmap_half(half, SMALL);
}

/* A read that fails leaves everything for the next. */
static void read_to_nowhere(struct flow_pair *f, uint64_t *sent)
{
	char *half = half_mapped(SMALL);

	(void)sent;
	WAIT_FOR(ioctl_int(f->p.server, SIOCINQ) >= SMALL);
	CHECK_ERR(recv(f->p.server, half, SMALL, 0), EFAULT);
	unmap_half(half, SMALL);
}

static void promise_more(struct flow_pair *f, uint64_t *sent)
{
	unsigned char bytes[SMALL];
	int i;

	for (i = 0; i < 3; i++) {
		pattern_fill(bytes, SMALL, FLOW_UP, *sent);
		CHECK_EQ(send(f->p.client, bytes, SMALL, i < 2 ? MSG_MORE : 0),
			 SMALL);
		*sent += SMALL;
	}
}

/* An urgent byte of its own, which is not part of the pattern. */
static void send_urgent(struct flow_pair *f, uint64_t *sent)
{
	CHECK_EQ(send(f->p.client, "!", 1, MSG_OOB), 1);
	write_small(f, sent, 3);
	recv_pattern(f->p.server, FLOW_UP, f->up, *sent - f->up - 3 * SMALL,
		     SMALL);
	f->up = *sent - 3 * SMALL;
	WAIT_FOR(ioctl_int(f->p.server, SIOCATMARK));
	expect_urgent(f->p.server, '!', 0);
}

/* Small reads move the place where a peeking program goes on. */
static void peek_further_on(struct flow_pair *f, uint64_t *sent)
{
	unsigned char bytes[SMALL];

	(void)sent;
	WAIT_FOR(ioctl_int(f->p.server, SIOCINQ) >= 3 * SMALL);
	set_int(f->p.server, SOL_SOCKET, SO_PEEK_OFF, 2 * SMALL);
	recv_pattern(f->p.server, FLOW_UP, f->up, SMALL, SMALL);
	f->up += SMALL;
	CHECK_EQ(recv(f->p.server, bytes, SMALL, MSG_PEEK), SMALL);
	pattern_verify(bytes, SMALL, FLOW_UP, f->up + SMALL);
	set_int(f->p.server, SOL_SOCKET, SO_PEEK_OFF, -1);
}

/* A small read finds when its bytes have come. */
static void read_with_stamp(struct flow_pair *f, uint64_t *sent)
{
	char control[CMSG_SPACE(sizeof(struct timeval))];
	unsigned char bytes[SMALL];
	struct iovec iov = { bytes, SMALL };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
	};
	int i;

	/* Of what has come before nobody knows. */
	read_small(f, *sent);
	set_int(f->p.server, SOL_SOCKET, SO_TIMESTAMP, 1);
	write_small(f, sent, BEFORE);
	for (i = 0; i < BEFORE; i++) {
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		CHECK_EQ(recvmsg(f->p.server, &msg, MSG_WAITALL), SMALL);
		pattern_verify(bytes, SMALL, FLOW_UP, f->up);
		f->up += SMALL;
		CHECK(CMSG_FIRSTHDR(&msg));
		CHECK_EQ(CMSG_FIRSTHDR(&msg)->cmsg_type, SCM_TIMESTAMP);
	}
	set_int(f->p.server, SOL_SOCKET, SO_TIMESTAMP, 0);
}

/* Small writes stop where SO_SNDBUF does, and where TCP_NOTSENT_LOWAT does. */
static void fill_with_small(struct flow_pair *f, uint64_t *sent)
{
	unsigned char bytes[SMALL];
	ssize_t n;

	for (;;) {
		pattern_fill(bytes, SMALL, FLOW_UP, *sent);
		n = send(f->p.client, bytes, SMALL, MSG_DONTWAIT);
		if (n < 0)
			break;
		*sent += n;
	}
	CHECK_EQ(errno, EAGAIN);
	CHECK(*sent - f->up <= get_int(f->p.client, SOL_SOCKET, SO_SNDBUF) +
				       RING);
	read_small(f, *sent);
	set_int(f->p.client, SOL_TCP, TCP_NOTSENT_LOWAT, 2000);
	write_small(f, sent, BEFORE);
	CHECK(info_of(f->p.client).sdpi_unsent < 2000 + SMALL);
	read_small(f, *sent);
	set_int(f->p.client, SOL_TCP, TCP_NOTSENT_LOWAT, 0);
}

#define JOIN_CASE(engine, call)						\
static void engine##_##call##_run(void)					\
{									\
	struct flow_pair f = flow_open(#engine, RING);			\
									\
	in_a_burst(&f, call);						\
}									\
									\
static void engine##_##call(void)					\
{									\
	with_long_wait(engine##_##call##_run);				\
}

JOIN_CASE(rdma, write_from_nowhere)
JOIN_CASE(nic, write_from_nowhere)
JOIN_CASE(rdma, read_to_nowhere)
JOIN_CASE(nic, read_to_nowhere)
JOIN_CASE(rdma, promise_more)
JOIN_CASE(nic, promise_more)
JOIN_CASE(rdma, send_urgent)
JOIN_CASE(nic, send_urgent)
JOIN_CASE(rdma, peek_further_on)
JOIN_CASE(nic, peek_further_on)
JOIN_CASE(rdma, read_with_stamp)
JOIN_CASE(nic, read_with_stamp)
JOIN_CASE(rdma, fill_with_small)
JOIN_CASE(nic, fill_with_small)

/* What waits leaves, and nothing joins it any more. */
static void shutdown_in_a_burst(void)
{
	struct flow_pair f = flow_open("nic", RING);
	uint64_t sent = f.up;
	int err;

	write_small(&f, &sent, BEFORE);
	CHECK_OK(shutdown(f.p.client, SHUT_WR));
	CHECK_ERR(send(f.p.client, "late", 4, MSG_NOSIGNAL), EPIPE);
	CHECK_EQ(recv_pattern_to_end(f.p.server, FLOW_UP, f.up, &err),
		 sent - f.up);
	CHECK_EQ(err, 0);
	close_pair(f.p);
}

static void nic_shutdown_in_a_burst(void)
{
	with_long_wait(shutdown_in_a_burst);
}

/* select() asks for urgent data, too, when it looks whether there is room. */
static void select_to_write_on(void)
{
	struct flow_pair f = flow_open("nic", RING);
	struct timeval now = { 0 };
	fd_set out;

	set_int(f.p.client, SOL_TCP, TCP_NODELAY, 1);
	WAIT_FOR(({
		uint64_t stalls = info_of(f.p.client).sdpi_credit_stalls;
		uint64_t sent = f.up;
		bool kept;
		int held;

		write_small(&f, &sent, BEFORE);
		held = ioctl_int(f.p.client, SIOCOUTQNSD);
		FD_ZERO(&out);
		FD_SET(f.p.client, &out);
		CHECK_EQ(select(f.p.client + 1, NULL, &out, NULL, &now), 1);
		/* What waits for the peer is kept by that. */
		kept = held && ioctl_int(f.p.client, SIOCOUTQNSD) == held &&
		       info_of(f.p.client).sdpi_credit_stalls == stalls;
		read_small(&f, sent);
		kept;
	}));
	close_pair(f.p);
}

static void nic_select_to_write_on(void)
{
	with_long_wait(select_to_write_on);
}

/* ---- a program that looks for the answer has written all that it wants to ---- */

static void look_by_poll(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	CHECK_EQ(poll(&p, 1, 0), 0);
}

static void look_by_read(int fd)
{
	char c;

	CHECK_ERR(recv(fd, &c, 1, MSG_DONTWAIT), EAGAIN);
}

static void look_after_a_burst(const char *engine, void (*look)(int fd))
{
	struct flow_pair f = flow_open(engine, RING);

	set_int(f.p.client, SOL_TCP, TCP_NODELAY, 1);
	WAIT_FOR(({
		uint64_t stalls = info_of(f.p.client).sdpi_credit_stalls;
		uint64_t sent = f.up;
		bool held;

		write_small(&f, &sent, BEFORE);
		held = ioctl_int(f.p.client, SIOCOUTQNSD);
		look(f.p.client);
		/* On a slow machine some of it may wait for the peer, which is another matter. */
		if (info_of(f.p.client).sdpi_credit_stalls != stalls)
			held = false;
		else
			CHECK_EQ(ioctl_int(f.p.client, SIOCOUTQNSD), 0);
		read_small(&f, sent);
		held;
	}));
	close_pair(f.p);
}

#define LOOK_CASE(engine, look)						\
static void engine##_##look##_run(void)					\
{									\
	look_after_a_burst(#engine, look);				\
}									\
									\
static void engine##_##look(void)					\
{									\
	with_long_wait(engine##_##look##_run);				\
}

LOOK_CASE(rdma, look_by_poll)
LOOK_CASE(nic, look_by_poll)
LOOK_CASE(rdma, look_by_read)
LOOK_CASE(nic, look_by_read)

/*
 * Nagle's rule, as with TCP: a short write waits until what is in flight has arrived,
 * one that fills a packet does not; credits may be on their way, now and then.
 */
static void full_packets_do_not_wait(void)
{
	struct pair p = engine_pair("credit", "credit", 1 * MIB);
	int i, left_at_once = 0;
	uint64_t pos = 0;

	/* Until one message has room for much more than a packet. */
	for (i = 0; i < 16; i++)
		flow_move(p.client, p.server, FLOW_UP, &pos, 64 * KIB);
	for (i = 0; i < 100; i++) {
		WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
		send_pattern(p.client, FLOW_UP, pos, 1, 1);
		send_pattern(p.client, FLOW_UP, pos + 1, 5000, 5000);
		left_at_once += !ioctl_int(p.client, SIOCOUTQNSD);
		recv_pattern(p.server, FLOW_UP, pos, 5001, 5001);
		pos += 5001;
	}
	ktap_diag("%d of %d left at once", left_at_once, i);
	CHECK(left_at_once > i / 2);
	close_pair(p);
}

static const struct sdp_case cases[] = {
	CASE(rdma_write_from_nowhere, CASE_SDP_ONLY),
	CASE(nic_write_from_nowhere, CASE_SDP_ONLY),
	CASE(rdma_read_to_nowhere, CASE_SDP_ONLY),
	CASE(nic_read_to_nowhere, CASE_SDP_ONLY),
	CASE(rdma_promise_more, CASE_SDP_ONLY),
	CASE(nic_promise_more, CASE_SDP_ONLY),
	CASE(rdma_send_urgent, CASE_SDP_ONLY),
	CASE(nic_send_urgent, CASE_SDP_ONLY),
	CASE(rdma_peek_further_on, CASE_SDP_ONLY),
	CASE(nic_peek_further_on, CASE_SDP_ONLY),
	CASE(rdma_read_with_stamp, CASE_SDP_ONLY),
	CASE(nic_read_with_stamp, CASE_SDP_ONLY),
	CASE(rdma_fill_with_small, CASE_SDP_ONLY),
	CASE(nic_fill_with_small, CASE_SDP_ONLY),
	CASE(nic_shutdown_in_a_burst, CASE_SDP_ONLY),
	CASE(nic_select_to_write_on, CASE_SDP_ONLY),
	CASE(rdma_look_by_poll, CASE_SDP_ONLY),
	CASE(nic_look_by_poll, CASE_SDP_ONLY),
	CASE(rdma_look_by_read, CASE_SDP_ONLY),
	CASE(nic_look_by_read, CASE_SDP_ONLY),
	CASE(full_packets_do_not_wait, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
