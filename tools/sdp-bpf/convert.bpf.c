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

#define AF_UNSPEC	0
#define AF_INET		2
#define AF_INET6	10
#define AF_SMC		43
#define SMCPROTO_SMC6	1
#define SOCK_STREAM	1
#define MSG_FASTOPEN	0x20000000
/* Linux 6.12. */
#ifndef IPPROTO_SMC
#define IPPROTO_SMC	256
#endif
/* What socket() takes besides flags. */
#define SOCK_TYPE_MASK	0xf
/* Deeper than any hierarchy that people can still find their way in. */
#define MAX_DEPTH	64
/* Sockets that were bound and do not listen yet. */
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
	__u16 skc_num;
	__u32 skc_rcv_saddr;
	struct in6_addr skc_v6_rcv_saddr;
} __attribute__((preserve_access_index));

struct sock {
	struct sock_common __sk_common;
	__u16 sk_type;
	__u16 sk_protocol;
} __attribute__((preserve_access_index));

struct socket {
	struct sock *sk;
} __attribute__((preserve_access_index));

struct msghdr {
	unsigned int msg_flags;
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
 * What bind() was last called with, successful or not.
 * @again: it was not the first call
 */
struct endpoint {
	__u32 address[4];
	__u16 port;
	__u16 again;
};

/*
 * By the cookies of sockets. What is forgotten here is taken for one that was not bound,
 * to which less is allowed.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_BOUND);
	__type(key, __u64);
	__type(value, struct endpoint);
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
static int is_inet_tcp(int family, int type, int protocol)
{
	return (family == AF_INET || family == AF_INET6) &&
	       (type & SOCK_TYPE_MASK) == SOCK_STREAM &&
	       (protocol == 0 || protocol == IPPROTO_TCP ||
		protocol == IPPROTO_MPTCP);
}

/* SMC begins with TCP, and stays with it where its peer does not know SMC. */
static int is_tcp(int family, int type, int protocol)
{
	return is_inet_tcp(family, type, protocol) ||
	       ((type & SOCK_TYPE_MASK) == SOCK_STREAM &&
		(family == AF_SMC || protocol == IPPROTO_SMC));
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

	if (!is_inet_tcp(family, type, protocol))
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

/* TCP Fast Open connects by sendto(), of which security_socket_connect() knows nothing. */
SEC("fmod_ret/security_socket_sendmsg")
int BPF_PROG(fastopen, struct socket *sock, struct msghdr *msg)
{
	return msg->msg_flags & MSG_FASTOPEN ? refuse_other(sock) : 0;
}

static void map_v4(struct sdp_bpf_question *question, __u32 address)
{
	question->address[0] = 0;
	question->address[1] = 0;
	question->address[2] = bpf_htonl(0xffff);
	question->address[3] = address;
}

static int is_unspecified(const __u32 *address)
{
	return !address[3] && !address[1] && !address[0] &&
	       (!address[2] || address[2] == bpf_htonl(0xffff));
}

static __u16 family_of(const void *address, int length)
{
	__u16 family = AF_UNSPEC;

	if (length >= (int)sizeof(family))
		bpf_probe_read_kernel(&family, sizeof(family), address);
	return family;
}

/*
 * False if it is no address that rules know, which the kernel then says itself. bind()
 * takes one of IPv4 without a family, and SDP's with its own.
 */
static int read_endpoint(struct sdp_bpf_question *question, const void *address, int length)
{
	const __u16 family = family_of(address, length);
	struct sockaddr_in6 in6 = {};
	struct sockaddr_in in = {};

	if (family == AF_INET6 && length >= SHORTEST_IN6) {
		bpf_probe_read_kernel(&in6, SHORTEST_IN6, address);
		__builtin_memcpy(question->address, &in6.sin6_addr, sizeof(question->address));
		question->port = bpf_ntohs(in6.sin6_port);
		return 1;
	}
	if ((family == AF_INET || family == AF_UNSPEC || family == AF_SDP) &&
	    length >= (int)sizeof(in)) {
		bpf_probe_read_kernel(&in, sizeof(in), address);
		map_v4(question, in.sin_addr.s_addr);
		question->port = bpf_ntohs(in.sin_port);
		return 1;
	}
	return 0;
}

/*
 * The unspecified address as a peer is this host: at the address that the socket has, or
 * at a loopback address.
 */
static void resolve_unspecified(struct sdp_bpf_question *question, const __u32 *source)
{
	const int from_v4 = sdp_bpf_is_mapped(source);

	if (sdp_bpf_is_mapped(question->address))
		map_v4(question, from_v4 && source[3] ? source[3] : bpf_htonl(INADDR_LOOPBACK));
	else if (from_v4)
		map_v4(question, bpf_htonl(INADDR_LOOPBACK));
	else
		question->address[3] = bpf_htonl(1);
}

/*
 * The programs for control groups below see the address of a TCP socket, but not that of
 * an SDP socket. It is not known either which of several calls of bind() gave it one.
 */
static int refuse_own_address(struct sock *sk, const void *address, int length)
{
	struct sdp_bpf_question question = { .role = SDP_BPF_CLIENT };
	const struct endpoint *asked;
	enum sdp_bpf_transport wanted;
	struct sdp_bpf_group *group;
	__u64 cookie;

	if (!is_sdp(sk->__sk_common.skc_family, sk->sk_type, sk->sk_protocol) ||
	    family_of(address, length) == AF_UNSPEC ||
	    !read_endpoint(&question, address, length) || !is_unspecified(question.address))
		return 0;
	cookie = bpf_get_socket_cookie(sk);
	asked = bpf_map_lookup_elem(&bound, &cookie);
	if (!asked)
		return 0;
	resolve_unspecified(&question, asked->address);
	wanted = ask(&question, &group);
	return wanted == SDP_BPF_NONE || (wanted != SDP_BPF_UNDECIDED && asked->again) ?
		       refuse(group) :
		       0;
}

SEC("fmod_ret/security_socket_connect")
int BPF_PROG(connect, struct socket *sock, const void *address, int length)
{
	struct sock *sk = sock->sk;
	int error = sk ? refuse_own_address(sk, address, length) : 0;

	return error ? error : refuse_other(sock);
}

/* Whether the kernel keeps the socket's address where TCP has it. */
static int shows_address(struct sock *sk)
{
	return is_inet_tcp(sk->__sk_common.skc_family, sk->sk_type, sk->sk_protocol);
}

/* Also outside of all groups: the socket may be given to one. */
static void note_bind(struct sock *sk, const struct sdp_bpf_question *question)
{
	struct endpoint asked = { .port = question->port };
	__u64 cookie;

	/* It has been bound, and this call fails. */
	if (shows_address(sk) && sk->__sk_common.skc_num)
		return;
	cookie = bpf_get_socket_cookie(sk);
	asked.again = !!bpf_map_lookup_elem(&bound, &cookie);
	__builtin_memcpy(asked.address, question->address, sizeof(asked.address));
	bpf_map_update_elem(&bound, &cookie, &asked, BPF_ANY);
}

/* Who asks for a port is a server, as for libsdp. */
SEC("fmod_ret/security_socket_bind")
int BPF_PROG(bind, struct socket *sock, const void *address, int length)
{
	struct sdp_bpf_question question = { .role = SDP_BPF_SERVER };
	struct sdp_bpf_group *group;
	struct sock *sk = sock->sk;

	if (!sk || !is_ours(sk) || !read_endpoint(&question, address, length))
		return 0;
	if (question.port && ask(&question, &group) == SDP_BPF_NONE)
		return refuse(group);
	note_bind(sk, &question);
	return 0;
}

static void read_own_address(struct sdp_bpf_question *question, struct sock *sk)
{
	if (sk->__sk_common.skc_family == AF_INET6)
		BPF_CORE_READ_INTO(&question->address, sk, __sk_common.skc_v6_rcv_saddr);
	else
		map_v4(question, sk->__sk_common.skc_rcv_saddr);
	question->port = sk->__sk_common.skc_num;
}

static int is_v6(struct sock *sk)
{
	return sk->__sk_common.skc_family == AF_INET6 ||
	       (sk->__sk_common.skc_family == AF_SMC && sk->sk_protocol == SMCPROTO_SMC6);
}

/*
 * Where a socket is going to listen: bind() may have failed since it was asked about, or
 * may have been called when there were other rules. A port that the kernel chooses is any,
 * which counts as 0.
 */
static void find_own_address(struct sdp_bpf_question *question, struct sock *sk)
{
	__u64 cookie = bpf_get_socket_cookie(sk);
	const struct endpoint *asked = bpf_map_lookup_elem(&bound, &cookie);

	if (shows_address(sk)) {
		read_own_address(question, sk);
		if (asked && !asked->port)
			question->port = 0;
	} else if (asked) {
		__builtin_memcpy(question->address, asked->address, sizeof(question->address));
		question->port = asked->port;
	} else if (!is_v6(sk)) {
		map_v4(question, 0);
	}
}

SEC("fmod_ret/security_socket_listen")
int BPF_PROG(listen, struct socket *sock)
{
	struct sdp_bpf_question question = { .role = SDP_BPF_SERVER };
	struct sdp_bpf_group *group;
	struct sock *sk = sock->sk;

	if (!sk || !is_ours(sk))
		return 0;
	find_own_address(&question, sk);
	if (ask(&question, &group) == SDP_BPF_NONE)
		return refuse(group);
	return refuse_other(sock);
}

static int may_reach(struct sdp_bpf_question *question)
{
	struct sdp_bpf_group *group;

	if (ask(question, &group) != SDP_BPF_NONE)
		return 1;
	refuse(group);
	return 0;
}

/* Here and not above, because TCP Fast Open connects by sendto(). */
static int may_connect(struct sdp_bpf_question *question, const struct bpf_sock_addr *to,
		       const __u32 *source)
{
	if (to->type != SOCK_STREAM)
		return 1;
	question->role = SDP_BPF_CLIENT;
	question->port = bpf_ntohs((__u16)to->user_port);
	if (!may_reach(question))
		return 0;
	if (!is_unspecified(question->address))
		return 1;
	resolve_unspecified(question, source);
	return may_reach(question);
}

SEC("cgroup/connect4")
int connect4(struct bpf_sock_addr *to)
{
	const __u32 source[4] = { 0, 0, bpf_htonl(0xffff), to->sk->src_ip4 };
	struct sdp_bpf_question question = {};

	map_v4(&question, to->user_ip4);
	return may_connect(&question, to, source);
}

/* A peer of IPv4 is reached from the address that the socket has for IPv4. */
SEC("cgroup/connect6")
int connect6(struct bpf_sock_addr *to)
{
	__u32 source[4] = { 0, 0, bpf_htonl(0xffff), to->sk->src_ip4 };
	struct sdp_bpf_question question = {};

	question.address[0] = to->user_ip6[0];
	question.address[1] = to->user_ip6[1];
	question.address[2] = to->user_ip6[2];
	question.address[3] = to->user_ip6[3];
	if (!sdp_bpf_is_mapped(question.address)) {
		source[0] = to->sk->src_ip6[0];
		source[1] = to->sk->src_ip6[1];
		source[2] = to->sk->src_ip6[2];
		source[3] = to->sk->src_ip6[3];
	}
	return may_connect(&question, to, source);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
