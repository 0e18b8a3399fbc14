// SPDX-License-Identifier: GPL-2.0
/*
 * A program runs in a process namespace of its own, so that whatever it starts ends with
 * it.  It ends by itself, or is ended after a while; what cannot be ended hangs.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/sdp_memory.h"
#include "fuzz.h"

/* Calls that wait are interrupted from then on. */
#define PATIENCE_MS	100
/* Then it is killed, and has so long to die: what a device waits for takes its time. */
#define LIMIT_MS	3000
#define DEATH_MS	30000

struct fuzz_actor *fuzz_actors;
static const struct fuzz_program *program;

static void woken(int sig)
{
	(void)sig;
}

static void act(unsigned int actor)
{
	struct fuzz_actor *self = &fuzz_actors[actor];
	unsigned int i;

	__atomic_store_n(&self->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	fuzz_cover_start(actor);
	for (i = 0; i < program->count; i++)
		if (program->calls[i].actor == actor)
			fuzz_kinds[program->calls[i].kind].run(program->calls[i].arg);
	__atomic_store_n(&self->done, true, __ATOMIC_RELEASE);
}

static void *act_thread(void *arg)
{
	act((uintptr_t)arg);
	return NULL;
}

static bool acts(unsigned int actor)
{
	unsigned int i;

	for (i = 0; i < program->count; i++)
		if (program->calls[i].actor == actor)
			return true;
	return false;
}

static void start(unsigned int actor)
{
	pthread_t thread;

	fuzz_actors[actor].done = !acts(actor);
	if (fuzz_actors[actor].done)
		return;
	if (actor != FUZZ_PROCESS) {
		if (pthread_create(&thread, NULL, act_thread, (void *)(uintptr_t)actor))
			fuzz_actors[actor].done = true;
		return;
	}
	if (!fork()) {
		act(actor);
		_exit(0);
	}
}

static bool all_done(void)
{
	unsigned int i;

	for (i = 1; i < FUZZ_ACTORS; i++)
		if (!__atomic_load_n(&fuzz_actors[i].done, __ATOMIC_ACQUIRE))
			return false;
	return true;
}

static void wake_all(void)
{
	unsigned int i;

	for (i = 1; i < FUZZ_ACTORS; i++)
		if (!fuzz_actors[i].done && fuzz_actors[i].tid)
			syscall(SYS_tkill, fuzz_actors[i].tid, SIGUSR1);
}

static void prepare(void)
{
	struct sigaction act = { .sa_handler = woken };
	struct rlimit none = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGIO, SIG_IGN);
	signal(SIGURG, SIG_IGN);
	sigaction(SIGUSR1, &act, NULL);
	fuzz_map_all();
	fuzz_open_ring();
}

/* Its first actor's calls are interrupted as well, should they wait for long. */
static void *wake_first(void *arg)
{
	pid_t first = *(pid_t *)arg;
	unsigned int i;

	for (i = 0;; i++) {
		pause_a_bit();
		if (i > 10 * PATIENCE_MS)
			syscall(SYS_tkill, first, SIGUSR1);
	}
	return NULL;
}

static void __noreturn run_all(void)
{
	pid_t self = syscall(SYS_gettid);
	uint64_t begin = now_ms();
	pthread_t waker;
	unsigned int i;

	prepare();
	pthread_create(&waker, NULL, wake_first, &self);
	act(0);
	start(FUZZ_PROCESS);
	for (i = 1; i < FUZZ_PROCESS; i++)
		start(i);
	while (!all_done()) {
		pause_a_bit();
		if (now_ms() - begin > PATIENCE_MS)
			wake_all();
	}
	_exit(0);
}

/* Whether it is gone, or soon is. */
static bool ends_within(pid_t pid, uint64_t ms)
{
	uint64_t end = now_ms() + ms * opts.scale;

	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (now_ms() > end)
			return false;
		pause_a_bit();
	}
	return true;
}

static void report_hang(void)
{
	char text[FUZZ_TEXT], *line, *rest = text;

	file_write("/proc/sysrq-trigger", "w");
	fuzz_print(program, text, sizeof(text));
	while ((line = strsep(&rest, "\n")))
		ktap_diag("  %s", line);
	FAIL("this program cannot be killed");
}

void fuzz_run(const struct fuzz_program *p)
{
	pid_t pid;

	program = p;
	if (!fuzz_actors)
		fuzz_actors = mmap(NULL, FUZZ_ACTORS * sizeof(*fuzz_actors), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(fuzz_actors != MAP_FAILED);
	memset(fuzz_actors, 0, FUZZ_ACTORS * sizeof(*fuzz_actors));
	fuzz_announce(p);
	fuzz_cover_reset();
	pid = CHECK_OK(syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0));
	if (!pid)
		run_all();
	if (ends_within(pid, LIMIT_MS))
		return;
	CHECK_OK(kill(pid, SIGKILL));
	if (!ends_within(pid, DEATH_MS))
		report_hang();
}
