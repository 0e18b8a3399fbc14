// SPDX-License-Identifier: GPL-2.0
/* Transfers in threads, for the AF_SDP selftests of zero copy. */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

#define HUGE	(2 * MIB)

void *read_job(void *arg)
{
	struct job *j = arg;

	recv_pattern(j->fd, j->seed, j->pos, j->len, j->chunk);
	return NULL;
}

void *write_job(void *arg)
{
	struct job *j = arg;

	send_pattern(j->fd, j->seed, j->pos, j->len, j->chunk);
	return NULL;
}

/* Memory that starts so many bytes behind the start of a page. */
unsigned char *memory(size_t len, size_t offset)
{
	void *p = mmap(NULL, len + offset, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return (unsigned char *)p + offset;
}

unsigned char *advised(size_t len, int advice)
{
	unsigned char *p = memory(len + HUGE, 0);

	p += HUGE - (uintptr_t)p % HUGE;
	if (advice == MADV_NOHUGEPAGE)
		without_huge_pages(p, len);
	else
		CHECK_OK(madvise(p, len, advice));
	return p;
}

/* Writes all, with as many calls as it takes. */
void write_all(int fd, const unsigned char *buf, size_t len)
{
	while (len) {
		ssize_t n = CHECK_OK(send(fd, buf, len, 0));

		buf += n;
		len -= n;
	}
}

void read_into(int fd, unsigned char *buf, size_t len)
{
	while (len) {
		ssize_t n = CHECK_OK(recv(fd, buf, len, 0));

		CHECK(n > 0);
		buf += n;
		len -= n;
	}
}

void *write_memory_job(void *arg)
{
	struct job *j = arg;

	write_all(j->fd, j->buf, j->len);
	return NULL;
}

void both_ways(struct job jobs[4], void *(*write)(void *arg))
{
	pthread_t threads[4];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(threads); i++)
		thread_start(&threads[i], i < 2 ? write : read_job, &jobs[i]);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		thread_join(threads[i]);
}

void write_and_overwrite(int fd, unsigned char *buf, size_t len, uint64_t pos)
{
	pattern_fill(buf, len, SEED_UP, pos);
	write_all(fd, buf, len);
	memset(buf, 0xee, len);
}

uint64_t fill_and_overwrite(int fd, unsigned char *buf, size_t len)
{
	uint64_t pos = 0;
	ssize_t n;

	set_nonblock(fd, true);
	do {
		pattern_fill(buf, len, SEED_UP, pos);
		n = send(fd, buf, len, 0);
		memset(buf, 0xee, len);
		if (n > 0)
			pos += n;
		CHECK(pos < 16 * MIB);
	} while (n > 0);
	CHECK_EQ(errno, EAGAIN);
	return pos;
}

/* One write from memory that is not aligned, while a reader waits. */
void one_way(int from, int to, size_t len, size_t offset, uint64_t pos)
{
	struct job job = { to, SEED_UP, pos, len, len };
	unsigned char *buf = memory(len, offset);
	pthread_t reader;

	thread_start(&reader, read_job, &job);
	write_and_overwrite(from, buf, len, pos);
	thread_join(reader);
	munmap(buf - offset, len + offset);
}

void read_all(int fd, uint64_t pos, size_t len)
{
	recv_pattern(fd, SEED_UP, pos, len, len);
}

void write_async(int fd, unsigned char *buf, size_t len, uint64_t pos)
{
	struct sdp_info before = info_of(fd), after;

	pattern_fill(buf, len, SEED_UP, pos);
	CHECK_EQ(send(fd, buf, len, 0), len);
	after = info_of(fd);
	if (!after.sdpi_zcopy_cancels)
		CHECK_EQ(after.sdpi_async_sent - before.sdpi_async_sent, len);
}

void overwritten(struct pair p, unsigned char *buf, size_t len, uint64_t pos)
{
	write_async(p.client, buf, len, pos);
	memset(buf, 0xee, len);
	read_all(p.server, pos, len);
}

struct pair zcopy_pair(const char *client, const char *server)
{
	int listener = zcopy_listener(server);
	struct addr addr = local_addr(listener);
	struct pair p;

	p.client = new_client(0);
	if (client && !opts.tcp)
		CHECK_OK(set_zcopy(p.client, client));
	CHECK_OK(connect(p.client, &addr.sa, addr.len));
	p.server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_OK(close(listener));
	return p;
}

unsigned char *file_memory(size_t len, int *file)
{
	char path[] = "/tmp/sdp_transfer.XXXXXX";
	void *p;

	*file = CHECK_OK(mkstemp(path));
	CHECK_OK(unlink(path));
	CHECK_OK(ftruncate(*file, len));
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
	CHECK(p != MAP_FAILED);
	return p;
}

static char mem_before[16];

static void restore_mem(void)
{
	set_mem(mem_before);
}

void run_with_mem(void (*run)(void))
{
	read_sysctl(SYSCTL_MEM, mem_before, sizeof(mem_before));
	run_and_undo(run, restore_mem);
}

void set_mem(const char *pages)
{
	CHECK_EQ(write_sysctl(SYSCTL_MEM, pages), 0);
}

void move_sizes(struct pair p, const size_t *sizes, size_t count)
{
	unsigned char *buf = memory(4 * MIB, 1);
	uint64_t pos = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		struct job job = { .fd = p.client, .buf = buf, .len = sizes[i] };
		pthread_t writer;

		pattern_fill(buf, sizes[i], SEED_UP, pos);
		thread_start(&writer, write_memory_job, &job);
		recv_pattern(p.server, SEED_UP, pos, sizes[i], MIB);
		thread_join(writer);
		pos += sizes[i];
	}
}

void move_requests(struct pair p)
{
	unsigned int i;

	for (i = 0; i < 100; i++) {
		send_pattern(p.client, SEED_UP, i, 1, 1);
		recv_pattern(p.server, SEED_UP, i, 1, 1);
		send_pattern(p.server, SEED_DOWN, i * 1000, 1000, 1000);
		recv_pattern(p.client, SEED_DOWN, i * 1000, 1000, 1000);
	}
}

void move_short_before_long(struct pair p, size_t len, size_t last)
{
	uint64_t pos = 0;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		send_pattern(p.client, SEED_UP, pos, 10, 10);
		send_pattern(p.client, SEED_UP, pos + 10, len + i, len + i);
		pos += 10 + len + i;
	}
	set_int(p.client, SOL_TCP, TCP_CORK, 1);
	send_pattern(p.client, SEED_UP, pos, last, last);
	send_pattern(p.client, SEED_UP, pos + last, 5, 5);
	set_int(p.client, SOL_TCP, TCP_CORK, 0);
	pos += last + 5;
	recv_pattern(p.server, SEED_UP, 0, pos, 1000);
}
