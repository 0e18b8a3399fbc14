// SPDX-License-Identifier: GPL-2.0
/*
 * Options of AF_SDP that say which way a connection takes and what its packets
 * look like: SO_BINDTODEVICE, IP_TOS, IPV6_TCLASS. Both ends of the wire are
 * in this machine, so that its packets can be looked at, and its routes changed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "sdp_memory.h"

#define ROCE_PORT 4791

/* The interface that has an address. */
static void find_interface(struct addr want, char name[IF_NAMESIZE])
{
	struct ifaddrs *list, *i;
	struct addr a;

	CHECK_OK(getifaddrs(&list));
	for (i = list; i; i = i->ifa_next) {
		if (!i->ifa_addr ||
		    i->ifa_addr->sa_family != want.sa.sa_family)
			continue;
		memcpy(&a.ss, i->ifa_addr, want.len);
		if (same_addr(&a, &want)) {
			strcpy(name, i->ifa_name);
			freeifaddrs(list);
			return;
		}
	}
	sdp_skip("the address is on another machine");
}

static void bind_to_device(int fd, const char *name)
{
	CHECK_OK(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name,
			    strlen(name) + 1));
}

/* ---- SO_BINDTODEVICE ---- */

static void connect_from_device(void)
{
	int listener = new_listener(1), fd = new_socket(0), server;
	struct addr a = local_addr(listener), want = client_addr(0), got;
	char name[IF_NAMESIZE];

	find_interface(want, name);
	bind_to_device(fd, name);
	CHECK_OK(connect(fd, &a.sa, a.len));
	got = local_addr(fd);
	want = client_addr(addr_port(&got));
	CHECK(same_addr(&got, &want));
	server = CHECK_OK(accept(listener, NULL, NULL));
	exchange(fd, server, 1000);
}

static void connect_from_bound_address(void)
{
	int listener = new_listener(1), fd = new_client(0);
	struct addr a = local_addr(listener);
	char name[IF_NAMESIZE];

	find_interface(client_addr(0), name);
	bind_to_device(fd, name);
	CHECK_OK(connect(fd, &a.sa, a.len));
}

/* The address says one interface, the option another. */
static void connect_from_other_device(void)
{
	int listener = new_listener(1), fd = new_client(0);
	struct addr a = local_addr(listener);
	char name[IF_NAMESIZE];

	find_interface(server_addr(0), name);
	bind_to_device(fd, name);
	CHECK_ERR(connect(fd, &a.sa, a.len), ENETUNREACH);
}

/*
 * New kernels know the RDMA device of an address of their own behind lo, too.  What it sends to
 * itself the test bed's routes bring to the other one, which takes nothing from there.
 */
static void connect_from_loopback(void)
{
	int listener = new_listener(1), fd = new_socket(0);
	struct timeval patience = { .tv_sec = 5 };
	struct addr a = local_addr(listener);

	bind_to_device(fd, "lo");
	CHECK_OK(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)));
	CHECK_EQ(connect(fd, &a.sa, a.len), -1);
	if (errno == EINPROGRESS)
		sdp_skip("this kernel finds the device behind lo");
	CHECK_EQ(errno, ENETUNREACH);
	/* Without that it works. */
	bind_to_device(fd, "");
	CHECK_OK(connect(fd, &a.sa, a.len));
}

static void listen_on_device(void)
{
	int listener = new_listener(1), client, server;
	char name[IF_NAMESIZE];

	find_interface(server_addr(0), name);
	bind_to_device(listener, name);
	client = connect_to(listener);
	server = CHECK_OK(accept(listener, NULL, NULL));
	exchange(client, server, 1000);
}

static void listen_on_other_device(void)
{
	int listener = new_listener(1), fd = new_client(0);
	struct addr a = local_addr(listener);

	bind_to_device(listener, "lo");
	CHECK_ERR(connect(fd, &a.sa, a.len), ECONNREFUSED);
	CHECK_EQ(poll_now(listener), 0);
}

/* ---- routes ---- */

#define NOBODY	"fd00:0:0:9::1"

static int change_route(const char *how)
{
	char command[128], name[IF_NAMESIZE];

	find_interface(client_addr(0), name);
	snprintf(command, sizeof(command), "ip -6 route %s " NOBODY " dev %s 2> /dev/null", how,
		 name);
	return system(command);
}

/* Who looks for its own address there does not keep the route: what leaks is found at the end. */
static void take_route_away(void)
{
	struct addr a = make_addr(NOBODY, 7777);
	int fd = new_socket(SOCK_NONBLOCK);

	CHECK_EQ(change_route("add"), 0);
	CHECK_ERR(connect(fd, &a.sa, a.len), EINPROGRESS);
	CHECK_EQ(change_route("del"), 0);
	CHECK_OK(close(fd));
}

static void no_route(void)
{
	change_route("del");
}

static void route_goes_away(void)
{
	opts.ipv6 = true;
	run_and_undo(take_route_away, no_route);
}

/* ---- type of service ---- */

/* A socket that sees all packets that leave the client's interface. */
static int new_sniffer(void)
{
	struct sockaddr_ll ll = { .sll_family = AF_PACKET };
	char name[IF_NAMESIZE];
	int fd;

	find_interface(client_addr(0), name);
	/* Only this one is shown packets that leave. */
	fd = CHECK_OK(socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL)));
	ll.sll_protocol = htons(ETH_P_ALL);
	ll.sll_ifindex = CHECK_OK(if_nametoindex(name));
	CHECK_OK(bind(fd, (struct sockaddr *)&ll, sizeof(ll)));
	set_timeout(fd, SO_RCVTIMEO, wait_limit_ms());
	return fd;
}

static bool is_roce(const struct udphdr *udp)
{
	return ntohs(udp->dest) == ROCE_PORT;
}

/* Traffic class of a RoCE packet of the connection, -1 for any other packet. */
static int traffic_class(const unsigned char *packet, ssize_t len)
{
	const struct ip6_hdr *ip6 = (const void *)packet;
	const struct iphdr *ip = (const void *)packet;

	if (len < (ssize_t)(sizeof(*ip6) + sizeof(struct udphdr)))
		return -1;
	if (opts.ipv6)
		return ip->version == 6 && ip6->ip6_nxt == IPPROTO_UDP &&
		       is_roce((const void *)(ip6 + 1)) ?
		       (int)(ntohl(ip6->ip6_flow) >> 20 & 0xff) : -1;
	return ip->version == 4 && ip->protocol == IPPROTO_UDP &&
	       is_roce((const void *)(packet + 4 * ip->ihl)) ? ip->tos : -1;
}

/* Wait for a packet of the wire's payload that leaves here. */
static int next_class(int sniffer, size_t at_least)
{
	struct sockaddr_ll from;
	unsigned char packet[9000];
	socklen_t from_len;
	ssize_t n;
	int class;

	for (;;) {
		from_len = sizeof(from);
		n = CHECK_OK(recvfrom(sniffer, packet, sizeof(packet), 0,
				      (struct sockaddr *)&from, &from_len));
		class = traffic_class(packet, n);
		if (class >= 0 && n >= (ssize_t)at_least &&
		    from.sll_pkttype == PACKET_OUTGOING)
			return class;
	}
}

static void check_class(int value, int want)
{
	int listener = new_listener(1), fd = new_client(0), server, sniffer;
	struct addr a = local_addr(listener);

	if (opts.ipv6)
		set_int(fd, IPPROTO_IPV6, IPV6_TCLASS, value);
	else
		set_int(fd, IPPROTO_IP, IP_TOS, value);
	CHECK_OK(connect(fd, &a.sa, a.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	sniffer = new_sniffer();
	send_pattern(fd, 1, 0, 1000, 1000);
	CHECK_EQ(next_class(sniffer, 1000), want);
	recv_pattern(server, 1, 0, 1000, 1000);
	CHECK_OK(close(sniffer));
}

static void need_roce(void)
{
	if (over_iwarp())
		sdp_skip("these packets are TCP's, which siw does not mark");
}

static void packets_have_tos(void)
{
	need_roce();
	check_class(0x10, 0x10);
	check_class(0xb8, 0xb8);
	/* These bits belong to congestion notification. */
	check_class(0x23, 0x20);
}

static void packets_have_no_tos_by_default(void)
{
	need_roce();
	check_class(0, 0);
}

static const struct sdp_case cases[] = {
	CASE(connect_from_device, CASE_SDP_ONLY | CASE_IPV6),
	CASE(connect_from_bound_address, CASE_SDP_ONLY | CASE_IPV6),
	CASE(connect_from_other_device, CASE_SDP_ONLY | CASE_IPV6),
	CASE(connect_from_loopback, CASE_SDP_ONLY | CASE_IPV6),
	CASE(listen_on_device, CASE_SDP_ONLY | CASE_IPV6),
	CASE(listen_on_other_device, CASE_SDP_ONLY | CASE_IPV6),
	CASE(route_goes_away, CASE_SDP_ONLY),
	CASE(packets_have_tos, CASE_SDP_ONLY | CASE_IPV6),
	CASE(packets_have_no_tos_by_default, CASE_SDP_ONLY | CASE_IPV6),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
