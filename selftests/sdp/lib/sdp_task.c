// SPDX-License-Identifier: GPL-2.0
/* Threads, blocked system calls and child processes of the selftests. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "sdp_test.h"

void thread_start(pthread_t *t, void *(*fn)(void *), void *arg)
{
	CHECK_EQ(pthread_create(t, NULL, fn, arg), 0);
}

void thread_join(pthread_t t)
{
	CHECK_EQ(pthread_join(t, NULL), 0);
}

/* ---- a call that blocks ---- */

static char task_state(pid_t tid)
{
	char path[64], text[256], *paren;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return 'X';
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 'X';
	text[n] = 0;
	paren = strrchr(text, ')');
	return paren && paren[1] ? paren[2] : 'X';
}

static void *block_thread(void *arg)
{
	struct blocked *b = arg;

	__atomic_store_n(&b->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	b->ret = b->op(b->fd);
	b->err = errno;
	__atomic_store_n(&b->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool block_is(const struct blocked *b, char state)
{
	pid_t tid = __atomic_load_n(&b->tid, __ATOMIC_ACQUIRE);

	if (__atomic_load_n(&b->done, __ATOMIC_ACQUIRE))
		FAIL("expected the call to block, it returned %ld (%s)",
		     b->ret, b->ret < 0 ? strerrorname_np(b->err) : "no error");
	return tid && task_state(tid) == state;
}

bool block_sleeps(const struct blocked *b)
{
	return block_is(b, 'S');
}

bool block_faults(const struct blocked *b)
{
	return block_is(b, 'D');
}

void block_run(struct blocked *b, sdp_op op, int fd)
{
	*b = (struct blocked){ .op = op, .fd = fd };
	thread_start(&b->thread, block_thread, b);
}

void block_start(struct blocked *b, sdp_op op, int fd)
{
	block_run(b, op, fd);
	WAIT_FOR(block_sleeps(b));
}

long block_join(struct blocked *b)
{
	thread_join(b->thread);
	errno = b->err;
	return b->ret;
}

long op_recv(int fd)
{
	char c;

	return recv(fd, &c, 1, 0);
}

/* More than any socket buffers, so it blocks on a peer that does not read. */
long op_send(int fd)
{
	static char buf[64 * MIB];

	return send(fd, buf, sizeof(buf), MSG_NOSIGNAL);
}

long op_accept(int fd)
{
	return accept(fd, NULL, NULL);
}

/* Returns the mask. */
long op_poll(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLRDHUP };
	int n = poll(&p, 1, -1);

	return n < 0 ? n : p.revents;
}

long op_dissolve(int fd)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	return connect(fd, &none, sizeof(none));
}

/* ---- processes ---- */

void raise_file_limit(unsigned int want)
{
	struct rlimit r;

	CHECK_OK(getrlimit(RLIMIT_NOFILE, &r));
	if (r.rlim_cur >= want)
		return;
	if (r.rlim_max < want)
		sdp_skip("only %lu files may be open", (long)r.rlim_max);
	r.rlim_cur = want;
	CHECK_OK(setrlimit(RLIMIT_NOFILE, &r));
}

pid_t fork_child(void)
{
	pid_t pid = CHECK_OK(fork());

	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

void join_child(pid_t pid)
{
	int status = 0;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		FAIL("child ended by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status))
		FAIL("child ended with status %d", WEXITSTATUS(status));
}

void kill_child(pid_t pid)
{
	int status;

	CHECK_OK(kill(pid, SIGKILL));
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

void run_idly(void)
{
	struct sched_param none = { 0 };

	CHECK_OK(sched_setscheduler(0, SCHED_IDLE, &none));
}

void use_one_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	CHECK_OK(sched_setaffinity(0, sizeof(cpus), &cpus));
}

void need_cpus(int nr)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < nr)
		sdp_skip("needs %d processors", nr);
}
