// SPDX-License-Identifier: GPL-2.0
/* Calls that move data, their flags and their corner cases. */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "sdp_engine.h"
#include "sdp_test.h"

/* Every size there and back; the two directions have streams of their own. */
static void ping_pong_small(void)
{
	struct pair p = new_pair();
	uint64_t pos = 0;
	size_t len;

	set_int(p.client, SOL_TCP, TCP_NODELAY, 1);
	set_int(p.server, SOL_TCP, TCP_NODELAY, 1);
	for (len = 1; len <= 300; len++) {
		send_pattern(p.client, 1, pos, len, len);
		recv_pattern(p.server, 1, pos, len, len);
		send_pattern(p.server, 2, pos, len, len);
		recv_pattern(p.client, 2, pos, len, len);
		pos += len;
	}
}

static void read_and_write(void)
{
	struct pair p = new_pair();
	unsigned char out[1000], in[1000];

	pattern_fill(out, sizeof(out), 1, 0);
	CHECK_EQ(write(p.client, out, sizeof(out)), sizeof(out));
	wait_inq(p.server, sizeof(out));
	CHECK_EQ(read(p.server, in, sizeof(in)), sizeof(in));
	pattern_verify(in, sizeof(in), 1, 0);
}

/* Whether it may be there as a whole, for one read: a ring may be smaller. */
static bool fits(int bytes)
{
	char ring[32];

	if (opts.tcp)
		return true;
	read_sysctl("/proc/sys/net/sdp/ring_size", ring, sizeof(ring));
	return atoi(ring) >= bytes;
}

/* Odd pieces, an empty one in their middle. */
static size_t odd_iovec(struct iovec *v, unsigned char *buf)
{
	static const size_t len[] = { 1, 3, 0, 7, 63, 4097, 1, 8191, 5 };
	size_t i, total = 0;

	for (i = 0; i < ARRAY_SIZE(len); i++) {
		v[i] = (struct iovec){ buf + total, len[i] };
		total += len[i];
	}
	return total;
}

#define ODD_PIECES	9
#define ODD_BYTES	(1 + 3 + 7 + 63 + 4097 + 1 + 8191 + 5)

static void writev_and_readv(void)
{
	static unsigned char out[ODD_BYTES], in[ODD_BYTES];
	struct iovec v[ODD_PIECES], w[ODD_PIECES];
	struct pair p = new_pair();
	size_t len = odd_iovec(v, out);

	CHECK_EQ(odd_iovec(w, in), ODD_BYTES);
	pattern_fill(out, len, 2, 0);
	CHECK_EQ(writev(p.client, v, ODD_PIECES), len);
	if (!fits(len)) {
		recv_pattern(p.server, 2, 0, len, len);
		return;
	}
	wait_inq(p.server, len);
	CHECK_EQ(readv(p.server, w, ODD_PIECES), len);
	pattern_verify(in, len, 2, 0);
}

static void sendmsg_and_recvmsg(void)
{
	static unsigned char out[ODD_BYTES], in[ODD_BYTES];
	struct iovec v[ODD_PIECES], w[ODD_PIECES];
	struct msghdr mv = { .msg_iov = v, .msg_iovlen = ODD_PIECES };
	struct msghdr mw = { .msg_iov = w, .msg_iovlen = ODD_PIECES,
			     .msg_flags = -1 };
	struct pair p = new_pair();
	size_t len = odd_iovec(v, out);

	CHECK_EQ(odd_iovec(w, in), ODD_BYTES);
	pattern_fill(out, len, 3, 0);
	CHECK_EQ(sendmsg(p.client, &mv, MSG_NOSIGNAL), len);
	CHECK_EQ(recvmsg(p.server, &mw, MSG_WAITALL), len);
	CHECK_EQ(mw.msg_flags & (MSG_TRUNC | MSG_CTRUNC | MSG_OOB), 0);
	CHECK_EQ(mw.msg_controllen, 0);
	pattern_verify(in, len, 3, 0);
}

static void many_iovecs(void)
{
	static unsigned char out[4096], in[4096];
	struct iovec v[1024];
	struct pair p = new_pair();
	size_t i;

	pattern_fill(out, sizeof(out), 4, 0);
	for (i = 0; i < ARRAY_SIZE(v); i++)
		v[i] = (struct iovec){ out + 4 * i, 4 };
	CHECK_EQ(writev(p.client, v, ARRAY_SIZE(v)), sizeof(out));
	CHECK_EQ(recv(p.server, in, sizeof(in), MSG_WAITALL), sizeof(in));
	pattern_verify(in, sizeof(in), 4, 0);
}

static void mmsg_calls(void)
{
	unsigned char out[3][500], in[1500];
	struct mmsghdr m[3] = { 0 };
	struct iovec v[3];
	struct pair p = new_pair();
	int i;

	for (i = 0; i < 3; i++) {
		pattern_fill(out[i], 500, 5, 500 * i);
		v[i] = (struct iovec){ out[i], 500 };
		m[i].msg_hdr.msg_iov = &v[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
	CHECK_EQ(sendmmsg(p.client, m, 3, MSG_NOSIGNAL), 3);
	for (i = 0; i < 3; i++)
		CHECK_EQ(m[i].msg_len, 500);
	wait_inq(p.server, 1500);
	v[0] = (struct iovec){ in, 1500 };
	CHECK_EQ(recvmmsg(p.server, m, 1, 0, NULL), 1);
	CHECK_EQ(m[0].msg_len, 1500);
	pattern_verify(in, 1500, 5, 0);
}

/* TCP takes no notice of an address on a connected socket. */
static void sendto_ignores_address(void)
{
	struct pair p = new_pair();
	struct addr a = server_addr(1);

	CHECK_EQ(sendto(p.client, "abc", 3, MSG_NOSIGNAL, &a.sa, a.len), 3);
	wait_inq(p.server, 3);
}

static void msg_more_is_sent_in_the_end(void)
{
	unsigned char out[300], in[300];
	struct pair p = new_pair();

	pattern_fill(out, sizeof(out), 6, 0);
	CHECK_EQ(send(p.client, out, 100, MSG_MORE), 100);
	CHECK_EQ(send(p.client, out + 100, 100, MSG_MORE), 100);
	CHECK_EQ(send(p.client, out + 200, 100, 0), 100);
	CHECK_EQ(recv(p.server, in, sizeof(in), MSG_WAITALL), sizeof(in));
	pattern_verify(in, sizeof(in), 6, 0);
}

/* ---- receive flags ---- */

static void dontwait(void)
{
	struct pair p = new_pair();
	char c;

	CHECK_ERR(recv(p.server, &c, 1, MSG_DONTWAIT), EAGAIN);
	CHECK_ERR(recv(p.server, &c, 1, MSG_DONTWAIT | MSG_PEEK), EAGAIN);
	set_nonblock(p.server, true);
	CHECK_ERR(read(p.server, &c, 1), EAGAIN);
	send_pattern(p.client, 7, 0, 10, 10);
	wait_poll(p.server, POLLIN);
	recv_pattern(p.server, 7, 0, 10, 10);
	CHECK_ERR(read(p.server, &c, 1), EAGAIN);
}

/* What is peeked at stays, also over several messages. */
static void peek(void)
{
	unsigned char in[600];
	struct pair p = new_pair();
	int i;

	send_pattern(p.client, 8, 0, 600, 200);
	wait_inq(p.server, 600);
	for (i = 0; i < 2; i++) {
		CHECK_EQ(recv(p.server, in, 10, MSG_PEEK), 10);
		pattern_verify(in, 10, 8, 0);
		CHECK_EQ(recv(p.server, in, 600, MSG_PEEK), 600);
		pattern_verify(in, 600, 8, 0);
	}
	CHECK_EQ(ioctl_int(p.server, SIOCINQ), 600);
	recv_pattern(p.server, 8, 0, 250, 250);
	CHECK_EQ(recv(p.server, in, 600, MSG_PEEK), 350);
	pattern_verify(in, 350, 8, 250);
	recv_pattern(p.server, 8, 250, 350, 350);
}

static void *late_sender(void *arg)
{
	struct pair *p = arg;
	int i;

	for (i = 0; i < 10; i++) {
		send_pattern(p->client, 9, 100 * i, 100, 100);
		/* The reader has taken it and wants the next. */
		WAIT_FOR(ioctl_int(p->server, SIOCINQ) == 0);
	}
	return NULL;
}

static void waitall(void)
{
	unsigned char in[1000];
	struct pair p = new_pair();
	pthread_t t;

	thread_start(&t, late_sender, &p);
	CHECK_EQ(recv(p.server, in, sizeof(in), MSG_WAITALL), sizeof(in));
	pattern_verify(in, sizeof(in), 9, 0);
	thread_join(t);
}

static void waitall_ends_with_stream(void)
{
	unsigned char in[1000];
	struct pair p = new_pair();

	send_pattern(p.client, 10, 0, 300, 300);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_EQ(recv(p.server, in, sizeof(in), MSG_WAITALL), 300);
	pattern_verify(in, 300, 10, 0);
	CHECK_EQ(recv(p.server, in, sizeof(in), MSG_WAITALL), 0);
}

/* On a stream MSG_TRUNC throws away without copying. */
static void trunc_discards(void)
{
	struct pair p = new_pair();

	send_pattern(p.client, 11, 0, 1000, 1000);
	wait_inq(p.server, 1000);
	CHECK_EQ(recv(p.server, NULL, 400, MSG_TRUNC), 400);
	recv_pattern(p.server, 11, 400, 600, 600);
}

static void zero_length(void)
{
	struct pair p = new_pair();
	char c = 0x5a;

	CHECK_EQ(send(p.client, &c, 0, 0), 0);
	CHECK_EQ(write(p.client, &c, 0), 0);
	CHECK_EQ(read(p.server, &c, 0), 0);
	CHECK_ERR(recv(p.server, &c, 0, MSG_DONTWAIT), EAGAIN);
	send_pattern(p.client, 12, 0, 10, 10);
	wait_inq(p.server, 10);
	CHECK_EQ(recv(p.server, &c, 0, 0), 0);
	recv_pattern(p.server, 12, 0, 10, 10);
	/* An empty send is no message and no end of the stream. */
	CHECK_ERR(recv(p.server, &c, 1, MSG_DONTWAIT), EAGAIN);
}

static void oob_errors(void)
{
	struct pair p = new_pair();
	char c;

	CHECK_ERR(recv(p.server, &c, 1, MSG_OOB | MSG_DONTWAIT), EINVAL);
}

/* ---- bad memory ---- */

/* Two pages of which the second cannot be touched. */
static unsigned char *half_mapped(size_t page)
{
	unsigned char *m = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(m != MAP_FAILED);
	CHECK_OK(munmap(m + page, page));
	return m;
}

static void fault_in_whole_buffer(void)
{
	struct pair p = new_pair();

	CHECK_ERR(send(p.client, (void *)8, 100, MSG_NOSIGNAL), EFAULT);
	send_pattern(p.client, 13, 0, 100, 100);
	wait_inq(p.server, 100);
	CHECK_ERR(recv(p.server, (void *)8, 100, 0), EFAULT);
	recv_pattern(p.server, 13, 0, 100, 100);
}

/* What was not reported as sent must not arrive, and the rest must. */
static void fault_in_mid_send(void)
{
	size_t page = 4096, done = 0;
	unsigned char *m = half_mapped(page);
	struct pair p = new_pair();
	ssize_t n;

	pattern_fill(m, page, 14, 0);
	n = send(p.client, m, 2 * page, MSG_NOSIGNAL);
	if (n < 0)
		CHECK_EQ(errno, EFAULT);
	else
		done = n;
	CHECK(done <= page);
	send_pattern(p.client, 14, done, 3 * page, page);
	recv_pattern(p.server, 14, 0, done + 3 * page, page);
	CHECK_ERR(recv(p.server, m, 1, MSG_DONTWAIT), EAGAIN);
}

static void fault_in_mid_recv(void)
{
	size_t page = 4096, done = 0;
	unsigned char *m = half_mapped(page);
	struct pair p = new_pair();
	ssize_t n;

	send_pattern(p.client, 15, 0, 2 * page, 2 * page);
	if (fits(2 * page))
		wait_inq(p.server, 2 * page);
	n = recv(p.server, m, 2 * page, 0);
	if (n < 0)
		CHECK_EQ(errno, EFAULT);
	else
		done = n;
	CHECK(done <= page);
	pattern_verify(m, done, 15, 0);
	recv_pattern(p.server, 15, done, 2 * page - done, page);
}

/* ---- time limits and full queues ---- */

static void receive_timeout(void)
{
	struct pair p = new_pair();
	char buf[100];

	set_timeout(p.server, SO_RCVTIMEO, 50);
	CHECK_ERR(recv(p.server, buf, 1, 0), EAGAIN);
	send_pattern(p.client, 16, 0, 50, 50);
	CHECK_EQ(recv(p.server, buf, 100, MSG_WAITALL), 50);
	pattern_verify(buf, 50, 16, 0);
}

static void send_timeout(void)
{
	struct pair p = new_pair();
	uint64_t sent = fill_pipe(p.client, 17);

	set_timeout(p.client, SO_SNDTIMEO, 50);
	CHECK_ERR(send(p.client, "x", 1, MSG_NOSIGNAL), EAGAIN);
	recv_pattern(p.server, 17, 0, sent, 64 * KIB);
	wait_poll(p.client, POLLOUT);
	send_pattern(p.client, 17, sent, 10, 10);
	recv_pattern(p.server, 17, sent, 10, 10);
}

/* The peer does not read: EAGAIN and no POLLOUT; all is there afterwards. */
static void reader_that_does_not_read(void)
{
	struct pair p = new_pair();
	uint64_t sent = fill_pipe(p.client, 18);
	char c;

	CHECK_EQ(poll_now(p.client), 0);
	CHECK_ERR(send(p.client, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL), EAGAIN);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	recv_pattern(p.server, 18, 0, sent, 10000);
	CHECK_EQ(recv(p.server, &c, 1, 0), 0);
}

/* One direction is stuck, the other must flow. */
static void full_one_way_flows_the_other(void)
{
	struct pair p = new_pair();
	uint64_t stuck = fill_pipe(p.client, 19), pos;

	for (pos = 0; pos < 256 * KIB; pos += 4096) {
		send_pattern(p.server, 20, pos, 4096, 4096);
		recv_pattern(p.client, 20, pos, 4096, 4096);
	}
	recv_pattern(p.server, 19, 0, stuck, 64 * KIB);
}

static const struct sdp_case cases[] = {
	CASE(ping_pong_small, CASE_IPV6),
	CASE(read_and_write, 0),
	CASE(writev_and_readv, 0),
	CASE(sendmsg_and_recvmsg, 0),
	CASE(many_iovecs, 0),
	CASE(mmsg_calls, 0),
	CASE(sendto_ignores_address, 0),
	CASE(msg_more_is_sent_in_the_end, 0),
	CASE(dontwait, 0),
	CASE(peek, 0),
	CASE(waitall, 0),
	CASE(waitall_ends_with_stream, 0),
	CASE(trunc_discards, 0),
	CASE(zero_length, 0),
	CASE(oob_errors, 0),
	CASE(fault_in_whole_buffer, 0),
	CASE(fault_in_mid_send, 0),
	CASE(fault_in_mid_recv, 0),
	CASE(receive_timeout, 0),
	CASE(send_timeout, 0),
	CASE(reader_that_does_not_read, CASE_LONG),
	CASE(full_one_way_flows_the_other, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
