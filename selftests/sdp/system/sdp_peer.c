// SPDX-License-Identifier: GPL-2.0
/*
 * One end of one connection, for tests whose other end is another process or
 * another machine. It prints how the connection ended; see usage().
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "sdp_test.h"

#define EXIT_CONN_ERROR	3
#define CHUNK		(64 * KIB)
/* Both streams of a connection differ. */
#define SEED_OF_SERVER	101
#define SEED_OF_CLIENT	202

static struct {
	bool server;
	bool sends, receives;
	const char *address;	/* the server's, to bind or to connect to */
	uint16_t port;
	uint64_t bytes;		/* to send; 0: for ever */
	const char *until;	/* or until this file exists */
	const char *ready;	/* file to create when listening */
	const char *moving;	/* file to create when data has moved */
	int keepalive;		/* seconds, then as many tries; 0: none */
	int probes;		/* or so many; 0: as many */
	int user_timeout;	/* milliseconds; 0: none */
} peer = { .port = 4791 };

struct side {
	int fd;
	uint64_t seed, moved;
	int err;		/* errno of the connection's end, 0: orderly */
};

static void touch(const char *file)
{
	if (file)
		CHECK_OK(close(CHECK_OK(open(file, O_CREAT | O_WRONLY, 0644))));
}

/* "Moving" is more than the buffers of the first message. */
static void note_progress(const struct side *s, uint64_t before)
{
	const uint64_t mark = 256 * KIB;

	if (before < mark && s->moved >= mark)
		touch(peer.moving);
}

static bool has_more(const struct side *s)
{
	if (peer.until)
		return access(peer.until, F_OK);
	return !peer.bytes || s->moved < peer.bytes;
}

static void *send_side(void *arg)
{
	static unsigned char buf[CHUNK];
	struct side *s = arg;

	while (has_more(s)) {
		uint64_t left = peer.bytes - s->moved, before = s->moved;
		size_t want = peer.bytes && left < CHUNK ? left : CHUNK;
		ssize_t n;

		pattern_fill(buf, want, s->seed, s->moved);
		n = send(s->fd, buf, want, MSG_NOSIGNAL);
		if (n < 0) {
			s->err = errno;
			return NULL;
		}
		s->moved += n;
		note_progress(s, before);
	}
	if (shutdown(s->fd, SHUT_WR)) {
		/* It has ended meanwhile; one more write would be told so. */
		CHECK_EQ(errno, ENOTCONN);
		s->err = EPIPE;
	}
	return NULL;
}

static void *recv_side(void *arg)
{
	static unsigned char buf[CHUNK];
	struct side *s = arg;
	ssize_t n;

	while ((n = recv(s->fd, buf, CHUNK, 0)) > 0) {
		uint64_t before = s->moved;

		pattern_verify(buf, n, s->seed, s->moved);
		s->moved += n;
		note_progress(s, before);
	}
	if (n < 0)
		s->err = errno;
	return NULL;
}

static int open_server(void)
{
	struct addr a = make_addr(peer.address, peer.port);
	int listener, fd;

	opts.ipv6 = a.sa.sa_family == AF_INET6;
	listener = new_socket(0);
	set_int(listener, SOL_SOCKET, SO_REUSEADDR, 1);
	CHECK_OK(bind(listener, &a.sa, a.len));
	CHECK_OK(listen(listener, 1));
	touch(peer.ready);
	fd = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_OK(close(listener));
	return fd;
}

static int open_client(void)
{
	struct addr a = make_addr(peer.address, peer.port);
	int fd;

	opts.ipv6 = a.sa.sa_family == AF_INET6;
	fd = new_socket(0);
	CHECK_OK(connect(fd, &a.sa, a.len));
	return fd;
}

/* An unanswered question a second, as many as the time before the first. */
static void set_timers(int fd)
{
	if (peer.keepalive) {
		set_int(fd, SOL_TCP, TCP_KEEPIDLE, peer.keepalive);
		set_int(fd, SOL_TCP, TCP_KEEPINTVL, 1);
		set_int(fd, SOL_TCP, TCP_KEEPCNT, peer.probes ?: peer.keepalive);
		set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	}
	if (peer.user_timeout)
		set_int(fd, SOL_TCP, TCP_USER_TIMEOUT, peer.user_timeout);
}

/* A connection that only waits has "moved" as soon as it is there. */
static int run(void)
{
	int fd = peer.server ? open_server() : open_client();
	uint64_t mine = peer.server ? SEED_OF_SERVER : SEED_OF_CLIENT;
	uint64_t other = peer.server ? SEED_OF_CLIENT : SEED_OF_SERVER;
	struct side out = { .fd = fd, .seed = mine };
	struct side in = { .fd = fd, .seed = other };
	uint64_t start = now_ms();
	pthread_t t;
	int err;

	set_timers(fd);
	if (!peer.sends)
		touch(peer.receives ? NULL : peer.moving);
	if (peer.sends)
		thread_start(&t, send_side, &out);
	recv_side(&in);
	if (peer.sends)
		thread_join(t);
	/* Who asks first learns the reason, the other one that it is over. */
	err = out.err && (out.err != EPIPE || !in.err) ? out.err : in.err;
	printf("sent=%llu received=%llu error=%s ms=%llu\n",
	       (unsigned long long)out.moved, (unsigned long long)in.moved,
	       err ? strerrorname_np(err) : "none",
	       (unsigned long long)(now_ms() - start));
	return err ? EXIT_CONN_ERROR : 0;
}

static void __noreturn usage(const char *program)
{
	fprintf(stderr,
		"usage: %s --role server|client --mode send|recv|both|idle --address ADDR\n"
		"  --port N      (%u)\n"
		"  --bytes N     to send before the orderly end (0: for ever)\n"
		"  --until FILE  or until that file exists\n"
		"  --ready FILE  created by the server when it listens\n"
		"  --moving FILE created when data has moved (idle: when connected)\n"
		"  --keepalive N ask the peer after N idle seconds, N times\n"
		"  --probes N    or so many times\n"
		"  --user-timeout MS\n"
		"SDP_TEST_FAMILY=tcp uses TCP. Every byte received is verified.\n"
		"Exit status: 0 orderly end, 3 connection ended in an error, 1 failure.\n",
		program, peer.port);
	exit(KTAP_EXIT_FAIL);
}

static const struct option long_options[] = {
	{ "role", required_argument, NULL, 'r' },
	{ "mode", required_argument, NULL, 'm' },
	{ "address", required_argument, NULL, 'a' },
	{ "port", required_argument, NULL, 'p' },
	{ "bytes", required_argument, NULL, 'b' },
	{ "until", required_argument, NULL, 'U' },
	{ "ready", required_argument, NULL, 'R' },
	{ "moving", required_argument, NULL, 'M' },
	{ "keepalive", required_argument, NULL, 'k' },
	{ "probes", required_argument, NULL, 'n' },
	{ "user-timeout", required_argument, NULL, 'u' },
	{ }
};

static bool set_mode(const char *mode)
{
	bool both = !strcmp(mode, "both");

	peer.sends = both || !strcmp(mode, "send");
	peer.receives = both || !strcmp(mode, "recv");
	return peer.sends || peer.receives || !strcmp(mode, "idle");
}

int main(int argc, char **argv)
{
	bool role = false, mode = false;
	int c;

	sdp_opts_from_env();
	signal(SIGPIPE, SIG_IGN);
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (c) {
		case 'r':
			peer.server = !strcmp(optarg, "server");
			role = peer.server || !strcmp(optarg, "client");
			break;
		case 'm':
			mode = set_mode(optarg);
			break;
		case 'a':
			peer.address = optarg;
			break;
		case 'k':
			peer.keepalive = atoi(optarg);
			break;
		case 'n':
			peer.probes = atoi(optarg);
			break;
		case 'u':
			peer.user_timeout = atoi(optarg);
			break;
		case 'p':
			peer.port = atoi(optarg);
			break;
		case 'b':
			peer.bytes = strtoull(optarg, NULL, 10);
			break;
		case 'U':
			peer.until = optarg;
			break;
		case 'R':
			peer.ready = optarg;
			break;
		case 'M':
			peer.moving = optarg;
			break;
		default:
			usage(argv[0]);
		}
	}
	if (!role || !mode || !peer.address || !peer.port || optind < argc)
		usage(argv[0]);
	return run();
}
