/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of neighbours that move have in common (sdp_neigh.c). */
#ifndef SDP_NEIGH_H
#define SDP_NEIGH_H

#include <net/if.h>
#include <net/if_arp.h>

#include "sdp_test.h"

/* The interface of this machine that has an address; skips if none has. */
void netdev_of(const struct addr *a, char name[IFNAMSIZ]);
/* An address of the client's network, behind the server's interface. */
struct arpreq new_neighbour(void);
void set_neighbour(struct arpreq *req, bool known);
/* The server's hardware address changes, as the client sees it, and back. */
void move_server(void);

#endif /* SDP_NEIGH_H */
