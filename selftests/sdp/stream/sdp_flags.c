// SPDX-License-Identifier: GPL-2.0
/*
 * Flags of sendmsg() and recvmsg(), control messages, signals of readiness, and
 * sockets that change hands. Cases marked for it also run on TCP, which shows
 * that what they expect is what TCP does.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "sdp_test.h"

static void expect_pattern(int fd, uint64_t seed, uint64_t pos, size_t len,
			   int flags)
{
	unsigned char buf[4096];

	CHECK(len <= sizeof(buf));
	CHECK_EQ(recv(fd, buf, len, flags), len);
	pattern_verify(buf, len, seed, pos);
}

/* ---- SO_PEEK_OFF ---- */

/* With an offset of 0 to begin with, and 1000 bytes to look at. */
static struct pair peeking_pair(void)
{
	struct pair p = new_nodelay_pair();
	int zero = 0;

	if (setsockopt(p.server, SOL_SOCKET, SO_PEEK_OFF, &zero, sizeof(zero)) &&
	    opts.tcp && errno == EOPNOTSUPP)
		sdp_skip("TCP has SO_PEEK_OFF from Linux 6.9 on");
	CHECK_EQ(get_int(p.server, SOL_SOCKET, SO_PEEK_OFF), 0);
	send_pattern(p.client, 1, 0, 1000, 100);
	wait_inq(p.server, 1000);
	return p;
}

static void peek_offset_moves(void)
{
	struct pair p = peeking_pair();
	unsigned char c;

	expect_pattern(p.server, 1, 0, 150, MSG_PEEK);
	expect_pattern(p.server, 1, 150, 300, MSG_PEEK);
	CHECK_EQ(get_int(p.server, SOL_SOCKET, SO_PEEK_OFF), 450);
	/* Reading moves it back. */
	expect_pattern(p.server, 1, 0, 130, 0);
	CHECK_EQ(get_int(p.server, SOL_SOCKET, SO_PEEK_OFF), 320);
	expect_pattern(p.server, 1, 450, 550, MSG_PEEK);
	CHECK_ERR(recv(p.server, &c, 1, MSG_PEEK | MSG_DONTWAIT), EAGAIN);
	expect_pattern(p.server, 1, 130, 870, 0);
	CHECK_EQ(get_int(p.server, SOL_SOCKET, SO_PEEK_OFF), 0);
}

static void peek_offset_set(void)
{
	struct pair p = peeking_pair();

	set_int(p.server, SOL_SOCKET, SO_PEEK_OFF, 777);
	expect_pattern(p.server, 1, 777, 100, MSG_PEEK);
	set_int(p.server, SOL_SOCKET, SO_PEEK_OFF, -1);
	expect_pattern(p.server, 1, 0, 10, MSG_PEEK);
	expect_pattern(p.server, 1, 0, 10, MSG_PEEK);
	CHECK_EQ(get_int(p.server, SOL_SOCKET, SO_PEEK_OFF), -1);
}

static long op_peek(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_PEEK);
}

/* Who has seen everything waits for more. */
static void peek_offset_waits(void)
{
	struct pair p = peeking_pair();
	struct blocked b;

	expect_pattern(p.server, 1, 0, 1000, MSG_PEEK);
	block_start(&b, op_peek, p.server);
	send_pattern(p.client, 1, 1000, 10, 10);
	CHECK_EQ(block_join(&b), 1);
	CHECK_EQ(get_int(p.server, SOL_SOCKET, SO_PEEK_OFF), 1001);
	expect_pattern(p.server, 1, 0, 1010, 0);
}

/* ---- MSG_PEEK, MSG_TRUNC and MSG_WAITALL together ---- */

static void peek_and_discard(void)
{
	struct pair p = new_nodelay_pair();

	send_pattern(p.client, 2, 0, 500, 100);
	wait_inq(p.server, 500);
	CHECK_EQ(recv(p.server, NULL, 300, MSG_PEEK | MSG_TRUNC), 300);
	CHECK_EQ(ioctl_int(p.server, SIOCINQ), 500);
	CHECK_EQ(recv(p.server, NULL, 400, MSG_TRUNC | MSG_WAITALL), 400);
	expect_pattern(p.server, 2, 400, 100, 0);
}

static long op_peek_all(int fd)
{
	unsigned char buf[1000];
	long n = recv(fd, buf, sizeof(buf), MSG_PEEK | MSG_WAITALL);

	if (n > 0)
		pattern_verify(buf, n, 3, 0);
	return n;
}

static void peek_waits_for_all(void)
{
	struct pair p = new_nodelay_pair();
	struct blocked b;

	send_pattern(p.client, 3, 0, 100, 100);
	wait_inq(p.server, 100);
	block_start(&b, op_peek_all, p.server);
	send_pattern(p.client, 3, 100, 900, 300);
	CHECK_EQ(block_join(&b), 1000);
	expect_pattern(p.server, 3, 0, 1000, 0);
}

/* For more than there is room for TCP would wait for ever. */
static void peek_returns_what_fits(void)
{
	struct pair p = new_nodelay_pair();
	unsigned char *buf = malloc(32 * MIB);
	uint64_t sent = fill_pipe(p.client, 4);
	ssize_t n;

	CHECK(buf);
	n = CHECK_OK(recv(p.server, buf, 32 * MIB, MSG_PEEK | MSG_WAITALL));
	CHECK(n > 0 && (uint64_t)n <= sent);
	pattern_verify(buf, n, 4, 0);
	recv_pattern(p.server, 4, 0, sent, 64 * KIB);
}

/* ---- MSG_MORE ---- */

/* A counter of the module's. */
static unsigned long counter(const char *name)
{
	FILE *f = fopen("/proc/net/sdpstats", "r");
	unsigned long value;
	char key[64];

	CHECK(f);
	while (fscanf(f, "%63s %lu", key, &value) == 2) {
		if (!strcmp(key, name)) {
			fclose(f);
			return value;
		}
	}
	FAIL("no counter %s", name);
}

/* A message more for each 200 ms that this takes, and not one for each byte. */
static void more_joins_writes(void)
{
	struct pair p = new_nodelay_pair();
	unsigned long before = counter("DataOut");
	struct stopwatch start = start_watch();
	unsigned char buf[100];
	size_t i;

	pattern_fill(buf, sizeof(buf), 5, 0);
	for (i = 0; i < sizeof(buf); i++)
		CHECK_EQ(send(p.client, buf + i, 1,
			      i < sizeof(buf) - 1 ? MSG_MORE : 0), 1);
	expect_pattern(p.server, 5, 0, sizeof(buf), MSG_WAITALL);
	CHECK(counter("DataOut") - before <= 1 + (watch_ms(start) + TICK_MS) / 200);
}

/*
 * The promise also holds while the kernel has to get the memory of the write that keeps
 * it: a file's page that this process has not touched.
 */
static void more_waits_for_missing_page(void)
{
	struct pair p = new_nodelay_pair();
	int fd = CHECK_OK(memfd_create("page", 0));
	unsigned char buf[3000];
	unsigned long before;
	struct stopwatch start;
	void *page;

	pattern_fill(buf, sizeof(buf), 5, 100);
	CHECK_EQ(write(fd, buf, sizeof(buf)), sizeof(buf));
	page = mmap(NULL, sizeof(buf), PROT_READ, MAP_SHARED, fd, 0);
	CHECK(page != MAP_FAILED);
	pattern_fill(buf, 100, 5, 0);
	before = counter("DataOut");
	start = start_watch();
	CHECK_EQ(send(p.client, buf, 100, MSG_MORE), 100);
	CHECK_EQ(send(p.client, page, sizeof(buf), 0), sizeof(buf));
	expect_pattern(p.server, 5, 0, 100 + sizeof(buf), MSG_WAITALL);
	CHECK(counter("DataOut") - before <= 1 + (watch_ms(start) + TICK_MS) / 200);
	munmap(page, sizeof(buf));
	close(fd);
}

/* The promise need not be kept: what waits leaves after a while. */
static void more_leaves_by_itself(void)
{
	struct pair p = new_nodelay_pair();

	send_pattern(p.client, 6, 0, 100, 100);
	wait_inq(p.server, 100);
	CHECK_EQ(send(p.client, "x", 1, MSG_MORE), 1);
	wait_inq(p.server, 101);
}

static void more_leaves_with_the_end(void)
{
	unsigned char buf[300];
	struct pair p = new_nodelay_pair();

	pattern_fill(buf, sizeof(buf), 7, 0);
	CHECK_EQ(send(p.client, buf, sizeof(buf), MSG_MORE), sizeof(buf));
	CHECK_OK(shutdown(p.client, SHUT_WR));
	expect_pattern(p.server, 7, 0, sizeof(buf), MSG_WAITALL);
	CHECK_EQ(recv(p.server, buf, 1, 0), 0);
}

/* A writer that only ever promises more must not get stuck. */
static void more_until_full(void)
{
	struct pair p = new_pair();
	unsigned char buf[999];
	uint64_t pos = 0;
	ssize_t n;

	for (;;) {
		pattern_fill(buf, sizeof(buf), 8, pos);
		n = send(p.client, buf, sizeof(buf),
			 MSG_MORE | MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0)
			break;
		pos += n;
	}
	CHECK_EQ(errno, EAGAIN);
	recv_pattern(p.server, 8, 0, pos, 10000);
	wait_poll(p.client, POLLOUT);
}

/* ---- flags that change nothing ---- */

static void harmless_flags(void)
{
	static const int send_flags[] = {
		MSG_EOR, MSG_CONFIRM, MSG_DONTROUTE, MSG_ZEROCOPY,
		MSG_CTRUNC, MSG_WAITALL, MSG_ERRQUEUE, MSG_CMSG_CLOEXEC,
	};
	struct pair p = new_nodelay_pair();
	unsigned char buf[50];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(send_flags); i++) {
		pattern_fill(buf, 50, 9, 50 * i);
		CHECK_EQ(send(p.client, buf, 50, send_flags[i]), 50);
		expect_pattern(p.server, 9, 50 * i, 50,
			       MSG_WAITALL | MSG_CMSG_CLOEXEC | MSG_NOSIGNAL);
	}
	/* Without SO_ZEROCOPY nobody tells when the memory is free. */
	CHECK_ERR(recv(p.client, buf, 50, MSG_ERRQUEUE), EAGAIN);
	CHECK_EQ(poll_now(p.client), POLLOUT);
}

static void error_queue_is_empty(void)
{
	struct pair p = new_pair();
	char c;

	CHECK_ERR(recv(p.server, &c, 1, MSG_ERRQUEUE), EAGAIN);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	wait_poll(p.server, POLLRDHUP);
	CHECK_ERR(recv(p.server, &c, 1, MSG_ERRQUEUE), EAGAIN);
}

/* As TCP answers where fast open is disabled. */
static void fastopen_is_disabled(void)
{
	struct pair p = new_pair();
	struct addr a = peer_addr(p.client);

	CHECK_ERR(send(p.client, "x", 1, MSG_FASTOPEN), EOPNOTSUPP);
	CHECK_ERR(sendto(new_client(0), "x", 1, MSG_FASTOPEN, &a.sa, a.len),
		  EOPNOTSUPP);
}

/* ---- control messages ---- */

static ssize_t send_control(int fd, int level, int type, const void *data,
			    size_t len)
{
	char control[CMSG_SPACE(64)] = "";
	struct iovec v = { "abc", 3 };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = CMSG_SPACE(len),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), data, len);
	return sendmsg(fd, &m, MSG_NOSIGNAL);
}

static void control_messages(void)
{
	struct pair p = new_nodelay_pair();
	uint32_t stamp = SOF_TIMESTAMPING_TX_SOFTWARE, bad = ~0U, mark = 1;
	char in[32];

	CHECK_EQ(send_control(p.client, SOL_SOCKET, SO_TIMESTAMPING, &stamp, 4),
		 3);
	CHECK_EQ(send_control(p.client, SOL_SOCKET, SO_MARK, &mark, 4), 3);
	/* What is not for this level is for nobody. */
	CHECK_EQ(send_control(p.client, SOL_IP, 12345, &mark, 4), 3);
	CHECK_EQ(send_control(p.client, SOL_SOCKET, SCM_RIGHTS, &p.server, 4),
		 3);
	wait_inq(p.server, 12);
	CHECK_ERR(send_control(p.client, SOL_SOCKET, SO_TIMESTAMPING, &bad, 4),
		  EINVAL);
	CHECK_ERR(send_control(p.client, SOL_SOCKET, SO_TIMESTAMPING, &stamp,
			       2), EINVAL);
	CHECK_ERR(send_control(p.client, SOL_SOCKET, SO_ERROR, &mark, 4),
		  EINVAL);
	CHECK_EQ(recv(p.server, in, sizeof(in), 0), 12);
	CHECK(!memcmp(in, "abcabcabcabc", 12));
}

static void control_message_cut_short(void)
{
	char control[CMSG_SPACE(4)] = "";
	struct iovec v = { "abc", 3 };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct pair p = new_pair();

	CMSG_FIRSTHDR(&m)->cmsg_len = 1000;
	CMSG_FIRSTHDR(&m)->cmsg_level = SOL_SOCKET;
	CHECK_ERR(sendmsg(p.client, &m, MSG_NOSIGNAL), EINVAL);
	CMSG_FIRSTHDR(&m)->cmsg_len = 3;
	CHECK_ERR(sendmsg(p.client, &m, MSG_NOSIGNAL), EINVAL);
}

static void recvmsg_fills_in(void)
{
	struct pair p = new_nodelay_pair();
	char control[64], name[64], buf[10];
	struct iovec v = { buf, sizeof(buf) };
	struct msghdr m = {
		.msg_name = name, .msg_namelen = sizeof(name),
		.msg_iov = &v, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
		.msg_flags = -1,
	};

	CHECK_EQ(send(p.client, "0123456789abc", 13, 0), 13);
	wait_inq(p.server, 13);
	CHECK_EQ(recvmsg(p.server, &m, 0), 10);
	CHECK_EQ(m.msg_namelen, 0);
	CHECK_EQ(m.msg_controllen, 0);
	CHECK_EQ(m.msg_flags, 0);
	m.msg_flags = -1;
	CHECK_EQ(recvmsg(p.server, &m, MSG_CMSG_CLOEXEC), 3);
	CHECK_EQ(m.msg_flags, MSG_CMSG_CLOEXEC);
}

/* ---- many messages in a call ---- */

#define MESSAGES 4

static void prepare_messages(struct mmsghdr *m, struct iovec *v, void *buf,
			     size_t len)
{
	int i;

	memset(m, 0, MESSAGES * sizeof(*m));
	for (i = 0; i < MESSAGES; i++) {
		v[i] = (struct iovec){ (char *)buf + i * len, len };
		m[i].msg_hdr.msg_iov = &v[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
}

static void recvmmsg_waits_for_one(void)
{
	unsigned char buf[MESSAGES * 100];
	struct mmsghdr m[MESSAGES];
	struct iovec v[MESSAGES];
	struct pair p = new_nodelay_pair();

	send_pattern(p.client, 10, 0, 250, 250);
	wait_inq(p.server, 250);
	prepare_messages(m, v, buf, 100);
	CHECK_EQ(recvmmsg(p.server, m, MESSAGES, MSG_WAITFORONE, NULL), 3);
	CHECK_EQ(m[0].msg_len, 100);
	CHECK_EQ(m[1].msg_len, 100);
	CHECK_EQ(m[2].msg_len, 50);
	pattern_verify(buf, 250, 10, 0);
	CHECK_ERR(recvmmsg(p.server, m, MESSAGES, MSG_DONTWAIT, NULL), EAGAIN);
}

static void sendmmsg_stops_at_fault(void)
{
	unsigned char buf[MESSAGES * 100];
	struct mmsghdr m[MESSAGES];
	struct iovec v[MESSAGES];
	struct pair p = new_nodelay_pair();

	pattern_fill(buf, sizeof(buf), 11, 0);
	prepare_messages(m, v, buf, 100);
	v[2].iov_base = (void *)8;
	CHECK_EQ(sendmmsg(p.client, m, MESSAGES, MSG_NOSIGNAL), 2);
	CHECK_ERR(sendmmsg(p.client, m + 2, 2, MSG_NOSIGNAL), EFAULT);
	expect_pattern(p.server, 11, 0, 200, MSG_WAITALL);
	CHECK_ERR(recv(p.server, buf, 1, MSG_DONTWAIT), EAGAIN);
}

/* ---- odd reads and writes ---- */

static void fault_in_second_piece(void)
{
	unsigned char buf[200];
	struct iovec v[2] = { { buf, 100 }, { (void *)8, 100 } };
	struct pair p = new_nodelay_pair();

	pattern_fill(buf, sizeof(buf), 12, 0);
	CHECK_ERR(writev(p.client, v, 2), EFAULT);
	CHECK_EQ(send(p.client, buf, 200, 0), 200);
	wait_inq(p.server, 200);
	CHECK_ERR(readv(p.server, v, 2), EFAULT);
	/* Neither took anything. */
	expect_pattern(p.server, 12, 0, 200, 0);
	CHECK_ERR(recv(p.server, buf, 1, MSG_DONTWAIT), EAGAIN);
}

static void vectors_too_long(void)
{
	static struct iovec v[1025];
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 1025 };
	struct pair p = new_pair();

	CHECK_ERR(writev(p.client, v, 1025), EINVAL);
	CHECK_ERR(readv(p.server, v, 1025), EINVAL);
	CHECK_ERR(sendmsg(p.client, &m, 0), EMSGSIZE);
	CHECK_ERR(recvmsg(p.server, &m, 0), EMSGSIZE);
	v[1].iov_len = SIZE_MAX;
	CHECK_ERR(writev(p.client, v, 2), EINVAL);
}

static void no_position(void)
{
	struct pair p = new_pair();
	struct iovec v = { &(char){ 0 }, 1 };
	char c;

	CHECK_ERR(pread(p.server, &c, 1, 0), ESPIPE);
	CHECK_ERR(pwrite(p.client, &c, 1, 5), ESPIPE);
	CHECK_ERR(preadv(p.server, &v, 1, 0), ESPIPE);
	CHECK_ERR(pwritev(p.client, &v, 1, 1), ESPIPE);
	CHECK_ERR(lseek(p.server, 0, SEEK_CUR), ESPIPE);
	CHECK_ERR(ftruncate(p.server, 0), EINVAL);
}

static void ioctl_aliases(void)
{
	struct pair p = new_nodelay_pair();

	send_pattern(p.client, 13, 0, 77, 77);
	wait_inq(p.server, 77);
	CHECK_EQ(ioctl_int(p.server, FIONREAD), 77);
	WAIT_FOR(ioctl_int(p.client, TIOCOUTQ) == 0);
	CHECK_ERR(ioctl(p.server, TCGETS, NULL), ENOTTY);
}

static const struct sdp_case cases[] = {
	CASE(peek_offset_moves, CASE_TCP),
	CASE(peek_offset_set, CASE_TCP),
	CASE(peek_offset_waits, CASE_TCP),
	CASE(peek_and_discard, CASE_TCP),
	CASE(peek_waits_for_all, CASE_TCP),
	CASE(peek_returns_what_fits, CASE_SDP_ONLY),
	CASE(more_joins_writes, CASE_SDP_ONLY),
	CASE(more_waits_for_missing_page, CASE_SDP_ONLY),
	CASE(more_leaves_by_itself, CASE_TCP),
	CASE(more_leaves_with_the_end, CASE_TCP),
	CASE(more_until_full, CASE_TCP),
	CASE(harmless_flags, CASE_TCP),
	CASE(error_queue_is_empty, CASE_TCP),
	CASE(fastopen_is_disabled, CASE_SDP_ONLY),
	CASE(control_messages, CASE_TCP),
	CASE(control_message_cut_short, CASE_TCP),
	CASE(recvmsg_fills_in, CASE_TCP),
	CASE(recvmmsg_waits_for_one, CASE_TCP),
	CASE(sendmmsg_stops_at_fault, CASE_TCP),
	CASE(fault_in_second_piece, CASE_TCP),
	CASE(vectors_too_long, CASE_TCP),
	CASE(no_position, CASE_TCP),
	CASE(ioctl_aliases, CASE_TCP),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
