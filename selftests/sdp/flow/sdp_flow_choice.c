// SPDX-License-Identifier: GPL-2.0
/* Flow control: how its engine is chosen. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"

/* ---- choice ---- */

static void sysctl_takes_names_only(void)
{
	static const char * const bad[] = { "\n", "cre", "creditx", "1", "tcp" };
	char before[64], now[64];
	size_t i;

	read_sysctl(SYSCTL_FLOW, before, sizeof(before));
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_EQ(write_sysctl(SYSCTL_FLOW, bad[i]), EINVAL);
	read_sysctl(SYSCTL_FLOW, now, sizeof(now));
	CHECK(!strcmp(before, now));
	CHECK_EQ(write_sysctl(SYSCTL_FLOW, before), 0);
	read_sysctl(SYSCTL_FLOWS, now, sizeof(now));
	CHECK(!strncmp(now, "credit", 6));
	CHECK(strstr(now, before));
}

static void option_takes_names_only(void)
{
	int fd = new_socket(0);
	char name[16];
	socklen_t len;

	CHECK_ERR(set_flow(fd, "none"), ENOENT);
	CHECK_ERR(set_flow(fd, ""), EINVAL);
	CHECK_ERR(setsockopt(fd, SOL_SDP, SDP_FLOW_CONTROL, NULL, 6), EFAULT);
	CHECK_OK(setsockopt(fd, SOL_SDP, SDP_FLOW_CONTROL, "credit", 7));
	expect_flow(fd, "credit");
	/* As much of the name as there is room for. */
	len = 3;
	memset(name, 'x', sizeof(name));
	CHECK_OK(getsockopt(fd, SOL_SDP, SDP_FLOW_CONTROL, name, &len));
	CHECK_EQ(len, 3);
	CHECK(!memcmp(name, "crex", 4));
	CHECK_OK(close(fd));
}

static void option_comes_before_the_connection(void)
{
	struct pair p = new_pair();
	int listener = new_listener(1);

	CHECK_ERR(set_flow(p.client, "credit"), EINVAL);
	CHECK_ERR(set_flow(p.server, "credit"), EINVAL);
	CHECK_ERR(set_flow(listener, "credit"), EINVAL);
	close_pair(p);
	CHECK_OK(close(listener));
}

static void both_ends_agree(void)
{
	struct pair p = new_pair();
	struct sdp_info client = info_of(p.client);
	struct sdp_info server = info_of(p.server);

	CHECK(client.sdpi_flow != SDP_FLOW_NONE);
	CHECK_EQ(client.sdpi_flow, server.sdpi_flow);
	exchange(p.client, p.server, scaled(MIB));
	close_pair(p);
}

/* ---- choice while the sysctl changes ---- */

static char wanted_before[64];
static bool changes_over;

static void *change_wanted(void *unused)
{
	while (!__atomic_load_n(&changes_over, __ATOMIC_RELAXED)) {
		CHECK_EQ(write_sysctl(SYSCTL_FLOW, "nic"), 0);
		CHECK_EQ(write_sysctl(SYSCTL_FLOW, "credit"), 0);
	}
	return unused;
}

static void connect_while_it_changes(void)
{
	unsigned int i, count = scaled_count(60);
	pthread_t thread;

	thread_start(&thread, change_wanted, NULL);
	for (i = 0; i < count; i++) {
		struct pair p = new_pair();

		CHECK_EQ(info_of(p.client).sdpi_flow,
			 info_of(p.server).sdpi_flow);
		CHECK_EQ(info_of(p.client).sdpi_features,
			 info_of(p.server).sdpi_features);
		exchange(p.client, p.server, 40000);
		close_pair(p);
	}
	__atomic_store_n(&changes_over, true, __ATOMIC_RELAXED);
	thread_join(thread);
}

static void want_as_before(void)
{
	CHECK_EQ(write_sysctl(SYSCTL_FLOW, wanted_before), 0);
}

static void sysctl_changes_while_connecting(void)
{
	read_sysctl(SYSCTL_FLOW, wanted_before, sizeof(wanted_before));
	run_and_undo(connect_while_it_changes, want_as_before);
}

static void *read_wanted(void *unused)
{
	int fd = CHECK_OK(open(SYSCTL_FLOW, O_RDONLY));
	char now[64];

	while (!__atomic_load_n(&changes_over, __ATOMIC_RELAXED))
		CHECK(pread(fd, now, sizeof(now), 0) > 0);
	CHECK_OK(close(fd));
	return unused;
}

static void write_while_it_is_read(void)
{
	static const char * const names[] = { "nic", "credit" };
	unsigned int i, count = scaled_count(20000);
	pthread_t thread;
	char now[64];

	thread_start(&thread, read_wanted, NULL);
	for (i = 0; i < count; i++) {
		CHECK_EQ(write_sysctl(SYSCTL_FLOW, names[i % 2]), 0);
		read_sysctl(SYSCTL_FLOW, now, sizeof(now));
		CHECK(!strcmp(now, names[i % 2]));
	}
	__atomic_store_n(&changes_over, true, __ATOMIC_RELAXED);
	thread_join(thread);
}

static void sysctl_is_not_changed_by_a_look(void)
{
	read_sysctl(SYSCTL_FLOW, wanted_before, sizeof(wanted_before));
	run_and_undo(write_while_it_is_read, want_as_before);
}

/* ---- agreement ---- */

static void expect_agreement(const char *client, const char *server,
			     const char *want)
{
	struct pair p = engine_pair(client, server, 64 * KIB);
	struct sdp_info info = info_of(p.client);

	if (info.sdpi_flow_reason == SDP_FLOW_REASON_DEVICE)
		sdp_skip("the device does not carry both engines");
	expect_flow(p.client, want);
	expect_flow(p.server, want);
	CHECK_EQ(info.sdpi_flow_reason, strcmp(client, want) ?
		 SDP_FLOW_REASON_PEER : SDP_FLOW_REASON_NONE);
	CHECK_EQ(info_of(p.server).sdpi_flow_reason, strcmp(server, want) ?
		 SDP_FLOW_REASON_PEER : SDP_FLOW_REASON_NONE);
	exchange(p.client, p.server, scaled(MIB));
	close_pair(p);
}

static void strongest_common_engine(void)
{
	expect_agreement("rdma", "credit", "credit");
	expect_agreement("credit", "rdma", "credit");
	expect_agreement("rdma", "rdma", "rdma");
}

static void strongest_common_engine_with_nic(void)
{
	expect_agreement("nic", "rdma", "rdma");
	expect_agreement("rdma", "nic", "rdma");
	expect_agreement("credit", "nic", "credit");
	expect_agreement("nic", "nic", "nic");
}

/* iWARP has all that RDMA-based flow control needs, and not what the other does. */
static void device_without_nic(void)
{
	struct pair p = engine_pair("nic", "nic", 64 * KIB);
	struct sdp_info info = info_of(p.client);

	if (info.sdpi_flow == SDP_FLOW_NIC)
		sdp_skip("the device carries all engines");
	expect_flow(p.client, "rdma");
	expect_flow(p.server, "rdma");
	CHECK_EQ(info.sdpi_flow_reason, SDP_FLOW_REASON_DEVICE);
	exchange(p.client, p.server, scaled(MIB));
	close_pair(p);
}

static const struct sdp_case cases[] = {
	CASE(sysctl_takes_names_only, CASE_SDP_ONLY),
	CASE(option_takes_names_only, CASE_SDP_ONLY),
	CASE(option_comes_before_the_connection, CASE_SDP_ONLY),
	CASE(both_ends_agree, CASE_SDP_ONLY),
	CASE(strongest_common_engine, CASE_SDP_ONLY),
	CASE(strongest_common_engine_with_nic, CASE_SDP_ONLY),
	CASE(device_without_nic, CASE_SDP_ONLY),
	CASE(sysctl_changes_while_connecting, CASE_SDP_ONLY),
	CASE(sysctl_is_not_changed_by_a_look, CASE_SDP_ONLY | CASE_LONG),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
