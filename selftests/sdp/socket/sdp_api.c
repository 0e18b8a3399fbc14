// SPDX-License-Identifier: GPL-2.0
/* The socket API of AF_SDP: creation, addresses, and what is refused how. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/un.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_test.h"

#define SYSCTL_PORTS	"/proc/sys/net/ipv4/ip_local_port_range"

static int raw_socket(int type, int protocol)
{
	return socket(test_family(false), type, protocol);
}

/* ---- socket() ---- */

static void socket_protocols(void)
{
	CHECK_OK(close(CHECK_OK(raw_socket(SOCK_STREAM, 0))));
	CHECK_OK(close(CHECK_OK(raw_socket(SOCK_STREAM, IPPROTO_TCP))));
	CHECK_ERR(raw_socket(SOCK_STREAM, IPPROTO_UDP), EPROTONOSUPPORT);
	CHECK_ERR(raw_socket(SOCK_STREAM, 250), EPROTONOSUPPORT);
}

static void socket_types(void)
{
	CHECK_ERR(raw_socket(SOCK_SEQPACKET, 0), ESOCKTNOSUPPORT);
	CHECK_ERR(raw_socket(SOCK_RDM, 0), ESOCKTNOSUPPORT);
}

static void socket_dgram_refused(void)
{
	CHECK_ERR(raw_socket(SOCK_DGRAM, 0), ESOCKTNOSUPPORT);
	CHECK_ERR(raw_socket(SOCK_RAW, 0), ESOCKTNOSUPPORT);
}

static void socket_flags(void)
{
	int plain = new_socket(0);
	int flagged = new_socket(SOCK_NONBLOCK | SOCK_CLOEXEC);

	CHECK_EQ(CHECK_OK(fcntl(plain, F_GETFL)) & O_NONBLOCK, 0);
	CHECK_EQ(CHECK_OK(fcntl(plain, F_GETFD)), 0);
	CHECK_EQ(CHECK_OK(fcntl(flagged, F_GETFL)) & O_NONBLOCK, O_NONBLOCK);
	CHECK_EQ(CHECK_OK(fcntl(flagged, F_GETFD)), FD_CLOEXEC);
}

static void socketpair_refused(void)
{
	int fds[2];

	CHECK_ERR(socketpair(test_family(false), SOCK_STREAM, test_protocol(),
			     fds), EOPNOTSUPP);
}

/* ---- bind() ---- */

static void bind_gives_port(void)
{
	struct addr want = server_addr(0), got;
	int fd = new_socket(0);

	got = local_addr(fd);
	CHECK_EQ(addr_port(&got), 0);
	CHECK_OK(bind(fd, &want.sa, want.len));
	got = local_addr(fd);
	CHECK_EQ(got.len, want.len);
	CHECK(addr_port(&got) != 0);
	want = server_addr(addr_port(&got));
	CHECK(same_addr(&got, &want));
}

static void bind_chosen_port(void)
{
	struct addr want = server_addr(dead_port()), got;
	int fd = new_socket(0);

	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	CHECK_OK(bind(fd, &want.sa, want.len));
	got = local_addr(fd);
	CHECK(same_addr(&got, &want));
}

static void bind_any(void)
{
	struct addr a = make_addr(opts.ipv6 ? "::" : "0.0.0.0", 0);
	int fd = new_socket(0);

	CHECK_OK(bind(fd, &a.sa, a.len));
	CHECK(local_port(fd) != 0);
}

static void check_bind(int fd, const char *text)
{
	struct addr a = make_addr(text, 0);

	CHECK_OK(bind(fd, &a.sa, a.len));
	CHECK(local_port(fd) != 0);
	CHECK_OK(close(fd));
}

/* One SDP socket takes the addresses of both families. */
static void bind_dual_stack(void)
{
	char mapped[64];

	snprintf(mapped, sizeof(mapped), "::ffff:%s", opts.server[0]);
	check_bind(new_socket(0), "0.0.0.0");
	check_bind(new_socket(0), "::");
	check_bind(new_socket(0), opts.server[0]);
	check_bind(new_socket(0), mapped);
}

static void bind_family_27(void)
{
	struct addr a = make_addr(opts.server[0], 0), got;
	int fd = new_socket(0);

	a.sa.sa_family = AF_SDP;
	CHECK_OK(bind(fd, &a.sa, a.len));
	got = local_addr(fd);
	CHECK_EQ(got.sa.sa_family, AF_INET);
	CHECK_EQ(got.in4.sin_addr.s_addr, a.in4.sin_addr.s_addr);
}

static void bind_wrong_family(void)
{
	struct addr a = server_addr(0);
	int fd = new_socket(0);

	a.sa.sa_family = AF_UNIX;
	CHECK_ERR(bind(fd, &a.sa, a.len), EAFNOSUPPORT);
	a.sa.sa_family = 0xffff;
	CHECK_ERR(bind(fd, &a.sa, a.len), EAFNOSUPPORT);
}

static void bind_bad_address(void)
{
	struct addr a = server_addr(0);
	int fd = new_socket(0);

	CHECK_ERR(bind(fd, &a.sa, a.len - 5), EINVAL);
	CHECK_ERR(bind(fd, &a.sa, 1), EINVAL);
	CHECK_ERR(bind(fd, &a.sa, 0), EINVAL);
	CHECK_ERR(bind(fd, &a.sa, sizeof(a.ss) + 1), EINVAL);
	CHECK_ERR(bind(fd, (void *)1, a.len), EFAULT);
	CHECK_OK(bind(fd, &a.sa, a.len));
}

static void bind_foreign_address(void)
{
	struct addr a = make_addr(opts.ipv6 ? "2001:db8::77" : "203.0.113.77",
				  0);
	int fd = new_socket(0);

	CHECK_ERR(bind(fd, &a.sa, a.len), EADDRNOTAVAIL);
}

static void bind_twice(void)
{
	struct addr a = server_addr(0);
	int fd = new_socket(0);

	CHECK_OK(bind(fd, &a.sa, a.len));
	CHECK_ERR(bind(fd, &a.sa, a.len), EINVAL);
}

static void bind_port_in_use(void)
{
	int listener = new_listener(1), fd = new_socket(0);
	struct addr a = local_addr(listener);

	CHECK_ERR(bind(fd, &a.sa, a.len), EADDRINUSE);
	/* A live listener is not to be pushed aside with this either. */
	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	CHECK_ERR(bind(fd, &a.sa, a.len), EADDRINUSE);
	CHECK_OK(close(listener));
	WAIT_FOR(bind(fd, &a.sa, a.len) == 0);
}

static void bind_reuseaddr_shares(void)
{
	struct addr a = server_addr(0);
	int one = new_socket(0), two = new_socket(0);

	set_int(one, SOL_SOCKET, SO_REUSEADDR, 1);
	set_int(two, SOL_SOCKET, SO_REUSEADDR, 1);
	CHECK_OK(bind(one, &a.sa, a.len));
	a = local_addr(one);
	CHECK_OK(bind(two, &a.sa, a.len));
	/* The connection manager lets no listener share, not even the first. */
	if (!opts.tcp) {
		CHECK_ERR(listen(one, 1), EADDRINUSE);
		CHECK_OK(close(two));
		CHECK_OK(listen(one, 1));
		return;
	}
	CHECK_OK(listen(one, 1));
	CHECK_ERR(listen(two, 1), EADDRINUSE);
}

/* ---- ports that TCP has ---- */

/* Not of the usual range, of which earlier connections over iWARP may have some. */
#define FIRST_PORT	21000
#define LAST_PORT	21015

static char ports_before[64];

/* Returns a TCP socket that has a port, or -1. */
static int take_port(uint16_t port)
{
	int fd = CHECK_OK(socket(AF_INET, SOCK_STREAM, 0));
	struct addr a = server_addr(port);

	if (!bind(fd, &a.sa, a.len))
		return fd;
	close(fd);
	return -1;
}

static bool is_free(uint16_t port)
{
	int fd = take_port(port);

	return fd >= 0 && !close(fd);
}

static void take_all_ports_but_one(void)
{
	uint16_t port;

	for (port = FIRST_PORT; port < LAST_PORT; port++)
		CHECK(take_port(port) >= 0);
}

static void listen_on_any_port(void)
{
	struct addr a = server_addr(0);
	char range[64];
	int i, fd;

	take_all_ports_but_one();
	snprintf(range, sizeof(range), "%d %d", FIRST_PORT, LAST_PORT);
	CHECK_EQ(write_sysctl(SYSCTL_PORTS, range), 0);
	/* More than once: who does not look may be lucky. */
	for (i = 0; i < 8; i++) {
		WAIT_FOR(is_free(LAST_PORT));
		fd = new_socket(0);
		CHECK_OK(bind(fd, &a.sa, a.len));
		CHECK_OK(listen(fd, 1));
		CHECK_OK(close(fd));
	}
}

static void ports_as_before(void)
{
	CHECK_EQ(write_sysctl(SYSCTL_PORTS, ports_before), 0);
}

/* iWARP listens with TCP's ports. */
static void bind_gives_port_to_listen_on(void)
{
	if (access(SYSCTL_PORTS, W_OK))
		sdp_skip("needs root");
	read_sysctl(SYSCTL_PORTS, ports_before, sizeof(ports_before));
	run_and_undo(listen_on_any_port, ports_as_before);
}

/* ---- names ---- */

static void names_of_pair(void)
{
	struct pair p = new_pair();
	struct addr a = local_addr(p.client), b = peer_addr(p.server);
	struct addr want = client_addr(addr_port(&a));

	CHECK(same_addr(&a, &b));
	CHECK(same_addr(&a, &want));
	a = peer_addr(p.client);
	b = local_addr(p.server);
	CHECK(same_addr(&a, &b));
	want = server_addr(addr_port(&a));
	CHECK(same_addr(&a, &want));
}

static void accept_gives_address(void)
{
	int listener = new_listener(1);
	int client = connect_to(listener);
	struct addr got = { .len = sizeof(got.ss) }, want = local_addr(client);
	int fd = CHECK_OK(accept4(listener, &got.sa, &got.len, SOCK_CLOEXEC));

	CHECK_EQ(got.len, want.len);
	CHECK(same_addr(&got, &want));
	CHECK_EQ(CHECK_OK(fcntl(fd, F_GETFD)), FD_CLOEXEC);
	CHECK_EQ(CHECK_OK(fcntl(fd, F_GETFL)) & O_NONBLOCK, 0);
}

/* A short buffer gets what fits, and the length that was needed. */
static void name_cut_short(void)
{
	struct addr full, part;
	int fd = new_listener(1);

	memset(&part, 0x5a, sizeof(part));
	part.len = 4;
	full = local_addr(fd);
	CHECK_OK(getsockname(fd, &part.sa, &part.len));
	CHECK_EQ(part.len, full.len);
	CHECK_EQ(memcmp(&part.ss, &full.ss, 4), 0);
	CHECK_EQ(((unsigned char *)&part.ss)[4], 0x5a);
	part.len = -1;
	CHECK_ERR(getsockname(fd, &part.sa, &part.len), EINVAL);
	part.len = sizeof(part.ss);
	CHECK_ERR(getsockname(fd, (void *)1, &part.len), EFAULT);
}

static void peer_name_unconnected(void)
{
	struct addr a = { .len = sizeof(a.ss) };
	int fd = new_socket(0), listener = new_listener(1);

	CHECK_ERR(getpeername(fd, &a.sa, &a.len), ENOTCONN);
	CHECK_ERR(getpeername(listener, &a.sa, &a.len), ENOTCONN);
}

/* ---- listen(), accept(), connect() in the wrong state ---- */

/* An SDP socket that nobody has bound takes IPv4, as its clients of old expect. */
static void listen_binds_itself(void)
{
	int listener = new_socket(0), fd = new_client(0);
	struct addr a;

	CHECK_OK(listen(listener, 1));
	CHECK(local_port(listener) != 0);
	a = server_addr(local_port(listener));
	CHECK_OK(connect(fd, &a.sa, a.len));
	CHECK_OK(accept(listener, NULL, NULL));
}

static void listen_twice_changes_backlog(void)
{
	int listener = new_listener(1);

	CHECK_OK(listen(listener, 8));
	connect_to(listener);
	CHECK_OK(accept(listener, NULL, NULL));
}

static void listen_on_connected(void)
{
	struct pair p = new_pair();

	CHECK_ERR(listen(p.client, 1), EINVAL);
	CHECK_ERR(listen(p.server, 1), EINVAL);
}

static void accept_wrong_state(void)
{
	struct pair p = new_pair();
	int fd = new_socket(0);

	CHECK_ERR(accept(fd, NULL, NULL), EINVAL);
	CHECK_ERR(accept(p.server, NULL, NULL), EINVAL);
}

static void accept_nonblocking_empty(void)
{
	int listener = new_listener(1);

	set_nonblock(listener, true);
	CHECK_ERR(accept(listener, NULL, NULL), EAGAIN);
	connect_to(listener);
	WAIT_FOR(accept(listener, NULL, NULL) >= 0);
}

static void accept_timeout(void)
{
	int listener = new_listener(1);

	set_timeout(listener, SO_RCVTIMEO, 50);
	CHECK_ERR(accept(listener, NULL, NULL), EAGAIN);
}

static void connect_wrong_state(void)
{
	int listener = new_listener(1);
	struct addr a = local_addr(listener);
	int client = connect_to(listener);
	int server = CHECK_OK(accept(listener, NULL, NULL));

	CHECK_ERR(connect(listener, &a.sa, a.len), EISCONN);
	CHECK_ERR(connect(client, &a.sa, a.len), EISCONN);
	CHECK_ERR(connect(server, &a.sa, a.len), EISCONN);
}

static void bind_on_connected(void)
{
	struct pair p = new_pair();
	struct addr a = client_addr(0);

	CHECK_ERR(bind(p.client, &a.sa, a.len), EINVAL);
	CHECK_ERR(bind(p.server, &a.sa, a.len), EINVAL);
}

/* ---- data on a socket without a connection ---- */

static void send_unconnected(void)
{
	int fd = new_socket(0);

	CHECK_ERR(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	CHECK_ERR(send(new_listener(1), "x", 1, MSG_NOSIGNAL), EPIPE);
}

static void recv_unconnected(void)
{
	char c;

	CHECK_ERR(recv(new_socket(0), &c, 1, 0), ENOTCONN);
	CHECK_ERR(recv(new_listener(1), &c, 1, 0), ENOTCONN);
}

static void shutdown_unconnected(void)
{
	CHECK_ERR(shutdown(new_socket(0), SHUT_RDWR), ENOTCONN);
	CHECK_ERR(shutdown(new_pair().client, 3), EINVAL);
}

static void ioctl_wrong_state(void)
{
	int listener = new_listener(1), value;

	CHECK_ERR(ioctl(listener, SIOCINQ, &value), EINVAL);
	CHECK_ERR(ioctl(listener, SIOCOUTQ, &value), EINVAL);
	CHECK_ERR(ioctl(new_pair().client, 0x12345678, &value), ENOTTY);
}

static const struct sdp_case cases[] = {
	CASE(socket_protocols, CASE_FAMILY),
	CASE(socket_types, CASE_FAMILY),
	CASE(socket_dgram_refused, CASE_SDP_ONLY | CASE_FAMILY),
	CASE(socket_flags, 0),
	CASE(socketpair_refused, 0),
	CASE(bind_gives_port, CASE_IPV6),
	CASE(bind_chosen_port, CASE_IPV6),
	CASE(bind_any, CASE_IPV6),
	CASE(bind_dual_stack, CASE_SDP_ONLY | CASE_FAMILY),
	CASE(bind_family_27, CASE_SDP_ONLY | CASE_FAMILY),
	CASE(bind_wrong_family, CASE_IPV6),
	CASE(bind_bad_address, CASE_IPV6),
	CASE(bind_foreign_address, CASE_IPV6),
	CASE(bind_twice, 0),
	CASE(bind_port_in_use, CASE_IPV6),
	CASE(bind_reuseaddr_shares, 0),
	CASE(bind_gives_port_to_listen_on, 0),
	CASE(names_of_pair, CASE_IPV6),
	CASE(accept_gives_address, CASE_IPV6),
	CASE(name_cut_short, 0),
	CASE(peer_name_unconnected, 0),
	CASE(listen_binds_itself, 0),
	CASE(listen_twice_changes_backlog, 0),
	CASE(listen_on_connected, 0),
	CASE(accept_wrong_state, 0),
	CASE(accept_nonblocking_empty, 0),
	CASE(accept_timeout, 0),
	CASE(connect_wrong_state, 0),
	CASE(bind_on_connected, 0),
	CASE(send_unconnected, 0),
	CASE(recv_unconnected, 0),
	CASE(shutdown_unconnected, 0),
	CASE(ioctl_wrong_state, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
