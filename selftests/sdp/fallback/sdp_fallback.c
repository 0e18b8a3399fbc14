// SPDX-License-Identifier: GPL-2.0
/*
 * Fallback to TCP: what decides it, who may come to a listener, and that a
 * socket which has fallen back is the same descriptor as before.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "sdp_fallback.h"

static int both_listener(void)
{
	return listener_at(both_socket(0), server_addr(0), 16);
}

static int connect_fd(int fd, int listener)
{
	struct addr a = server_addr(local_port(listener));

	CHECK_OK(connect(fd, &a.sa, a.len));
	return fd;
}

static int accept_one(int listener)
{
	return CHECK_OK(accept(listener, NULL, NULL));
}

/* A client comes to the listener, and both ends understand each other. */
static void check_comes(int client, int listener)
{
	connect_fd(client, listener);
	exchange(client, accept_one(listener), 10000);
}

static struct addr loopback(uint16_t port)
{
	return make_addr(opts.ipv6 ? "::1" : "127.0.0.1", port);
}

/* ---- what decides ---- */

static void off_by_default(void)
{
	int listener = tcp_listener(16), fd = new_client(0);
	struct addr a = local_addr(listener);

	CHECK_EQ(get_int(fd, SOL_SDP, SDP_TCP_FALLBACK), 0);
	CHECK_ERR(connect(fd, &a.sa, a.len), ECONNREFUSED);
	CHECK_EQ(reason(fd), NONE);
	CHECK(!strcmp(listener_flow(new_listener(4)), "-"));
	a = loopback(0);
	CHECK_ERR(bind(new_socket(0), &a.sa, a.len), EADDRNOTAVAIL);
}

static void refused_goes_on_over_tcp(void)
{
	long before = counter("FallbackRefused");
	int listener = tcp_listener(16);
	int client = connect_fd(both_socket(0), listener);
	int server = accept_one(listener);
	struct addr a = local_addr(client), b = peer_addr(server);

	CHECK_EQ(reason(client), REFUSED);
	CHECK_EQ(counter("FallbackRefused"), before + 1);
	CHECK(!strcmp(flow_of(client), "tcp:refused"));
	CHECK(same_addr(&a, &b));
	a = peer_addr(client);
	b = local_addr(listener);
	CHECK(same_addr(&a, &b));
	CHECK_EQ(get_int(client, SOL_SOCKET, SO_DOMAIN), AF_SDP);
	exchange(client, server, scaled(2 * MIB));
}

static void refused_bound_client(void)
{
	int listener = tcp_listener(16), client = both_socket(0), server;
	struct addr a = client_addr(0), b;

	CHECK_OK(bind(client, &a.sa, a.len));
	a = local_addr(client);
	connect_fd(client, listener);
	server = accept_one(listener);
	b = peer_addr(server);
	CHECK(same_addr(&a, &b));
	exchange(client, server, 100000);
}

static void rdma_is_preferred(void)
{
	int listener = both_listener();
	int client = connect_fd(both_socket(0), listener);
	int server = accept_one(listener);

	CHECK_EQ(reason(client), NONE);
	CHECK_EQ(reason(server), NONE);
	CHECK(strncmp(flow_of(client), "tcp", 3));
	CHECK(!strcmp(listener_flow(listener), "both"));
	exchange(client, server, 100000);
	/* Nothing came over TCP. */
	set_nonblock(listener, true);
	CHECK_ERR(accept(listener, NULL, NULL), EAGAIN);
}

static void both_refuse(void)
{
	struct addr dead = server_addr(dead_port());
	int listener = new_listener(4), fd = both_socket(0), server;

	CHECK_ERR(connect(fd, &dead.sa, dead.len), ECONNREFUSED);
	CHECK_EQ(reason(fd), NONE);
	CHECK_ERR(connect(fd, &dead.sa, dead.len), ECONNREFUSED);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
	/* The next attempt begins with RDMA. */
	connect_fd(fd, listener);
	server = accept_one(listener);
	CHECK_EQ(reason(fd), NONE);
	exchange(fd, server, 100000);
}

static void both_refuse_nonblocking(void)
{
	struct addr dead = server_addr(dead_port());
	int listener = tcp_listener(16), fd = both_socket(SOCK_NONBLOCK);

	CHECK_ERR(connect(fd, &dead.sa, dead.len), EINPROGRESS);
	wait_poll_exact(fd, POLLIN | POLLOUT | POLLRDHUP | POLLERR | POLLHUP);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
	CHECK(!(poll_now(fd) & POLLERR));
	CHECK_ERR(connect(fd, &dead.sa, dead.len), ECONNABORTED);
	if (start_connect(fd, listener))
		finish_connect(fd);
	CHECK_EQ(reason(fd), REFUSED);
	exchange(fd, accept_one(listener), 100000);
}

static void unreachable_is_tcps_error(void)
{
	struct addr a = silent_neighbour();
	long before = counter("FallbackUnreachable") +
		      counter("FallbackTimeout");
	int fd = both_socket(0);

	/* ARP goes on for TCP where it has failed for RDMA. */
	CHECK_ERR(connect(fd, &a.sa, a.len), EHOSTUNREACH);
	CHECK_EQ(counter("FallbackUnreachable") + counter("FallbackTimeout"),
		 before + 1);
}

static void full_listener_is_no_reason(void)
{
	int filler, listener = full_listener(&filler);
	int client = both_socket(0);
	struct addr a = local_addr(listener);

	set_timeout(client, SO_SNDTIMEO, 10 * quiet_ms());
	CHECK_ERR(connect(client, &a.sa, a.len), EINPROGRESS);
	CHECK_EQ(reason(client), NONE);
	accept_one(listener);
	finish_connect(client);
	CHECK_EQ(reason(client), NONE);
	exchange(client, accept_one(listener), 100000);
}

/* ---- loopback, where no RDMA device is ---- */

static void loopback_listener(void)
{
	long devices = counter("FallbackNoDevice");
	long listens = counter("FallbackListens");
	int listener = listener_at(both_socket(0), loopback(0), 4);
	struct addr a = local_addr(listener);
	int client = both_socket(0), server;

	CHECK_OK(connect(client, &a.sa, a.len));
	server = accept_one(listener);
	CHECK_EQ(reason(client), NO_DEVICE);
	CHECK_EQ(reason(server), ACCEPTED);
	CHECK(!strcmp(flow_of(client), "tcp:no-device"));
	CHECK(!strcmp(flow_of(server), "tcp:accepted"));
	CHECK(!strcmp(listener_flow(listener), "tcp:no-device"));
	CHECK_EQ(counter("FallbackNoDevice"), devices + 1);
	CHECK_EQ(counter("FallbackListens"), listens + 1);
	exchange(client, server, scaled(1 * MIB));
}

static void loopback_to_wildcard(void)
{
	struct addr any = make_addr(opts.ipv6 ? "::" : "0.0.0.0", 0), a;
	int listener = listener_at(both_socket(0), any, 4);
	int near = both_socket(0), far = both_socket(0), server;

	a = loopback(local_port(listener));
	CHECK_OK(connect(near, &a.sa, a.len));
	server = accept_one(listener);
	CHECK_EQ(reason(server), ACCEPTED);
	exchange(near, server, 100000);
	connect_fd(far, listener);
	server = accept_one(listener);
	CHECK_EQ(reason(server), NONE);
	exchange(far, server, 100000);
}

/* One that was never bound listens to all of it. */
static void loopback_to_unbound(void)
{
	int listener = both_socket(0), client = both_socket(0);
	struct addr a;

	CHECK_OK(listen(listener, 1));
	a = loopback(local_port(listener));
	CHECK_OK(connect(client, &a.sa, a.len));
	exchange(client, accept_one(listener), 100000);
}

/* ---- who comes to a listener ---- */

static void accept_from_everywhere(void)
{
	int listener = both_listener(), clients[9], i, k, server;
	int came[ACCEPTED + 1] = { 0 };

	for (i = 0; i < 9; i++)
		clients[i] = connect_fd(i % 3 == 0 ? tcp_socket() :
					i % 3 == 1 ? new_socket(0) :
					both_socket(0), listener);
	for (i = 0; i < 9; i++) {
		struct addr a;

		server = accept_one(listener);
		came[reason(server)]++;
		a = peer_addr(server);
		/* Clients of the two families may have the same port. */
		for (k = 0; k < 9; k++)
			if (local_port(clients[k]) == addr_port(&a) &&
			    reason(server) == (k % 3 ? NONE : ACCEPTED))
				break;
		CHECK(k < 9);
		exchange(clients[k], server, 10000);
	}
	CHECK_EQ(came[ACCEPTED], 3);
	CHECK_EQ(came[NONE], 6);
}

static void tcp_wakes_accept(void)
{
	int listener = both_listener(), client;
	struct blocked b;

	block_start(&b, op_accept, listener);
	client = connect_fd(tcp_socket(), listener);
	exchange(client, block_join(&b), 10000);
	set_nonblock(listener, true);
	CHECK_ERR(accept(listener, NULL, NULL), EAGAIN);
}

static void tcp_wakes_poll(void)
{
	int listener = both_listener();
	struct blocked b;

	block_start(&b, op_poll, listener);
	connect_fd(tcp_socket(), listener);
	CHECK_EQ(block_join(&b), POLLIN);
	accept_one(listener);
	CHECK_EQ(poll_now(listener), 0);
}

static void closed_listener_resets_both(void)
{
	int listener = both_listener();
	int sdp = connect_fd(new_socket(0), listener), tcp;
	struct addr a = local_addr(listener);

	wait_poll(listener, POLLIN);
	tcp = connect_fd(tcp_socket(), listener);
	CHECK_OK(close(listener));
	CHECK_EQ(recv_until_end(tcp), ECONNRESET);
	CHECK_EQ(recv_until_end(sdp), ECONNRESET);
	/* Both ports are free. */
	CHECK_ERR(connect(tcp_socket(), &a.sa, a.len), ECONNREFUSED);
	listener = both_socket(0);
	set_int(listener, SOL_SOCKET, SO_REUSEADDR, 1);
	listener_at(listener, a, 1);
	check_comes(tcp_socket(), listener);
}

static void listen_again(void)
{
	int listener = both_listener();
	struct addr a = local_addr(listener);

	CHECK_OK(shutdown(listener, SHUT_RD));
	CHECK_ERR(connect(tcp_socket(), &a.sa, a.len), ECONNREFUSED);
	CHECK_ERR(connect(new_socket(0), &a.sa, a.len), ECONNREFUSED);
	CHECK_OK(listen(listener, 4));
	check_comes(tcp_socket(), listener);
	check_comes(new_socket(0), listener);
}

/* ---- ports ---- */

static void port_is_taken_on_both(void)
{
	struct addr a = local_addr(both_listener());

	CHECK_ERR(bind(tcp_socket(), &a.sa, a.len), EADDRINUSE);
	CHECK_ERR(bind(new_socket(0), &a.sa, a.len), EADDRINUSE);
}

static void port_must_be_free_on_both(void)
{
	struct addr tcp = local_addr(tcp_listener(16));
	struct addr sdp = local_addr(new_listener(1));
	int fd = both_socket(0);

	CHECK_ERR(bind(fd, &tcp.sa, tcp.len), EADDRINUSE);
	CHECK_ERR(bind(fd, &sdp.sa, sdp.len), EADDRINUSE);
	/* The attempts have left nothing behind. */
	CHECK_OK(bind(tcp_socket(), &sdp.sa, sdp.len));
	CHECK_OK(bind(new_socket(0), &tcp.sa, tcp.len));
	CHECK_EQ(local_port(fd), 0);
	listener_at(fd, server_addr(0), 1);
}

static void fallback_after_bind(void)
{
	int listener = new_socket(0);
	struct addr a = server_addr(0);

	CHECK_OK(bind(listener, &a.sa, a.len));
	set_int(listener, SOL_SDP, SDP_TCP_FALLBACK, 1);
	CHECK_OK(listen(listener, 4));
	check_comes(tcp_socket(), listener);
	check_comes(new_socket(0), listener);
}

/* ---- waiting ---- */

/* The descriptor is watched before anybody knows what will carry it. */
static void epoll_before_connect(void)
{
	int listener = tcp_listener(16), fd = both_socket(SOCK_NONBLOCK), server;
	struct epoll_event e = { .events = EPOLLIN | EPOLLOUT | EPOLLET };
	struct addr a = local_addr(listener);
	int ep = CHECK_OK(epoll_create1(0)), err;

	CHECK_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e));
	/* What an unconnected socket says. */
	CHECK_EQ(epoll_wait(ep, &e, 1, 0), 1);
	CHECK_EQ(epoll_wait(ep, &e, 1, 0), 0);
	CHECK_ERR(connect(fd, &a.sa, a.len), EINPROGRESS);
	CHECK_EQ(epoll_wait(ep, &e, 1, wait_limit_ms()), 1);
	CHECK_EQ(e.events, EPOLLOUT);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
	CHECK_EQ(epoll_wait(ep, &e, 1, quiet_ms()), 0);
	server = accept_one(listener);
	CHECK_EQ(send(server, "x", 1, 0), 1);
	CHECK_EQ(epoll_wait(ep, &e, 1, wait_limit_ms()), 1);
	CHECK(e.events & EPOLLIN);
	/* Full, then drained: the edge must come. */
	fill_pipe(fd, 7);
	while (epoll_wait(ep, &e, 1, 0) > 0)
		;
	CHECK_OK(shutdown(fd, SHUT_RD));
	while (epoll_wait(ep, &e, 1, 0) > 0)
		;
	set_nonblock(server, true);
	recv_pattern_to_end(server, 7, 0, &err);
	CHECK_EQ(err, EAGAIN);
	CHECK_EQ(epoll_wait(ep, &e, 1, wait_limit_ms()), 1);
	CHECK(e.events & EPOLLOUT);
}

struct late_io {
	int fd;
	bool sender;
};

static void *late_thread(void *arg)
{
	struct late_io *io = arg;

	if (io->sender)
		send_pattern(io->fd, 1, 0, 300000, 5000);
	else
		recv_pattern(io->fd, 2, 0, 300000, 5000);
	return NULL;
}

/* Calls that begin before the transport is known. */
static void io_before_decision(void)
{
	int listener = tcp_listener(16), fd = both_socket(0), server;
	struct late_io out = { fd, true }, in = { fd, false };
	pthread_t t[2];

	if (start_connect(fd, listener))
		set_nonblock(fd, false);
	thread_start(&t[0], late_thread, &out);
	thread_start(&t[1], late_thread, &in);
	server = accept_one(listener);
	recv_pattern(server, 1, 0, 300000, 4096);
	send_pattern(server, 2, 0, 300000, 4096);
	thread_join(t[0]);
	thread_join(t[1]);
	CHECK_EQ(reason(fd), REFUSED);
}

/* Nor do calls that must not wait, whoever is being asked. */
static void no_wait_for_decision(void)
{
	struct addr a = silent_neighbour();
	int fd = both_socket(SOCK_NONBLOCK), ends[2];
	char byte;

	CHECK_OK(pipe(ends));
	CHECK_ERR(connect(fd, &a.sa, a.len), EINPROGRESS);
	CHECK_ERR(recv(fd, &byte, 1, MSG_DONTWAIT), EAGAIN);
	CHECK_ERR(splice(fd, NULL, ends[1], NULL, 1, SPLICE_F_NONBLOCK), EAGAIN);
	CHECK_EQ(reason(fd), NONE);
}

/* ---- ending ---- */

static bool no_client_left(const struct addr *to)
{
	char want[16], line[512];
	bool found = false;
	FILE *f = fopen("/proc/net/sdp", "r");

	CHECK(f);
	snprintf(want, sizeof(want), ":%04X ", addr_port(to));
	while (fgets(line, sizeof(line), f))
		if (strstr(line, want))
			found = true;
	fclose(f);
	return !found;
}

/* An attempt that is anywhere between its begin and its end. */
static int connect_to_any_stage(int listener, uint32_t *seed, unsigned int most_ns)
{
	struct timespec pause = { .tv_nsec = random_next(seed) % most_ns };
	int fd = both_socket(0);

	start_connect(fd, listener);
	nanosleep(&pause, NULL);
	return fd;
}

/* Whatever an attempt is doing when it is given up. */
static void close_at_any_stage(void)
{
	int listener = tcp_listener(16);
	struct addr a = local_addr(listener);
	unsigned int i, rounds = scaled_count(150);
	uint32_t seed = opts.seed;

	set_nonblock(listener, true);
	for (i = 0; i < rounds; i++) {
		int fd = connect_to_any_stage(listener, &seed, 8000000), server;

		if (i % 4 == 3)
			shutdown(fd, SHUT_RDWR);
		CHECK_OK(close(fd));
		while ((server = accept(listener, NULL, NULL)) >= 0)
			CHECK_OK(close(server));
		CHECK_EQ(errno, EAGAIN);
	}
	WAIT_FOR(no_client_left(&a));
	set_nonblock(listener, false);
	check_comes(both_socket(0), listener);
}

/* Whatever it is doing: nothing is left that connects, or is connected. */
static void shutdown_at_any_stage(void)
{
	int listener = tcp_listener(16);
	unsigned int i, rounds = scaled_count(300);
	uint32_t seed = opts.seed;

	set_nonblock(listener, true);
	for (i = 0; i < rounds; i++) {
		int fd = connect_to_any_stage(listener, &seed, 4000000), server;
		char byte;

		CHECK_OK(shutdown(fd, SHUT_RDWR));
		wait_poll(fd, POLLHUP);
		while ((server = accept(listener, NULL, NULL)) >= 0) {
			if (recv(server, &byte, 1, 0))
				CHECK_EQ(errno, ECONNRESET);
			CHECK_OK(close(server));
		}
		CHECK_EQ(errno, EAGAIN);
		CHECK_OK(close(fd));
	}
}

static void *connect_and_close(void *arg)
{
	int listener = *(int *)arg;
	unsigned int i, rounds = scaled_count(1500);
	uint32_t seed = opts.seed + gettid();
	uint64_t end = now_ms() + wait_limit_ms();

	/* A slow machine does not get as far. */
	for (i = 0; i < rounds && now_ms() < end; i++) {
		int fd = connect_fd(both_socket(0), listener);
		unsigned int spins = random_next(&seed) % 50000;

		/* What TCP has to be told takes close() a moment. */
		set_int(fd, SOL_SOCKET, SO_PRIORITY, 1 + i % 5);
		while (spins--)
			__asm__ volatile("" ::: "memory");
		CHECK_OK(close(fd));
		CHECK_OK(close(accept_one(listener)));
	}
	return NULL;
}

/* The TCP socket that is not needed is closed by whoever comes first. */
static void close_once_connected(void)
{
	int listener = both_listener();
	pthread_t threads[2];

	thread_start(&threads[0], connect_and_close, &listener);
	thread_start(&threads[1], connect_and_close, &listener);
	thread_join(threads[0]);
	thread_join(threads[1]);
	check_comes(both_socket(0), listener);
}

static void shutdown_while_connecting(void)
{
	int filler, listener = full_listener(&filler), fd = both_socket(0);

	CHECK(start_connect(fd, listener));
	CHECK_OK(shutdown(fd, SHUT_RDWR));
	wait_poll(fd, POLLHUP | POLLERR);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), ECONNRESET);
	CHECK_EQ(reason(fd), NONE);
}

/* ---- cost ---- */

static uint64_t connects_ms(int listener, bool both, unsigned int count)
{
	uint64_t start = now_ms();
	unsigned int i;

	for (i = 0; i < count; i++) {
		int fd = connect_fd(both ? both_socket(0) : tcp_socket(),
				    listener);

		CHECK_OK(close(accept_one(listener)));
		CHECK_OK(close(fd));
	}
	return now_ms() - start;
}

/* How much slower is for people to judge, on a machine that they know. */
static void cost_of_refusal(void)
{
	long before = counter("FallbackRefused");
	unsigned int count = scaled_count(20);
	int listener = tcp_listener(16);
	uint64_t tcp, both;

	tcp = connects_ms(listener, false, count);
	both = connects_ms(listener, true, count);
	ktap_diag("connect: %llu us over TCP, %llu us with a refusal before",
		  (unsigned long long)tcp * 1000 / count,
		  (unsigned long long)both * 1000 / count);
	CHECK_EQ(counter("FallbackRefused"), before + count);
	CHECK(both / count < 1000 * opts.scale);
}

/* ---- a socket once more ---- */

/* A socket whose first attempt has failed, over TCP as well. */
static int tried_socket(struct addr dead)
{
	int fd = both_socket(0);

	CHECK_ERR(connect(fd, &dead.sa, dead.len), ECONNREFUSED);
	return fd;
}

/* Also over TCP it is the same socket to the program. */
static void other_family_next(void)
{
	struct addr dead[] = {
		make_addr("127.0.0.1", dead_port()),
		make_addr("::1", dead_port()),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(dead); i++) {
		struct addr any = make_addr(i ? "127.0.0.1" : "::1", 0), a;
		int listener, fd = tried_socket(dead[i]);

		listener = listener_at(CHECK_OK(socket(any.sa.sa_family,
						       SOCK_STREAM, 0)),
				       any, 4);
		a = local_addr(listener);
		CHECK_OK(connect(fd, &a.sa, a.len));
		exchange(fd, accept_one(listener), 10000);
	}
}

/* A port that only RDMA has not got is not TCP's either, then or later. */
static void failed_bind_leaves_nothing(void)
{
	struct addr a = server_addr(0), b = server_addr(dead_port());
	int holder = new_socket(0), fd = tried_socket(b), client;

	CHECK_OK(bind(holder, &a.sa, a.len));
	a = local_addr(holder);
	CHECK_ERR(bind(fd, &a.sa, a.len), EADDRINUSE);
	CHECK_OK(bind(tcp_socket(), &a.sa, a.len));
	listener_at(fd, b, 4);
	client = tcp_socket();
	CHECK_OK(connect(client, &b.sa, b.len));
	exchange(client, accept_one(fd), 10000);
}

/* Over TCP as over RDMA, when the port that came with it has gone. */
static void bound_address_stays(void)
{
	struct addr a = client_addr(0), b;
	int rdma = new_listener(4), tcp = tcp_listener(4);
	int fd = both_socket(0);

	CHECK_OK(bind(fd, &a.sa, a.len));
	connect_fd(fd, rdma);
	CHECK_EQ(reason(fd), NONE);
	CHECK_OK(close(accept_one(rdma)));
	CHECK_OK(op_dissolve(fd));
	connect_fd(fd, tcp);
	CHECK_EQ(reason(fd), REFUSED);
	b = peer_addr(accept_one(tcp));
	a = client_addr(addr_port(&b));
	CHECK(same_addr(&a, &b));
}

static const struct sdp_case cases[] = {
	CASE(off_by_default, CASE_IPV6),
	CASE(refused_goes_on_over_tcp, CASE_IPV6),
	CASE(refused_bound_client, CASE_IPV6),
	CASE(rdma_is_preferred, CASE_IPV6),
	CASE(both_refuse, 0),
	CASE(both_refuse_nonblocking, 0),
	CASE(unreachable_is_tcps_error, CASE_IPV6),
	CASE(full_listener_is_no_reason, 0),
	CASE(loopback_listener, CASE_IPV6),
	CASE(loopback_to_wildcard, CASE_IPV6),
	CASE(loopback_to_unbound, CASE_IPV6),
	CASE(accept_from_everywhere, CASE_IPV6),
	CASE(tcp_wakes_accept, 0),
	CASE(tcp_wakes_poll, 0),
	CASE(closed_listener_resets_both, 0),
	CASE(listen_again, 0),
	CASE(port_is_taken_on_both, CASE_IPV6),
	CASE(port_must_be_free_on_both, 0),
	CASE(fallback_after_bind, 0),
	CASE(epoll_before_connect, 0),
	CASE(io_before_decision, 0),
	CASE(no_wait_for_decision, CASE_IPV6),
	CASE(close_at_any_stage, CASE_LONG),
	CASE(shutdown_at_any_stage, CASE_LONG),
	CASE(close_once_connected, CASE_LONG),
	CASE(shutdown_while_connecting, 0),
	CASE(cost_of_refusal, 0),
	CASE(other_family_next, CASE_FAMILY),
	CASE(failed_bind_leaves_nothing, CASE_IPV6),
	CASE(bound_address_stays, CASE_IPV6),
};

int main(int argc, char **argv)
{
	return fallback_main(argc, argv, cases, ARRAY_SIZE(cases));
}
