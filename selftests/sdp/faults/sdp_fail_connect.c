// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that make and end connections with each fault that they may meet, one at a time.  The
 * call fails with an errno that says so, or not at all; then the socket, its peer and its
 * listener go on.  What leaks is found at the end.  Needs root, and a kernel that injects
 * faults.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <unistd.h>

#include "sdp_fallback.h"
#include "sdp_inject.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

/* ---- sockets ---- */

static long call_socket(struct scene *s)
{
	(void)s;
	return socket(test_family(false), SOCK_STREAM, test_protocol());
}

static void after_socket(struct scene *s, long ret)
{
	(void)s;
	if (ret >= 0)
		close(ret);
}

static void create(void)
{
	static const struct op op = { .call = call_socket, .after = after_socket };

	CHECK(inject_each(&op));
}

static void make_socket(struct scene *s)
{
	s->fd = new_socket(0);
	s->address = client_addr(0);
}

static long call_bind(struct scene *s)
{
	return bind(s->fd, &s->address.sa, s->address.len);
}

static void after_bind(struct scene *s, long ret)
{
	if (ret < 0)
		CHECK_OK(call_bind(s));
	CHECK(local_port(s->fd));
	close(s->fd);
}

static void bind_to_any(void)
{
	static const struct op op = { make_socket, call_bind, after_bind };

	CHECK(inject_each(&op));
}

/* Some kernels have the option for the families of IP alone. */
static void make_sharing(struct scene *s)
{
	opts.inet = true;
	make_socket(s);
	set_int(s->fd, SOL_SOCKET, SO_REUSEPORT, 1);
}

static void bind_to_share(void)
{
	static const struct op op = { make_sharing, call_bind, after_bind };

	CHECK(inject_each(&op));
}

static void make_bound(struct scene *s)
{
	struct addr a = server_addr(0);

	s->fd = new_socket(0);
	CHECK_OK(bind(s->fd, &a.sa, a.len));
}

/* TCP, which an iWARP device listens with, has no other word for no memory of a port's. */
static long call_listen(struct scene *s)
{
	long ret = listen(s->fd, 4);

	if (ret < 0 && errno == EADDRINUSE && over_iwarp())
		errno = ENOMEM;
	return ret;
}

static void after_listen(struct scene *s, long ret)
{
	if (ret < 0)
		CHECK_OK(call_listen(s));
	s->p.client = connect_to(s->fd);
	s->p.server = CHECK_OK(accept(s->fd, NULL, NULL));
	close(s->fd);
	scene_end(s);
}

static void begin_to_listen(void)
{
	static const struct op op = { make_bound, call_listen, after_listen };

	CHECK(inject_each(&op));
}

static void make_bound_for_both_families(struct scene *s)
{
	struct addr a = make_addr("::", 0);

	s->fd = new_socket(0);
	CHECK_OK(bind(s->fd, &a.sa, a.len));
}

/* Each family's listener is there, or none. */
static void after_listen_for_both(struct scene *s, long ret)
{
	int i;

	if (ret < 0)
		CHECK_OK(call_listen(s));
	for (i = 0; i < 2; i++) {
		s->address = make_addr(opts.server[i], local_port(s->fd));
		s->p.client = new_socket(0);
		CHECK_OK(connect(s->p.client, &s->address.sa, s->address.len));
		s->p.server = CHECK_OK(accept(s->fd, NULL, NULL));
		scene_end(s);
	}
	close(s->fd);
}

static void listen_for_both_families(void)
{
	static const struct op op = {
		make_bound_for_both_families, call_listen, after_listen_for_both,
	};

	CHECK(inject_each(&op));
}

/* ---- connections ---- */

static void make_client(struct scene *s)
{
	s->listener = new_listener(8);
	s->address = local_addr(s->listener);
	s->fd = new_client(0);
}

static long call_connect(struct scene *s)
{
	return connect(s->fd, &s->address.sa, s->address.len);
}

static void after_connect(struct scene *s, long ret)
{
	if (ret < 0)
		CHECK_OK(call_connect(s));
	s->p.client = s->fd;
	s->p.server = accept_peer_of(s->listener, s->fd);
	close(s->listener);
	scene_end(s);
}

static void connect_waits(void)
{
	static const struct op op = { make_client, call_connect, after_connect };

	CHECK(inject_each(&op));
}

static void make_nonblocking_client(struct scene *s)
{
	make_client(s);
	set_nonblock(s->fd, true);
}

static long begin_connect(struct scene *s)
{
	long ret = call_connect(s);

	return ret < 0 && errno == EINPROGRESS ? 0 : ret;
}

static void after_begin(struct scene *s, long ret)
{
	if (ret < 0)
		ret = begin_connect(s);
	CHECK_OK(ret);
	wait_poll(s->fd, POLLOUT);
	CHECK_EQ(get_int(s->fd, SOL_SOCKET, SO_ERROR), 0);
	set_nonblock(s->fd, false);
	after_connect(s, 0);
}

static void connect_does_not_wait(void)
{
	static const struct op op = { make_nonblocking_client, begin_connect, after_begin };

	CHECK(inject_each(&op));
}

static void make_waiting(struct scene *s)
{
	s->listener = new_listener(8);
	s->p.client = connect_to(s->listener);
	wait_poll(s->listener, POLLIN);
}

static long call_accept(struct scene *s)
{
	struct addr a = { .len = sizeof(a.ss) };

	return s->p.server = accept(s->listener, &a.sa, &a.len);
}

/* What was not accepted still waits, or its client hears of it. */
static void after_accept(struct scene *s, long ret)
{
	if (ret < 0 && poll_now(s->listener) & POLLIN)
		ret = CHECK_OK(call_accept(s));
	close(s->listener);
	if (ret >= 0) {
		scene_end(s);
		return;
	}
	wait_poll(s->p.client, POLLIN);
	recv_until_end(s->p.client);
	close(s->p.client);
}

static void accept_one(void)
{
	static const struct op op = { make_waiting, call_accept, after_accept };

	CHECK(inject_each(&op));
}

/* ---- with TCP beside ---- */

static void make_socket_of_both(struct scene *s)
{
	s->fd = both_socket(0);
	s->address = client_addr(0);
}

static void bind_of_both(void)
{
	static const struct op op = { make_socket_of_both, call_bind, after_bind };

	CHECK(inject_each(&op));
}

static void make_client_of_both(struct scene *s)
{
	s->listener = listener_at(both_socket(0), server_addr(0), 8);
	s->address = local_addr(s->listener);
	s->fd = both_socket(0);
}

static unsigned int went_over_tcp;

/* What RDMA has no memory for TCP carries. */
static void after_connect_of_both(struct scene *s, long ret)
{
	if (ret < 0)
		CHECK_OK(call_connect(s));
	went_over_tcp += reason(s->fd) == RESOURCES;
	after_connect(s, 0);
}

static void connect_of_both(void)
{
	static const struct op op = { make_client_of_both, call_connect, after_connect_of_both };

	if (over_iwarp())
		sdp_skip("with iWARP a listener has either");
	CHECK(inject_each(&op));
	CHECK(went_over_tcp);
}

static void make_waiting_over_tcp(struct scene *s)
{
	s->listener = listener_at(both_socket(0), server_addr(0), 8);
	s->address = local_addr(s->listener);
	s->p.client = tcp_socket();
	CHECK_OK(connect(s->p.client, &s->address.sa, s->address.len));
	wait_poll(s->listener, POLLIN);
}

static void accept_over_tcp(void)
{
	static const struct op op = { make_waiting_over_tcp, call_accept, after_accept };

	if (over_iwarp())
		sdp_skip("with iWARP a listener has either");
	CHECK(inject_each(&op));
}

/* ---- the end ---- */

static long call_shutdown(struct scene *s)
{
	return shutdown(s->p.client, SHUT_WR);
}

static void after_shutdown(struct scene *s, long ret)
{
	CHECK_OK(ret);
	CHECK_EQ(recv_until_end(s->p.server), 0);
	send_pattern(s->p.server, SEED_DOWN, 0, SCENE_LEN, SCENE_LEN);
	recv_pattern(s->p.client, SEED_DOWN, 0, SCENE_LEN, SCENE_LEN);
	close_pair(s->p);
}

static void shut_down(void)
{
	static const struct op op = { scene_pair, call_shutdown, after_shutdown };

	inject_each(&op);
}

static long call_close(struct scene *s)
{
	return close(s->p.client);
}

static void after_close(struct scene *s, long ret)
{
	CHECK_OK(ret);
	CHECK_EQ(recv_until_end(s->p.server), 0);
	close(s->p.server);
}

static void after_close_written(struct scene *s, long ret)
{
	int err = 0;

	CHECK_OK(ret);
	CHECK_EQ(recv_pattern_to_end(s->p.server, SEED_UP, 0, &err), SCENE_LEN);
	CHECK_EQ(err, 0);
	close(s->p.server);
}

static void close_one(void)
{
	static const struct op idle = { scene_pair, call_close, after_close };
	static const struct op written = { scene_written, call_close, after_close_written };

	CHECK(inject_each(&idle) || !kernel_keeps_freed());
	CHECK(inject_each(&written) || !kernel_keeps_freed());
}

static const struct sdp_case cases[] = {
	CASE(create, CASE_IPV6),
	CASE(bind_to_any, CASE_IPV6),
	CASE(bind_to_share, 0),
	CASE(begin_to_listen, 0),
	CASE(listen_for_both_families, CASE_LONG | CASE_FAMILY),
	CASE(connect_waits, CASE_LONG),
	CASE(connect_does_not_wait, CASE_LONG),
	CASE(accept_one, CASE_LONG),
	CASE(bind_of_both, CASE_SDP_ONLY | CASE_LONG),
	CASE(connect_of_both, CASE_SDP_ONLY | CASE_LONG),
	CASE(accept_over_tcp, CASE_SDP_ONLY | CASE_LONG),
	CASE(shut_down, 0),
	CASE(close_one, 0),
};

int main(int argc, char **argv)
{
	return fallback_main(argc, argv, cases, ARRAY_SIZE(cases));
}
