// SPDX-License-Identifier: GPL-2.0
/* Faults that the kernel injects on request (Documentation/fault-injection of the kernel). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sdp_inject.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

/* More than any call meets. */
#define MOST	5000
#define NEVER	1000000

static const char *const kinds[] = {
	[INJECT_SLAB] = "failslab",
	[INJECT_PAGES] = "fail_page_alloc",
};

static int fail_nth = -1;

static void knob(enum inject_kind kind, const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", kinds[kind], name);
	if (!file_write(path, value))
		sdp_skip("this kernel injects no faults");
}

/* Those that may wait for memory are to fail as well, and nothing is written about it. */
static void fail_all(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		knob(i, "ignore-gfp-wait", "N");
		knob(i, "verbose", "0");
	}
	knob(INJECT_PAGES, "min-order", "0");
	file_write("/sys/kernel/debug/fail_usercopy/verbose", "0");
}

static void find(void)
{
	fail_all();
	fail_nth = CHECK_OK(open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC));
}

/* From now on the nth that may fail in what this thread calls does. */
static void arm(unsigned int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);

	CHECK_EQ(pwrite(fail_nth, text, len, 0), len);
}

/* None does any more; returns how many would have had to follow for one to fail. */
static unsigned int disarm(void)
{
	char text[16] = "";
	ssize_t n = pread(fail_nth, text, sizeof(text) - 1, 0);
	unsigned int left = strtoul(text, NULL, 10);

	/* The one that was next may be in here: that is none of the caller's. */
	if (n < 0)
		return 1;
	if (left)
		while (pwrite(fail_nth, "0", 1, 0) != 1)
			;
	return left;
}

/* ENFILE is what the kernel says if there is no memory for a socket's inode. */
static void expect_errno(int err)
{
	if (err != ENOMEM && err != ENOBUFS && err != EFAULT && err != ENFILE)
		FAIL("errno of a fault: %s", strerrorname_np(err));
}

/* Returns how many faults would have had to follow; 0 if there was such a one. */
static unsigned int one_fault(const struct op *op, unsigned int nth)
{
	static struct scene s;
	unsigned int left;
	long ret;
	int err;

	s = (struct scene){ .fd = -1, .listener = -1 };
	if (op->prepare)
		op->prepare(&s);
	arm(nth);
	ret = op->call(&s);
	err = errno;
	left = disarm();
	if (ret < 0)
		expect_errno(err);
	CHECK(!left || ret >= 0);
	op->after(&s, ret);
	return left;
}

unsigned int inject_each(const struct op *op)
{
	unsigned int nth = 1;

	find();
	while (!one_fault(op, nth))
		CHECK(++nth < MOST);
	return nth - 1;
}

void inject_last(const struct op *op, unsigned int count)
{
	unsigned int all, i;

	find();
	all = NEVER - one_fault(op, NEVER);
	CHECK(all > count);
	for (i = 0; i < count; i++)
		one_fault(op, all - i);
}

void scene_pair(struct scene *s)
{
	s->p = new_pair();
	pattern_fill(s->buf, SCENE_LEN, SEED_UP, 0);
}

void scene_written(struct scene *s)
{
	scene_pair(s);
	send_pattern(s->p.client, SEED_UP, 0, SCENE_LEN, SCENE_LEN);
}

void scene_end(struct scene *s)
{
	exchange(s->p.client, s->p.server, SCENE_LEN);
	close_pair(s->p);
}

static bool is_peer_of(int server, int client)
{
	struct addr own = local_addr(client), peer = { .len = sizeof(peer.ss) };

	return !getpeername(server, &peer.sa, &peer.len) && same_addr(&own, &peer);
}

int accept_peer_of(int listener, int client)
{
	int server;

	while (!is_peer_of(server = CHECK_OK(accept(listener, NULL, NULL)), client))
		close(server);
	return server;
}

/* Where a function is, or all of a module. */
struct range {
	const char *name;
	bool module;
	uint64_t start, end;
};

/* Its vmalloc() fails with a trace in the kernel's log. */
static struct range rxe_queue = { .name = "rxe_queue_init" };

static void range_see(struct range *r, const char *name, const char *module, uint64_t at)
{
	if (r->module && !strcmp(module, r->name)) {
		r->start = !r->end || at < r->start ? at : r->start;
		r->end = at > r->end ? at : r->end;
	} else if (!r->module && r->start && !r->end) {
		/* It ends where the next one begins. */
		r->end = at;
	} else if (!r->module && !strcmp(name, r->name)) {
		r->start = at;
	}
}

static void find_ranges(struct range *r)
{
	char line[256], name[64], module[64], type;
	FILE *f = fopen("/proc/kallsyms", "r");
	uint64_t at;

	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		*module = '\0';
		if (sscanf(line, "%lx %c %63s [%63[^]]]", &at, &type, name, module) < 3 ||
		    (type != 't' && type != 'T'))
			continue;
		range_see(r, name, module, at);
		range_see(&rxe_queue, name, module, at);
	}
	fclose(f);
	CHECK(r->start && r->start < r->end);
}

static void knob_number(enum inject_kind kind, const char *name, const char *format, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), format, value);
	knob(kind, name, text);
}

static void knob_stack(enum inject_kind kind, const struct range *require,
		       const struct range *reject)
{
	knob_number(kind, "require-start", "%#lx", require->start);
	knob_number(kind, "require-end", "%#lx", require->end);
	knob_number(kind, "reject-start", "%#lx", reject->start);
	knob_number(kind, "reject-end", "%#lx", reject->end);
}

/* A case asks for one range only; to look for it takes a while. */
static void inject_below(const char *name, bool module, enum inject_kind kind,
			 unsigned int percent, unsigned int times)
{
	static struct range about;

	if (!about.name) {
		about = (struct range){ .name = name, .module = module };
		find_ranges(&about);
	}
	CHECK(!strcmp(about.name, name));
	fail_all();
	knob_stack(kind, &about, &rxe_queue);
	knob_number(kind, "times", "%lu", times);
	knob_number(kind, "probability", "%lu", percent);
}

void inject_in_module(const char *module, enum inject_kind kind, unsigned int percent,
		      unsigned int times)
{
	inject_below(module, true, kind, percent, times);
}

void inject_in_function(const char *function, enum inject_kind kind, unsigned int percent,
			unsigned int times)
{
	inject_below(function, false, kind, percent, times);
}

unsigned int inject_left(enum inject_kind kind)
{
	char path[64], text[24];

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/times", kinds[kind]);
	file_read(path, text, sizeof(text));
	return atoi(text);
}

void inject_no_more(void)
{
	static const struct range all = { .end = UINT64_MAX }, none;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		knob(i, "probability", "0");
		knob_stack(i, &all, &none);
	}
}

bool kernel_has_checkers(void)
{
	return !access("/proc/lockdep", F_OK);
}

#define FAIL_FUNCTION	"/sys/kernel/debug/fail_function/"

static void fault_knob(const char *folder, const char *name, const char *format, uint64_t value)
{
	char path[128], text[24];

	snprintf(path, sizeof(path), "%s%s", folder, name);
	snprintf(text, sizeof(text), format, value);
	CHECK(file_write(path, text));
}

/* "space" is how many go well before. */
static void fault_once(const char *folder, unsigned int nth)
{
	fault_knob(folder, "verbose", "%lu", 0);
	fault_knob(folder, "space", "%lu", nth);
	fault_knob(folder, "times", "%lu", 1);
	fault_knob(folder, "probability", "%lu", 100);
}

static bool fault_met(const char *folder)
{
	char path[128], times[24];

	snprintf(path, sizeof(path), "%stimes", folder);
	file_read(path, times, sizeof(times));
	return !atoi(times);
}

bool inject_call(const char *function, int err, unsigned int nth)
{
	char name[64];

	if (access(FAIL_FUNCTION, F_OK))
		sdp_skip("this kernel fails no functions");
	if (!file_write(FAIL_FUNCTION "inject", function))
		return false;
	snprintf(name, sizeof(name), "%s/retval", function);
	fault_knob(FAIL_FUNCTION, name, "%#lx", (uint64_t)-err);
	fault_once(FAIL_FUNCTION, nth);
	return true;
}

bool inject_call_met(void)
{
	bool met = fault_met(FAIL_FUNCTION);

	CHECK(file_write(FAIL_FUNCTION "inject", "\n"));
	fault_knob(FAIL_FUNCTION, "probability", "%lu", 0);
	return met;
}

#define DEVICE_FAULTS	"/sys/kernel/debug/iwarp/"

static const char *device_fault(const char *fault)
{
	static char folder[64];

	snprintf(folder, sizeof(folder), DEVICE_FAULTS "%s/", fault);
	return folder;
}

void inject_in_device(const char *fault, unsigned int nth)
{
	if (access(DEVICE_FAULTS, F_OK))
		sdp_skip("the devices are not those of iwarp.ko, or do nothing wrong");
	fault_once(device_fault(fault), nth);
}

void inject_status(unsigned int opcode, unsigned int status)
{
	fault_knob(DEVICE_FAULTS, "opcode", "%lu", opcode);
	fault_knob(DEVICE_FAULTS, "status", "%lu", status);
}

bool inject_in_device_met(const char *fault)
{
	return fault_met(device_fault(fault));
}

void inject_in_device_no_more(const char *fault)
{
	fault_knob(device_fault(fault), "probability", "%lu", 0);
}
