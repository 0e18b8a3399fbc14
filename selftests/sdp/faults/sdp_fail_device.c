// SPDX-License-Identifier: GPL-2.0
/*
 * A device that fails: each of its operations once, wherever a connection asks for it.  A
 * connection is made, or its client hears of it; what it carries is right until it ends; and
 * the next one works.  Operations of other devices than iwarp.ko's do not fail on request, but
 * what the module posts does.  Needs root.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "sdp_attempts.h"
#include "sdp_inject.h"
#include "sdp_memory.h"

/* So many calls that follow each other, then only some. */
#define DENSE	8
/* Each way. */
#define LEN	(60 * KIB)

/* What may fail, and with what. */
struct part {
	const char *function;
	int err;
};

/* What a connection is made of. */
static const struct part making[] = {
	{ "iwp_alloc_pd", ENOMEM }, { "iwp_create_qp", ENOMEM }, { "iwp_connect", ENOMEM },
};

/* What carries data.  What cannot be sent at once is posted. */
static const struct part moving[] = {
	{ "sdp_tx_give", ENOMEM }, { "sdp_rx_give_list", ENOMEM }, { "iwp_post_iter", EAGAIN },
	{ "iwp_alloc_mr", ENOMEM }, { "iwp_map_mr_sg", EINVAL }, { "iwp_mem_register", EINVAL },
};

static const char *const *values;

static void restore(void)
{
	inject_call_met();
	attempt_restore();
}

/* Returns how often it has failed. */
static unsigned int fail_each(int listener, const struct part *part)
{
	struct addr to = local_addr(listener);
	unsigned int nth = 1, met = 0;

	while (inject_call(part->function, part->err, nth)) {
		attempt_connection(listener, &to, LEN);
		if (!inject_call_met())
			break;
		met++;
		attempt_succeeds(listener, LEN);
		nth += nth < DENSE ? 1 : nth / 2;
	}
	return met;
}

/* At least so many have to fail, or there is no test of anything. */
static void fail_parts(const struct part *parts, size_t nr, unsigned int least)
{
	int listener = new_listener(16);
	unsigned int met = 0;
	size_t i;

	attempt_set(values);
	for (i = 0; i < nr; i++)
		met += fail_each(listener, &parts[i]);
	CHECK(met >= least);
	close(listener);
}

static void fail_making(void)
{
	need_own_device();
	fail_parts(making, ARRAY_SIZE(making), ARRAY_SIZE(making));
}

static void fail_moving(void)
{
	fail_parts(moving, ARRAY_SIZE(moving), 2 * DENSE);
}

/* It may listen when that goes well. */
static void fail_listen(void)
{
	int fd = CHECK_OK(socket(test_family(false), SOCK_STREAM, test_protocol()));
	struct addr own = server_addr(0);

	need_own_device();
	CHECK_OK(bind(fd, &own.sa, own.len));
	CHECK(inject_call("iwp_create_listen", ENOMEM, 1));
	CHECK_ERR(listen(fd, 1), ENOMEM);
	CHECK(inject_call_met());
	CHECK_OK(listen(fd, 1));
	attempt_succeeds(fd, LEN);
	close(fd);
}

/* What a case has fail, and with which settings. */
static const struct way {
	const char *name;
	void (*fail)(void);
	const char *values[ATTEMPT_SETTINGS];
} ways[] = {
	{ "listeners", fail_listen, { "auto", "off", "65536" } },
	{ "connections", fail_making, { "auto", "off", "65536" } },
	{ "buffers", fail_moving, { "credit", "off", "65536" } },
	{ "rings", fail_moving, { "rdma", "off", "65536" } },
	{ "windows", fail_moving, { "nic", "off", "65536" } },
	{ "memory_of_the_writer", fail_moving, { "credit", "async", "4096" } },
};

static void run_way(const void *which)
{
	const struct way *way = which;

	/* A breakpoint is an NMI to it, in which the kernel draws lots by a lock of its own. */
	if (kernel_has_checkers())
		sdp_skip("lockdep objects to how the kernel makes functions fail");
	attempt_note_settings();
	values = way->values;
	run_and_undo(way->fail, restore);
}

int main(int argc, char **argv)
{
	return attempt_main(argc, argv, (struct attempt_ways){
		ways, ARRAY_SIZE(ways), sizeof(*ways), run_way
	});
}
