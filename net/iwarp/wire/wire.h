/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What goes over the wire: MPA's framing, DDP's segments, RDMAP's messages; the order
 * of these, and what of them has been placed. Pure: no kernel services.
 */
#ifndef _IWARP_WIRE_H
#define _IWARP_WIRE_H

#include "framing.h"
#include "marker.h"
#include "msg.h"
#include "order.h"
#include "place.h"
#include "spill.h"

#endif /* _IWARP_WIRE_H */
