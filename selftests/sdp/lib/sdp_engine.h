/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of flow control have in common (sdp_engine.c). */
#ifndef SDP_ENGINE_H
#define SDP_ENGINE_H

#include <linux/sdp.h>

#include "sdp_test.h"

#define SYSCTL_ZCOPY	"/proc/sys/net/sdp/zcopy"
#define SYSCTL_DIRECT	"/proc/sys/net/sdp/zcopy_direct"

#define SYSCTL_FLOW	"/proc/sys/net/sdp/flow_control"
#define SYSCTL_FLOWS	"/proc/sys/net/sdp/available_flow_control"

/* 0 or the errno. */
int write_sysctl(const char *path, const char *value);
/* The only line of a file, without its end. */
void read_sysctl(const char *path, char *buf, size_t size);

/* Ask for an engine by its name; as setsockopt(). */
int set_flow(int fd, const char *name);
void expect_flow(int fd, const char *want);
struct sdp_info info_of(int fd);
/* A listener that wants an engine, and so many bytes of receive buffer, if not 0. */
int engine_listener(const char *engine, int ring);
/* Two ends that want the same engine. */
struct pair pair_wanting(const char *engine);
/* Two ends that want an engine each, and so many bytes of receive buffer. */
struct pair engine_pair(const char *client, const char *server, int ring);

/* Ask for a mode of zero copy by its name; as setsockopt(). */
int set_zcopy(int fd, const char *name);
/* The same for SDP_ZCOPY_RECV, and whether the kernel can do that. */
int set_zcopy_recv(int fd, const char *name);
bool reads_can_return_early(void);
void skip_without_early_reads(void);
/* One whose connections have that mode, NULL for what the sysctl says. */
int zcopy_listener(const char *mode);

/* ---- connections with rings ---- */

#define FLOW_UP		11
#define FLOW_DOWN	22

/* A connection, and how far either direction has come. */
struct flow_pair {
	struct pair p;
	uint64_t up, down;
};

/* Written in one go, and read. */
void flow_move(int from, int to, uint64_t seed, uint64_t *pos, size_t len);
/* Each is read before the next is written, so that no credit is ever missing. */
void flow_move_each(int from, int to, uint64_t seed, uint64_t *pos, unsigned int count,
		    size_t len);
/* Messages of a stream come within 10 ms, or two ticks of a slow clock, of each other. */
#define FLOW_SOON_MS	8
bool flow_has_ring(int fd);
/* Until the receiver, left to choose, has a ring; skips where a stream is too slow. */
void flow_until_ring(int from, int to, uint64_t seed, uint64_t *pos, size_t len);
/* Both ends want an engine and rings of so many bytes; skips without it. */
struct flow_pair flow_connect(const char *engine, int ring);
/* As much traffic as it takes until both directions have a ring. */
void flow_start(struct flow_pair *f, uint32_t ring);
/* Both directions have a ring, and nothing is in it. */
struct flow_pair flow_open(const char *engine, int ring);
/* Run with messages of a burst waiting as long as they ever do. */
void with_long_wait(void (*run)(void));

/*
 * As sdp_main(), with a mode of zero copy for the cases.  Writes are offered to the peer
 * to read, and none is sent straight from its pages, unless SDP_TEST_ZCOPY_DIRECT says
 * for how many bytes (net.sdp.zcopy_direct).
 */
int zcopy_main(const char *wanted, int argc, char **argv,
	       const struct sdp_case *cases, size_t count);
/* Whether it is so. */
bool writes_are_offered(void);
/* The sum of counters of all devices; the case is skipped if there are none. */
long device_counters(const char *names);
/* How often devices have found that a receiver was not ready. */
long not_ready(void);

#endif /* SDP_ENGINE_H */
