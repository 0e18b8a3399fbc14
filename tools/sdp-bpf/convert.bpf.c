// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * For a process in one of the chosen control groups, or in a group below, the kernel
 * creates SDP sockets where socket() asks for TCP, or does what the group's rules say:
 * which kind of socket a program has is decided when it is made, by its name; what its
 * sockets are not to be used for is refused when the address is known.
 */
#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/sdp.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "group.h"
#include "match.h"

#define AF_INET		2
#define AF_INET6	10
#define SOCK_STREAM	1
/* What socket() takes besides flags. */
#define SOCK_TYPE_MASK	0xf
/* Deeper than any hierarchy that people can still find their way in. */
#define MAX_DEPTH	64
/* Sockets that have a port and do not listen yet. */
#define MAX_BOUND	16384

/* The shortest form of an address that the kernel takes ends before the scope. */
#define SHORTEST_IN6	((int)__builtin_offsetof(struct sockaddr_in6, sin6_scope_id))

/* Of the kernel's structures what is looked at here. */
struct task_struct {
	struct task_struct *group_leader;
	char comm[SDP_BPF_NAME_SIZE];
} __attribute__((preserve_access_index));

struct sock_common {
	unsigned short skc_family;
} __attribute__((preserve_access_index));

struct sock {
	struct sock_common __sk_common;
	__u16 sk_type;
	__u16 sk_protocol;
} __attribute__((preserve_access_index));

struct socket {
	struct sock *sk;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SDP_BPF_MAX_GROUPS);
	__type(key, __u64);
	__type(value, struct sdp_bpf_group);
} groups SEC(".maps");

/*
 * One of these has as many rules as the file: with the flag, sizes may differ. Sizes
 * instead of types, since the tool that makes others has no types to name.
 */
struct policy {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_INNER_MAP);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct sdp_bpf_rule));
};

/* The rules of a group, under its number; one without has none here. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
	__uint(max_entries, SDP_BPF_MAX_GROUPS);
	__type(key, __u64);
	__array(values, struct policy);
} policies SEC(".maps");

/*
 * The sockets, by their cookies, that have got a port which they asked for. What is
 * forgotten here is taken for one that did not ask, to whom less is allowed.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_BOUND);
	__type(key, __u64);
	__type(value, __u8);
} bound SEC(".maps");

/* The nearest group above the process that is attached. */
static struct sdp_bpf_group *find_group(__u64 *found)
{
	struct sdp_bpf_group *nearest = NULL, *group;
	__u64 id;
	int level;

	for (level = 0; level < MAX_DEPTH; level++) {
		id = bpf_get_current_ancestor_cgroup_id(level);
		if (!id)
			break;
		group = bpf_map_lookup_elem(&groups, &id);
		if (group) {
			nearest = group;
			*found = id;
		}
	}
	return nearest;
}

/* Verified by itself, and not once more for each rule that it is asked about. */
__noinline int decides(const struct sdp_bpf_rule *rule, const struct sdp_bpf_question *question)
{
	return rule && question ? sdp_bpf_decides(rule, question) : 0;
}

/* A thread may have a name of its own; the program's is that of the first. */
static void ask_for_program(struct sdp_bpf_question *question)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	BPF_CORE_READ_INTO(&question->program, task, group_leader, comm);
}

/* The tool sees to it that a rule decides about every address. */
static enum sdp_bpf_transport decide(void *policy, const struct sdp_bpf_question *question)
{
	struct sdp_bpf_rule *rule;
	__u32 i;

	for (i = 0; i < SDP_BPF_MAX_RULES; i++) {
		__u32 key = i;

		rule = bpf_map_lookup_elem(policy, &key);
		if (!rule)
			break;
		if (decides(rule, question))
			return rule->transport;
	}
	return SDP_BPF_NONE;
}

/*
 * What the rules say of the calling process; nothing if its group has none.
 * @group is set to the group that they are of.
 */
static enum sdp_bpf_transport ask(struct sdp_bpf_question *question, struct sdp_bpf_group **group)
{
	void *policy;
	__u64 id = 0;

	*group = find_group(&id);
	if (!*group)
		return SDP_BPF_UNDECIDED;
	policy = bpf_map_lookup_elem(&policies, &id);
	if (!policy)
		return SDP_BPF_UNDECIDED;
	ask_for_program(question);
	return decide(policy, question);
}

static int refuse(struct sdp_bpf_group *group)
{
	if (group)
		__sync_fetch_and_add(&group->refused, 1);
	return -EPERM;
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

static int is_sdp(int family, int type, int protocol)
{
	return (type & SOCK_TYPE_MASK) == SOCK_STREAM &&
	       (family == AF_SDP || protocol == IPPROTO_SDP);
}

/* Whether a program that has the one kind of sockets may not use this one. */
static int is_other(enum sdp_bpf_transport wanted, int family, int type, int protocol)
{
	return (wanted == SDP_BPF_SDP && is_tcp(family, type, protocol)) ||
	       (wanted == SDP_BPF_TCP && is_sdp(family, type, protocol));
}

/*
 * 0 leaves the protocol to the kernel, and to other programs on this hook;
 * anything else would be the last word.
 */
SEC("fmod_ret/update_socket_protocol")
int BPF_PROG(convert, int family, int type, int protocol)
{
	struct sdp_bpf_question question = {};
	enum sdp_bpf_transport wanted;
	struct sdp_bpf_group *group;

	if (!is_tcp(family, type, protocol))
		return 0;
	wanted = ask(&question, &group);
	if (!group || (wanted != SDP_BPF_UNDECIDED && wanted != SDP_BPF_SDP))
		return 0;
	__sync_fetch_and_add(&group->converted, 1);
	return IPPROTO_SDP;
}

SEC("fmod_ret/security_socket_create")
int BPF_PROG(create, int family, int type, int protocol, int kern)
{
	struct sdp_bpf_question question = {};
	struct sdp_bpf_group *group;

	/* The kernel's own are nobody's. */
	if (kern || (!is_tcp(family, type, protocol) && !is_sdp(family, type, protocol)))
		return 0;
	return is_other(ask(&question, &group), family, type, protocol) ? refuse(group) : 0;
}

static int is_ours(struct sock *sk)
{
	const int family = sk->__sk_common.skc_family;

	return is_tcp(family, sk->sk_type, sk->sk_protocol) ||
	       is_sdp(family, sk->sk_type, sk->sk_protocol);
}

/*
 * Sockets that are older than the rules, or somebody else's, and the TCP socket by
 * which an SDP socket would fall back.
 */
static int refuse_other(struct socket *sock)
{
	struct sdp_bpf_question question = {};
	struct sdp_bpf_group *group;
	enum sdp_bpf_transport wanted;
	struct sock *sk = sock->sk;

	if (!sk || !is_ours(sk))
		return 0;
	wanted = ask(&question, &group);
	return is_other(wanted, sk->__sk_common.skc_family, sk->sk_type, sk->sk_protocol) ?
		       refuse(group) :
		       0;
}

SEC("fmod_ret/security_socket_connect")
int BPF_PROG(connect, struct socket *sock)
{
	return refuse_other(sock);
}

static void map_v4(struct sdp_bpf_question *question, __u32 address)
{
	question->address[2] = bpf_htonl(0xffff);
	question->address[3] = address;
}

/* False if it is no address that rules know, which the kernel then says itself. */
static int read_endpoint(struct sdp_bpf_question *question, const void *address, int length)
{
	struct sockaddr_in6 in6 = {};
	struct sockaddr_in in = {};
	__u16 family = 0;

	bpf_probe_read_kernel(&family, sizeof(family), address);
	if (family == AF_INET && length >= (int)sizeof(in)) {
		bpf_probe_read_kernel(&in, sizeof(in), address);
		map_v4(question, in.sin_addr.s_addr);
		question->port = bpf_ntohs(in.sin_port);
		return 1;
	}
	if (family == AF_INET6 && length >= SHORTEST_IN6) {
		bpf_probe_read_kernel(&in6, SHORTEST_IN6, address);
		__builtin_memcpy(question->address, &in6.sin6_addr, sizeof(question->address));
		question->port = bpf_ntohs(in6.sin6_port);
		return 1;
	}
	return 0;
}

/* Who asks for a port is a server, as for libsdp. */
SEC("fmod_ret/security_socket_bind")
int BPF_PROG(bind, struct socket *sock, const void *address, int length)
{
	struct sdp_bpf_question question = { .role = SDP_BPF_SERVER };
	enum sdp_bpf_transport wanted;
	struct sdp_bpf_group *group;
	struct sock *sk = sock->sk;
	__u8 asked = 1;
	__u64 cookie;

	if (!sk || !is_ours(sk) || !read_endpoint(&question, address, length) || !question.port)
		return 0;
	wanted = ask(&question, &group);
	if (wanted == SDP_BPF_NONE)
		return refuse(group);
	if (wanted != SDP_BPF_UNDECIDED) {
		cookie = bpf_get_socket_cookie(sk);
		bpf_map_update_elem(&bound, &cookie, &asked, BPF_ANY);
	}
	return 0;
}

/* What has asked for a port has got its answer; else the port is any, which counts as 0. */
SEC("fmod_ret/security_socket_listen")
int BPF_PROG(listen, struct socket *sock)
{
	struct sdp_bpf_question question = { .role = SDP_BPF_SERVER };
	struct sdp_bpf_group *group;
	struct sock *sk = sock->sk;
	__u64 cookie;

	if (!sk || !is_ours(sk))
		return 0;
	cookie = bpf_get_socket_cookie(sk);
	if (!bpf_map_lookup_elem(&bound, &cookie) && ask(&question, &group) == SDP_BPF_NONE)
		return refuse(group);
	return refuse_other(sock);
}

/* Here and not above, because TCP Fast Open connects by sendto(). */
static int may_connect(struct sdp_bpf_question *question, const struct bpf_sock_addr *to)
{
	struct sdp_bpf_group *group;

	if (to->type != SOCK_STREAM)
		return 1;
	question->role = SDP_BPF_CLIENT;
	question->port = bpf_ntohs((__u16)to->user_port);
	if (ask(question, &group) != SDP_BPF_NONE)
		return 1;
	refuse(group);
	return 0;
}

SEC("cgroup/connect4")
int connect4(struct bpf_sock_addr *to)
{
	struct sdp_bpf_question question = {};

	map_v4(&question, to->user_ip4);
	return may_connect(&question, to);
}

SEC("cgroup/connect6")
int connect6(struct bpf_sock_addr *to)
{
	struct sdp_bpf_question question = {};

	question.address[0] = to->user_ip6[0];
	question.address[1] = to->user_ip6[1];
	question.address[2] = to->user_ip6[2];
	question.address[3] = to->user_ip6[3];
	return may_connect(&question, to);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
