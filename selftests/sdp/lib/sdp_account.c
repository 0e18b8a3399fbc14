// SPDX-License-Identifier: GPL-2.0
/* What the system says of memory, for the AF_SDP selftests. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/sock_diag.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdp_memory.h"

size_t mem_info(int fd, unsigned int index)
{
	uint32_t info[SK_MEMINFO_VARS];
	socklen_t len = sizeof(info);

	CHECK_OK(getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len));
	CHECK_EQ(len, sizeof(info));
	return info[index];
}

size_t mem_received(int fd)
{
	return mem_info(fd, SK_MEMINFO_RMEM_ALLOC);
}

size_t mem_sent(int fd)
{
	return mem_info(fd, SK_MEMINFO_WMEM_QUEUED);
}

bool kernel_has(const char *function)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	char line[512], name[256];
	bool found = false;

	CHECK(file);
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%*s %*s %255s", name) == 1 && !strcmp(name, function);
	fclose(file);
	return found;
}

void need_page_protection(void)
{
#ifndef __x86_64__
	sdp_skip("memory is protected on x86-64 alone");
#endif
	if (file_has("/proc/cpuinfo", "User Mode Linux"))
		sdp_skip("memory is not protected in User Mode Linux");
}

bool kernel_keeps_freed(void)
{
	static int keeps = -1;

	if (keeps < 0)
		keeps = kernel_has("kasan_quarantine_put");
	return keeps;
}

size_t available_memory(void)
{
	char buf[4096], *at;

	file_read("/proc/meminfo", buf, sizeof(buf));
	at = strstr(buf, "MemAvailable:");
	CHECK(at);
	return strtoul(at + strlen("MemAvailable:"), NULL, 10) * KIB;
}

bool file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = write(fd, text, strlen(text));
	CHECK_OK(close(fd));
	return n == (ssize_t)strlen(text);
}

void file_read(const char *path, char *buf, size_t size)
{
	int fd = CHECK_OK(open(path, O_RDONLY | O_CLOEXEC));
	size_t len = 0;
	ssize_t n;

	while ((n = CHECK_OK(read(fd, buf + len, size - 1 - len))) > 0)
		len += n;
	buf[len] = 0;
	CHECK_OK(close(fd));
}

bool file_has(const char *path, const char *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buf[4096];
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	buf[n > 0 ? n : 0] = 0;
	return strstr(buf, text);
}

void find_cgroups(void)
{
	if (!access(CGROUPS "/cgroup.controllers", R_OK))
		return;
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", CGROUPS, "cgroup2", 0, NULL))
		sdp_skip("no control groups (version 2): %s", strerror(errno));
}

static char group[256];

void group_make(void)
{
	find_cgroups();
	if (!file_write(CGROUPS "/cgroup.subtree_control", "+memory"))
		sdp_skip("control groups cannot limit memory here");
	snprintf(group, sizeof(group), CGROUPS "/sdp_memory.%d", getpid());
	CHECK_OK(mkdir(group, 0755));
}

void group_remove(void)
{
	CHECK_OK(rmdir(group));
}

/* The result is good until the next call. */
static const char *group_path(const char *file)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/%s", group, file);
	return path;
}

bool group_write(const char *file, const char *text)
{
	return file_write(group_path(file), text);
}

bool group_has(const char *file, const char *text)
{
	return file_has(group_path(file), text);
}

void group_enter(void)
{
	CHECK(group_write("cgroup.procs", "0"));
}

size_t group_stat(const char *name)
{
	size_t len = strlen(name);
	char buf[8192], *line, *rest = buf;

	/* Only this one always adds up what the processors have counted. */
	file_read(group_path("cpu.stat"), buf, sizeof(buf));
	file_read(group_path("memory.stat"), buf, sizeof(buf));
	while ((line = strsep(&rest, "\n")))
		if (!strncmp(line, name, len) && line[len] == ' ')
			return strtoul(line + len, NULL, 10);
	FAIL("memory.stat has no %s", name);
}

void without_huge_pages(void *at, size_t len)
{
	/* A kernel that has none does not know the advice. */
	if (!access(HUGE_PAGES, F_OK))
		CHECK_OK(madvise(at, len, MADV_NOHUGEPAGE));
}

int watch_missing(const void *start, size_t len)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.mode = UFFDIO_REGISTER_MODE_MISSING,
		.range = { .start = (uintptr_t)start, .len = len },
	};
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (uffd < 0)
		sdp_skip("no userfaultfd: %s", strerror(errno));
	CHECK_OK(ioctl(uffd, UFFDIO_API, &api));
	CHECK_OK(ioctl(uffd, UFFDIO_REGISTER, &reg));
	return uffd;
}

#define RAM_DISK	"/dev/ram0"

const char *ram_disk(void)
{
	if (access(RAM_DISK, R_OK | W_OK) &&
	    system("modprobe -q brd rd_nr=1 rd_size=1024"))
		sdp_skip("no module brd");
	return RAM_DISK;
}

/* A thread may end while it is looked at. */
unsigned int kernel_threads_in(const char *function)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	unsigned int n = 0;
	char path[64];

	CHECK(proc);
	while ((entry = readdir(proc))) {
		if (atoi(entry->d_name) <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/stack",
			 atoi(entry->d_name));
		n += file_has(path, function) && file_has(path, "kthread");
	}
	closedir(proc);
	return n;
}

long sdp_stat(const char *name)
{
	char buf[8192], *line, *rest = buf;
	size_t len = strlen(name);

	file_read("/proc/net/sdpstats", buf, sizeof(buf));
	while ((line = strsep(&rest, "\n")))
		if (!strncmp(line, name, len) && line[len] == ' ')
			return atol(line + len);
	FAIL("/proc/net/sdpstats has no %s", name);
}

/* A line "name value" of /proc/vmstat. */
static long vmstat_of(const char *name)
{
	FILE *file = fopen("/proc/vmstat", "r");
	char line[128], got[64];
	long value, found = -1;

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %ld", got, &value) == 2 &&
		    !strcmp(got, name))
			found = value;
	fclose(file);
	CHECK(found >= 0);
	return found;
}

bool over_iwarp(void)
{
	char type[32] = "";
	glob_t files;
	size_t i;
	bool found = false;

	glob("/sys/class/infiniband/*/node_type", 0, NULL, &files);
	for (i = 0; i < files.gl_pathc && !found; i++) {
		file_read(files.gl_pathv[i], type, sizeof(type));
		found = strstr(type, "RNIC");
	}
	globfree(&files);
	return found;
}

void skip_where_copied(void)
{
	if (file_has("/proc/net/sdp_devices", " iwarp verbs "))
		sdp_skip("this is copied over siw, and what could be siw");
}

/* Only where there may be several processors. */
#define STAT_REFRESH	"/proc/sys/vm/stat_refresh"

bool may_count_pinned_pages(void)
{
	return access(STAT_REFRESH, F_OK) || !access(STAT_REFRESH, R_OK);
}

long pinned_pages(void)
{
	char none[16];

	/* Each processor has counters of its own, until they are asked for. */
	if (!access(STAT_REFRESH, F_OK))
		file_read(STAT_REFRESH, none, sizeof(none));
	return vmstat_of("nr_foll_pin_acquired") -
	       vmstat_of("nr_foll_pin_released");
}

/* Others may have had pages pinned for a moment when they were counted. */
void expect_pinned(long most)
{
	uint64_t end = now_ms() + wait_limit_ms();
	long got;

	while ((got = pinned_pages()) > most) {
		if (now_ms() > end)
			FAIL("expected %ld pinned pages at most, got %ld",
			     most, got);
		pause_a_bit();
	}
}

static long value_in(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return at ? atol(at + strlen(name)) : 0;
}

/* Completion queues come from a pool that a device keeps. */
struct rdma_objects rdma_objects(void)
{
	FILE *pipe = popen("rdma resource show 2> /dev/null", "r");
	struct rdma_objects sum = { 0 };
	unsigned int devices = 0;
	char line[512];

	CHECK(pipe);
	for (; fgets(line, sizeof(line), pipe); devices++) {
		sum.qp += value_in(line, " qp ");
		sum.cm_id += value_in(line, " cm_id ");
		sum.mr += value_in(line, " mr ");
		sum.ctx += value_in(line, " ctx ");
		sum.pd += value_in(line, " pd ");
	}
	pclose(pipe);
	if (!devices)
		FAIL("'rdma resource show' tells of no device");
	return sum;
}

void expect_rdma_objects(const struct rdma_objects *before)
{
	struct rdma_objects now;

	WAIT_FOR((now = rdma_objects(), !memcmp(&now, before, sizeof(now))));
}

void run_and_undo(void (*run)(void), void (*undo)(void))
{
	pid_t pid = fork_child();
	int status = 0;

	if (pid == 0) {
		run();
		fflush(stdout);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	undo();
	if (WIFEXITED(status) && WEXITSTATUS(status) == KTAP_EXIT_SKIP)
		_exit(KTAP_EXIT_SKIP);
	if (status)
		FAIL("the test's process ended with status %#x", status);
}

static void *pattern_task(void *arg)
{
	struct pattern_task *t = arg;

	send_pattern(t->fd, t->seed, t->pos, t->len, t->len);
	return NULL;
}

void pattern_task_start(struct pattern_task *t)
{
	thread_start(&t->thread, pattern_task, t);
}

void pattern_task_end(struct pattern_task *t)
{
	thread_join(t->thread);
}
