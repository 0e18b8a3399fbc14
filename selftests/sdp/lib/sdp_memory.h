/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of memory have in common (sdp_account.c). */
#ifndef SDP_MEMORY_H
#define SDP_MEMORY_H

#include "sdp_test.h"

/* A number of SO_MEMINFO, by its index. */
size_t mem_info(int fd, unsigned int index);
/* Bytes that a socket is charged for receiving, and for sending. */
size_t mem_received(int fd);
size_t mem_sent(int fd);
/* A line of /proc/net/sdpstats. */
long sdp_stat(const char *name);
/* Pages of memory that are pinned for devices. */
bool may_count_pinned_pages(void);
long pinned_pages(void);
/* Wait until there are no more of them than that. */
void expect_pinned(long most);

/* Objects of all RDMA devices together, as the tool rdma tells; it must be able to. */
struct rdma_objects {
	long qp, cm_id, mr, ctx, pd;
};

struct rdma_objects rdma_objects(void);
/* Wait until there are as many of each as before. */
void expect_rdma_objects(const struct rdma_objects *before);

/* The first receive buffers of a connection, and a piece of the send ring. */
#define FIRST_RECEIVE	(8 * 4 * KIB)
#define RING_PIECE	(16 * KIB)

/* Write a whole file in /proc or /sys; true if that worked. */
bool file_write(const char *path, const char *text);
/* What a file holds, cut off at size - 1. */
void file_read(const char *path, char *buf, size_t size);
/* Whether it can be read and has that in it. */
bool file_has(const char *path, const char *text);
/* Whether the kernel, or a module, has a function of this name, as root may see. */
bool kernel_has(const char *function);
/*
 * What is freed KASAN keeps in its quarantine, up to 1/32 of the memory, to see who uses it
 * afterwards: slab memory grows with whatever is done, and what is freed needs memory. There
 * kmemleak looks for what is lost.
 */
bool kernel_keeps_freed(void);
/* Bytes that the kernel could still give to programs. */
size_t available_memory(void);
/* Skips the case where memory is not protected while it is sent. */
void need_page_protection(void);
/* A disk of 1 MiB in the kernel's memory; skips without one. */
const char *ram_disk(void);
/* Threads of the kernel that are in a function, as root may see. */
unsigned int kernel_threads_in(const char *function);

/*
 * Have control groups of version 2 at CGROUPS, or skip the case.  Where nothing has
 * mounted them there, they are for this process and its children alone.
 */
#define CGROUPS "/sys/fs/cgroup"
void find_cgroups(void);
/* One that counts memory, of this case alone; or skip the case. */
void group_make(void);
/* Nobody is in it any more. */
void group_remove(void);
/* This process is in it from now on. */
void group_enter(void);
bool group_write(const char *file, const char *text);
/* Whether one of its files has that in it. */
bool group_has(const char *file, const char *text);
/* Bytes that the group is charged, a line of its memory.stat. */
size_t group_stat(const char *name);

#define HUGE_PAGES	"/sys/kernel/mm/transparent_hugepage"
/* The pages of this range are to stay small. */
void without_huge_pages(void *at, size_t len);
/*
 * Pages of this range that nobody has touched are missing until userfaultfd, which
 * this returns, provides them.
 */
int watch_missing(const void *start, size_t len);

/*
 * Run a function in a process of its own, and let another undo what it did to
 * the system, however it ended.
 */
void run_and_undo(void (*run)(void), void (*undo)(void));

/* A thread that sends a pattern. */
struct pattern_task {
	int fd;
	uint64_t seed, pos;
	size_t len;
	pthread_t thread;
};

void pattern_task_start(struct pattern_task *t);
void pattern_task_end(struct pattern_task *t);

#endif /* SDP_MEMORY_H */
