/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wire between both ends of a connection, in one node; needs root. A process that
 * ends leaves the wire as it has set it.
 */
#ifndef SDP_WIRE_H
#define SDP_WIRE_H

#include <net/if.h>

#include "sdp_test.h"

#define WIRE_ENDS	2

/* The network devices of client and server, once they are found. */
extern char wires[WIRE_ENDS][IFNAMSIZ];

/* Must succeed. */
void __printf(1, 2) run_command(const char *fmt, ...);

/* Must come first: finds the network devices by the ends' addresses. */
void wire_find(void);
/* How the wire is in both directions, in netem's words; "" is as it was. */
void wire_is(const char *netem);

/*
 * The same of a wire that is netem's already: nothing that is under way meets a wire that
 * is being replaced, which Soft-RoCE of Linux 6.12 takes for an error.
 */
void wire_becomes(const char *netem);

#endif /* SDP_WIRE_H */
