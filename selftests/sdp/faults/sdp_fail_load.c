// SPDX-License-Identifier: GPL-2.0
/*
 * The module or our driver is loaded, namespaces are made, and devices come, while an
 * allocation fails: that fails with an errno, nothing stays, and the next time it works.  Needs
 * root, a kernel that injects faults, and that nobody else uses the module.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sdp_attempts.h"
#include "sdp_inject.h"
#include "sdp_memory.h"

/* What the module itself meets is behind what its file does. */
#define LAST	120
#define ROUNDS	60

/* A module, and the variable that says where its file is. */
static const struct module {
	const char *name, *file;
} sdp = { "sdp", "SDP_MODULE" }, iwarp = { "iwarp", "SDP_IWARP" };

static const struct module *module = &sdp;

static void unload(void)
{
	/* What was closed may be a moment from its end. */
	WAIT_FOR(!syscall(SYS_delete_module, module->name, O_NONBLOCK) || errno == ENOENT);
}

static void make_unloaded(struct scene *s)
{
	s->fd = CHECK_OK(open(getenv(module->file), O_RDONLY | O_CLOEXEC));
	unload();
}

static long call_load(struct scene *s)
{
	return syscall(SYS_finit_module, s->fd, "", 0);
}

/* It may have been loaded without the memory to use a device. */
static void after_load(struct scene *s, long ret)
{
	if (ret >= 0)
		unload();
	CHECK_OK(call_load(s));
	close(s->fd);
	close_pair(new_pair());
}

static void run_load(void)
{
	static const struct op op = { make_unloaded, call_load, after_load };

	inject_last(&op, scaled_count(LAST));
}

/* As it was before. */
static void load_again(void)
{
	struct scene s = { .fd = open(getenv("SDP_MODULE"), O_RDONLY | O_CLOEXEC) };

	call_load(&s);
}

static void load(void)
{
	if (!getenv("SDP_MODULE"))
		sdp_skip("needs SDP_MODULE, the module's file");
	run_and_undo(run_load, load_again);
}

/* It makes a device, has all that this needs, and goes with it. */
static void use_and_unload_driver(void)
{
	char code[64];

	CHECK_EQ(system("rdma link add faulty type iwarp netdev lo"), 0);
	file_read("/sys/class/infiniband/faulty/checksum", code, sizeof(code));
	CHECK(!strncmp(code, "crc32c (", strlen("crc32c (")));
	unload();
}

static void after_load_driver(struct scene *s, long ret)
{
	if (ret >= 0)
		use_and_unload_driver();
	CHECK_OK(call_load(s));
	close(s->fd);
	use_and_unload_driver();
}

static void load_driver(void)
{
	static const struct op op = { make_unloaded, call_load, after_load_driver };

	module = &iwarp;
	if (!getenv(module->file) || over_iwarp())
		sdp_skip("needs SDP_IWARP, the driver's file, and devices of another");
	inject_last(&op, scaled_count(LAST));
}

/* In a process of its own, whose namespace goes with it. */
static void make_namespace(bool may_fail)
{
	pid_t child = fork_child();

	if (!child) {
		if (unshare(CLONE_NEWNET) || socket(AF_SDP, SOCK_STREAM, 0) < 0)
			CHECK(may_fail && (errno == ENOMEM || errno == ENOBUFS));
		_exit(0);
	}
	join_child(child);
}

static void run_namespaces(void)
{
	unsigned int i, hits = 0, rounds = scaled_count(ROUNDS);

	for (i = 0; i < rounds; i++) {
		inject_in_module("sdp", INJECT_SLAB, 10 << i % 4, 1);
		make_namespace(true);
		hits += !inject_left(INJECT_SLAB);
		inject_no_more();
		make_namespace(false);
	}
	CHECK(hits >= rounds / 4);
}

static void namespaces(void)
{
	run_and_undo(run_namespaces, inject_no_more);
}

static bool device_comes(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rdma link add faulty type %s netdev faulty0",
		 over_iwarp() ? "iwarp" : "rxe");
	return !system(command);
}

static void device_goes(void)
{
	CHECK_EQ(system("rdma link delete faulty"), 0);
}

/* Without memory a device may come that AF_SDP does not use. */
static void run_devices_below(const char *name)
{
	unsigned int i, hits = 0, rounds = scaled_count(ROUNDS);

	CHECK_EQ(system("ip link add name faulty0 type dummy && ip link set faulty0 up"), 0);
	for (i = 0; i < rounds; i++) {
		inject_in_module(name, INJECT_SLAB, 10 << i % 4, 1);
		if (device_comes())
			device_goes();
		hits += !inject_left(INJECT_SLAB);
		inject_no_more();
		CHECK(device_comes());
		WAIT_FOR(file_has("/proc/net/sdp_devices", "faulty"));
		device_goes();
	}
	CHECK(hits >= rounds / 4);
}

static void run_devices(void)
{
	run_devices_below("sdp");
}

static void run_devices_of_driver(void)
{
	run_devices_below("iwarp");
}

static void no_devices(void)
{
	inject_no_more();
	CHECK_EQ(system("ip link delete faulty0"), 0);
}

static void devices(void)
{
	run_and_undo(run_devices, no_devices);
}

static void devices_of_driver(void)
{
	need_own_device();
	run_and_undo(run_devices_of_driver, no_devices);
}

static const struct sdp_case cases[] = {
	CASE(namespaces, CASE_SDP_ONLY | CASE_LONG),
	CASE(devices, CASE_SDP_ONLY | CASE_LONG),
	CASE(devices_of_driver, CASE_SDP_ONLY | CASE_LONG),
	CASE(load, CASE_SDP_ONLY | CASE_LONG),
	CASE(load_driver, CASE_SDP_ONLY | CASE_LONG),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
