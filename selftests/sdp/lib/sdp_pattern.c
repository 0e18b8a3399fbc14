// SPDX-License-Identifier: GPL-2.0
/*
 * Content for the AF_SDP selftests: every byte is a function of a seed and of
 * its position in the stream, so loss, repetition, reordering and mixing of
 * streams all show up as wrong bytes.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sdp_test.h"

static uint64_t pattern_word(uint64_t seed, uint64_t index)
{
	uint64_t x = (index + seed * 0x9e3779b97f4a7c15ULL) *
		     0xd6e8feb86659fd93ULL;

	x ^= x >> 32;
	return x * 0xd6e8feb86659fd93ULL;
}

void pattern_fill(void *buf, size_t len, uint64_t seed, uint64_t pos)
{
	unsigned char *p = buf;

	while (len) {
		uint64_t word = pattern_word(seed, pos / 8);
		size_t skip = pos % 8, n = 8 - skip;

		if (n > len)
			n = len;
		memcpy(p, (unsigned char *)&word + skip, n);
		p += n;
		pos += n;
		len -= n;
	}
}

int pattern_file(uint64_t seed, size_t len)
{
	int fd = CHECK_OK(memfd_create("pattern", 0));
	unsigned char *m;

	CHECK_OK(ftruncate(fd, len));
	m = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(m != MAP_FAILED);
	pattern_fill(m, len, seed, 0);
	CHECK_OK(munmap(m, len));
	return fd;
}

static void __noreturn
wrong_byte(const unsigned char *got, const unsigned char *want, size_t n,
	   uint64_t seed, uint64_t pos)
{
	size_t i = 0;

	while (i < n - 1 && got[i] == want[i])
		i++;
	FAIL("byte %llu of stream %llu: expected 0x%02x, got 0x%02x",
	     (unsigned long long)(pos + i), (unsigned long long)seed,
	     want[i], got[i]);
}

void pattern_verify(const void *buf, size_t len, uint64_t seed, uint64_t pos)
{
	const unsigned char *p = buf;

	while (len) {
		uint64_t word = pattern_word(seed, pos / 8);
		size_t skip = pos % 8, n = 8 - skip;

		if (n > len)
			n = len;
		if (memcmp(p, (unsigned char *)&word + skip, n))
			wrong_byte(p, (unsigned char *)&word + skip, n,
				   seed, pos);
		p += n;
		pos += n;
		len -= n;
	}
}

/* xorshift32: repeatable everywhere, which rand() is not. */
uint32_t random_next(uint32_t *state)
{
	uint32_t x = *state ? *state : 1;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	*state = x;
	return x;
}

void expect_bytes(const unsigned char *from, size_t len, unsigned char value)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (from[i] != value)
			FAIL("byte %zu: expected %#x, got %#x", i, value, from[i]);
}

void send_pattern(int fd, uint64_t seed, uint64_t pos, size_t len, size_t chunk)
{
	unsigned char *buf = malloc(chunk);

	CHECK(buf);
	while (len) {
		size_t want = len < chunk ? len : chunk;
		size_t n;

		pattern_fill(buf, want, seed, pos);
		n = CHECK_OK(send(fd, buf, want, MSG_NOSIGNAL));
		CHECK(n > 0 && n <= want);
		pos += n;
		len -= n;
	}
	free(buf);
}

void recv_pattern(int fd, uint64_t seed, uint64_t pos, size_t len, size_t chunk)
{
	unsigned char *buf = malloc(chunk);

	CHECK(buf);
	while (len) {
		size_t want = len < chunk ? len : chunk;
		size_t n = CHECK_OK(recv(fd, buf, want, 0));

		if (n == 0)
			FAIL("end of stream at byte %llu, expected %zu more",
			     (unsigned long long)pos, len);
		CHECK(n <= want);
		pattern_verify(buf, n, seed, pos);
		pos += n;
		len -= n;
	}
	free(buf);
}

uint64_t recv_pattern_to_end(int fd, uint64_t seed, uint64_t pos, int *err)
{
	static const size_t chunk = 64 * KIB;
	unsigned char *buf = malloc(chunk);
	uint64_t start = pos;
	ssize_t n;

	CHECK(buf);
	while ((n = recv(fd, buf, chunk, 0)) > 0) {
		pattern_verify(buf, n, seed, pos);
		pos += n;
	}
	*err = n ? errno : 0;
	free(buf);
	return pos - start;
}

/*
 * Large pieces first, then smaller ones, and single bytes into the last corner. What is
 * under way may make room once more, so one EAGAIN alone is not the end: two with a quiet
 * time between them are.
 */
uint64_t fill_pipe(int fd, uint64_t seed)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	unsigned char buf[8192];
	size_t len = sizeof(buf);
	uint64_t pos = 0;
	bool full = false;
	ssize_t n;

	for (;;) {
		pattern_fill(buf, len, seed, pos);
		n = send(fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0) {
			pos += n;
			full = false;
			continue;
		}
		CHECK_EQ(errno, EAGAIN);
		if (full)
			break;
		if (len > 1)
			len = len > 8 ? len / 8 : 1;
		else if (poll(&p, 1, quiet_ms()))
			len = sizeof(buf);
		else
			full = true;
	}
	CHECK(pos > 0);
	return pos;
}

/* ---- both directions at once ---- */

struct half {
	int fd;
	uint64_t seed;
	size_t len;
};

static void *sender_thread(void *arg)
{
	struct half *s = arg;

	send_pattern(s->fd, s->seed, 0, s->len, 64 * KIB);
	return NULL;
}

static void *receiver_thread(void *arg)
{
	struct half *r = arg;

	recv_pattern(r->fd, r->seed, 0, r->len, 64 * KIB);
	return NULL;
}

/* len bytes each way between two connected sockets of this process. */
void exchange(int a, int b, size_t len)
{
	struct half sa = { a, 11, len }, sb = { b, 22, len };
	struct half ra = { a, 22, len }, rb = { b, 11, len };
	pthread_t t[4];
	int i;

	thread_start(&t[0], sender_thread, &sa);
	thread_start(&t[1], sender_thread, &sb);
	thread_start(&t[2], receiver_thread, &ra);
	thread_start(&t[3], receiver_thread, &rb);
	for (i = 0; i < 4; i++)
		thread_join(t[i]);
}

/* ---- non-blocking transfer ---- */

void xfer_init(struct xfer *x, int fd, uint64_t total)
{
	struct addr peer = peer_addr(fd);

	*x = (struct xfer){ .fd = fd, .total = total };
	x->tx_seed = local_port(fd);
	x->rx_seed = addr_port(&peer);
}

static void xfer_send(struct xfer *x)
{
	unsigned char buf[16 * KIB];

	while (x->tx < x->total) {
		uint64_t left = x->total - x->tx;
		size_t want = left < sizeof(buf) ? left : sizeof(buf);
		ssize_t n;

		pattern_fill(buf, want, x->tx_seed, x->tx);
		n = send(x->fd, buf, want, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0) {
			CHECK_EQ(errno, EAGAIN);
			return;
		}
		x->tx += n;
	}
	if (!x->fin_sent) {
		CHECK_OK(shutdown(x->fd, SHUT_WR));
		x->fin_sent = true;
	}
}

static void xfer_recv(struct xfer *x)
{
	unsigned char buf[16 * KIB];
	ssize_t n;

	while (!x->eof) {
		n = recv(x->fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (n < 0) {
			CHECK_EQ(errno, EAGAIN);
			return;
		}
		pattern_verify(buf, n, x->rx_seed, x->rx);
		x->rx += n;
		x->eof = n == 0;
	}
	CHECK_EQ(x->rx, x->total);
}

bool xfer_pump(struct xfer *x)
{
	xfer_recv(x);
	xfer_send(x);
	return x->eof && x->fin_sent;
}
