/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wire between both ends of an iWARP connection, in this node, and what goes
 * wrong on it; needs root. A process that ends leaves the wire as it has set it,
 * but for faults, which end with it.
 */
#ifndef IWARP_WIRE_H
#define IWARP_WIRE_H

#include "iwarp_end.h"
#include "sdp_wire.h"

/* How many segments TCP gives to a device at a time. */
void wire_segments_are(int most);
/* Whether the devices join the segments that they receive. */
void wire_gro_is(bool on);
/* Whether the devices send from several pieces of memory at a time. */
void wire_sg_is(bool on);

/* What happens to some of the packets of TCP over IPv4, until it is healed. */
struct wire_fault {
	int links[2];
};

/*
 * The first long packet to the server is lost, as often as it is sent, and the
 * client does not hear that more has come.
 */
struct wire_fault wire_loses_one(void);
/* Of long packets to the server one out of @every is damaged, behind TCP's back. */
struct wire_fault wire_damages(unsigned int every);
void wire_heals(struct wire_fault *fault);

/* What the device of an end has counted until now. */
long iwarp_counter(const struct iwarp_end *e, const char *name);

#endif /* IWARP_WIRE_H */
