// SPDX-License-Identifier: GPL-2.0
/*
 * Who may bind and connect: what an administrator has forbidden to a program's TCP
 * sockets it cannot do through these either, whatever carries them.
 */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <linux/landlock.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "sdp_cgroup.h"
#include "sdp_fallback.h"
#include "sdp_memory.h"

#define NOBODY 65534

static const int modes[] = { OFF, ON, ONLY };

static struct addr dead_addr(void)
{
	return server_addr(dead_port());
}

static int socket_of(int mode)
{
	int fd = new_socket(0);

	if (!opts.tcp)
		set_int(fd, SOL_SDP, SDP_TCP_FALLBACK, mode);
	return fd;
}

static int listener_of(int mode)
{
	return listener_at(socket_of(mode), server_addr(0), 16);
}

static int connect_err(int fd, struct addr a)
{
	return connect(fd, &a.sa, a.len) ? errno : 0;
}

static int bind_err(int fd, struct addr a)
{
	return bind(fd, &a.sa, a.len) ? errno : 0;
}

/* ---- Landlock ---- */

#ifndef LANDLOCK_ACCESS_NET_BIND_TCP
#define LANDLOCK_ACCESS_NET_BIND_TCP	1
#define LANDLOCK_ACCESS_NET_CONNECT_TCP	2
#endif
#define RULE_NET_PORT	2

struct landlock_attr {
	uint64_t fs, net;
};

struct landlock_port {
	uint64_t access, port;
};

static void landlock_allow(int ruleset, uint64_t access, uint16_t port)
{
	struct landlock_port rule = { access, port };

	if (port)
		CHECK_OK(syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT,
				 &rule, 0));
}

/* From here on TCP may bind to the one port, and connect to the other: 0 = none. */
static void enter_sandbox(uint16_t bind_port, uint16_t connect_port)
{
	struct landlock_attr attr = {
		.net = LANDLOCK_ACCESS_NET_BIND_TCP |
		       LANDLOCK_ACCESS_NET_CONNECT_TCP,
	};
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
			   LANDLOCK_CREATE_RULESET_VERSION);
	int ruleset;

	if (abi < 4)
		sdp_skip("this kernel's Landlock knows no rules for TCP");
	ruleset = CHECK_OK(syscall(SYS_landlock_create_ruleset, &attr,
				   sizeof(attr), 0));
	landlock_allow(ruleset, LANDLOCK_ACCESS_NET_BIND_TCP, bind_port);
	landlock_allow(ruleset, LANDLOCK_ACCESS_NET_CONNECT_TCP, connect_port);
	CHECK_OK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK_OK(syscall(SYS_landlock_restrict_self, ruleset, 0));
	close(ruleset);
}

static void sandboxed_connect(void)
{
	int listener = listener_at(tcp_socket(), server_addr(0), 16);
	struct addr a = local_addr(listener);

	enter_sandbox(0, 0);
	CHECK_EQ(connect_err(socket_of(ONLY), a), EACCES);
	CHECK_EQ(connect_err(socket_of(ON), a), EACCES);
	set_nonblock(listener, true);
	CHECK_ERR(accept(listener, NULL, NULL), EAGAIN);
}

static void sandboxed_connect_nonblocking(void)
{
	int listener = listener_at(tcp_socket(), server_addr(0), 16);
	struct addr a = local_addr(listener);
	int fd = socket_of(ON);

	enter_sandbox(0, 0);
	set_nonblock(fd, true);
	CHECK_EQ(connect_err(fd, a), EACCES);
	watch_quiet(listener, POLLIN);
}

static void sandboxed_bind(void)
{
	struct addr a = dead_addr();
	int fd = socket_of(ON);

	enter_sandbox(0, 0);
	CHECK_EQ(bind_err(socket_of(ONLY), a), EACCES);
	CHECK_EQ(bind_err(fd, a), EACCES);
	CHECK_EQ(bind_err(fd, server_addr(0)), EACCES);
}

/* What bind() did for RDMA alone is made up for later: by listen(), by connect(). */
static void sandboxed_bind_late(void)
{
	int listener = listener_at(tcp_socket(), server_addr(0), 16);
	struct addr a = local_addr(listener);
	unsigned int i;
	int fd[4];

	enter_sandbox(0, addr_port(&a));
	for (i = 0; i < ARRAY_SIZE(fd); i++) {
		fd[i] = socket_of(OFF);
		CHECK_EQ(bind_err(fd[i], i & 1 ? client_addr(0) :
						 client_addr(dead_port())), 0);
		set_int(fd[i], SOL_SDP, SDP_TCP_FALLBACK, i & 2 ? ON : ONLY);
		CHECK_ERR(listen(fd[i], 1), EACCES);
		CHECK_EQ(connect_err(fd[i], a), EACCES);
	}
	watch_quiet(listener, POLLIN);
}

/* Nor is a port that TCP had before one about which anybody was asked now. */
static void sandboxed_bind_after_another(void)
{
	struct addr dead = dead_addr(), own = client_addr(dead_port());
	int fd = socket_of(ON);

	CHECK_EQ(bind_err(fd, client_addr(0)), 0);
	CHECK_EQ(connect_err(fd, dead), ECONNREFUSED);
	CHECK_OK(listen(fd, 1));
	CHECK_OK(shutdown(fd, SHUT_RD));
	set_int(fd, SOL_SDP, SDP_TCP_FALLBACK, OFF);
	CHECK_EQ(bind_err(fd, own), 0);
	set_int(fd, SOL_SDP, SDP_TCP_FALLBACK, ON);
	enter_sandbox(0, addr_port(&dead));
	CHECK_EQ(connect_err(fd, dead), EACCES);
	CHECK_ERR(listen(fd, 1), EACCES);
}

/*
 * The address stays when the port that the kernel has chosen for it goes. As with TCP
 * nobody is asked again who has allowed TCP that address.
 */
static void sandboxed_bind_again(void)
{
	unsigned int i;
	int fd[3];

	for (i = 0; i < ARRAY_SIZE(fd); i++) {
		fd[i] = socket_of(i == 2 ? ON : OFF);
		CHECK_EQ(bind_err(fd[i], client_addr(0)), 0);
		CHECK_OK(listen(fd[i], 1));
		CHECK_OK(shutdown(fd[i], SHUT_RD));
		set_int(fd[i], SOL_SDP, SDP_TCP_FALLBACK, i ? ON : ONLY);
	}
	enter_sandbox(0, 0);
	CHECK_ERR(listen(fd[0], 1), EACCES);
	CHECK_ERR(listen(fd[1], 1), EACCES);
	CHECK_OK(listen(fd[2], 1));
}

static void sandbox_lets_bind_late(void)
{
	struct addr own = client_addr(dead_port()), any = client_addr(0);
	int listener = listener_at(tcp_socket(), server_addr(0), 16), fd;
	struct addr a = local_addr(listener);

	enter_sandbox(addr_port(&own), addr_port(&a));
	fd = socket_of(OFF);
	CHECK_EQ(bind_err(fd, own), 0);
	set_int(fd, SOL_SDP, SDP_TCP_FALLBACK, ONLY);
	CHECK_EQ(connect_err(fd, a), 0);
	exchange(fd, CHECK_OK(accept(listener, NULL, NULL)), 10000);
	/* Any port is another one than that. */
	fd = socket_of(OFF);
	CHECK_EQ(bind_err(fd, any), 0);
	set_int(fd, SOL_SDP, SDP_TCP_FALLBACK, ONLY);
	CHECK_EQ(connect_err(fd, a), EACCES);
}

static void sandbox_lets_pass(void)
{
	struct addr own = dead_addr(), a;
	int listener = listener_at(tcp_socket(), server_addr(0), 16);
	int fd;

	a = local_addr(listener);
	enter_sandbox(addr_port(&own), addr_port(&a));
	fd = socket_of(ONLY);
	CHECK_EQ(bind_err(fd, own), 0);
	CHECK_OK(listen(fd, 1));
	close(fd);
	fd = socket_of(ON);
	CHECK_EQ(connect_err(fd, a), 0);
	exchange(fd, CHECK_OK(accept(listener, NULL, NULL)), 10000);
}

/* The rules are about TCP. */
static void sandboxed_without_tcp(void)
{
	int listener = new_listener(4), client = new_socket(0);
	struct addr a = local_addr(listener);

	enter_sandbox(0, 0);
	CHECK_EQ(connect_err(client, a), 0);
	exchange(client, CHECK_OK(accept(listener, NULL, NULL)), 10000);
	CHECK_EQ(bind_err(new_socket(0), server_addr(0)), 0);
}

/* ---- control groups ---- */

/* Runs a case in a control group of its own. */
static void in_group(void (*run)(void))
{
	run_in_group("sdp_gates", run);
}

static void forbid(int type, int hook)
{
	const struct bpf_insn insns[] = { RESULT(0), EXIT };

	attach_to_group(type, hook, insns, ARRAY_SIZE(insns));
}

static int connect_hook(void)
{
	return opts.ipv6 ? BPF_CGROUP_INET6_CONNECT : BPF_CGROUP_INET4_CONNECT;
}

static void run_connect_forbidden(void)
{
	int listener = listener_of(ON);
	struct addr a = local_addr(listener);
	unsigned int i;

	forbid(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, connect_hook());
	for (i = 0; i < ARRAY_SIZE(modes); i++)
		CHECK_EQ(connect_err(socket_of(modes[i]), a), EPERM);
	watch_quiet(listener, POLLIN);
}

static void connect_forbidden(void)
{
	in_group(run_connect_forbidden);
}

/* Those of IPv6, though the socket's last attempt was for IPv4. */
static void run_other_family_forbidden(void)
{
	struct addr dead = make_addr("127.0.0.1", dead_port());
	struct addr a = make_addr("::1", 0);
	int listener, fd = socket_of(ON);

	listener = listener_at(CHECK_OK(socket(AF_INET6, SOCK_STREAM, 0)), a, 4);
	a = local_addr(listener);
	CHECK_EQ(connect_err(fd, dead), ECONNREFUSED);
	forbid(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_CONNECT);
	CHECK_EQ(connect_err(fd, a), EPERM);
	watch_quiet(listener, POLLIN);
}

static void other_family_forbidden(void)
{
	in_group(run_other_family_forbidden);
}

static void run_bind_forbidden(void)
{
	struct addr a = dead_addr();
	unsigned int i;

	forbid(BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	       opts.ipv6 ? BPF_CGROUP_INET6_BIND : BPF_CGROUP_INET4_BIND);
	for (i = 0; i < ARRAY_SIZE(modes); i++)
		CHECK_EQ(bind_err(socket_of(modes[i]), a), EPERM);
}

static void bind_forbidden(void)
{
	in_group(run_bind_forbidden);
}

static void run_creation_forbidden(void)
{
	forbid(BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE);
	CHECK_ERR(socket(test_family(opts.ipv6), SOCK_STREAM, test_protocol()),
		  EPERM);
}

static void creation_forbidden(void)
{
	in_group(run_creation_forbidden);
}

/* Another port than the program said. */
static void run_redirected(void)
{
	int listener = listener_of(ON), fd;
	struct bpf_insn insns[] = {
		INSN(0xb7, 2, 0, 0, htons(local_port(listener))),
		INSN(0x63, 1, 2, offsetof(struct bpf_sock_addr, user_port), 0),
		RESULT(1),
		EXIT,
	};
	struct addr a = dead_addr(), b = local_addr(listener), peer;
	unsigned int i;

	attach_to_group(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, connect_hook(), insns,
			ARRAY_SIZE(insns));
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		fd = socket_of(modes[i]);
		CHECK_EQ(connect_err(fd, a), 0);
		peer = peer_addr(fd);
		CHECK_EQ(addr_port(&peer), addr_port(&b));
		exchange(fd, CHECK_OK(accept(listener, NULL, NULL)), 10000);
	}
}

static void connect_redirected(void)
{
	in_group(run_redirected);
}

/* A program for the hook of connect() that sets an option of the socket. */
static void set_at_connect(int level, int name, int value)
{
	struct bpf_insn insns[] = {
		INSN(0x62, 10, 0, -4, value),
		INSN(0xb7, 2, 0, 0, level),
		INSN(0xb7, 3, 0, 0, name),
		INSN(0xbf, 4, 10, 0, 0),
		INSN(0x07, 4, 0, 0, -4),
		INSN(0xb7, 5, 0, 0, sizeof(value)),
		INSN(0x85, 0, 0, 0, BPF_FUNC_setsockopt),
		RESULT(1),
		EXIT,
	};

	attach_to_group(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, connect_hook(), insns,
			ARRAY_SIZE(insns));
}

/* What the administrator has set there is not set back by what we carry. */
static void run_option_of_hook_stays(void)
{
	int listener = listener_at(tcp_socket(), server_addr(0), 16);
	struct addr a = local_addr(listener);
	unsigned int i;
	int fd;

	set_at_connect(SOL_TCP, TCP_USER_TIMEOUT, 4321);
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		if (modes[i] == OFF && !opts.tcp)
			continue;
		fd = socket_of(modes[i]);
		set_int(fd, SOL_TCP, TCP_KEEPCNT, 7);
		CHECK_EQ(connect_err(fd, a), 0);
		CHECK_EQ(get_int(fd, SOL_TCP, TCP_USER_TIMEOUT), 4321);
		CHECK_EQ(get_int(fd, SOL_TCP, TCP_KEEPCNT), 7);
	}
}

static void option_of_hook_stays(void)
{
	in_group(run_option_of_hook_stays);
}

/* Connects as nobody, in a process that comes back with the errno. */
static int nobody_connects(int mode, struct addr a)
{
	int out[2], err;
	pid_t pid;

	CHECK_OK(pipe(out));
	pid = fork_child();
	if (!pid) {
		CHECK_OK(setgid(NOBODY));
		CHECK_OK(setuid(NOBODY));
		err = connect_err(socket_of(mode), a);
		CHECK_EQ(write(out[1], &err, sizeof(err)), sizeof(err));
		_exit(0);
	}
	CHECK_EQ(read(out[0], &err, sizeof(err)), sizeof(err));
	join_child(pid);
	return err;
}

/* Whoever goes on with the call, the program that made it is judged. */
static void run_caller_is_judged(void)
{
	const struct bpf_insn root_only[] = {
		INSN(0x85, 0, 0, 0, BPF_FUNC_get_current_uid_gid),
		INSN(0xbc, 0, 0, 0, 0),
		INSN(0x15, 0, 0, 2, 0),
		RESULT(0),
		EXIT,
		RESULT(1),
		EXIT,
	};
	int listener = listener_at(tcp_socket(), server_addr(0), 16);
	struct addr a = local_addr(listener);

	attach_to_group(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, connect_hook(), root_only,
			ARRAY_SIZE(root_only));
	CHECK_EQ(nobody_connects(ONLY, a), EPERM);
	CHECK_EQ(nobody_connects(ON, a), EPERM);
	CHECK_EQ(connect_err(socket_of(ON), a), 0);
}

static void caller_is_judged(void)
{
	in_group(run_caller_is_judged);
}

/* They are of the listener's group, whoever has created them. */
static void run_accepted_of_group(void)
{
	int listener = listener_of(ON), client[2] = { socket_of(OFF) };
	struct addr a = local_addr(listener);
	int one = 1, server, i;

	client[1] = socket_of(ONLY);
	forbid(BPF_PROG_TYPE_CGROUP_SOCKOPT, BPF_CGROUP_SETSOCKOPT);
	for (i = 0; i < 2; i++) {
		CHECK_EQ(connect_err(client[i], a), 0);
		server = CHECK_OK(accept(listener, NULL, NULL));
		CHECK_ERR(setsockopt(server, SOL_SOCKET, SO_KEEPALIVE, &one,
				     sizeof(one)), EPERM);
	}
}

static void accepted_of_group(void)
{
	in_group(run_accepted_of_group);
}

/* ---- maps of sockets ---- */

#define PSEUDO_MAP_FD	1

static int new_socket_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_SOCKMAP,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(uint64_t),
		.max_entries = 1,
	};
	int map = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));

	if (map < 0)
		sdp_skip("no maps of sockets: %s", strerror(errno));
	return map;
}

/* Who is the first one of the map; returns what the call does. */
static long first_of_map(int map, int command, uint64_t *cookie)
{
	uint32_t key = 0;
	union bpf_attr attr = {
		.map_fd = map,
		.key = (uintptr_t)&key,
		.value = (uintptr_t)cookie,
	};

	return syscall(SYS_bpf, command, &attr, sizeof(attr));
}

/* Each connection that comes takes the first place, before anybody accepts it. */
static void map_what_comes(int map)
{
	const struct bpf_insn insns[] = {
		INSN(0x61, 2, 1, offsetof(struct bpf_sock_ops, op), 0),
		INSN(0x55, 2, 0, 7, BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB),
		INSN(0x62, 10, 0, -4, 0),
		INSN(0x18, 2, PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(0xbf, 3, 10, 0, 0),
		INSN(0x07, 3, 0, 0, -4),
		INSN(0xb7, 4, 0, 0, BPF_ANY),
		INSN(0x85, 0, 0, 0, BPF_FUNC_sock_map_update),
		RESULT(1),
		EXIT,
	};

	attach_to_group(BPF_PROG_TYPE_SOCK_OPS, BPF_CGROUP_SOCK_OPS, insns,
			ARRAY_SIZE(insns));
}

static void connect_through_map(int listener, int map, bool leave)
{
	struct addr a = local_addr(listener);
	int client = tcp_socket(), server;
	uint64_t cookie;

	CHECK_EQ(connect_err(client, a), 0);
	server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_OK(first_of_map(map, BPF_MAP_LOOKUP_ELEM, &cookie));
	exchange(client, server, 100000);
	if (leave)
		CHECK_OK(first_of_map(map, BPF_MAP_DELETE_ELEM, NULL));
	exchange(client, server, 100000);
	/* Whose callbacks the socket has is no matter to its errors. */
	set_linger(client, 1, 0);
	CHECK_OK(close(client));
	/* Once it has come: a recv() that waits for it below a map says EAGAIN. */
	wait_poll(server, POLLHUP);
	CHECK_EQ(recv_until_end(server), ECONNRESET);
	CHECK_OK(close(server));
}

static void run_accepted_from_map(void)
{
	int listener = listener_of(ON), map = new_socket_map();

	map_what_comes(map);
	connect_through_map(listener, map, false);
	connect_through_map(listener, map, true);
	connect_through_map(listener, map, false);
}

/* The pointer that would lead from TCP's socket to ours is the map's then. */
static void accepted_from_map(void)
{
	in_group(run_accepted_from_map);
}

/* Security modules look for this at TCP's sockets, and ours is none to them. */
static void fast_open_connects_nothing(void)
{
	struct addr dead = server_addr(dead_port()), to;
	int listener = tcp_listener(4);
	int other = tcp_listener(4);
	int client = both_socket(0), fd = both_socket(SOCK_NONBLOCK);
	int server, on = 1;

	to = local_addr(listener);
	CHECK_OK(connect(client, &to.sa, to.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	to = local_addr(other);
	CHECK_ERR(setsockopt(client, SOL_TCP, TCP_FASTOPEN_CONNECT, &on,
			     sizeof(on)), ENOPROTOOPT);
	CHECK_ERR(send(client, "x", 1, MSG_FASTOPEN), EOPNOTSUPP);
	exchange(client, server, 1000);
	/* TCP has failed, and nobody has looked yet. */
	CHECK_ERR(connect(fd, &dead.sa, dead.len), EINPROGRESS);
	wait_poll(fd, POLLERR);
	CHECK_ERR(setsockopt(fd, SOL_TCP, TCP_FASTOPEN_CONNECT, &on,
			     sizeof(on)), ENOPROTOOPT);
	CHECK_ERR(sendto(fd, "x", 1, MSG_FASTOPEN, &to.sa, to.len), EOPNOTSUPP);
	CHECK_ERR(sendto(fd, "x", 1, MSG_FASTOPEN, &to.sa, to.len), EOPNOTSUPP);
	set_nonblock(other, true);
	CHECK_ERR(accept(other, NULL, NULL), EAGAIN);
}

static const struct sdp_case cases[] = {
	CASE(sandboxed_connect, CASE_IPV6 | CASE_TCP),
	CASE(sandboxed_connect_nonblocking, CASE_TCP),
	CASE(sandboxed_bind, CASE_IPV6 | CASE_TCP),
	CASE(sandboxed_bind_late, CASE_IPV6 | CASE_SDP_ONLY),
	CASE(sandboxed_bind_after_another, CASE_SDP_ONLY),
	CASE(sandboxed_bind_again, CASE_SDP_ONLY),
	CASE(sandbox_lets_bind_late, CASE_SDP_ONLY),
	CASE(sandbox_lets_pass, CASE_IPV6 | CASE_TCP),
	CASE(sandboxed_without_tcp, CASE_SDP_ONLY),
	CASE(connect_forbidden, CASE_IPV6 | CASE_TCP),
	CASE(other_family_forbidden, CASE_SDP_ONLY | CASE_FAMILY),
	CASE(bind_forbidden, CASE_IPV6 | CASE_TCP),
	CASE(creation_forbidden, CASE_TCP),
	CASE(connect_redirected, CASE_IPV6 | CASE_TCP),
	CASE(option_of_hook_stays, CASE_IPV6 | CASE_TCP),
	CASE(caller_is_judged, CASE_TCP),
	CASE(accepted_of_group, CASE_TCP),
	CASE(accepted_from_map, CASE_IPV6 | CASE_TCP),
	CASE(fast_open_connects_nothing, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return fallback_main(argc, argv, cases, ARRAY_SIZE(cases));
}
