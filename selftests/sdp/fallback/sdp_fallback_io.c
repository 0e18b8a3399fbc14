// SPDX-License-Identifier: GPL-2.0
/*
 * On a socket that has fallen back to TCP: options of both ends of its life,
 * signals, and errors.
 */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <linux/tls.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

#include "sdp_fallback.h"

/* Connects over TCP; the server's end is a plain TCP socket. */
static struct pair fallen_back(int client)
{
	struct pair p = { .client = client };
	int listener = tcp_listener(4);
	struct addr a = local_addr(listener);

	CHECK_OK(connect(client, &a.sa, a.len));
	p.server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_OK(close(listener));
	return p;
}

/* ---- options ---- */

static void keepalive_before_connect(void)
{
	int fd = both_socket(0);

	set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	fallen_back(fd);
	WAIT_FOR(tcp_timer(local_port(fd)) == 2);
}

static void keepalive_after_connect(void)
{
	struct pair p = fallen_back(both_socket(0));

	WAIT_FOR(tcp_timer(local_port(p.client)) == 0);
	set_int(p.client, SOL_SOCKET, SO_KEEPALIVE, 1);
	poll_now(p.client);
	WAIT_FOR(tcp_timer(local_port(p.client)) == 2);
}

static void linger_resets(void)
{
	struct pair p;
	int fd = both_socket(0);

	set_linger(fd, 1, 0);
	p = fallen_back(fd);
	CHECK_OK(close(p.client));
	CHECK_EQ(recv_until_end(p.server), ECONNRESET);

	p = fallen_back(both_socket(0));
	set_linger(p.client, 1, 0);
	CHECK_OK(close(p.client));
	CHECK_EQ(recv_until_end(p.server), ECONNRESET);
}

static void unread_data_resets(void)
{
	struct pair p = fallen_back(both_socket(0));

	CHECK_EQ(send(p.server, "x", 1, 0), 1);
	wait_poll(p.client, POLLIN);
	CHECK_OK(close(p.client));
	CHECK_EQ(recv_until_end(p.server), ECONNRESET);
}

static void timeouts(void)
{
	struct pair p;
	int fd = both_socket(0);
	char c;

	set_timeout(fd, SO_RCVTIMEO, 50);
	p = fallen_back(fd);
	CHECK_ERR(recv(fd, &c, 1, 0), EAGAIN);
	set_timeout(fd, SO_RCVTIMEO, 0);
	set_timeout(fd, SO_SNDTIMEO, 50);
	fill_pipe(fd, 3);
	CHECK_ERR(send(fd, "x", 1, MSG_NOSIGNAL), EAGAIN);
	CHECK_EQ(send(p.server, "y", 1, 0), 1);
	CHECK_EQ(recv(fd, &c, 1, 0), 1);
}

static void rcvlowat(void)
{
	int fd = both_socket(0);
	struct pair p;

	set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 3);
	p = fallen_back(fd);
	CHECK_EQ(send(p.server, "12", 2, 0), 2);
	wait_inq(fd, 2);
	watch_quiet(fd, POLLIN);
	CHECK_EQ(send(p.server, "3", 1, 0), 1);
	wait_poll(fd, POLLIN);
	set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 4);
	watch_quiet(fd, POLLIN);
	set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 1);
	wait_poll(fd, POLLIN);
}

static void buffer_sizes(void)
{
	int small = both_socket(0), large = both_socket(0);
	uint64_t few, many;

	set_int(small, SOL_SOCKET, SO_SNDBUF, 4096);
	set_int(large, SOL_SOCKET, SO_SNDBUF, 200 * KIB);
	fallen_back(small);
	fallen_back(large);
	few = fill_pipe(small, 1);
	many = fill_pipe(large, 1);
	CHECK(few < many);
}

static void oob_inline(void)
{
	struct pair p = fallen_back(both_socket(0));
	char buf[8];

	CHECK_EQ(send(p.server, "ab", 2, MSG_OOB), 2);
	wait_poll(p.client, POLLPRI);
	CHECK_EQ(recv(p.client, buf, 1, MSG_OOB), 1);
	CHECK_EQ(buf[0], 'b');
	CHECK_EQ(recv(p.client, buf, sizeof(buf), 0), 1);
	CHECK_EQ(buf[0], 'a');
	/* Else it depends on when the option reaches TCP whether 'b' is to be read again. */
	send_text(p.server, "x", 0);
	expect_text(p.client, "x", 0);

	set_int(p.client, SOL_SOCKET, SO_OOBINLINE, 1);
	CHECK_EQ(send(p.server, "c", 1, MSG_OOB), 1);
	wait_inq(p.client, 1);
	CHECK_ERR(recv(p.client, buf, 1, MSG_OOB), EINVAL);
	CHECK_EQ(recv(p.client, buf, sizeof(buf), 0), 1);
	CHECK_EQ(buf[0], 'c');
}

static void tcp_options(void)
{
	int fd = both_socket(0);
	struct tcp_info info;
	socklen_t len = sizeof(info);
	struct pair p;

	set_int(fd, SOL_TCP, TCP_NODELAY, 1);
	set_int(fd, SOL_TCP, TCP_CORK, 1);
	p = fallen_back(fd);
	CHECK_EQ(get_int(fd, SOL_TCP, TCP_NODELAY), 1);
	CHECK_EQ(get_int(fd, SOL_TCP, TCP_CORK), 1);
	set_int(fd, SOL_TCP, TCP_CORK, 0);
	CHECK_EQ(get_int(fd, SOL_TCP, TCP_CORK), 0);
	CHECK_EQ(send(fd, "x", 1, 0), 1);
	wait_poll(p.server, POLLIN);
	CHECK_OK(getsockopt(fd, SOL_TCP, TCP_INFO, &info, &len));
	CHECK_EQ(info.tcpi_state, TCP_ESTABLISHED);
}

static void listener_options(void)
{
	int listener = both_socket(0), tcp, server;
	struct addr a = server_addr(0);

	CHECK_OK(bind(listener, &a.sa, a.len));
	CHECK_OK(listen(listener, 4));
	set_int(listener, SOL_TCP, TCP_NODELAY, 1);
	set_timeout(listener, SO_RCVTIMEO, 50);
	a = local_addr(listener);
	CHECK_ERR(accept(listener, NULL, NULL), EAGAIN);
	tcp = CHECK_OK(socket(AF_INET, SOCK_STREAM, 0));
	CHECK_OK(connect(tcp, &a.sa, a.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(get_int(server, SOL_TCP, TCP_NODELAY), 1);
	CHECK_ERR(recv(server, &a, 1, 0), EAGAIN);
}

static bool has_timestamp(int fd)
{
	char c, room[256];
	struct iovec v = { &c, 1 };
	struct msghdr m = {
		.msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = room,
		.msg_controllen = sizeof(room),
	};
	struct cmsghdr *cm;

	CHECK_EQ(recvmsg(fd, &m, 0), 1);
	cm = CMSG_FIRSTHDR(&m);
	return cm && cm->cmsg_level == SOL_SOCKET &&
	       cm->cmsg_type == SCM_TIMESTAMP;
}

static bool stamps_next(struct pair p)
{
	CHECK_EQ(send(p.server, "y", 1, 0), 1);
	return has_timestamp(p.client);
}

/* The kernel begins to stamp packets some time after it was asked to. */
static void timestamps(void)
{
	struct pair p = fallen_back(both_socket(0));

	CHECK(!stamps_next(p));
	set_int(p.client, SOL_SOCKET, SO_TIMESTAMP, 1);
	poll_now(p.client);
	WAIT_FOR(stamps_next(p));
	set_int(p.client, SOL_SOCKET, SO_TIMESTAMP, 0);
	CHECK(!stamps_next(p));
}

static void own_options(void)
{
	int fd = both_socket(0);
	socklen_t len = 1;
	char c = 1;

	CHECK_EQ(get_int(fd, SOL_SDP, SDP_TCP_FALLBACK), 1);
	CHECK_ERR(setsockopt(fd, SOL_SDP, SDP_TCP_FALLBACK, &c, len), EINVAL);
	CHECK_ERR(setsockopt(fd, SOL_SDP, SDP_TCP_FALLBACK, NULL,
			     sizeof(int)), EFAULT);
	CHECK_ERR(setsockopt(fd, SOL_SDP, 12345, &fd, sizeof(fd)),
		  ENOPROTOOPT);
	fallen_back(fd);
	CHECK_ERR(setsockopt(fd, SOL_SDP, SDP_TCP_FALLBACK, &fd, sizeof(fd)),
		  EISCONN);
}

/* ---- signals ---- */

static bool got_io, got_urg;

static void on_signal(int sig)
{
	__atomic_store_n(sig == SIGIO ? &got_io : &got_urg, true,
			 __ATOMIC_RELAXED);
}

static bool seen(const bool *got)
{
	return __atomic_load_n(got, __ATOMIC_RELAXED);
}

static void signals_reach_the_owner(void)
{
	int fd = both_socket(0);
	struct pair p;

	signal(SIGIO, on_signal);
	signal(SIGURG, on_signal);
	CHECK_OK(fcntl(fd, F_SETOWN, getpid()));
	p = fallen_back(fd);
	CHECK_EQ(send(p.server, "u", 1, MSG_OOB), 1);
	WAIT_FOR(seen(&got_urg));
	CHECK(!seen(&got_io));
	CHECK_OK(fcntl(fd, F_SETFL, O_ASYNC));
	CHECK_EQ(send(p.server, "x", 1, 0), 1);
	WAIT_FOR(seen(&got_io));
}

static void sigio_on_connect(void)
{
	int listener = tcp_listener(4), fd = both_socket(0);
	struct addr a = local_addr(listener);

	signal(SIGIO, on_signal);
	CHECK_OK(fcntl(fd, F_SETOWN, getpid()));
	CHECK_OK(fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK));
	CHECK_ERR(connect(fd, &a.sa, a.len), EINPROGRESS);
	WAIT_FOR(seen(&got_io));
	wait_poll(fd, POLLOUT);
}

/* ---- errors ---- */

static void error_is_read_once(void)
{
	struct pair p = fallen_back(both_socket(0));
	char c;

	set_linger(p.server, 1, 0);
	CHECK_OK(close(p.server));
	wait_poll(p.client, POLLERR);
	CHECK_EQ(get_int(p.client, SOL_SOCKET, SO_ERROR), ECONNRESET);
	CHECK(!(poll_now(p.client) & POLLERR));
	CHECK_EQ(recv(p.client, &c, 1, 0), 0);

	p = fallen_back(both_socket(0));
	set_linger(p.server, 1, 0);
	CHECK_OK(close(p.server));
	wait_poll(p.client, POLLERR);
	CHECK_ERR(recv(p.client, &c, 1, 0), ECONNRESET);
	CHECK_EQ(get_int(p.client, SOL_SOCKET, SO_ERROR), 0);
	CHECK(!(poll_now(p.client) & POLLERR));
}

/* Without poll() or a call that fails before. */
static void error_is_there_unasked(void)
{
	struct pair p = fallen_back(both_socket(0));

	set_linger(p.server, 1, 0);
	CHECK_OK(close(p.server));
	WAIT_FOR(get_int(p.client, SOL_SOCKET, SO_ERROR) == ECONNRESET);
}

static void sigpipe(void)
{
	struct pair p = fallen_back(both_socket(0));

	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_ERR(send(p.client, "x", 1, MSG_NOSIGNAL), EPIPE);
	CHECK_EQ(recv_until_end(p.server), 0);
	CHECK_EQ(send(p.server, "y", 1, 0), 1);
	wait_poll(p.client, POLLIN);
}

/* ---- TLS in the kernel ---- */

#ifndef SOL_TLS
#define SOL_TLS 282
#endif
#ifndef TCP_ULP
#define TCP_ULP 31
#endif

/* Of a record of TLS 1.2: its header with the nonce, and its tag. */
#define RECORD_MORE	(TLS_CIPHER_AES_GCM_128_IV_SIZE + 5 +		\
			 TLS_CIPHER_AES_GCM_128_TAG_SIZE)

static void use_tls(int fd, int direction)
{
	struct tls12_crypto_info_aes_gcm_128 keys = {
		.info.version = TLS_1_2_VERSION,
		.info.cipher_type = TLS_CIPHER_AES_GCM_128,
		.iv = "nonce",
		.key = "a key of 16 byte",
		.salt = "salt",
	};

	if (setsockopt(fd, SOL_TCP, TCP_ULP, "tls", 3)) {
		CHECK_EQ(errno, ENOENT);
		sdp_skip("this kernel has no TLS");
	}
	CHECK_OK(setsockopt(fd, SOL_TLS, direction, &keys, sizeof(keys)));
}

/* What TLS makes of these bytes of the pattern, one record for each write. */
static void make_records(unsigned char *record, unsigned int count, size_t len)
{
	struct pair p = fallen_back(tcp_socket());
	unsigned int i;

	use_tls(p.client, TLS_TX);
	for (i = 0; i < count; i++)
		send_pattern(p.client, 1, i * len, len, len);
	len = count * (len + RECORD_MORE);
	CHECK_EQ(recv(p.server, record, len, MSG_WAITALL), len);
	CHECK_OK(close(p.client));
	CHECK_OK(close(p.server));
}

/* Nothing of a record that somebody has forged comes out of a pipe. */
static void splice_from_tls(void)
{
	enum { LEN = 4096, RECORD = LEN + RECORD_MORE };
	static unsigned char records[2 * RECORD];
	struct pair p = fallen_back(both_socket(0));
	unsigned char buf[2 * LEN];
	int duct[2];

	make_records(records, 2, LEN);
	records[sizeof(records) - 1] ^= 1;
	CHECK_EQ(send(p.server, records, sizeof(records), 0), sizeof(records));
	wait_inq(p.client, sizeof(records));
	use_tls(p.client, TLS_RX);
	CHECK_OK(pipe2(duct, O_NONBLOCK));
	CHECK_EQ(splice(p.client, NULL, duct[1], NULL, sizeof(buf), 0), LEN);
	CHECK_EQ(read(duct[0], buf, sizeof(buf)), LEN);
	pattern_verify(buf, LEN, 1, 0);
	CHECK_ERR(splice(p.client, NULL, duct[1], NULL, sizeof(buf), 0),
		  EBADMSG);
	CHECK_ERR(read(duct[0], buf, sizeof(buf)), EAGAIN);
}

/* How much waits for company, after more was promised than the file has. */
static int left_by_sendfile(struct pair p)
{
	enum { LEN = 10000 };
	int file = pattern_file(2, LEN), left;

	CHECK_EQ(sendfile(p.client, file, NULL, 100 * LEN), LEN);
	left = ioctl_int(p.client, SIOCOUTQNSD);
	recv_pattern(p.server, 2, 0, LEN, 3000);
	CHECK_OK(close(file));
	return left;
}

static void sendfile_beyond_end(void)
{
	int tcp = left_by_sendfile(fallen_back(tcp_socket()));

	CHECK_EQ(left_by_sendfile(fallen_back(both_socket(0))), tcp);
}

/* ---- an error while others look ---- */

/* How long to try, how often one call looks, and how many are reset in between. */
#define TRY_MS		6000
#define LOOKS		64
#define PAIRS		50

static int looked_at = -1;
static unsigned int looks_done;

static void *look_thread(void *arg)
{
	struct pollfd looks[LOOKS];
	int i, fd;

	while ((fd = __atomic_load_n(&looked_at, __ATOMIC_ACQUIRE)) >= 0) {
		for (i = 0; i < LOOKS; i++)
			looks[i] = (struct pollfd){ .fd = fd, .events = POLLIN };
		CHECK_OK(poll(looks, LOOKS, 0));
		__atomic_add_fetch(&looks_done, 1, __ATOMIC_RELEASE);
	}
	return arg;
}

/* The thread looks at this one from now on. */
static void look_at(int fd)
{
	unsigned int before = __atomic_load_n(&looks_done, __ATOMIC_ACQUIRE);

	__atomic_store_n(&looked_at, fd, __ATOMIC_RELEASE);
	while (__atomic_load_n(&looks_done, __ATOMIC_ACQUIRE) - before < 2)
		sched_yield();
}

static void reset_under_poll(struct pair *p)
{
	char c;

	set_linger(p->server, 1, 0);
	look_at(p->client);
	CHECK_OK(close(p->server));
	CHECK_ERR(recv(p->client, &c, 1, 0), ECONNRESET);
}

/* Who looks at the moment in which the error comes does not take it away. */
static void error_while_polled(void)
{
	uint64_t end = now_ms() + TRY_MS;
	unsigned int resets = 0, i;
	struct pair p[PAIRS];
	pthread_t looker;

	while (now_ms() < end) {
		for (i = 0; i < PAIRS; i++)
			p[i] = fallen_back(both_socket(0));
		looked_at = p[0].client;
		thread_start(&looker, look_thread, NULL);
		for (i = 0; i < PAIRS; i++, resets++)
			reset_under_poll(&p[i]);
		__atomic_store_n(&looked_at, -1, __ATOMIC_RELEASE);
		thread_join(looker);
		for (i = 0; i < PAIRS; i++)
			CHECK_OK(close(p[i].client));
	}
	ktap_diag("%u connections were reset", resets);
}

/* ---- pages of what arrives ---- */

/* TCP's own mapping: what it has no pages for is read. */
static void mapped(void)
{
	enum { ROOM = 64 * KIB };
	struct pair p = fallen_back(both_socket(0));
	unsigned char *room = mmap(NULL, ROOM, PROT_READ, MAP_SHARED, p.client, 0);
	struct tcp_zerocopy_receive zc = { .address = (uintptr_t)room, .length = ROOM };
	socklen_t len = sizeof(zc);

	CHECK(room != MAP_FAILED);
	send_pattern(p.server, 6, 0, ROOM, ROOM);
	wait_inq(p.client, ROOM);
	CHECK_OK(getsockopt(p.client, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &zc, &len));
	CHECK(zc.length || zc.recv_skip_hint);
	pattern_verify(room, zc.length, 6, 0);
	recv_pattern(p.client, 6, zc.length, ROOM - zc.length, ROOM);
	CHECK_OK(munmap(room, ROOM));
	close_pair(p);
}

/* Made before TCP carries the connection it is of no use to TCP. */
static void mapped_too_early(void)
{
	int fd = both_socket(0);
	unsigned char *room = mmap(NULL, 64 * KIB, PROT_READ, MAP_SHARED, fd, 0);
	struct tcp_zerocopy_receive zc = { .address = (uintptr_t)room, .length = 64 * KIB };
	socklen_t len = sizeof(zc);
	struct pair p;

	CHECK(room != MAP_FAILED);
	p = fallen_back(fd);
	send_pattern(p.server, 7, 0, 64 * KIB, 64 * KIB);
	wait_inq(p.client, 64 * KIB);
	CHECK_ERR(getsockopt(p.client, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &zc, &len), EINVAL);
	recv_pattern(p.client, 7, 0, 64 * KIB, 64 * KIB);
	CHECK_OK(munmap(room, 64 * KIB));
	close_pair(p);
}

static const struct sdp_case cases[] = {
	CASE(mapped, 0),
	CASE(mapped_too_early, 0),
	CASE(keepalive_before_connect, 0),
	CASE(keepalive_after_connect, 0),
	CASE(linger_resets, 0),
	CASE(unread_data_resets, 0),
	CASE(timeouts, 0),
	CASE(rcvlowat, 0),
	CASE(buffer_sizes, 0),
	CASE(oob_inline, 0),
	CASE(tcp_options, 0),
	CASE(listener_options, 0),
	CASE(timestamps, 0),
	CASE(own_options, 0),
	CASE(signals_reach_the_owner, 0),
	CASE(sigio_on_connect, 0),
	CASE(error_is_read_once, 0),
	CASE(error_is_there_unasked, 0),
	CASE(error_while_polled, CASE_SDP_ONLY),
	CASE(sigpipe, 0),
	CASE(splice_from_tls, 0),
	CASE(sendfile_beyond_end, 0),
};

int main(int argc, char **argv)
{
	return fallback_main(argc, argv, cases, ARRAY_SIZE(cases));
}
