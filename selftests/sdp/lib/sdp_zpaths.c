// SPDX-License-Identifier: GPL-2.0
/*
 * Ways on which the kernel writes to memory of a program, or gives it to others:
 * it looks up the pages, and uses them by references of its own.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdp_memory.h"
#include "sdp_ring.h"
#include "sdp_zpaths.h"

pthread_mutex_t sending = PTHREAD_MUTEX_INITIALIZER;

void store(uint64_t *at, uint64_t n)
{
	__atomic_store_n(at, n, __ATOMIC_RELEASE);
}

/* ---- process_vm_writev() ---- */

static void no_open(void)
{
}

static void put_process_vm(uint64_t *at, uint64_t n)
{
	struct iovec from = { &n, sizeof(n) };
	struct iovec to = { at, sizeof(n) };

	CHECK_EQ(process_vm_writev(getpid(), &from, 1, &to, 1, 0), sizeof(n));
}

const struct path path_process_vm = {
	.len = sizeof(uint64_t),
	.open = no_open,
	.put = put_process_vm,
};

/* ---- ptrace(): another process stops one of our threads, and writes ---- */

struct poke {
	uint64_t *at;
	uint64_t n;
};

/* Asked what to store; answers with 0 or the errno. */
static struct tracer {
	int ask[2], answer[2];
	pid_t traced;
} tracer;

static void *be_traced(void *arg)
{
	__atomic_store_n(&tracer.traced, gettid(), __ATOMIC_RELEASE);
	for (;;)
		pause();
	return arg;
}

static void answer(long ret)
{
	int err = ret < 0 ? errno : 0;

	CHECK_EQ(write(tracer.answer[1], &err, sizeof(err)), sizeof(err));
}

static long attach(void)
{
	int status;

	if (ptrace(PTRACE_SEIZE, tracer.traced, NULL, NULL) < 0)
		return -1;
	CHECK_OK(ptrace(PTRACE_INTERRUPT, tracer.traced, NULL, NULL));
	CHECK_EQ(waitpid(tracer.traced, &status, __WALL), tracer.traced);
	CHECK(WIFSTOPPED(status));
	return 0;
}

static void __noreturn trace(void)
{
	struct poke poke;

	CHECK_OK(close(tracer.ask[1]));
	answer(attach());
	while (read(tracer.ask[0], &poke, sizeof(poke)) == sizeof(poke))
		answer(ptrace(PTRACE_POKEDATA, tracer.traced, poke.at, poke.n));
	_exit(0);
}

static int answered(void)
{
	int err;

	CHECK_EQ(read(tracer.answer[0], &err, sizeof(err)), sizeof(err));
	return err;
}

static void open_ptrace(void)
{
	pthread_t thread;
	int err;

	thread_start(&thread, be_traced, NULL);
	WAIT_FOR(__atomic_load_n(&tracer.traced, __ATOMIC_ACQUIRE));
	CHECK_OK(pipe(tracer.ask));
	CHECK_OK(pipe(tracer.answer));
	if (!fork_child())
		trace();
	CHECK_OK(close(tracer.ask[0]));
	CHECK_OK(close(tracer.answer[1]));
	err = answered();
	if (err == EPERM)
		sdp_skip("processes may not be traced");
	CHECK_EQ(err, 0);
}

static void put_ptrace(uint64_t *at, uint64_t n)
{
	struct poke poke = { at, n };

	CHECK_EQ(write(tracer.ask[1], &poke, sizeof(poke)), sizeof(poke));
	CHECK_EQ(answered(), 0);
}

const struct path path_ptrace = {
	.len = sizeof(uint64_t),
	.open = open_ptrace,
	.put = put_ptrace,
};

/* ---- reads of a file whose blocks are filled with one number after the other ---- */

#define NUMBERS		256UL
#define NO_BATCH	UINT64_MAX

static struct numbers {
	int fill, direct;
	/* Those that are in the file are the ones from this times NUMBERS. */
	uint64_t batch;
} numbers = { .batch = NO_BATCH };

static void fill_numbers(uint64_t batch)
{
	static uint64_t block[NUMBERS][BLOCK / sizeof(uint64_t)];
	size_t i, j;

	for (i = 0; i < NUMBERS; i++)
		for (j = 0; j < ARRAY_SIZE(block[i]); j++)
			block[i][j] = batch * NUMBERS + i;
	CHECK_EQ(pwrite(numbers.fill, block, sizeof(block), 0), sizeof(block));
	CHECK_OK(fsync(numbers.fill));
	numbers.batch = batch;
}

/* Where the file has a number. */
static off_t find_number(uint64_t n)
{
	if (n / NUMBERS != numbers.batch)
		fill_numbers(n / NUMBERS);
	return n % NUMBERS * BLOCK;
}

static void open_numbers(const char *path)
{
	numbers.fill = CHECK_OK(open(path, O_WRONLY));
	numbers.direct = CHECK_OK(open(path, O_RDONLY | O_DIRECT));
}

static void open_direct(void)
{
	open_numbers(ram_disk());
}

static void put_direct(uint64_t *at, uint64_t n)
{
	off_t offset = find_number(n);

	CHECK_EQ(pread(numbers.direct, at, BLOCK, offset), BLOCK);
}

const struct path path_direct = {
	.len = BLOCK,
	.open = open_direct,
	.put = put_direct,
};

static bool is_9p(const char *dir)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *mount;
	bool found = false;

	CHECK(mounts);
	while (!found && (mount = getmntent(mounts)))
		found = !strcmp(mount->mnt_dir, dir) &&
			!strcmp(mount->mnt_type, "9p");
	endmntent(mounts);
	return found;
}

/* The test bed's directory for results is on the host. */
static void open_9p(void)
{
	const char *out = getenv("VM_OUT") ?: "VM_OUT";
	char path[256];
	int fd;

	if (!is_9p(out))
		sdp_skip("%s is no directory of 9p", out);
	snprintf(path, sizeof(path), "%s/sdp_zpaths.XXXXXX", out);
	fd = CHECK_OK(mkstemp(path));
	open_numbers(path);
	CHECK_OK(unlink(path));
	CHECK_OK(close(fd));
}

const struct path path_9p = {
	.len = BLOCK,
	.open = open_9p,
	.put = put_direct,
};

/* ---- buffers that an io_uring knows ---- */

static void open_fixed(void)
{
	open_ring();
	open_direct();
}

static void begin_fixed(unsigned char *pages, size_t len)
{
	struct iovec iov = { pages, len };

	CHECK_EQ(io_uring_register_buffers(&ring, &iov, 1), 0);
}

static void put_fixed(uint64_t *at, uint64_t n)
{
	off_t offset = find_number(n);

	REQUEST(n, read_fixed, numbers.direct, at, BLOCK, offset, 0);
	CHECK_EQ(result(n), BLOCK);
}

static void end_fixed(void)
{
	CHECK_EQ(io_uring_unregister_buffers(&ring), 0);
}

const struct path path_fixed = {
	.len = BLOCK,
	.open = open_fixed,
	.begin = begin_fixed,
	.put = put_fixed,
	.end = end_fixed,
};

/* ---- a pipe has a page, and gives out what is in it when it is read ---- */

static int pipe_of[2];

static void open_vmsplice(void)
{
	CHECK_OK(pipe(pipe_of));
}

/*
 * The store has to be seen through the pipe.  vmsplice() only reads a page, so that
 * one which is protected already would be the pipe's as it is, and the program
 * would get a copy: as after fork().  Hence nothing is sent between a first store,
 * which gives the program a page of its own, and the moment the pipe has that.
 */
static void put_vmsplice(uint64_t *at, uint64_t n)
{
	struct iovec iov = { at, sizeof(*at) };
	uint64_t got;

	CHECK_EQ(pthread_mutex_lock(&sending), 0);
	store(at, n - 1);
	CHECK_EQ(vmsplice(pipe_of[1], &iov, 1, 0), sizeof(*at));
	CHECK_EQ(pthread_mutex_unlock(&sending), 0);
	store(at, n);
	CHECK_EQ(read(pipe_of[0], &got, sizeof(got)), sizeof(got));
	CHECK_EQ(got, n);
}

const struct path path_vmsplice = {
	.len = sizeof(uint64_t),
	.open = open_vmsplice,
	.put = put_vmsplice,
};
