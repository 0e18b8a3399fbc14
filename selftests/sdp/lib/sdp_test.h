/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Common code of the AF_SDP selftests.
 *
 * Each case runs in a process (group) of its own under a watchdog, so a crash
 * or a hang costs one case and not the whole run. Inside a case every failed
 * check ends the process at once, from any of its threads.
 */
#ifndef SDP_TEST_H
#define SDP_TEST_H

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "ktap.h"

#ifndef AF_SDP
#define AF_SDP 27
#endif
#ifndef IPPROTO_SDP
#define IPPROTO_SDP 259
#endif

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define KIB		1024UL
#define MIB		(1024UL * 1024UL)

/* ---- options ---- */

struct sdp_opts {
	bool tcp;		/* TCP sockets instead of AF_SDP */
	bool without_tcp;	/* no case is compared with TCP */
	bool inet;		/* SDP sockets of the addresses' family */
	bool ipv6;		/* addresses of this case are IPv6 */
	const char *server[2];	/* IPv4, IPv6 address the servers bind */
	const char *client[2];	/* IPv4, IPv6 address the clients bind */
	unsigned int scale;	/* deadlines times this, bytes divided by it */
	unsigned int deadline;	/* seconds for one case, scaled already */
	bool stop;		/* the first case that fails is the last */
	unsigned int seed;	/* of everything random */
	const char *only;	/* fnmatch pattern of the cases to run */
};

extern struct sdp_opts opts;

/* ---- cases ---- */

#define CASE_SDP_ONLY	1	/* TCP has nothing like it */
#define CASE_IPV6	2	/* run once more with IPv6 addresses */
#define CASE_LONG	4	/* needs three times the usual deadline */
#define CASE_TCP	8	/* run once more on TCP, to show that it agrees */
#define CASE_FAMILY	16	/* about sockets of family AF_SDP alone */

struct sdp_case {
	const char *name;
	void (*fn)(void);
	unsigned int flags;
};

#define CASE(fn, flags) { #fn, fn, flags }

/* Which one this is, for a function that is that of several. */
extern const char *sdp_case_name;
/* What it is doing, to be said with a failure; NULL = nothing that helps. */
extern const char *sdp_doing;

/* Parse the options, run the cases, return the exit code. */
int sdp_main(int argc, char **argv, const struct sdp_case *cases, size_t count);

/* Options given by the environment; sdp_main() does this by itself. */
void sdp_opts_from_env(void);
/* Say where the tasks of a process group are in the kernel. */
void show_group(pid_t pgid);

void __noreturn __printf(3, 4)
sdp_fail(const char *file, int line, const char *fmt, ...);
void __noreturn __printf(1, 2) sdp_skip(const char *fmt, ...);

#define FAIL(...) sdp_fail(__FILE__, __LINE__, __VA_ARGS__)

#define CHECK(cond) do {						\
	if (!(cond))							\
		FAIL("expected: %s", #cond);				\
} while (0)

#define CHECK_EQ(got, want) do {					\
	long long __got = (got), __want = (want);			\
									\
	if (__got != __want)						\
		FAIL("%s: expected %lld (%s), got %lld", #got,		\
		     __want, #want, __got);				\
} while (0)

/* The value of a call that must not return -1. */
#define CHECK_OK(call) ({						\
	long __ret;							\
									\
	errno = 0;							\
	__ret = (long)(call);						\
	if (__ret == -1)						\
		FAIL("%s: expected success, got %s", #call,		\
		     strerrorname_np(errno));				\
	__ret;								\
})

/* A call that must return -1 with this errno. */
#define CHECK_ERR(call, want) do {					\
	long __ret;							\
									\
	errno = 0;							\
	__ret = (long)(call);						\
	if (__ret != -1)						\
		FAIL("%s: expected %s, got %ld", #call, #want, __ret);	\
	if (errno != (want))						\
		FAIL("%s: expected %s, got %s", #call, #want,		\
		     strerrorname_np(errno));				\
} while (0)

/* ---- time ---- */

uint64_t now_ms(void);

/*
 * For how long something has lasted that the kernel ends by a timer. Its timers
 * count ticks, and those of a guest that stood still come late and all at once:
 * then less time may have passed by the exact clock than the timer was set to.
 * The clock of ticks has been late as well, but may be so once more at the end:
 * the longer of both times counts.
 */
struct stopwatch {
	uint64_t exact;
	uint64_t ticks;
};

struct stopwatch start_watch(void);
uint64_t watch_ms(struct stopwatch w);
/* The clocks of two measurements may differ by a tick. */
#define TICK_MS 12
/* How long one condition inside a case may take to come true. */
uint64_t wait_limit_ms(void);
/* How long to watch that something does not happen. */
int quiet_ms(void);
/* Give way for a moment between two looks at a condition. */
void pause_a_bit(void);
/* Bytes for a bulk transfer, reduced by the scale, at least 64 KiB. */
size_t scaled(size_t bytes);
/* A number of repetitions, reduced by the scale, at least 10. */
unsigned int scaled_count(unsigned int count);

#define WAIT_FOR(cond) do {						\
	uint64_t __end = now_ms() + wait_limit_ms();			\
									\
	while (!(cond)) {						\
		if (now_ms() > __end)					\
			FAIL("waited %llu ms in vain for: %s",		\
			     (unsigned long long)wait_limit_ms(),	\
			     #cond);					\
		pause_a_bit();						\
	}								\
} while (0)

/* ---- addresses and sockets (sdp_sock.c) ---- */

struct addr {
	union {
		struct sockaddr sa;
		struct sockaddr_in in4;
		struct sockaddr_in6 in6;
		struct sockaddr_storage ss;
	};
	socklen_t len;
};

struct pair {
	int client;
	int server;
};

struct addr make_addr(const char *text, uint16_t port);
struct addr server_addr(uint16_t port);
struct addr client_addr(uint16_t port);
bool same_addr(const struct addr *a, const struct addr *b);
struct addr local_addr(int fd);
struct addr peer_addr(int fd);
uint16_t addr_port(const struct addr *a);
uint16_t local_port(int fd);
bool addr_is_loopback(void);
/* On the wire, but nobody answers for it; skips the case where everybody does. */
struct addr silent_neighbour(void);

/* What to give socket() for sockets of the kind under test. */
int test_family(bool ipv6);
int test_protocol(void);
int new_socket(int type_flags);
/* Socket bound to the client's address, port 0. */
int new_client(int type_flags);
int new_listener(int backlog);
int connect_to(int listener);
/* Non-blocking connect(); true if it is still in progress. */
bool start_connect(int fd, int listener);
void finish_connect(int fd);
struct pair new_pair(void);
/* Every write leaves at once. */
struct pair new_nodelay_pair(void);
/* SO_RCVBUF of both ends is set before they connect; 1 is the least. */
struct pair new_limited_pair(int rcvbuf);
void close_pair(struct pair p);
/* Whether the RDMA devices are those of iWARP, with which TCP carries all. */
bool over_iwarp(void);
/*
 * Over the kernel's own software iWARP, and devices of which no more is known than the
 * verbs, only whole pages that stay protected are not copied.
 */
void skip_where_copied(void);
/* A port of the server's address where nobody listens. */
uint16_t dead_port(void);
/* A listener whose backlog is full of the one client left in *filler. */
int full_listener(int *filler);

void set_int(int fd, int level, int opt, int value);
int get_int(int fd, int level, int opt);
void set_timeout(int fd, int opt, unsigned int ms);
void set_linger(int fd, int on, int seconds);
void set_nonblock(int fd, bool on);
int ioctl_int(int fd, unsigned long request);
void wait_inq(int fd, int bytes);
/* The poll mask of this moment, all TCP-like events asked for. */
short poll_now(int fd);
void wait_poll(int fd, short events);
void wait_poll_exact(int fd, short mask);
/* Nothing of this may come true while we watch. */
void watch_quiet(int fd, short events);
const char *poll_name(short mask);
/* recv() until it fails or ends; the errno (0 = end of stream). */
int recv_until_end(int fd);
/* send() until it fails; the errno. */
int send_until_error(int fd);
void send_text(int fd, const char *text, int flags);
/* One read must give exactly this text. */
void expect_text(int fd, const char *text, int flags);
void expect_urgent(int fd, char byte, int flags);

/* ---- content (sdp_pattern.c) ---- */

void pattern_fill(void *buf, size_t len, uint64_t seed, uint64_t pos);
void pattern_verify(const void *buf, size_t len, uint64_t seed, uint64_t pos);
/* A file in memory with so much of it, from position 0 on, which is where the file stands. */
int pattern_file(uint64_t seed, size_t len);
/* All of these bytes have one value. */
void expect_bytes(const unsigned char *from, size_t len, unsigned char value);
uint32_t random_next(uint32_t *state);
void send_pattern(int fd, uint64_t seed, uint64_t pos, size_t len, size_t chunk);
void recv_pattern(int fd, uint64_t seed, uint64_t pos, size_t len, size_t chunk);
/* Verify all that comes until the end or an error; bytes and errno. */
uint64_t recv_pattern_to_end(int fd, uint64_t seed, uint64_t pos, int *err);
/* Fill the connection from a non-blocking fd until EAGAIN; bytes sent. */
uint64_t fill_pipe(int fd, uint64_t seed);
void exchange(int a, int b, size_t len);

/*
 * One end of a transfer in both directions over a non-blocking socket. The
 * seeds are the ports of the two ends, so a byte that arrives on the wrong
 * connection shows up as a wrong byte.
 */
struct xfer {
	int fd;
	uint64_t tx_seed, rx_seed;
	uint64_t tx, rx, total;
	bool fin_sent, eof;
};

void xfer_init(struct xfer *x, int fd, uint64_t total);
/* Move what can be moved now; true when both directions have ended. */
bool xfer_pump(struct xfer *x);

/* ---- threads and processes (sdp_task.c) ---- */

typedef long (*sdp_op)(int fd);

/* A thread that sits in a system call. */
struct blocked {
	pthread_t thread;
	sdp_op op;
	int fd;
	pid_t tid;		/* 0 until the thread runs */
	bool done;
	long ret;
	int err;
};

/* Start the call. */
void block_run(struct blocked *b, sdp_op op, int fd);
/* And wait until its thread sleeps in the kernel. */
void block_start(struct blocked *b, sdp_op op, int fd);
long block_join(struct blocked *b);
bool block_sleeps(const struct blocked *b);
/* Whether it waits for its memory, as no signal can end. */
bool block_faults(const struct blocked *b);

long op_recv(int fd);
long op_send(int fd);
long op_accept(int fd);
long op_poll(int fd);
/* connect() to no address: takes the connection, or the attempt, away. */
long op_dissolve(int fd);

/* This thread runs only while nobody else wants to. */
void run_idly(void);
/* This thread, and those that it starts, share a processor. */
void use_one_cpu(void);
/* Skips where there are fewer processors. */
void need_cpus(int nr);

void thread_start(pthread_t *t, void *(*fn)(void *), void *arg);
void thread_join(pthread_t t);

/* Allow as many open files, or skip the case. */
void raise_file_limit(unsigned int want);
/* fork() whose child ends with its parent. */
pid_t fork_child(void);
/* Wait for a child that must end with status 0. */
void join_child(pid_t pid);
void kill_child(pid_t pid);

#endif /* SDP_TEST_H */
