// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets behind an io_uring. A request that cannot be done at once waits by
 * way of poll, or in a kernel thread; both must wake up, and be cancelled.
 * Cases marked for it also run on TCP.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>

#include "sdp_ring.h"

/* Two results in either order. */
static void two_results(uint64_t id, int *of_it, int *of_other)
{
	struct io_uring_cqe *cqe = NULL;
	int i;

	for (i = 0; i < 2; i++) {
		struct __kernel_timespec limit = {
			.tv_sec = wait_limit_ms() / 1000 };

		CHECK_EQ(io_uring_wait_cqe_timeout(&ring, &cqe, &limit), 0);
		*(cqe->user_data == id ? of_it : of_other) = cqe->res;
		io_uring_cqe_seen(&ring, cqe);
	}
}

/* The cancelled request has a result, and so has the one that cancels it. */
static void cancelled(uint64_t id)
{
	int of_request = 1, of_cancel = 1;

	REQUEST(1000, cancel64, id, 0);
	two_results(id, &of_request, &of_cancel);
	/* One that had to be woken in its thread says EINTR, and "already". */
	if (of_request != -EINTR)
		CHECK_EQ(of_request, -ECANCELED);
	if (of_cancel != -EALREADY)
		CHECK_EQ(of_cancel, 0);
}

/* ---- data ---- */

static void send_and_recv(void)
{
	unsigned char out[5000], in[5000];
	struct pair p = new_pair();

	open_ring();
	pattern_fill(out, sizeof(out), 1, 0);
	PENDING(1, recv, p.server, in, sizeof(in), MSG_WAITALL);
	REQUEST(2, send, p.client, out, 2000, MSG_NOSIGNAL);
	CHECK_EQ(result(2), 2000);
	no_result_yet();
	REQUEST(3, send, p.client, out + 2000, 3000, MSG_NOSIGNAL);
	CHECK_EQ(result(3), 3000);
	CHECK_EQ(result(1), 5000);
	pattern_verify(in, sizeof(in), 1, 0);
}

static void sendmsg_and_recvmsg(void)
{
	unsigned char out[300], in[300];
	struct iovec vo[2] = { { out, 100 }, { out + 100, 200 } };
	struct iovec vi[2] = { { in, 250 }, { in + 250, 50 } };
	struct msghdr mo = { .msg_iov = vo, .msg_iovlen = 2 };
	struct msghdr mi = { .msg_iov = vi, .msg_iovlen = 2 };
	struct pair p = new_pair();

	open_ring();
	pattern_fill(out, sizeof(out), 2, 0);
	REQUEST(1, recvmsg, p.server, &mi, 0);
	REQUEST(2, sendmsg, p.client, &mo, MSG_NOSIGNAL);
	CHECK_EQ(result(2), 300);
	CHECK_EQ(result(1), 300);
	pattern_verify(in, sizeof(in), 2, 0);
}

static void read_and_write(void)
{
	unsigned char out[300], in[300];
	struct pair p = new_pair();

	open_ring();
	pattern_fill(out, sizeof(out), 3, 0);
	REQUEST(1, read, p.server, in, sizeof(in), 0);
	REQUEST(2, write, p.client, out, sizeof(out), 0);
	CHECK_EQ(result(2), 300);
	CHECK_EQ(result(1), 300);
	pattern_verify(in, sizeof(in), 3, 0);
}

/* Is more there than was asked for?  The ring's owner is told. */
static void recv_tells_of_more(void)
{
	unsigned char in[100];
	struct pair p = new_pair();
	unsigned int flags;

	open_ring();
	send_pattern(p.client, 4, 0, 150, 150);
	wait_inq(p.server, 150);
	REQUEST(1, recv, p.server, in, 100, 0);
	CHECK_EQ(result_flags(1, &flags), 100);
	CHECK(flags & IORING_CQE_F_SOCK_NONEMPTY);
	REQUEST(2, recv, p.server, in, 100, 0);
	CHECK_EQ(result_flags(2, &flags), 50);
	CHECK(!(flags & IORING_CQE_F_SOCK_NONEMPTY));
}

/* More than any buffers: the request goes on when there is room again. */
static void send_much(void)
{
	static unsigned char out[24 * MIB];
	struct pair p = new_pair();

	open_ring();
	pattern_fill(out, sizeof(out), 5, 0);
	PENDING(1, send, p.client, out, sizeof(out),
		MSG_NOSIGNAL | MSG_WAITALL);
	recv_pattern(p.server, 5, 0, sizeof(out), 64 * KIB);
	CHECK_EQ(result(1), sizeof(out));
}

/* One request for all that will come, with buffers from a pool. */
static void recv_multishot(void)
{
	static unsigned char pool[8][200];
	struct pair p = new_nodelay_pair();
	struct io_uring_sqe *sqe;
	unsigned int flags, i;
	int res;

	open_ring();
	REQUEST(1, provide_buffers, pool, sizeof(pool[0]), 8, 0, 0);
	CHECK_EQ(result(1), 0);
	sqe = new_sqe();
	io_uring_prep_recv_multishot(sqe, p.server, NULL, 0, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	submit(sqe, 2);
	for (i = 0; i < 3; i++) {
		send_pattern(p.client, 13, 100 * i, 100, 100);
		res = result_flags(2, &flags);
		if (res == -EINVAL && !i)
			sdp_skip("no multishot recv before Linux 6.0");
		CHECK_EQ(res, 100);
		CHECK(flags & IORING_CQE_F_MORE);
		CHECK(flags & IORING_CQE_F_BUFFER);
		pattern_verify(pool[flags >> IORING_CQE_BUFFER_SHIFT], 100, 13,
			       100 * i);
	}
	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_EQ(result_flags(2, &flags), 0);
	CHECK(!(flags & IORING_CQE_F_MORE));
}

static void splice_through(void)
{
	unsigned char in[1000];
	struct pair p = new_pair();
	int fd[2];

	open_ring();
	CHECK_OK(pipe(fd));
	PENDING(1, splice, p.server, -1, fd[1], -1, sizeof(in), 0);
	send_pattern(p.client, 6, 0, sizeof(in), sizeof(in));
	CHECK_EQ(result(1), sizeof(in));
	REQUEST(2, splice, fd[0], -1, p.server, -1, sizeof(in), 0);
	CHECK_EQ(result(2), sizeof(in));
	recv_pattern(p.client, 6, 0, sizeof(in), sizeof(in));
}

/* ---- the end of things ---- */

static void recv_until_shutdown(void)
{
	struct pair p = new_pair();
	int received = 1, shut = 1;
	char c;

	open_ring();
	PENDING(1, recv, p.server, &c, 1, 0);
	/* A thread of the ring does this, and may tell late that it has. */
	REQUEST(2, shutdown, p.client, SHUT_WR);
	two_results(1, &received, &shut);
	CHECK_EQ(received, 0);
	CHECK_EQ(shut, 0);
	REQUEST(3, close, p.server);
	CHECK_EQ(result(3), 0);
	CHECK_ERR(fcntl(p.server, F_GETFD), EBADF);
	CHECK_EQ(recv(p.client, &c, 1, 0), 0);
}

static void recv_until_reset(void)
{
	struct pair p = new_pair();
	char c;

	open_ring();
	REQUEST(1, recv, p.server, &c, 1, 0);
	set_linger(p.client, 1, 0);
	CHECK_OK(close(p.client));
	CHECK_EQ(result(1), -ECONNRESET);
}

static void send_after_shutdown(void)
{
	struct pair p = new_pair();

	open_ring();
	CHECK_OK(shutdown(p.client, SHUT_WR));
	REQUEST(1, send, p.client, "x", 1, MSG_NOSIGNAL);
	CHECK_EQ(result(1), -EPIPE);
}

/* ---- connections ---- */

static void connect_and_accept(void)
{
	int listener = new_listener(4), client = new_client(0), server;
	struct addr to = local_addr(listener), from = { .len = sizeof(from.ss) };
	struct addr want;

	open_ring();
	PENDING(1, accept, listener, &from.sa, &from.len, SOCK_CLOEXEC);
	REQUEST(2, connect, client, &to.sa, to.len);
	/* Either may be first. */
	server = -1;
	while (server < 0) {
		struct io_uring_cqe *cqe = NULL;

		CHECK_EQ(io_uring_wait_cqe(&ring, &cqe), 0);
		CHECK(cqe->res >= 0);
		if (cqe->user_data == 1)
			server = cqe->res;
		io_uring_cqe_seen(&ring, cqe);
	}
	want = local_addr(client);
	CHECK(same_addr(&from, &want));
	CHECK_EQ(fcntl(server, F_GETFD), FD_CLOEXEC);
	wait_poll(client, POLLOUT);
	send_pattern(client, 7, 0, 100, 100);
	recv_pattern(server, 7, 0, 100, 100);
}

static void connect_refused(void)
{
	struct addr to = server_addr(dead_port());

	open_ring();
	REQUEST(1, connect, new_client(0), &to.sa, to.len);
	CHECK_EQ(result(1), -ECONNREFUSED);
}

static void accept_multishot(void)
{
	int listener = new_listener(8), i, client, server;
	unsigned int flags;

	open_ring();
	REQUEST(1, multishot_accept, listener, NULL, NULL, 0);
	for (i = 0; i < 5; i++) {
		client = connect_to(listener);
		server = result_flags(1, &flags);
		CHECK(server >= 0);
		CHECK(flags & IORING_CQE_F_MORE);
		send_pattern(client, 8, 0, 100, 100);
		recv_pattern(server, 8, 0, 100, 100);
	}
	cancelled(1);
}

/* What the ring says of the accept queue behind the first of two. */
static unsigned int queue_flags(void)
{
	int listener = new_listener(4);
	unsigned int first, second;

	connect_to(listener);
	connect_to(listener);
	wait_poll(listener, POLLIN);
	REQUEST(1, accept, listener, NULL, NULL, 0);
	CHECK(result_flags(1, &first) >= 0);
	REQUEST(2, accept, listener, NULL, NULL, 0);
	CHECK(result_flags(2, &second) >= 0);
	CHECK(!(second & IORING_CQE_F_SOCK_NONEMPTY));
	return first & IORING_CQE_F_SOCK_NONEMPTY;
}

/* Kernels before 6.10 say nothing, of TCP either. */
static void accept_tells_of_more(void)
{
	unsigned int flags;

	open_ring();
	opts.tcp = true;
	flags = queue_flags();
	opts.tcp = false;
	/* The second connection may come too late to be told of. */
	WAIT_FOR(queue_flags() == flags);
}

/* ---- poll ---- */

static void poll_once(void)
{
	struct pair p = new_pair();

	open_ring();
	PENDING(1, poll_add, p.server, POLLIN | POLLRDHUP);
	send_pattern(p.client, 9, 0, 1, 1);
	CHECK_EQ(result(1), POLLIN);
	REQUEST(2, poll_add, p.client, POLLOUT | POLLIN);
	CHECK_EQ(result(2), POLLOUT);
}

static void poll_removed(void)
{
	struct pair p = new_pair();

	open_ring();
	PENDING(1, poll_add, p.server, POLLIN);
	REQUEST(1, poll_remove, 1);
	/* Both have this identifier, so that the order does not matter. */
	CHECK_EQ(result(1) + result(1), -ECANCELED);
}

static void poll_multishot(void)
{
	struct pair p = new_pair();
	unsigned int flags;
	int i;

	open_ring();
	set_int(p.client, SOL_TCP, TCP_NODELAY, 1);
	REQUEST(1, poll_multishot, p.server, POLLIN);
	for (i = 0; i < 3; i++) {
		send_pattern(p.client, 10, i, 1, 1);
		CHECK_EQ(result_flags(1, &flags) & POLLIN, POLLIN);
		CHECK(flags & IORING_CQE_F_MORE);
		recv_pattern(p.server, 10, i, 1, 1);
	}
	cancelled(1);
}

/* ---- cancelling ---- */

static void cancel_recv(void)
{
	struct pair p = new_pair();
	char c;

	open_ring();
	PENDING(1, recv, p.server, &c, 1, 0);
	cancelled(1);
	/* Nothing was lost with it. */
	send_pattern(p.client, 11, 0, 100, 100);
	recv_pattern(p.server, 11, 0, 100, 100);
}

/* In a thread of the kernel, inside of the call, instead of behind poll. */
static void cancel_recv_in_thread(void)
{
	struct pair p = new_pair();
	struct io_uring_sqe *sqe;
	char c;

	open_ring();
	sqe = new_sqe();
	io_uring_prep_recv(sqe, p.server, &c, 1, 0);
	sqe->flags |= IOSQE_ASYNC;
	submit(sqe, 1);
	no_result_yet();
	cancelled(1);
	send_pattern(p.client, 12, 0, 100, 100);
	recv_pattern(p.server, 12, 0, 100, 100);
}

static void cancel_accept(void)
{
	int listener = new_listener(1);

	open_ring();
	PENDING(1, accept, listener, NULL, NULL, 0);
	cancelled(1);
	connect_to(listener);
	CHECK_OK(accept(listener, NULL, NULL));
}

static void cancel_connect(void)
{
	int filler, listener = full_listener(&filler);
	struct addr to = local_addr(listener);
	int client = new_client(0);

	open_ring();
	PENDING(1, connect, client, &to.sa, to.len);
	cancelled(1);
	CHECK_OK(close(client));
}

static const struct sdp_case cases[] = {
	CASE(send_and_recv, CASE_TCP | CASE_IPV6),
	CASE(sendmsg_and_recvmsg, CASE_TCP),
	CASE(read_and_write, CASE_TCP),
	CASE(recv_tells_of_more, CASE_TCP),
	CASE(send_much, CASE_TCP | CASE_LONG),
	CASE(recv_multishot, CASE_TCP),
	CASE(splice_through, CASE_TCP),
	CASE(recv_until_shutdown, CASE_TCP),
	CASE(recv_until_reset, CASE_TCP),
	CASE(send_after_shutdown, CASE_TCP),
	CASE(connect_and_accept, CASE_TCP | CASE_IPV6),
	CASE(connect_refused, CASE_TCP),
	CASE(accept_multishot, CASE_TCP),
	CASE(accept_tells_of_more, CASE_SDP_ONLY),
	CASE(poll_once, CASE_TCP),
	CASE(poll_removed, CASE_TCP),
	CASE(poll_multishot, CASE_TCP),
	CASE(cancel_recv, CASE_TCP),
	CASE(cancel_recv_in_thread, CASE_TCP),
	CASE(cancel_accept, CASE_TCP),
	CASE(cancel_connect, CASE_TCP),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
