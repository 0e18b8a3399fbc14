/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all layers stand on: the socket lock and what it protects for all of them,
 * addresses, timers, work queues, memory accounting, settings and counters of a
 * namespace.
 */
#ifndef _SDP_BASE_H
#define _SDP_BASE_H

#include <linux/init.h>
#include <linux/workqueue.h>

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
#include "wait.h"

extern struct workqueue_struct *sdp_wq;
/*
 * Their items wait for memory and for the device, which those of sdp_wq must not; and
 * who connects, with siw, for the peer, which those who are asked must not wait for.
 */
extern struct workqueue_struct *sdp_connect_wq;
extern struct workqueue_struct *sdp_accept_wq;
/* Its items wait for those of sdp_wq. */
extern struct workqueue_struct *sdp_share_wq;

int __init sdp_base_init_module(void);
void sdp_base_exit_module(void);

#endif /* _SDP_BASE_H */
