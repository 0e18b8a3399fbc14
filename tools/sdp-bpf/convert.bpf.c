// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Where socket() asks for TCP on behalf of a process in one of the chosen
 * control groups, or in a group below, the kernel creates an SDP socket.
 */
#include <linux/bpf.h>
#include <linux/in.h>
#include <linux/sdp.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "group.h"

#define AF_INET		2
#define AF_INET6	10
#define SOCK_STREAM	1
/* What socket() takes besides flags. */
#define SOCK_TYPE_MASK	0xf
/* Deeper than any hierarchy that people can still find their way in. */
#define MAX_DEPTH	64

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SDP_BPF_MAX_GROUPS);
	__type(key, __u64);
	__type(value, struct sdp_bpf_group);
} groups SEC(".maps");

static struct sdp_bpf_group *find_group(void)
{
	struct sdp_bpf_group *group;
	__u64 id;
	int level;

	for (level = 0; level < MAX_DEPTH; level++) {
		id = bpf_get_current_ancestor_cgroup_id(level);
		if (!id)
			return NULL;
		group = bpf_map_lookup_elem(&groups, &id);
		if (group)
			return group;
	}
	return NULL;
}

/*
 * A program that asks for several paths is content with one, as with a peer that
 * knows no others.  The runtime of Go listens so, and connects by plain TCP: only
 * one end would be converted.
 */
static int is_tcp(int family, int type, int protocol)
{
	return (family == AF_INET || family == AF_INET6) &&
	       (type & SOCK_TYPE_MASK) == SOCK_STREAM &&
	       (protocol == 0 || protocol == IPPROTO_TCP ||
		protocol == IPPROTO_MPTCP);
}

/*
 * 0 leaves the protocol to the kernel, and to other programs on this hook;
 * anything else would be the last word.
 */
SEC("fmod_ret/update_socket_protocol")
int BPF_PROG(convert, int family, int type, int protocol)
{
	struct sdp_bpf_group *group;

	if (!is_tcp(family, type, protocol))
		return 0;
	group = find_group();
	if (!group)
		return 0;
	__sync_fetch_and_add(&group->converted, 1);
	return IPPROTO_SDP;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
