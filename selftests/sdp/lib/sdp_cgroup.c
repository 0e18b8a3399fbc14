// SPDX-License-Identifier: GPL-2.0
/*
 * A control group of a test's own, and BPF programs that are attached to it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sdp_cgroup.h"
#include "sdp_memory.h"
#include "sdp_test.h"

static char group[256];

static void remove_group(void)
{
	rmdir(group);
}

static void (*to_run)(void);

static void enter_and_run(void)
{
	char procs[300];

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", group);
	if (!file_write(procs, "0"))
		FAIL("cannot enter %s", group);
	to_run();
}

void run_in_group(const char *name, void (*run)(void))
{
	find_cgroups();
	snprintf(group, sizeof(group), CGROUPS "/%s.%d", name, getpid());
	CHECK_OK(mkdir(group, 0755));
	to_run = run;
	run_and_undo(enter_and_run, remove_group);
}

static void attach_to(const char *where, int type, int hook,
		      const struct bpf_insn *insns, unsigned int count)
{
	union bpf_attr load = {
		.prog_type = type,
		.expected_attach_type = hook,
		.insns = (uintptr_t)insns,
		.insn_cnt = count,
		.license = (uintptr_t)"GPL",
	};
	union bpf_attr at = { .attach_type = hook };

	at.attach_bpf_fd = syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof(load));
	if ((int)at.attach_bpf_fd < 0)
		sdp_skip("no programs for control groups: %s", strerror(errno));
	at.target_fd = CHECK_OK(open(where, O_RDONLY | O_DIRECTORY));
	CHECK_OK(syscall(SYS_bpf, BPF_PROG_ATTACH, &at, sizeof(at)));
	close(at.target_fd);
	close(at.attach_bpf_fd);
}

/*
 * A hook's last program gone, the kernel patches its code, in a work item: other
 * processors may meet the breakpoint that is there meanwhile.  QEMU before 8.1 may
 * keep what it has translated of it, and kprobes return to the instruction without
 * end.  So one program stays, in a group that nobody is in.
 */
static void keep_hook(int type, int hook)
{
	const struct bpf_insn pass[] = { RESULT(1), EXIT };
	char kept[sizeof(group) + 8];

	snprintf(kept, sizeof(kept), "%.*s.kept",
		 (int)(strrchr(group, '.') - group), group);
	if (mkdir(kept, 0755) && errno != EEXIST)
		FAIL("cannot make %s", kept);
	attach_to(kept, type, hook, pass, ARRAY_SIZE(pass));
}

void attach_to_group(int type, int hook, const struct bpf_insn *insns, unsigned int count)
{
	keep_hook(type, hook);
	attach_to(group, type, hook, insns, count);
}
