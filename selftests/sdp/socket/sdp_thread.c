// SPDX-License-Identifier: GPL-2.0
/*
 * One thread is inside a call, another one ends the socket under it. As for
 * TCP, shutdown() wakes the call; close() alone takes the descriptor away, and
 * the call goes on until it has its result.
 */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <poll.h>

#include "sdp_memory.h"

/* ---- shutdown() wakes ---- */

static void shutdown_wakes_recv(void)
{
	struct pair p = new_pair();
	struct blocked b;

	block_start(&b, op_recv, p.client);
	CHECK_OK(shutdown(p.client, SHUT_RD));
	CHECK_EQ(block_join(&b), 0);
	close_pair(p);
}

static void shutdown_wakes_send(void)
{
	struct pair p = new_pair();
	struct blocked b;
	long n;

	block_start(&b, op_send, p.client);
	WAIT_FOR(!(poll_now(p.client) & POLLOUT) && block_sleeps(&b));
	CHECK_OK(shutdown(p.client, SHUT_WR));
	n = block_join(&b);
	/* What went out before counts, as for a signal. */
	if (n < 0)
		CHECK_EQ(errno, EPIPE);
	CHECK_ERR(send(p.client, "x", 1, MSG_NOSIGNAL), EPIPE);
}

static void shutdown_wakes_accept(void)
{
	int listener = new_listener(1);
	struct blocked b;

	block_start(&b, op_accept, listener);
	CHECK_OK(shutdown(listener, SHUT_RDWR));
	CHECK_ERR(block_join(&b), EINVAL);
	CHECK_ERR(accept(listener, NULL, NULL), EINVAL);
}

static void shutdown_wakes_poll(void)
{
	struct pair p = new_pair();
	struct blocked b;

	block_start(&b, op_poll, p.client);
	CHECK_OK(shutdown(p.client, SHUT_RDWR));
	CHECK_EQ(block_join(&b) & POLLIN, POLLIN);
}

static struct addr connect_target;

static long op_connect(int fd)
{
	return connect(fd, &connect_target.sa, connect_target.len);
}

static void shutdown_wakes_connect(void)
{
	int filler, listener = full_listener(&filler);
	int client = new_client(0);
	struct blocked b;

	connect_target = local_addr(listener);
	block_start(&b, op_connect, client);
	CHECK_OK(shutdown(client, SHUT_RDWR));
	CHECK_EQ(block_join(&b), -1);
	if (errno != ECONNABORTED)
		CHECK_EQ(errno, ECONNRESET);
}

/* ---- the peer wakes ---- */

static void peer_close_wakes_recv(void)
{
	struct pair p = new_pair();
	struct blocked b;

	block_start(&b, op_recv, p.client);
	CHECK_OK(close(p.server));
	CHECK_EQ(block_join(&b), 0);
}

static void peer_reset_wakes_recv(void)
{
	struct pair p = new_pair();
	struct blocked b;

	block_start(&b, op_recv, p.client);
	set_linger(p.server, 1, 0);
	CHECK_OK(close(p.server));
	CHECK_ERR(block_join(&b), ECONNRESET);
}

static void peer_reset_wakes_send(void)
{
	struct pair p = new_pair();
	struct blocked b;
	long n;

	block_start(&b, op_send, p.client);
	WAIT_FOR(!(poll_now(p.client) & POLLOUT) && block_sleeps(&b));
	set_linger(p.server, 1, 0);
	CHECK_OK(close(p.server));
	n = block_join(&b);
	if (n < 0)
		CHECK_EQ(errno, ECONNRESET);
	else
		CHECK_EQ(send_until_error(p.client), ECONNRESET);
}

static void peer_reset_wakes_poll(void)
{
	struct pair p = new_pair();
	struct blocked b;

	block_start(&b, op_poll, p.client);
	set_linger(p.server, 1, 0);
	CHECK_OK(close(p.server));
	CHECK_EQ(block_join(&b) & (POLLERR | POLLHUP), POLLERR | POLLHUP);
}

/* ---- close() under a call ---- */

static void close_under_recv(void)
{
	struct pair p = new_pair();
	struct blocked b;
	char c;

	block_start(&b, op_recv, p.client);
	CHECK_OK(close(p.client));
	WAIT_FOR(block_sleeps(&b));
	CHECK_EQ(send(p.server, "x", 1, 0), 1);
	CHECK_EQ(block_join(&b), 1);
	/* With the call's end the last user of the socket is gone. */
	CHECK_EQ(recv(p.server, &c, 1, 0), 0);
}

static void *drain_to_end(void *arg)
{
	static char buf[64 * KIB];
	struct pair *p = arg;
	unsigned long sum = 0;
	ssize_t n;

	while ((n = CHECK_OK(recv(p->server, buf, sizeof(buf), 0))) > 0)
		sum += n;
	return (void *)sum;
}

static void close_under_send(void)
{
	struct pair p = new_pair();
	struct blocked b;
	pthread_t t;
	void *sum;
	long n;

	block_start(&b, op_send, p.client);
	WAIT_FOR(!(poll_now(p.client) & POLLOUT) && block_sleeps(&b));
	CHECK_OK(close(p.client));
	WAIT_FOR(block_sleeps(&b));
	thread_start(&t, drain_to_end, &p);
	n = block_join(&b);
	CHECK(n > 0);
	CHECK_EQ(pthread_join(t, &sum), 0);
	CHECK_EQ((unsigned long)sum, n);
}

static void close_under_accept(void)
{
	int listener = new_listener(1), client = new_client(0), server;
	struct addr a = local_addr(listener);
	struct blocked b;

	block_start(&b, op_accept, listener);
	CHECK_OK(close(listener));
	WAIT_FOR(block_sleeps(&b));
	CHECK_OK(connect(client, &a.sa, a.len));
	server = block_join(&b);
	CHECK(server >= 0);
	send_pattern(client, 1, 0, 100, 100);
	recv_pattern(server, 1, 0, 100, 100);
	CHECK_ERR(connect(new_client(0), &a.sa, a.len), ECONNREFUSED);
}

static void close_under_poll(void)
{
	struct pair p = new_pair();
	struct blocked b;

	block_start(&b, op_poll, p.client);
	CHECK_OK(close(p.client));
	CHECK_EQ(send(p.server, "x", 1, 0), 1);
	/* poll() looks its descriptors up again when it wakes. */
	CHECK_EQ(block_join(&b), POLLNVAL);
}

static void close_under_connect(void)
{
	int filler, listener = full_listener(&filler);
	int client = new_client(0);
	struct blocked b;

	connect_target = local_addr(listener);
	block_start(&b, op_connect, client);
	CHECK_OK(close(client));
	WAIT_FOR(block_sleeps(&b));
	CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(block_join(&b), 0);
}

/* ---- races, for the kernel's debugging aids rather than for results ---- */

struct race {
	struct pair p;
	bool stop;
};

static void *race_sender(void *arg)
{
	struct race *r = arg;

	send_until_error(r->p.client);
	return NULL;
}

static void *race_receiver(void *arg)
{
	struct race *r = arg;

	recv_until_end(r->p.server);
	return NULL;
}

static void *race_poller(void *arg)
{
	struct race *r = arg;

	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED)) {
		poll_now(r->p.client);
		poll_now(r->p.server);
	}
	return NULL;
}

static void shutdown_in_mid_transfer(void)
{
	unsigned int i, rounds = scaled_count(30);

	for (i = 0; i < rounds; i++) {
		struct race r = { .p = new_pair() };
		pthread_t s, v, w;

		thread_start(&s, race_sender, &r);
		thread_start(&v, race_receiver, &r);
		thread_start(&w, race_poller, &r);
		CHECK_OK(shutdown(i & 1 ? r.p.client : r.p.server, SHUT_RDWR));
		thread_join(s);
		/* Only the reader's own end is sure to reach it. */
		shutdown(r.p.server, SHUT_RDWR);
		thread_join(v);
		__atomic_store_n(&r.stop, true, __ATOMIC_RELAXED);
		thread_join(w);
		close_pair(r.p);
	}
}

struct flood {
	int listener;
	struct addr target;
	bool stop;
};

static void *flood_thread(void *arg)
{
	struct flood *f = arg;

	while (!__atomic_load_n(&f->stop, __ATOMIC_RELAXED)) {
		int fd = new_client(0);

		if (connect(fd, &f->target.sa, f->target.len) &&
		    errno != ECONNREFUSED && errno != ECONNRESET)
			FAIL("connect: %s", strerrorname_np(errno));
		CHECK_OK(close(fd));
	}
	return NULL;
}

/* Listeners come and go under a flood of connects. */
static void listener_closed_in_flood(void)
{
	unsigned int i, rounds = scaled_count(20);
	struct flood f = { .target = server_addr(dead_port()) };
	pthread_t t[2];

	for (i = 0; i < 2; i++)
		thread_start(&t[i], flood_thread, &f);
	for (i = 0; i < rounds; i++) {
		int listener = new_socket(0);

		set_int(listener, SOL_SOCKET, SO_REUSEADDR, 1);
		WAIT_FOR(bind(listener, &f.target.sa, f.target.len) == 0);
		CHECK_OK(listen(listener, 16));
		wait_poll(listener, POLLIN);
		CHECK_OK(close(listener));
	}
	__atomic_store_n(&f.stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++)
		thread_join(t[i]);
}

static void *listen_thread(void *arg)
{
	struct flood *f = arg;

	/* Fails while the other thread is about to end the listener. */
	while (!__atomic_load_n(&f->stop, __ATOMIC_RELAXED))
		if (listen(f->listener, 1) == -1)
			CHECK_EQ(errno, EINVAL);
	return NULL;
}

/*
 * A listener goes in the moment in which a peer has connected, be it in the
 * middle of the handshake, or when the peer's first message has come before the
 * handshake's last. Neither end may take long to go.
 */
static void listener_closed_at_once(void)
{
	unsigned int i, rounds = scaled_count(100);
	long before = sdp_stat("Sockets");

	for (i = 0; i < rounds; i++) {
		int listener = new_listener(1), client = connect_to(listener);

		set_timeout(client, SO_RCVTIMEO, wait_limit_ms() / 2);
		CHECK_OK(close(listener));
		CHECK_EQ(recv_until_end(client), ECONNRESET);
		CHECK_OK(close(client));
	}
	WAIT_FOR(sdp_stat("Sockets") <= before);
}

/* One thread ends a listener while another makes it listen again. */
static void listen_races_shutdown(void)
{
	struct flood f = { .listener = new_listener(1) };
	unsigned int i, rounds = scaled_count(200);
	pthread_t t;

	thread_start(&t, listen_thread, &f);
	for (i = 0; i < rounds; i++)
		if (shutdown(f.listener, SHUT_RD) == -1)
			CHECK_EQ(errno, ENOTCONN);
	__atomic_store_n(&f.stop, true, __ATOMIC_RELAXED);
	thread_join(t);
}

/* A socket is used again in the moment in which its connection has failed. */
static void reconnect_at_once(void)
{
	struct addr nobody = server_addr(dead_port());
	unsigned int i, rounds = scaled_count(200);
	int fd = new_socket(0);

	for (i = 0; i < rounds; i++)
		CHECK_ERR(connect(fd, &nobody.sa, nobody.len), ECONNREFUSED);
}

/* ---- a writer that notices late ---- */

static bool hog_end;

static void *hog_thread(void *arg)
{
	while (!__atomic_load_n(&hog_end, __ATOMIC_RELAXED))
		;
	return arg;
}

static long op_send_idly(int fd)
{
	run_idly();
	return op_send(fd);
}

/*
 * When the writer comes to look, its connection is gone and the error was taken
 * by somebody else.
 */
static void disconnect_under_send(void)
{
	struct pair p = new_pair();
	struct blocked writer;
	pthread_t hog;

	use_one_cpu();
	block_start(&writer, op_send_idly, p.client);
	WAIT_FOR(!(poll_now(p.client) & POLLOUT) && block_sleeps(&writer));
	thread_start(&hog, hog_thread, NULL);
	CHECK_OK(op_dissolve(p.client));
	CHECK_EQ(get_int(p.client, SOL_SOCKET, SO_ERROR), ECONNRESET);
	__atomic_store_n(&hog_end, true, __ATOMIC_RELAXED);
	thread_join(hog);
	CHECK(block_join(&writer) < (long)(64 * MIB));
	CHECK_ERR(send(p.client, "x", 1, MSG_NOSIGNAL), EPIPE);
}

/* ---- an attempt that fails at once, and is dissolved meanwhile ---- */

static bool attempts_end;

static void *dissolve_thread(void *arg)
{
	while (!__atomic_load_n(&attempts_end, __ATOMIC_RELAXED))
		op_dissolve(*(int *)arg);
	return arg;
}

/* The identifier that goes is ended by one of the two, and by nobody twice. */
static void disconnect_under_vain_connect(void)
{
	struct addr nowhere = make_addr(opts.ipv6 ? "2001:db8::77" :
						    "203.0.113.77", 9);
	int listener = new_listener(1), fd = new_client(0);
	struct addr a = local_addr(listener);
	unsigned int i;
	pthread_t t;

	thread_start(&t, dissolve_thread, &fd);
	for (i = 0; i < scaled_count(5000); i++)
		CHECK_EQ(connect(fd, &nowhere.sa, nowhere.len), -1);
	__atomic_store_n(&attempts_end, true, __ATOMIC_RELAXED);
	thread_join(t);
	CHECK_OK(connect(fd, &a.sa, a.len));
	exchange(fd, CHECK_OK(accept(listener, NULL, NULL)), 10000);
}

/* What is set while the connection is being set up, in whichever moment of that. */
static void options_set_meanwhile(void)
{
	unsigned int i, rounds = scaled_count(300);
	int listener = new_listener(1);
	struct pair p;

	for (i = 0; i < rounds; i++) {
		p.client = new_client(SOCK_NONBLOCK);
		if (start_connect(p.client, listener))
			while (!poll_now(p.client))
				set_int(p.client, IPPROTO_TCP, TCP_NODELAY, 1);
		finish_connect(p.client);
		set_nonblock(p.client, false);
		p.server = CHECK_OK(accept(listener, NULL, NULL));
		exchange(p.client, p.server, 3000);
		close_pair(p);
	}
}

static const struct sdp_case cases[] = {
	CASE(shutdown_wakes_recv, 0),
	CASE(shutdown_wakes_send, 0),
	CASE(shutdown_wakes_accept, 0),
	CASE(shutdown_wakes_poll, 0),
	CASE(shutdown_wakes_connect, 0),
	CASE(peer_close_wakes_recv, 0),
	CASE(peer_reset_wakes_recv, 0),
	CASE(peer_reset_wakes_send, 0),
	CASE(peer_reset_wakes_poll, 0),
	CASE(close_under_recv, 0),
	CASE(close_under_send, CASE_LONG),
	CASE(close_under_accept, 0),
	CASE(close_under_poll, 0),
	CASE(close_under_connect, 0),
	CASE(shutdown_in_mid_transfer, CASE_LONG),
	CASE(listener_closed_in_flood, CASE_LONG),
	CASE(listener_closed_at_once, CASE_SDP_ONLY | CASE_LONG),
	CASE(listen_races_shutdown, 0),
	CASE(reconnect_at_once, CASE_LONG),
	CASE(options_set_meanwhile, CASE_LONG),
	CASE(disconnect_under_send, CASE_SDP_ONLY),
	CASE(disconnect_under_vain_connect, CASE_LONG),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
