/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wire formats: MPA's framing, DDP's segments, RDMAP's messages; message order and
 * placement. Pure: no kernel services.
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
