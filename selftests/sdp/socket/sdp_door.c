// SPDX-License-Identifier: GPL-2.0
/*
 * The second door: SDP sockets of AF_INET and AF_INET6, by IPPROTO_SDP. With
 * --family tcp the cases say what TCP does, which is what is expected.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "sdp_test.h"

#ifndef TCP_ULP
#define TCP_ULP 31
#endif

static int door_protocol(void)
{
	return opts.tcp ? IPPROTO_TCP : IPPROTO_SDP;
}

static int door(int family)
{
	return CHECK_OK(socket(family, SOCK_STREAM, door_protocol()));
}

static struct addr mapped(const char *v4, uint16_t port)
{
	char text[64];

	snprintf(text, sizeof(text), "::ffff:%s", v4);
	return make_addr(text, port);
}

static void check_transfer(int client, int server)
{
	send_pattern(client, 1, 0, 70000, 9000);
	recv_pattern(server, 1, 0, 70000, 70000);
	send_pattern(server, 2, 0, 100, 100);
	recv_pattern(client, 2, 0, 100, 100);
}

static int door_listener(int family, struct addr a)
{
	int fd = door(family);

	CHECK_OK(bind(fd, &a.sa, a.len));
	CHECK_OK(listen(fd, 2));
	return fd;
}

/* ---- what socket() gives ---- */

static void check_described(int fd, int family)
{
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_DOMAIN), family);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_PROTOCOL), door_protocol());
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_TYPE), SOCK_STREAM);
}

static void describes_itself(void)
{
	check_described(door(AF_INET), AF_INET);
	check_described(door(AF_INET6), AF_INET6);
}

static void flags_of_type(void)
{
	int fd = CHECK_OK(socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK |
				 SOCK_CLOEXEC, door_protocol()));

	CHECK_EQ(CHECK_OK(fcntl(fd, F_GETFL)) & O_NONBLOCK, O_NONBLOCK);
	CHECK_EQ(CHECK_OK(fcntl(fd, F_GETFD)), FD_CLOEXEC);
}

static int socket_errno(int family, int type, int protocol)
{
	int fd = socket(family, type, protocol);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Whatever the inet families say of TCP's number, they say of this one. */
static void wrong_type(void)
{
	static const int families[] = { AF_INET, AF_INET6 };
	static const int types[] = { SOCK_DGRAM, SOCK_SEQPACKET, SOCK_RDM };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(families); i++)
		for (j = 0; j < ARRAY_SIZE(types); j++)
			CHECK_EQ(socket_errno(families[i], types[j],
					      door_protocol()),
				 socket_errno(families[i], types[j],
					      IPPROTO_TCP));
	CHECK_EQ(socket_errno(AF_INET, SOCK_DGRAM, door_protocol()),
		 EPROTONOSUPPORT);
}

static void wrong_protocol(void)
{
	/* The number that SMB Direct wants is not taken here. */
	CHECK_EQ(socket_errno(AF_INET, SOCK_STREAM, 257), EPROTONOSUPPORT);
	CHECK_EQ(socket_errno(AF_INET6, SOCK_STREAM, 257), EPROTONOSUPPORT);
	CHECK_EQ(socket_errno(AF_SDP, SOCK_STREAM, IPPROTO_SDP),
		 EPROTONOSUPPORT);
}

/* Nobody who asks for no protocol gets this one. */
static void no_protocol_is_tcp(void)
{
	int fd = CHECK_OK(socket(AF_INET, SOCK_STREAM, 0));

	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_PROTOCOL), IPPROTO_TCP);
}

static void no_socketpair(void)
{
	int fds[2];

	CHECK_ERR(socketpair(AF_INET, SOCK_STREAM, door_protocol(), fds),
		  EOPNOTSUPP);
}

/* ---- addresses ---- */

static void check_refused(int fd, const struct addr *a, socklen_t len, int want)
{
	CHECK_EQ(bind(fd, &a->sa, len), -1);
	CHECK_EQ(errno, want);
	CHECK_EQ(connect(fd, &a->sa, len), -1);
	CHECK_EQ(errno, want);
}

static void inet_takes_inet_only(void)
{
	struct addr v4 = make_addr(opts.server[0], 0);
	struct addr v6 = make_addr(opts.server[1], 0);
	int fd = door(AF_INET);

	check_refused(fd, &v6, v6.len, EAFNOSUPPORT);
	check_refused(fd, &v4, v4.len - 1, EINVAL);
	v4.sa.sa_family = AF_SDP;
	check_refused(fd, &v4, v4.len, EAFNOSUPPORT);
}

static void inet6_takes_inet6_only(void)
{
	struct addr v4 = make_addr(opts.server[0], 0);
	struct addr v6 = make_addr(opts.server[1], 0);
	int fd = door(AF_INET6);

	check_refused(fd, &v4, v4.len, EINVAL);
	check_refused(fd, &v4, sizeof(v4.in6), EAFNOSUPPORT);
	check_refused(fd, &v6, 23, EINVAL);
	v6.sa.sa_family = AF_SDP;
	check_refused(fd, &v6, v6.len, EAFNOSUPPORT);
}

static void check_name(struct addr got, const char *text, uint16_t port)
{
	struct addr want = make_addr(text, port);

	CHECK_EQ(got.sa.sa_family, want.sa.sa_family);
	CHECK_EQ(got.len, want.len);
	CHECK(same_addr(&got, &want));
}

/* Programs that forget the family are used to it, but for IPv4 alone. */
static void any_needs_no_family(void)
{
	struct addr any = make_addr("0.0.0.0", 0), any6 = make_addr("::", 0);
	struct addr own = make_addr(opts.server[0], 0);
	int fd = door(AF_INET);

	any.sa.sa_family = AF_UNSPEC;
	any6.sa.sa_family = AF_UNSPEC;
	own.sa.sa_family = AF_UNSPEC;
	CHECK_ERR(bind(fd, &own.sa, own.len), EAFNOSUPPORT);
	CHECK_ERR(bind(fd, &any.sa, any.len - 1), EINVAL);
	CHECK_OK(bind(fd, &any.sa, any.len));
	CHECK(local_port(fd));
	check_name(local_addr(fd), "0.0.0.0", local_port(fd));
	CHECK_ERR(bind(door(AF_INET6), &any6.sa, any6.len), EAFNOSUPPORT);
}

static void name_unbound(void)
{
	check_name(local_addr(door(AF_INET)), "0.0.0.0", 0);
	check_name(local_addr(door(AF_INET6)), "::", 0);
}

static void name_bound_to_any(void)
{
	int v4 = door_listener(AF_INET, make_addr("0.0.0.0", 0));
	int v6 = door_listener(AF_INET6, make_addr("::", 0));

	check_name(local_addr(v4), "0.0.0.0", local_port(v4));
	check_name(local_addr(v6), "::", local_port(v6));
}

/* An IPv4 address shows itself to AF_INET6 in its mapped form. */
static void name_mapped(void)
{
	int listener = door_listener(AF_INET6, mapped(opts.server[0], 0));
	struct addr to = mapped(opts.server[0], local_port(listener));
	struct addr from = mapped(opts.client[0], 0), got;
	int client = door(AF_INET6), server;

	CHECK_OK(bind(client, &from.sa, from.len));
	CHECK_OK(connect(client, &to.sa, to.len));
	got.len = sizeof(got.ss);
	server = CHECK_OK(accept(listener, &got.sa, &got.len));
	from = mapped(opts.client[0], local_port(client));
	CHECK_EQ(got.len, from.len);
	CHECK(same_addr(&got, &from));
	got = local_addr(client);
	CHECK(same_addr(&got, &from));
	got = peer_addr(client);
	CHECK(same_addr(&got, &to));
	got = local_addr(server);
	CHECK(same_addr(&got, &to));
	check_transfer(client, server);
}

/* ---- listeners ---- */

static int connect_door(int family, struct addr to)
{
	int fd = door(family);

	if (connect(fd, &to.sa, to.len) == 0)
		return fd;
	close(fd);
	return -1;
}

static void accepted_like_listener(void)
{
	int v4 = door_listener(AF_INET, make_addr(opts.server[0], 0));
	int v6 = door_listener(AF_INET6, make_addr(opts.server[1], 0));
	int fd;

	connect_door(AF_INET, local_addr(v4));
	fd = CHECK_OK(accept(v4, NULL, NULL));
	check_described(fd, AF_INET);
	CHECK_EQ(peer_addr(fd).sa.sa_family, AF_INET);
	connect_door(AF_INET6, local_addr(v6));
	fd = CHECK_OK(accept(v6, NULL, NULL));
	check_described(fd, AF_INET6);
	CHECK_EQ(peer_addr(fd).sa.sa_family, AF_INET6);
}

static void inet6_listens_to_both(void)
{
	int listener = door_listener(AF_INET6, make_addr("::", 0));
	uint16_t port = local_port(listener);
	int client, server;

	client = CHECK_OK(connect_door(AF_INET, make_addr(opts.server[0],
							  port)));
	server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(peer_addr(server).len, sizeof(struct sockaddr_in6));
	check_transfer(client, server);
	client = CHECK_OK(connect_door(AF_INET6, make_addr(opts.server[1],
							   port)));
	server = CHECK_OK(accept(listener, NULL, NULL));
	check_transfer(client, server);
}

static void v6only_shares_port(void)
{
	int v6 = door(AF_INET6), v4;
	struct addr any6 = make_addr("::", 0), any4;

	set_int(v6, SOL_IPV6, IPV6_V6ONLY, 1);
	CHECK_OK(bind(v6, &any6.sa, any6.len));
	CHECK_OK(listen(v6, 1));
	any4 = make_addr("0.0.0.0", local_port(v6));
	CHECK_EQ(connect_door(AF_INET, make_addr(opts.server[0],
						 local_port(v6))), -1);
	CHECK_EQ(errno, ECONNREFUSED);
	v4 = door_listener(AF_INET, any4);
	CHECK_OK(connect_door(AF_INET, make_addr(opts.server[0],
						 local_port(v4))));
	CHECK_OK(accept(v4, NULL, NULL));
}

/* IPv4 listens already when it turns out that IPv6 cannot. */
static void listen_after_failure(void)
{
	int other = door(AF_INET6), listener = door(AF_INET6);
	struct addr any = make_addr("::", 0), a;

	set_int(other, SOL_IPV6, IPV6_V6ONLY, 1);
	set_int(other, SOL_SOCKET, SO_REUSEADDR, 1);
	set_int(listener, SOL_SOCKET, SO_REUSEADDR, 1);
	CHECK_OK(bind(other, &any.sa, any.len));
	any = local_addr(other);
	CHECK_OK(bind(listener, &any.sa, any.len));
	CHECK_ERR(listen(listener, 1), EADDRINUSE);
	a = make_addr(opts.server[0], addr_port(&any));
	CHECK_EQ(connect_door(AF_INET, a), -1);
	CHECK_EQ(errno, ECONNREFUSED);
	CHECK_OK(close(other));
	CHECK_OK(listen(listener, 1));
	CHECK_OK(connect_door(AF_INET, a));
	CHECK_OK(accept(listener, NULL, NULL));
}

static void v6only_refuses_mapped(void)
{
	struct addr a = mapped(opts.server[0], 0);
	int fd = door(AF_INET6);

	set_int(fd, SOL_IPV6, IPV6_V6ONLY, 1);
	CHECK_ERR(bind(fd, &a.sa, a.len), EINVAL);
	a = mapped(opts.server[0], 9);
	CHECK_ERR(connect(fd, &a.sa, a.len), ENETUNREACH);
}

static void write_file(const char *path, const char *text)
{
	int fd = CHECK_OK(open(path, O_WRONLY | O_TRUNC));

	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	CHECK_OK(close(fd));
}

static void v6only_by_sysctl(void)
{
	static const char knob[] = "/proc/sys/net/ipv6/bindv6only";
	int fd;

	if (access(knob, W_OK))
		sdp_skip("%s cannot be written", knob);
	write_file(knob, "1");
	fd = socket(AF_INET6, SOCK_STREAM, door_protocol());
	write_file(knob, "0");
	CHECK_EQ(get_int(fd, SOL_IPV6, IPV6_V6ONLY), 1);
	CHECK_EQ(get_int(door(AF_INET6), SOL_IPV6, IPV6_V6ONLY), 0);
}

static void inet_listens_unbound(void)
{
	int listener = door(AF_INET), client, server;

	CHECK_OK(listen(listener, 1));
	check_name(local_addr(listener), "0.0.0.0", local_port(listener));
	client = CHECK_OK(connect_door(AF_INET,
				       make_addr(opts.server[0],
						 local_port(listener))));
	server = CHECK_OK(accept(listener, NULL, NULL));
	check_transfer(client, server);
	CHECK_EQ(connect_door(AF_INET6, make_addr(opts.server[1],
						  local_port(listener))), -1);
	CHECK_EQ(errno, ECONNREFUSED);
}

/* It is one protocol behind all doors. */
static void doors_meet(void)
{
	int inner = door_listener(AF_INET, make_addr(opts.server[0], 0));
	struct addr a = local_addr(inner);
	int client = CHECK_OK(socket(AF_SDP, SOCK_STREAM, 0));

	CHECK_OK(connect(client, &a.sa, a.len));
	check_transfer(client, CHECK_OK(accept(inner, NULL, NULL)));

	opts.ipv6 = true;
	inner = new_listener(1);
	client = CHECK_OK(connect_door(AF_INET6, local_addr(inner)));
	check_transfer(client, CHECK_OK(accept(inner, NULL, NULL)));
}

/* The socket layer lets sockets of these families have SO_REUSEPORT. */
static void reuseport_shares_the_port(void)
{
	struct addr a = make_addr(opts.server[0], 0);
	int first = door(AF_INET), second = door(AF_INET);

	set_int(first, SOL_SOCKET, SO_REUSEPORT, 1);
	set_int(second, SOL_SOCKET, SO_REUSEPORT, 1);
	CHECK_OK(bind(first, &a.sa, a.len));
	CHECK_OK(listen(first, 1));
	a = local_addr(first);
	CHECK_OK(bind(second, &a.sa, a.len));
	CHECK_OK(listen(second, 1));
}

/* ---- what the rest of the kernel takes them for ---- */

static void no_tcp_ulp(void)
{
	int listener = door_listener(AF_INET, make_addr(opts.server[0], 0));
	int client = CHECK_OK(connect_door(AF_INET, local_addr(listener)));

	CHECK_ERR(setsockopt(client, SOL_TCP, TCP_ULP, "tls", 4), ENOPROTOOPT);
}

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static void not_for_sockmap(void)
{
	int listener = door_listener(AF_INET, make_addr(opts.server[0], 0));
	int client = CHECK_OK(connect_door(AF_INET, local_addr(listener)));
	union bpf_attr create = {
		.map_type = BPF_MAP_TYPE_SOCKMAP,
		.key_size = 4,
		.value_size = 4,
		.max_entries = 1,
	};
	union bpf_attr update = { 0 };
	uint32_t key = 0;

	update.map_fd = bpf(BPF_MAP_CREATE, &create);
	if ((int)update.map_fd < 0)
		sdp_skip("no sockmap: %s", strerror(errno));
	update.key = (uintptr_t)&key;
	update.value = (uintptr_t)&client;
	CHECK_ERR(bpf(BPF_MAP_UPDATE_ELEM, &update), EOPNOTSUPP);
}

/* What /proc/net/protocols counts: those of earlier cases until they are dead. */
static int sockets_in_use(void)
{
	char line[256], name[32];
	int size, count = -1;
	FILE *f = fopen("/proc/net/protocols", "r");

	CHECK(f);
	while (count < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "%31s %d %d", name, &size, &count) != 3 ||
		    strcmp(name, "SDP"))
			count = -1;
	fclose(f);
	CHECK(count >= 0);
	return count;
}

static void counted_as_protocol(void)
{
	int fds[3];
	size_t i;

	WAIT_FOR(sockets_in_use() == 0);
	fds[0] = door(AF_INET);
	fds[1] = door(AF_INET6);
	fds[2] = CHECK_OK(socket(AF_SDP, SOCK_STREAM, 0));
	CHECK_EQ(sockets_in_use(), 3);
	for (i = 0; i < ARRAY_SIZE(fds); i++)
		CHECK_OK(close(fds[i]));
	WAIT_FOR(sockets_in_use() == 0);
}

/* Refuses every inet socket of a control group. */
static int load_refusal(void)
{
	struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_CGROUP_SOCK,
		.insns = (uintptr_t)program,
		.insn_cnt = ARRAY_SIZE(program),
		.license = (uintptr_t)"GPL",
		.expected_attach_type = BPF_CGROUP_INET_SOCK_CREATE,
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

/* The inet families take back a socket that is complete already. */
static void refused_by_cgroup(void)
{
	static const char dir[] = "/sys/fs/cgroup/sdp_door";
	char procs[64], self[16];
	union bpf_attr attr = { .attach_type = BPF_CGROUP_INET_SOCK_CREATE };
	int got4, got6;

	if (mkdir(dir, 0755) && errno != EEXIST)
		sdp_skip("no control groups: %s", strerror(errno));
	attr.attach_bpf_fd = CHECK_OK(load_refusal());
	attr.target_fd = CHECK_OK(open(dir, O_RDONLY | O_DIRECTORY));
	CHECK_OK(bpf(BPF_PROG_ATTACH, &attr));
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", dir);
	snprintf(self, sizeof(self), "%d", getpid());
	write_file(procs, self);
	got4 = socket_errno(AF_INET, SOCK_STREAM, door_protocol());
	got6 = socket_errno(AF_INET6, SOCK_STREAM, door_protocol());
	write_file("/sys/fs/cgroup/cgroup.procs", self);
	CHECK_OK(rmdir(dir));
	CHECK_EQ(got4, EPERM);
	CHECK_EQ(got6, EPERM);
	WAIT_FOR(sockets_in_use() == 0);
}

/* The inet families answer for interfaces on every socket of theirs. */
static void interface_address(void)
{
	struct ifreq want = { 0 }, got = { 0 };
	int tcp = CHECK_OK(socket(AF_INET, SOCK_STREAM, 0));

	strcpy(want.ifr_name, "lo");
	strcpy(got.ifr_name, "lo");
	CHECK_OK(ioctl(tcp, SIOCGIFADDR, &want));
	CHECK_OK(ioctl(door(AF_INET), SIOCGIFADDR, &got));
	CHECK_EQ(memcmp(&got, &want, sizeof(want)), 0);
}

/* Sockets of another namespace die with it. */
static void other_namespace(void)
{
	pid_t child = fork_child();

	if (child == 0) {
		CHECK_OK(unshare(CLONE_NEWNET));
		door_listener(AF_INET, make_addr("0.0.0.0", 0));
		door_listener(AF_INET6, make_addr("::", 0));
		_exit(0);
	}
	join_child(child);
}

static const struct sdp_case cases[] = {
	CASE(describes_itself, 0),
	CASE(flags_of_type, 0),
	CASE(wrong_type, 0),
	CASE(wrong_protocol, CASE_SDP_ONLY),
	CASE(no_protocol_is_tcp, 0),
	CASE(no_socketpair, 0),
	CASE(inet_takes_inet_only, 0),
	CASE(inet6_takes_inet6_only, 0),
	CASE(any_needs_no_family, 0),
	CASE(name_unbound, 0),
	CASE(name_bound_to_any, 0),
	CASE(name_mapped, 0),
	CASE(accepted_like_listener, 0),
	CASE(inet6_listens_to_both, 0),
	CASE(v6only_shares_port, 0),
	CASE(listen_after_failure, CASE_SDP_ONLY),
	CASE(v6only_refuses_mapped, 0),
	CASE(v6only_by_sysctl, 0),
	CASE(inet_listens_unbound, 0),
	CASE(doors_meet, CASE_SDP_ONLY),
	CASE(reuseport_shares_the_port, CASE_SDP_ONLY),
	CASE(no_tcp_ulp, CASE_SDP_ONLY),
	CASE(not_for_sockmap, CASE_SDP_ONLY),
	CASE(counted_as_protocol, CASE_SDP_ONLY),
	CASE(refused_by_cgroup, CASE_SDP_ONLY),
	CASE(interface_address, 0),
	CASE(other_namespace, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
