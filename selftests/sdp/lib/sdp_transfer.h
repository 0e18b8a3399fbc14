/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of zero copy have in common (sdp_transfer.c). */
#ifndef SDP_TRANSFER_H
#define SDP_TRANSFER_H

#include "sdp_engine.h"

#define THRESH		(64 * KIB)
#define SEED_UP		31
#define SEED_DOWN	32

/* For a thread: the memory is for write_memory_job() alone. */
struct job {
	int fd;
	uint64_t seed, pos;
	size_t len, chunk;
	const unsigned char *buf;
};

void *read_job(void *arg);
void *write_job(void *arg);
void *write_memory_job(void *arg);
/* Two jobs that write, as that does, and two that read, all at once. */
void both_ways(struct job jobs[4], void *(*write)(void *arg));
/* Memory that starts so many bytes behind the start of a page. */
unsigned char *memory(size_t len, size_t offset);
/* Memory for which huge pages are welcome, or not, at the start of one. */
unsigned char *advised(size_t len, int advice);
/* Write all, with as many calls as it takes. */
void write_all(int fd, const unsigned char *buf, size_t len);
/* One write from memory that is not aligned, while a reader waits. */
void one_way(int from, int to, size_t len, size_t offset, uint64_t pos);

/* Writes of so many bytes each, from memory that is not aligned, while a reader waits. */
void move_sizes(struct pair p, const size_t *sizes, size_t count);
/* A hundred requests of a byte and answers of a thousand, each read at once. */
void move_requests(struct pair p);

/* Read so many bytes into memory, with as many calls as it takes. */
void read_into(int fd, unsigned char *buf, size_t len);
/* Read so many bytes of SEED_UP, with reads as large as that. */
void read_all(int fd, uint64_t pos, size_t len);
/*
 * One write that nobody reads yet; so it has not waited for that.  Where a test
 * is so slow that an earlier one was given up, the next may be copied.
 */
void write_async(int fd, unsigned char *buf, size_t len, uint64_t pos);
/* A write with as many calls as it takes, whose memory is the program's again. */
void write_and_overwrite(int fd, unsigned char *buf, size_t len, uint64_t pos);
/*
 * Writes that do not wait, each overwritten at once, until there is no room; returns how
 * many bytes were taken, which are from the start of SEED_UP.
 */
uint64_t fill_and_overwrite(int fd, unsigned char *buf, size_t len);
/* One write whose memory is overwritten before it is read. */
void overwritten(struct pair p, unsigned char *buf, size_t len, uint64_t pos);

/* Two ends that want a mode each, NULL for what the sysctl says. */
struct pair zcopy_pair(const char *client, const char *server);
/* How many pages all transfers together may use, net.sdp.zcopy_mem. */
#define SYSCTL_MEM	"/proc/sys/net/sdp/zcopy_mem"

void set_mem(const char *pages);
/* Something that sets it; it is put back, whatever becomes of that. */
void run_with_mem(void (*run)(void));
/* Memory of a file that has no name any more. */
unsigned char *file_memory(size_t len, int *file);

/*
 * Short writes and writes of @len bytes and some more take turns, and at last one of @last
 * bytes and a short one are corked; all of it is read afterwards.
 */
void move_short_before_long(struct pair p, size_t len, size_t last);

#endif /* SDP_TRANSFER_H */
