// SPDX-License-Identifier: GPL-2.0
/* SO_REUSEPORT: several listeners of one user on one address and port. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>

#include "sdp_fallback.h"

#define LISTENERS	4
#define CLIENTS		16
#define BACKLOG		CLIENTS
#define SEED		17

/*
 * The socket layer of older kernels keeps the option for the inet families: there
 * this door is used, and otherwise the one under test.
 */
static int sharing_socket(void)
{
	int fd = new_socket(0);

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &(int){ 1 }, sizeof(int))) {
		CHECK_EQ(errno, EOPNOTSUPP);
		CHECK(!opts.inet && !opts.tcp);
		CHECK_OK(close(fd));
		opts.inet = true;
		return sharing_socket();
	}
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_REUSEPORT), 1);
	return fd;
}

static int try_socket(struct addr *a, bool share)
{
	int fd = share ? sharing_socket() : new_socket(0);

	if (bind(fd, &a->sa, a->len)) {
		int err = errno;

		CHECK_OK(close(fd));
		errno = err;
		return -1;
	}
	*a = local_addr(fd);
	return fd;
}

static int sharing_listener(struct addr *a)
{
	int fd = CHECK_OK(try_socket(a, true));

	CHECK_OK(listen(fd, BACKLOG));
	set_nonblock(fd, true);
	return fd;
}

static void open_listeners(int *fds, struct addr *a)
{
	int i;

	*a = server_addr(0);
	for (i = 0; i < LISTENERS; i++)
		fds[i] = sharing_listener(a);
}

static int connect_client(const struct addr *a)
{
	int fd = new_client(0);

	set_timeout(fd, SO_SNDTIMEO, wait_limit_ms());
	CHECK_OK(connect(fd, &a->sa, a->len));
	return fd;
}

/* Serve whoever has come: an echo of what this client alone sends. */
static int serve(int listener)
{
	struct addr peer;
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		return 0;
	set_nonblock(fd, false);
	peer = peer_addr(fd);
	recv_pattern(fd, addr_port(&peer), 0, 1000, 1000);
	send_pattern(fd, addr_port(&peer), 0, 1000, 1000);
	CHECK_EQ(recv_until_end(fd), 0);
	CHECK_OK(close(fd));
	return 1;
}

static void say(int client)
{
	send_pattern(client, local_port(client), 0, 1000, 1000);
	CHECK_OK(shutdown(client, SHUT_WR));
}

static void hear(int client)
{
	recv_pattern(client, local_port(client), 0, 1000, 1000);
	CHECK_EQ(recv_until_end(client), 0);
	CHECK_OK(close(client));
}

static void serve_all(const int *fds, int count, int clients, int *served)
{
	int i, all = 0;

	WAIT_FOR(({
		for (i = 0; i < count; i++) {
			int n = serve(fds[i]);

			served[i] += n;
			all += n;
		}
		all == clients;
	}));
}

static void connections_are_spread(void)
{
	int fds[LISTENERS], clients[CLIENTS], served[LISTENERS] = { 0 }, i;
	struct addr a;

	open_listeners(fds, &a);
	for (i = 0; i < CLIENTS; i++) {
		clients[i] = connect_client(&a);
		say(clients[i]);
	}
	serve_all(fds, LISTENERS, CLIENTS, served);
	for (i = 0; i < CLIENTS; i++)
		hear(clients[i]);
	/* TCP's choice is a hash of the ports, and may leave one out. */
	for (i = 0; i < LISTENERS && !opts.tcp; i++)
		CHECK(served[i] > 0);
}

/* Each in a process of its own, as a server has them that is many processes. */
static void serve_in_process(struct addr a, int ready, int stop)
{
	int fd = sharing_listener(&a);
	struct pollfd p[2] = { { fd, POLLIN, 0 }, { stop, POLLIN, 0 } };

	CHECK_EQ(write(ready, "", 1), 1);
	for (;;) {
		CHECK_OK(poll(p, 2, -1));
		if (p[0].revents)
			serve(fd);
		else if (p[1].revents)
			exit(0);
	}
}

static void processes_share(void)
{
	struct addr a = server_addr(0);
	int first = CHECK_OK(try_socket(&a, true));
	int ready[2], stop[2], i;
	pid_t child[LISTENERS];
	char byte;

	CHECK_OK(pipe(ready));
	CHECK_OK(pipe(stop));
	for (i = 0; i < LISTENERS; i++) {
		child[i] = fork_child();
		if (!child[i]) {
			close(stop[1]);
			close(first);
			serve_in_process(a, ready[1], stop[0]);
		}
	}
	for (i = 0; i < LISTENERS; i++)
		CHECK_EQ(read(ready[0], &byte, 1), 1);
	for (i = 0; i < CLIENTS; i++) {
		int fd = connect_client(&a);

		say(fd);
		hear(fd);
	}
	CHECK_OK(close(stop[1]));
	for (i = 0; i < LISTENERS; i++)
		join_child(child[i]);
}

/* What the others have is theirs, the first one's going included. */
static void one_leaves(void)
{
	int fds[LISTENERS], clients[CLIENTS], served[LISTENERS] = { 0 }, i, left;
	struct addr a;

	open_listeners(fds, &a);
	for (left = 0; left < LISTENERS; left++) {
		for (i = 0; i < LISTENERS; i++) {
			clients[i] = connect_client(&a);
			say(clients[i]);
		}
		serve_all(fds + left, LISTENERS - left, LISTENERS, served);
		for (i = 0; i < LISTENERS; i++)
			hear(clients[i]);
		CHECK_OK(close(fds[left]));
	}
	CHECK_ERR(connect(new_client(0), &a.sa, a.len), ECONNREFUSED);
	/* And the port is free again. */
	CHECK_OK(try_socket(&a, false));
}

static bool any_failed(const int *fds, int count)
{
	while (count--)
		if (poll_now(fds[count]) & POLLERR)
			return true;
	return false;
}

/* Who is left has the port, but does not listen there. */
static void the_one_that_listens_leaves(void)
{
	struct addr a = server_addr(0);
	int bound = CHECK_OK(try_socket(&a, true));
	int listener = sharing_listener(&a), served = 0;
	int client = connect_client(&a);

	say(client);
	serve_all(&listener, 1, 1, &served);
	hear(client);
	CHECK_OK(close(listener));
	CHECK_ERR(connect(new_client(0), &a.sa, a.len), ECONNREFUSED);
	CHECK_ERR(try_socket(&a, false), EADDRINUSE);
	/* The refusal was about that moment alone. */
	CHECK_OK(listen(bound, BACKLOG));
	set_nonblock(bound, true);
	client = connect_client(&a);
	say(client);
	serve_all(&bound, 1, 1, &served);
	hear(client);
	CHECK_EQ(served, 2);
}

/* Those that nobody has accepted go with their listener, and no others do. */
static void children_go_with_their_listener(void)
{
	int fds[LISTENERS], clients[LISTENERS], served[LISTENERS] = { 0 };
	int i, lost = 0;
	struct addr a;

	if (opts.tcp)
		sdp_skip("TCP's choice is a hash");
	open_listeners(fds, &a);
	for (i = 0; i < LISTENERS; i++)
		clients[i] = connect_client(&a);
	for (i = 0; i < LISTENERS; i++)
		wait_poll(fds[i], POLLIN);
	CHECK_OK(close(fds[0]));
	WAIT_FOR(any_failed(clients, LISTENERS));
	for (i = 0; i < LISTENERS; i++) {
		if (poll_now(clients[i]) & POLLERR) {
			CHECK_EQ(recv_until_end(clients[i]), ECONNRESET);
			lost++;
			continue;
		}
		say(clients[i]);
	}
	CHECK_EQ(lost, 1);
	serve_all(fds + 1, LISTENERS - 1, LISTENERS - 1, served);
}

static void refused_without_option(void)
{
	struct addr a = server_addr(0);
	int first = CHECK_OK(try_socket(&a, true));

	CHECK_ERR(try_socket(&a, false), EADDRINUSE);
	CHECK_OK(listen(first, 1));
	CHECK_ERR(try_socket(&a, false), EADDRINUSE);
	CHECK_OK(close(first));
	first = CHECK_OK(try_socket(&a, false));
	CHECK_ERR(try_socket(&a, true), EADDRINUSE);
}

static void refused_to_other_user(void)
{
	struct addr a = server_addr(0);
	pid_t child;

	CHECK_OK(listen(CHECK_OK(try_socket(&a, true)), 1));
	child = fork_child();
	if (!child) {
		CHECK_OK(setuid(65534));
		CHECK_ERR(try_socket(&a, true), EADDRINUSE);
		exit(0);
	}
	join_child(child);
}

/* A member that only is bound gets nothing, and may connect. */
static void member_connects(void)
{
	struct addr any = client_addr(0), a;
	int fd = CHECK_OK(try_socket(&any, true)), server;
	int listener = new_listener(1);

	a = local_addr(listener);
	CHECK_OK(connect(fd, &a.sa, a.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	a = peer_addr(server);
	CHECK_EQ(addr_port(&a), addr_port(&any));
	exchange(fd, server, 1000);
}

static void full_ones_are_passed_over(void)
{
	struct addr a = server_addr(0);
	int fds[2], clients[4], i;

	if (opts.tcp)
		sdp_skip("TCP's choice is a hash");
	for (i = 0; i < 2; i++) {
		fds[i] = CHECK_OK(try_socket(&a, true));
		CHECK_OK(listen(fds[i], i ? 2 : 0));
	}
	for (i = 0; i < 4; i++)
		clients[i] = connect_client(&a);
	for (i = 0; i < 3; i++)
		CHECK_OK(accept(fds[1], NULL, NULL));
	CHECK_OK(accept(fds[0], NULL, NULL));
	for (i = 0; i < 4; i++)
		CHECK_OK(close(clients[i]));
}

/* As long as another listener has the port nobody can listen, and then all can. */
static void listens_in_vain(void)
{
	struct addr a = server_addr(0);
	int fds[2], other, client, i;

	for (i = 0; i < 2; i++) {
		fds[i] = sharing_socket();
		set_int(fds[i], SOL_SOCKET, SO_REUSEADDR, 1);
		CHECK_OK(bind(fds[i], &a.sa, a.len));
		a = local_addr(fds[i]);
	}
	other = new_socket(0);
	set_int(other, SOL_SOCKET, SO_REUSEADDR, 1);
	CHECK_OK(bind(other, &a.sa, a.len));
	for (i = 0; i < 2; i++)
		CHECK_ERR(listen(fds[i], 1), EADDRINUSE);
	CHECK_OK(close(other));
	for (i = 0; i < 2; i++)
		CHECK_OK(listen(fds[i], 1));
	client = connect_client(&a);
	CHECK_OK(close(fds[0]));
	CHECK_OK(close(client));
	client = connect_client(&a);
	CHECK_OK(close(fds[1]));
	CHECK_EQ(recv_until_end(client), ECONNRESET);
}

/* It keeps the port that it has chosen, and may come back. */
static void stops_and_listens_again(void)
{
	struct addr a = server_addr(0);
	int fds[2], served[2] = { 0 }, i;

	a.in4.sin_port = htons(dead_port());
	for (i = 0; i < 2; i++)
		fds[i] = sharing_listener(&a);
	CHECK_OK(shutdown(fds[0], SHUT_RD));
	say(connect_client(&a));
	serve_all(fds + 1, 1, 1, served + 1);
	CHECK_ERR(try_socket(&a, false), EADDRINUSE);
	CHECK_OK(listen(fds[0], BACKLOG));
	CHECK_OK(close(fds[1]));
	say(connect_client(&a));
	serve_all(fds, 1, 1, served);
}

/* TCP's side of a listener that falls back is shared, too. */
static void fallback_shares_both(void)
{
	struct addr a = server_addr(0);
	int fds[2], served[2] = { 0 }, tcp, sdp, i;

	if (over_iwarp())
		sdp_skip("with iWARP a listener has either");
	be_patient(true);
	for (i = 0; i < 2; i++) {
		fds[i] = sharing_socket();
		set_int(fds[i], SOL_SDP, SDP_TCP_FALLBACK, ON);
		CHECK_OK(bind(fds[i], &a.sa, a.len));
		CHECK_OK(listen(fds[i], BACKLOG));
		set_nonblock(fds[i], true);
		a = local_addr(fds[i]);
	}
	for (i = 0; i < 2; i++) {
		tcp = tcp_socket();
		CHECK_OK(connect(tcp, &a.sa, a.len));
		sdp = connect_client(&a);
		say(tcp);
		say(sdp);
		serve_all(fds + i, 2 - i, 2, served);
		hear(tcp);
		hear(sdp);
		CHECK_OK(close(fds[i]));
	}
	CHECK_ERR(connect(tcp_socket(), &a.sa, a.len), ECONNREFUSED);
	be_patient(false);
}

struct guest {
	pthread_t thread;
	struct addr a;
	bool *over;
};

/* Listens for a moment, again and again. */
static void *come_and_go(void *arg)
{
	struct guest *guest = arg;
	struct addr a = guest->a;

	while (!__atomic_load_n(guest->over, __ATOMIC_RELAXED)) {
		int fd = CHECK_OK(try_socket(&a, true));

		CHECK_OK(listen(fd, BACKLOG));
		pause_a_bit();
		CHECK_OK(close(fd));
	}
	return NULL;
}

/* Whether the one who stays has accepted a connection. */
static bool host_has_it(int host)
{
	int fd = accept(host, NULL, NULL);

	return fd >= 0 && !close(fd);
}

/* A guest's connections go with it, and the host gets its share. */
static void guests_come_and_go(void)
{
	struct addr a = server_addr(0);
	int host = sharing_listener(&a), served = 0;
	unsigned int i, clients = scaled_count(40);
	bool over = false;
	struct guest guests[2];

	for (i = 0; i < ARRAY_SIZE(guests); i++) {
		guests[i].a = a;
		guests[i].over = &over;
		thread_start(&guests[i].thread, come_and_go, &guests[i]);
	}
	for (i = 0; i < clients; i++) {
		int fd = new_client(0);
		bool here = false;

		/* A guest may leave before the handshake is over. */
		if (connect(fd, &a.sa, a.len))
			CHECK(errno == ECONNRESET || errno == ECONNREFUSED);
		else
			WAIT_FOR((here = host_has_it(host)) ||
				 poll_now(fd) & POLLERR);
		served += here;
		CHECK_OK(close(fd));
	}
	CHECK(served > 0);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(guests); i++)
		thread_join(guests[i].thread);
}

static void *stop_listening(void *arg)
{
	shutdown(*(int *)arg, SHUT_RD);
	return NULL;
}

/*
 * Two threads end a listener whose port the kernel has chosen, and one goes on to
 * connect: neither ends what is the other's.
 */
static void stopped_by_two(void)
{
	int fd, listener = new_listener(4);
	struct pair p;
	unsigned int i, rounds = scaled_count(40);
	struct addr to = local_addr(listener);
	pthread_t thread;

	for (i = 0; i < rounds; i++) {
		fd = sharing_socket();
		CHECK_OK(listen(fd, 4));
		thread_start(&thread, stop_listening, &fd);
		op_dissolve(fd);
		set_nonblock(fd, true);
		connect(fd, &to.sa, to.len);
		thread_join(thread);
		CHECK_OK(close(fd));
	}
	CHECK_OK(close(listener));
	p = new_pair();
	exchange(p.client, p.server, 1000);
	close_pair(p);
}

static const struct sdp_case cases[] = {
	CASE(connections_are_spread, CASE_IPV6 | CASE_TCP),
	CASE(processes_share, CASE_TCP),
	CASE(one_leaves, CASE_TCP),
	CASE(the_one_that_listens_leaves, CASE_TCP),
	CASE(children_go_with_their_listener, 0),
	CASE(refused_without_option, CASE_TCP),
	CASE(refused_to_other_user, CASE_TCP),
	CASE(member_connects, CASE_TCP),
	CASE(full_ones_are_passed_over, 0),
	CASE(listens_in_vain, CASE_SDP_ONLY),
	CASE(stops_and_listens_again, CASE_TCP),
	CASE(fallback_shares_both, CASE_SDP_ONLY),
	CASE(guests_come_and_go, 0),
	CASE(stopped_by_two, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
