// SPDX-License-Identifier: GPL-2.0
/* The wire between both ends of a connection, in one node: netem. */
#define _GNU_SOURCE
#include <ifaddrs.h>
#include <stdarg.h>
#include <stdlib.h>

#include "sdp_wire.h"

char wires[WIRE_ENDS][IFNAMSIZ];

static void find_wire(char *name, const struct addr *addr)
{
	struct ifaddrs *all, *one;

	CHECK_OK(getifaddrs(&all));
	for (one = all; one; one = one->ifa_next)
		if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET &&
		    ((struct sockaddr_in *)one->ifa_addr)->sin_addr.s_addr ==
		    addr->in4.sin_addr.s_addr)
			break;
	if (!one)
		sdp_skip("an end's address belongs to no network device");
	strcpy(name, one->ifa_name);
	freeifaddrs(all);
}

void wire_find(void)
{
	struct addr client = make_addr(opts.client[0], 0);
	struct addr server = make_addr(opts.server[0], 0);

	find_wire(wires[0], &client);
	find_wire(wires[1], &server);
}

void run_command(const char *fmt, ...)
{
	char command[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	if (system(command))
		FAIL("'%s' fails", command);
}

void wire_is(const char *netem)
{
	size_t i;

	for (i = 0; i < WIRE_ENDS; i++) {
		run_command("tc qdisc del dev %s root 2> /dev/null; true", wires[i]);
		if (*netem)
			run_command("tc qdisc add dev %s root netem %s limit 10000",
				    wires[i], netem);
	}
}

void wire_becomes(const char *netem)
{
	size_t i;

	for (i = 0; i < WIRE_ENDS; i++)
		run_command("tc qdisc change dev %s root netem %s limit 10000", wires[i], netem);
}
