/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all layers stand on: the socket lock and what it protects for all of them,
 * addresses, timers, memory accounting, settings and counters of a namespace.
 */
#ifndef _SDP_BASE_H
#define _SDP_BASE_H

#include "addr.h"
#include "debug.h"
#include "lock.h"
#include "mem.h"
#include "mib.h"
#include "net.h"
#include "settings.h"
#include "sk.h"
#include "timer.h"
#include "trace.h"
#include "work.h"

#endif /* _SDP_BASE_H */
