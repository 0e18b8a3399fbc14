// SPDX-License-Identifier: GPL-2.0
/* Transfers both ways at once, of all kinds, whose directions end in any order. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "soak.h"

/* Connections at a time. */
#define WORKERS		4
#define ROOM		(96 * KIB)

/* When an end shuts its direction down. */
enum order {
	BOTH_AT_ONCE,
	CLIENT_WAITS,
	SERVER_WAITS,
	ORDERS
};

struct end {
	struct soak_writer w;
	uint64_t rx_seed;
	uint32_t state;
	bool waits;
	pthread_t writer, reader;
	bool ended;
};

static void *write_end(void *arg)
{
	struct end *e = arg;

	soak_write(&e->w);
	if (e->waits)
		thread_join(e->reader);
	CHECK_OK(shutdown(e->w.fd, SHUT_WR));
	return NULL;
}

/* As much as there is, up to so many bytes, by one call or another. */
static ssize_t read_some(struct end *e, unsigned char *buf, size_t len)
{
	struct iovec v[2] = { { buf, len / 3 }, { buf + len / 3, len - len / 3 } };

	switch (random_next(&e->state) % 4) {
	case 0:
		return readv(e->w.fd, v, 2);
	case 1:
		return recv(e->w.fd, buf, len, MSG_WAITALL);
	default:
		return recv(e->w.fd, buf, len, 0);
	}
}

static void *read_end(void *arg)
{
	unsigned char *buf = malloc(ROOM);
	struct end *e = arg;
	uint64_t pos = 0;
	size_t n;

	CHECK(buf);
	while ((n = CHECK_OK(read_some(e, buf, 1 + random_next(&e->state) % ROOM)))) {
		pattern_verify(buf, n, e->rx_seed, pos);
		pos += n;
		soak_count(0, n);
	}
	CHECK_EQ(pos, e->w.len);
	free(buf);
	return NULL;
}

static void want_mix(int fd, const struct soak_mix *mix, struct addr addr)
{
	CHECK_OK(set_flow(fd, mix->engine));
	CHECK_OK(set_zcopy(fd, mix->zcopy));
	CHECK_OK(bind(fd, &addr.sa, addr.len));
}

static struct pair connect_mix(const struct soak_mix *mix)
{
	struct pair p = { .client = new_socket(0) };
	int listener = new_socket(0);
	struct addr addr;

	want_mix(listener, mix, server_addr(0));
	want_mix(p.client, mix, client_addr(0));
	CHECK_OK(listen(listener, 1));
	addr = local_addr(listener);
	CHECK_OK(connect(p.client, &addr.sa, addr.len));
	p.server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_OK(close(listener));
	return p;
}

static void init_end(struct end *e, const struct soak_mix *mix, int fd, int number)
{
	*e = (struct end){
		.w = { .fd = fd, .call = mix->call, .len = mix->len,
		       .seed = 2 * mix->seed + number, .state = mix->seed + number + 1 },
		.rx_seed = 2 * mix->seed + !number,
		.state = mix->seed + number + 11,
	};
	soak_prepare(fd, mix->call);
}

static void start_ends(struct end *ends)
{
	int i;

	for (i = 0; i < 2; i++)
		thread_start(&ends[i].reader, read_end, &ends[i]);
	for (i = 0; i < 2; i++)
		thread_start(&ends[i].writer, write_end, &ends[i]);
}

static void join_ends(struct end *ends)
{
	int i;

	for (i = 0; i < 2; i++) {
		thread_join(ends[i].writer);
		if (!ends[i].waits)
			thread_join(ends[i].reader);
	}
}

void soak_transfer(const struct soak_mix *mix)
{
	struct pair p = connect_mix(mix);
	enum order order = mix->seed % ORDERS;
	struct end ends[2];

	init_end(&ends[0], mix, p.client, 0);
	init_end(&ends[1], mix, p.server, 1);
	ends[0].waits = order == CLIENT_WAITS;
	ends[1].waits = order == SERVER_WAITS;
	start_ends(ends);
	join_ends(ends);
	CHECK_OK(close(mix->seed & 1 ? p.client : p.server));
	CHECK_OK(close(mix->seed & 1 ? p.server : p.client));
	soak_count(1, 0);
}

/* ---- all of them ---- */

static const char * const engines[] = { "credit", "rdma", "nic", "auto" };
static const char * const modes[] = { "off", "sync", "async" };

static struct {
	size_t len;
	unsigned int modes, next, step, count;
	uint32_t seed;
} all;

static void *worker(void *arg)
{
	unsigned int i;

	(void)arg;
	while ((i = __atomic_fetch_add(&all.next, all.step, __ATOMIC_RELAXED)) < all.count) {
		struct soak_mix mix = {
			.engine = engines[i % ARRAY_SIZE(engines)],
			.zcopy = modes[i / ARRAY_SIZE(engines) % all.modes],
			.call = i / ARRAY_SIZE(engines) / all.modes,
			.len = all.len,
			.seed = all.seed + i,
		};

		soak_transfer(&mix);
	}
	return NULL;
}

void soak_mixes(size_t len, bool zcopy, unsigned int part, unsigned int parts)
{
	pthread_t threads[WORKERS];
	unsigned int i;

	all.len = len;
	all.modes = zcopy ? ARRAY_SIZE(modes) : 1;
	all.next = part;
	all.step = parts;
	all.count = ARRAY_SIZE(engines) * all.modes * SOAK_CALLS;
	all.seed = soak_seed();
	for (i = 0; i < WORKERS; i++)
		thread_start(&threads[i], worker, NULL);
	for (i = 0; i < WORKERS; i++)
		thread_join(threads[i]);
}
