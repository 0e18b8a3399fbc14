// SPDX-License-Identifier: GPL-2.0
/* Memory that calls use, and what else happens to a process meanwhile. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuzz.h"

/* Where nothing else is, at the start of a huge page. */
#define BASE	0x200000000UL

static int memory_file, pipe_fds[2], epoll_fd;

int fuzz_pipe(bool write)
{
	return pipe_fds[write];
}

int fuzz_file(void)
{
	return memory_file;
}

int fuzz_epoll(void)
{
	return epoll_fd;
}

unsigned char *fuzz_memory(uint32_t buffer, uint32_t offset)
{
	return (unsigned char *)BASE + buffer % FUZZ_BUFFERS * FUZZ_BUFFER + offset % FUZZ_BUFFER;
}

/* Of its own, huge, of a file that others share, and of one's own copy of the file. */
static void map_buffer(uint32_t buffer, uint32_t kind)
{
	static const int flags[] = {
		MAP_PRIVATE | MAP_ANONYMOUS, MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED, MAP_PRIVATE,
	};
	bool anonymous = flags[kind % 4] & MAP_ANONYMOUS;
	void *at = fuzz_memory(buffer, 0);

	mmap(at, FUZZ_BUFFER, PROT_READ | PROT_WRITE, MAP_FIXED | flags[kind % 4],
	     anonymous ? -1 : memory_file, 0);
	if (kind % 4 == 1)
		madvise(at, FUZZ_BUFFER, MADV_HUGEPAGE);
}

void fuzz_map_all(void)
{
	uint32_t i;

	memory_file = memfd_create("sdp_fuzz", MFD_CLOEXEC);
	ftruncate(memory_file, FUZZ_BUFFER);
	pipe2(pipe_fds, O_NONBLOCK);
	epoll_fd = epoll_create1(0);
	for (i = 0; i < FUZZ_BUFFERS; i++)
		map_buffer(i, i);
}

/* The kernel stores there, so that memory which is not there ends nothing. */
void fuzz_do_store(const uint32_t *arg)
{
	getrandom(fuzz_memory(arg[0], arg[1]), arg[2] % 256, 0);
}

static void *page_of(const uint32_t *arg)
{
	return (void *)((uintptr_t)fuzz_memory(arg[0], arg[1]) & ~4095UL);
}

/* Not more than what programs have for data. */
static size_t within(const uint32_t *arg)
{
	size_t left = BASE + FUZZ_BUFFERS * FUZZ_BUFFER - (uintptr_t)page_of(arg);

	return arg[2] < left ? arg[2] : left;
}

void fuzz_do_protect(const uint32_t *arg)
{
	mprotect(page_of(arg), within(arg), arg[3] % 4);
}

void fuzz_do_unmap(const uint32_t *arg)
{
	if (arg[3] & 1)
		munmap(page_of(arg), within(arg));
	else
		map_buffer(arg[0], arg[3] / 2);
}

void fuzz_do_advise(const uint32_t *arg)
{
	static const int advices[] = {
		MADV_DONTNEED, MADV_DONTNEED, MADV_FREE, MADV_HUGEPAGE, MADV_NOHUGEPAGE,
		MADV_REMOVE, MADV_DONTFORK, MADV_DOFORK, MADV_COLD, MADV_PAGEOUT, MADV_MERGEABLE,
		MADV_WILLNEED, MADV_POPULATE_WRITE, 25 /* MADV_COLLAPSE */,
	};

	madvise(page_of(arg), within(arg), advices[arg[3] % ARRAY_SIZE(advices)]);
}

/* Whoever waits for pages gets some, in the end. */
static void *serve_faults(void *arg)
{
	int uffd = (uintptr_t)arg;
	struct uffd_msg msg;

	for (;;) {
		struct uffdio_zeropage zero = { .range.len = 4096 };

		usleep(1000);
		if (read(uffd, &msg, sizeof(msg)) != sizeof(msg))
			continue;
		zero.range.start = msg.arg.pagefault.address & ~4095UL;
		if (msg.event == UFFD_EVENT_PAGEFAULT)
			ioctl(uffd, UFFDIO_ZEROPAGE, &zero);
	}
	return NULL;
}

/* Pages are missing until somebody provides them; an odd number says that nobody does. */
void fuzz_do_userfault(const uint32_t *arg)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.mode = UFFDIO_REGISTER_MODE_MISSING,
		.range = { .start = (uintptr_t)page_of(arg), .len = within(arg) & ~4095UL },
	};
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	pthread_t thread;

	if (uffd < 0)
		return;
	ioctl(uffd, UFFDIO_API, &api);
	ioctl(uffd, UFFDIO_REGISTER, &reg);
	madvise(page_of(arg), within(arg), MADV_DONTNEED);
	if (!(arg[3] & 1))
		pthread_create(&thread, NULL, serve_faults, (void *)(uintptr_t)uffd);
}

/* The child has all descriptors and a copy of the memory, and ends with what it does. */
void fuzz_do_fork(const uint32_t *arg)
{
	char byte;

	if (fork())
		return;
	if (arg[1] & 1)
		recv(fuzz_slot(arg[0]), &byte, 1, 0);
	if (arg[1] & 2)
		send(fuzz_slot(arg[0]), fuzz_memory(arg[1], 0), 100000, MSG_DONTWAIT);
	if (arg[1] & 4)
		usleep(10000);
	_exit(0);
}

void fuzz_do_signal(const uint32_t *arg)
{
	pid_t tid = fuzz_actors[arg[0] % FUZZ_ACTORS].tid;

	if (tid)
		syscall(SYS_tkill, tid, SIGUSR1);
}

void fuzz_do_pause(const uint32_t *arg)
{
	usleep(arg[0] % 16 * 500);
}

/* Sockets that this one opens from now on have no devices. */
void fuzz_do_netns(const uint32_t *arg)
{
	if (arg[0] % 4 == 0)
		unshare(CLONE_NEWNET);
}

void fuzz_do_read_proc(const uint32_t *arg)
{
	static const char *const files[] = {
		"/proc/net/sdp", "/proc/net/sdpstats", "/proc/net/sdp_devices",
		"/proc/net/protocols", "/proc/net/sockstat",
	};
	int fd = open(files[arg[0] % ARRAY_SIZE(files)], O_RDONLY | O_CLOEXEC);
	char buf[4096];

	if (fd < 0)
		return;
	while (read(fd, buf, sizeof(buf)) > 0)
		;
	close(fd);
}
