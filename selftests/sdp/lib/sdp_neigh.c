// SPDX-License-Identifier: GPL-2.0
/* Neighbours of the client's interface, for the AF_SDP selftests. */
#define _GNU_SOURCE
#include <ifaddrs.h>
#include <sys/ioctl.h>

#include "sdp_neigh.h"

void netdev_of(const struct addr *a, char name[IFNAMSIZ])
{
	struct ifaddrs *all, *i;
	struct addr has;

	name[0] = 0;
	CHECK_OK(getifaddrs(&all));
	for (i = all; i; i = i->ifa_next) {
		if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET)
			continue;
		has = (struct addr){ .len = sizeof(has.in4) };
		memcpy(&has.in4, i->ifa_addr, sizeof(has.in4));
		has.in4.sin_port = a->in4.sin_port;
		if (same_addr(&has, a))
			strcpy(name, i->ifa_name);
	}
	freeifaddrs(all);
	if (!name[0])
		sdp_skip("needs both ends in one machine");
}

struct arpreq new_neighbour(void)
{
	struct addr client = client_addr(0), server = server_addr(0);
	struct arpreq req = { .arp_flags = ATF_COM | ATF_PERM };
	struct sockaddr_in *pa = (struct sockaddr_in *)&req.arp_pa;
	struct ifreq ifr = { 0 };
	int fd = CHECK_OK(socket(AF_INET, SOCK_DGRAM, 0));

	netdev_of(&server, ifr.ifr_name);
	netdev_of(&client, req.arp_dev);
	CHECK_OK(ioctl(fd, SIOCGIFHWADDR, &ifr));
	req.arp_ha = ifr.ifr_hwaddr;
	*pa = client.in4;
	pa->sin_addr.s_addr |= htonl(0x7f);
	CHECK_OK(close(fd));
	return req;
}

void set_neighbour(struct arpreq *req, bool known)
{
	int fd = CHECK_OK(socket(AF_INET, SOCK_DGRAM, 0));

	CHECK_OK(ioctl(fd, known ? SIOCSARP : SIOCDARP, req));
	CHECK_OK(close(fd));
}

void move_server(void)
{
	struct addr server = server_addr(0);
	struct arpreq req = new_neighbour();

	memcpy(&req.arp_pa, &server.in4, sizeof(server.in4));
	req.arp_ha.sa_data[5] ^= 1;
	set_neighbour(&req, true);
	req.arp_ha.sa_data[5] ^= 1;
	set_neighbour(&req, true);
	set_neighbour(&req, false);
}
