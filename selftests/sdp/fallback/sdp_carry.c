// SPDX-License-Identifier: GPL-2.0
/*
 * Fallback to TCP: options that the program has set, those that it has not, and
 * what is known of the connection.
 */
#define _GNU_SOURCE
#include <asm/byteorder.h>
#include <fcntl.h>
#include <linux/in6.h>
#include <linux/sdp.h>
#include <netinet/tcp.h>
#include <poll.h>

#include "sdp_fallback.h"

#ifndef TCP_ULP
#define TCP_ULP 31
#endif
/* Of <linux/in.h>, which does not go with glibc's headers. */
#ifndef IP_LOCAL_PORT_RANGE
#define IP_LOCAL_PORT_RANGE 51
#endif

static struct addr loopback(uint16_t port)
{
	return make_addr(opts.ipv6 ? "::1" : "127.0.0.1", port);
}

static int made_tcp_only(int fd)
{
	if (!opts.tcp)
		set_int(fd, SOL_SDP, SDP_TCP_FALLBACK, ONLY);
	return fd;
}

static int tcp_only(void)
{
	return made_tcp_only(new_socket(0));
}

/* One that has IP's and IPv6's options itself. */
static int door_tcp_only(int family)
{
	int protocol = opts.tcp ? IPPROTO_TCP : IPPROTO_SDP;

	return made_tcp_only(CHECK_OK(socket(family, SOCK_STREAM, protocol)));
}

static void connect_fd(int fd, int listener)
{
	struct addr a = local_addr(listener);

	CHECK_OK(connect(fd, &a.sa, a.len));
}

struct option {
	int level, name, value;
};

static void set_options(int fd, const struct option *o, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		set_int(fd, o[i].level, o[i].name, o[i].value);
}

static void check_options(int fd, const struct option *o, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (get_int(fd, o[i].level, o[i].name) != o[i].value)
			FAIL("option %d of level %d: expected %d, got %d",
			     o[i].name, o[i].level, o[i].value,
			     get_int(fd, o[i].level, o[i].name));
}

static const struct option v4_options[] = {
	{ SOL_IP, IP_TTL, 42 },
	{ SOL_IP, IP_TOS, 0x10 },
	{ SOL_IP, IP_FREEBIND, 1 },
	{ SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1 },
	{ SOL_IP, IP_RECVERR, 1 },
	{ SOL_IP, IP_RECVTTL, 1 },
	{ SOL_IP, IP_RECVTOS, 1 },
	{ SOL_IP, IP_PKTINFO, 1 },
	{ SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT },
	{ SOL_TCP, TCP_WINDOW_CLAMP, 65536 },
};

static const struct option v6_options[] = {
	{ SOL_IPV6, IPV6_UNICAST_HOPS, 43 },
	{ SOL_IPV6, IPV6_TCLASS, 0x10 },
	{ SOL_IPV6, IPV6_RECVERR, 1 },
	{ SOL_IPV6, IPV6_RECVHOPLIMIT, 1 },
	{ SOL_IPV6, IPV6_RECVTCLASS, 1 },
	{ SOL_IPV6, IPV6_RECVPKTINFO, 1 },
	{ SOL_IPV6, IPV6_DONTFRAG, 1 },
	{ SOL_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DONT },
	{ SOL_TCP, TCP_WINDOW_CLAMP, 65536 },
};

static void carried_to_connect(void)
{
	const struct option *o = opts.ipv6 ? v6_options : v4_options;
	unsigned int count = opts.ipv6 ? ARRAY_SIZE(v6_options) :
					 ARRAY_SIZE(v4_options);
	int listener = listener_at(tcp_socket(), loopback(0), 4);
	int fd = tcp_only();

	set_options(fd, o, count);
	check_options(fd, o, count);
	connect_fd(fd, listener);
	check_options(fd, o, count);
}

static void carried_to_listen(void)
{
	static const struct option o[] = {
		{ SOL_IP, IP_TTL, 42 }, { SOL_TCP, TCP_WINDOW_CLAMP, 65536 },
	};
	int fd = tcp_only(), client, server;

	set_options(fd, o, ARRAY_SIZE(o));
	listener_at(fd, loopback(0), 4);
	client = tcp_socket();
	connect_fd(client, fd);
	server = CHECK_OK(accept(fd, NULL, NULL));
	check_options(server, o, ARRAY_SIZE(o));
}

/* The peer is told of it when the connection begins; afterwards it would be too late. */
static void segment_size_is_carried(void)
{
	int listener = listener_at(tcp_socket(), loopback(0), 4);
	int fd = tcp_only(), server;

	set_int(fd, SOL_TCP, TCP_MAXSEG, 600);
	connect_fd(fd, listener);
	server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK(get_int(server, SOL_TCP, TCP_MAXSEG) <= 600);
	exchange(fd, server, 100000);
}

/* Those that IP and IPv6 keep themselves.  "lo" is the first interface. */
#define LO __constant_htonl(1)

static const struct option v4_kept[] = {
	{ SOL_IP, IP_UNICAST_IF, LO },
	{ SOL_IP, IP_MULTICAST_ALL, 0 },
	{ SOL_IP, IP_MULTICAST_LOOP, 0 },
	{ SOL_IP, IP_RECVOPTS, 1 },
	{ SOL_IP, IP_RETOPTS, 1 },
	{ SOL_IP, IP_PASSSEC, 1 },
	{ SOL_IP, IP_RECVORIGDSTADDR, 1 },
	{ SOL_IP, IP_CHECKSUM, 1 },
	{ SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1 },
};

static const struct option v6_kept[] = {
	{ SOL_IPV6, IPV6_UNICAST_IF, LO },
	{ SOL_IPV6, IPV6_ADDR_PREFERENCES,
	  IPV6_PREFER_SRC_TMP | IPV6_PREFER_SRC_HOME },
	{ SOL_IPV6, IPV6_AUTOFLOWLABEL, 0 },
	{ SOL_IPV6, IPV6_FLOWINFO_SEND, 1 },
	{ SOL_IPV6, IPV6_FREEBIND, 1 },
	{ SOL_IPV6, IPV6_MULTICAST_ALL, 0 },
	{ SOL_IPV6, IPV6_MULTICAST_LOOP, 0 },
	{ SOL_IPV6, IPV6_RECVORIGDSTADDR, 1 },
	{ SOL_IPV6, IPV6_RECVRTHDR, 1 },
	{ SOL_IPV6, IPV6_RECVHOPOPTS, 1 },
	{ SOL_IPV6, IPV6_RECVDSTOPTS, 1 },
	{ SOL_IPV6, IPV6_RECVPATHMTU, 1 },
	{ SOL_IPV6, IPV6_RECVFRAGSIZE, 1 },
	{ SOL_IP, IP_UNICAST_IF, LO },
	{ SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1 },
};

static const struct option *kept(unsigned int *count)
{
	*count = opts.ipv6 ? ARRAY_SIZE(v6_kept) : ARRAY_SIZE(v4_kept);
	return opts.ipv6 ? v6_kept : v4_kept;
}

static int door_of_test(void)
{
	return door_tcp_only(opts.ipv6 ? AF_INET6 : AF_INET);
}

static void kept_is_carried_to_connect(void)
{
	int listener = listener_at(tcp_socket(), loopback(0), 4);
	int fd = door_of_test();
	const struct option *o;
	unsigned int count;

	o = kept(&count);
	set_options(fd, o, count);
	check_options(fd, o, count);
	connect_fd(fd, listener);
	check_options(fd, o, count);
	exchange(fd, CHECK_OK(accept(listener, NULL, NULL)), 10000);
}

static void kept_is_carried_to_listen(void)
{
	int fd = door_of_test(), client, server;
	const struct option *o;
	unsigned int count;

	o = kept(&count);
	set_options(fd, o, count - 1);
	listener_at(fd, loopback(0), 4);
	/* A listener goes on giving TCP what it is given. */
	set_options(fd, o + count - 1, 1);
	client = tcp_socket();
	connect_fd(client, fd);
	server = CHECK_OK(accept(fd, NULL, NULL));
	check_options(server, o, count);
	exchange(client, server, 10000);
}

#define FIRST_PORT 40000
#define LAST_PORT 40099

static void check_port(int fd)
{
	CHECK(local_port(fd) >= FIRST_PORT && local_port(fd) <= LAST_PORT);
}

/* Where the port comes from has to be known before there is one. */
static void ports_are_of_the_range(void)
{
	int listener = listener_at(tcp_socket(), loopback(0), 4);
	int bound = door_of_test(), fd = door_of_test();
	int range = LAST_PORT << 16 | FIRST_PORT;
	struct addr a = loopback(0);

	if (setsockopt(fd, SOL_IP, IP_LOCAL_PORT_RANGE, &range, sizeof(range)))
		sdp_skip("IP_LOCAL_PORT_RANGE: %s", strerror(errno));
	connect_fd(fd, listener);
	check_port(fd);
	CHECK_EQ(get_int(fd, SOL_IP, IP_LOCAL_PORT_RANGE), range);
	set_int(bound, SOL_IP, IP_LOCAL_PORT_RANGE, range);
	CHECK_OK(bind(bound, &a.sa, a.len));
	check_port(bound);
	connect_fd(bound, listener);
	check_port(bound);
}

/* Addresses that nobody has, of the blocks for documentation. */
static void binds_freely(void)
{
	struct addr a = make_addr(opts.ipv6 ? "2001:db8::1" : "192.0.2.1", 0);
	int fd = door_of_test(), one = 1;

	CHECK_ERR(bind(fd, &a.sa, a.len), EADDRNOTAVAIL);
	CHECK_OK(setsockopt(fd, opts.ipv6 ? SOL_IPV6 : SOL_IP,
			    opts.ipv6 ? IPV6_FREEBIND : IP_FREEBIND, &one,
			    sizeof(one)));
	CHECK_OK(bind(fd, &a.sa, a.len));
}

/* Its TCP socket is one of IPv4. */
static void six_binds_freely_to_four(void)
{
	struct addr a = make_addr("::ffff:192.0.2.1", 0);
	int fd = door_tcp_only(AF_INET6);

	set_int(fd, SOL_IPV6, IPV6_FREEBIND, 1);
	CHECK_OK(bind(fd, &a.sa, a.len));
}

/* Both sides have the port that bind() says, and TCP keeps it. */
static void bind_takes_a_port_at_once(void)
{
	int listener = listener_at(tcp_socket(), loopback(0), 4);
	struct addr a = loopback(0);
	int fd = tcp_only(), port;

	set_int(fd, SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1);
	CHECK_OK(bind(fd, &a.sa, a.len));
	port = local_port(fd);
	CHECK(port);
	connect_fd(fd, listener);
	CHECK_EQ(local_port(fd), port);
	CHECK_EQ(get_int(fd, SOL_IP, IP_BIND_ADDRESS_NO_PORT), 1);
}

static bool accept_marks(bool on)
{
	int fd = open("/proc/sys/net/ipv4/tcp_fwmark_accept", O_WRONLY);
	bool ok = fd >= 0 && write(fd, on ? "1" : "0", 1) == 1;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* A connection may come with a mark, which is TCP's to keep. */
static void accepted_with_mark(void)
{
	int listener = listener_at(tcp_only(), loopback(0), 4);
	int client = tcp_socket(), server;

	if (!accept_marks(true))
		sdp_skip("no net.ipv4.tcp_fwmark_accept");
	set_int(client, SOL_SOCKET, SO_MARK, 7);
	connect_fd(client, listener);
	accept_marks(false);
	server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(get_int(server, SOL_SOCKET, SO_MARK), 7);
	/* Nor does it go when another option is set. */
	set_timeout(server, SO_RCVTIMEO, 20000);
	exchange(client, server, 10000);
	CHECK_EQ(get_int(server, SOL_SOCKET, SO_MARK), 7);
}

/* So may that of a client which RDMA has refused. */
static void mark_of_the_client(void)
{
	int listener = listener_at(tcp_socket(), loopback(0), 4);
	int client = both_socket(0), server;

	set_int(client, SOL_SOCKET, SO_MARK, 7);
	if (!accept_marks(true))
		sdp_skip("no net.ipv4.tcp_fwmark_accept");
	connect_fd(client, listener);
	accept_marks(false);
	server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(reason(client), NO_DEVICE);
	CHECK_EQ(get_int(client, SOL_SOCKET, SO_MARK), 7);
	CHECK_EQ(get_int(server, SOL_SOCKET, SO_MARK), 7);
	exchange(client, server, 10000);
}

static void peeks_again(void)
{
	int listener = listener_at(tcp_only(), loopback(0), 4);
	int client = tcp_socket(), server, zero = 0;
	char buf[3];

	connect_fd(client, listener);
	server = CHECK_OK(accept(listener, NULL, NULL));
	send_text(client, "abcdef", 0);
	wait_inq(server, 6);
	if (setsockopt(server, SOL_SOCKET, SO_PEEK_OFF, &zero, sizeof(zero)))
		sdp_skip("SO_PEEK_OFF: %s", strerror(errno));
	CHECK_EQ(recv(server, buf, 3, MSG_PEEK), 3);
	CHECK(!memcmp(buf, "abc", 3));
	CHECK_EQ(recv(server, buf, 3, MSG_PEEK), 3);
	if (!memcmp(buf, "abc", 3))
		sdp_skip("this kernel's TCP knows no SO_PEEK_OFF");
	CHECK(!memcmp(buf, "def", 3));
	/* Another option does not take it back, the same value does. */
	set_timeout(server, SO_RCVTIMEO, 20000);
	set_nonblock(server, true);
	CHECK_ERR(recv(server, buf, 3, MSG_PEEK), EAGAIN);
	set_int(server, SOL_SOCKET, SO_PEEK_OFF, 0);
	CHECK_EQ(recv(server, buf, 3, MSG_PEEK), 3);
	CHECK(!memcmp(buf, "abc", 3));
}

static void info_shows_tcp(void)
{
	int listener = listener_at(tcp_only(), loopback(0), 4);
	int client = tcp_socket(), server;
	struct sdp_info info = {};
	socklen_t len = sizeof(info);

	connect_fd(client, listener);
	server = CHECK_OK(accept(listener, NULL, NULL));
	send_text(client, "text", 0);
	wait_inq(server, 4);
	CHECK_OK(getsockopt(server, SOL_SDP, SDP_INFO, &info, &len));
	CHECK_EQ(info.sdpi_state, TCP_ESTABLISHED);
	CHECK_EQ(info.sdpi_unread, 4);
	CHECK_OK(shutdown(client, SHUT_WR));
	wait_poll(server, POLLRDHUP);
	len = sizeof(info);
	CHECK_OK(getsockopt(server, SOL_SDP, SDP_INFO, &info, &len));
	CHECK_EQ(info.sdpi_state, TCP_CLOSE_WAIT);
}

/* It would take the file for its own. */
static void no_smc_upon_tcp(void)
{
	int fd = both_socket(SOCK_NONBLOCK);
	struct addr dead = server_addr(dead_port());

	CHECK_ERR(connect(fd, &dead.sa, dead.len), EINPROGRESS);
	wait_poll(fd, POLLHUP);
	CHECK_ERR(setsockopt(fd, SOL_TCP, TCP_ULP, "smc", 3), ENOENT);
	CHECK_ERR(setsockopt(fd, SOL_TCP, TCP_ULP, "", 0), EINVAL);
}

struct connects {
	int fd;
	struct addr to;
	bool over;
};

static void *connect_often(void *arg)
{
	struct connects *c = arg;

	while (!__atomic_load_n(&c->over, __ATOMIC_RELAXED))
		connect(c->fd, &c->to.sa, c->to.len);
	return NULL;
}

/*
 * One of them may undo what the other is about to go on with.  To no port that the
 * kernel hands out: a socket that asks for one often enough meets itself.
 */
static void two_threads_connect(void)
{
	struct connects c = { tcp_only(), loopback(1) };
	int listener = listener_at(tcp_socket(), loopback(0), 4), server;
	uint64_t end = now_ms() + 500;
	pthread_t thread[2];
	struct addr a;

	thread_start(&thread[0], connect_often, &c);
	thread_start(&thread[1], connect_often, &c);
	while (now_ms() < end)
		pause_a_bit();
	__atomic_store_n(&c.over, true, __ATOMIC_RELAXED);
	thread_join(thread[0]);
	thread_join(thread[1]);
	/* The last of them may have left an error behind. */
	get_int(c.fd, SOL_SOCKET, SO_ERROR);
	a = local_addr(listener);
	if (connect(c.fd, &a.sa, a.len))
		CHECK_OK(connect(c.fd, &a.sa, a.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	exchange(c.fd, server, 10000);
}

/* IPV6_V6ONLY is of the socket, and not of the attempt that TCP was first needed for. */
static void v6only_is_carried(int before, int after)
{
	int fd = door_tcp_only(AF_INET6), tcp = CHECK_OK(socket(AF_INET, SOCK_STREAM, 0));
	struct addr nobody = make_addr("::1", 1), any = make_addr("::", 0), a;

	set_int(fd, SOL_IPV6, IPV6_V6ONLY, before);
	CHECK_ERR(connect(fd, &nobody.sa, nobody.len), ECONNREFUSED);
	set_int(fd, SOL_IPV6, IPV6_V6ONLY, after);
	listener_at(fd, any, 4);
	a = make_addr("127.0.0.1", local_port(fd));
	if (after) {
		CHECK_ERR(connect(tcp, &a.sa, a.len), ECONNREFUSED);
	} else {
		CHECK_OK(connect(tcp, &a.sa, a.len));
		exchange(tcp, CHECK_OK(accept(fd, NULL, NULL)), 10000);
	}
}

static void v6only_of_the_next_attempt(void)
{
	v6only_is_carried(0, 1);
	v6only_is_carried(1, 0);
}

static const struct sdp_case cases[] = {
	CASE(carried_to_connect, CASE_IPV6 | CASE_TCP),
	CASE(carried_to_listen, CASE_TCP),
	CASE(segment_size_is_carried, CASE_IPV6 | CASE_TCP),
	CASE(kept_is_carried_to_connect, CASE_IPV6 | CASE_TCP),
	CASE(kept_is_carried_to_listen, CASE_IPV6 | CASE_TCP),
	CASE(ports_are_of_the_range, CASE_IPV6 | CASE_TCP),
	CASE(binds_freely, CASE_IPV6 | CASE_TCP),
	CASE(six_binds_freely_to_four, CASE_TCP),
	CASE(bind_takes_a_port_at_once, CASE_SDP_ONLY),
	CASE(accepted_with_mark, CASE_TCP),
	CASE(mark_of_the_client, CASE_SDP_ONLY | CASE_IPV6),
	CASE(peeks_again, CASE_TCP),
	CASE(v6only_of_the_next_attempt, CASE_TCP),
	CASE(info_shows_tcp, CASE_SDP_ONLY),
	CASE(no_smc_upon_tcp, CASE_SDP_ONLY),
	CASE(two_threads_connect, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return fallback_main(argc, argv, cases, ARRAY_SIZE(cases));
}
