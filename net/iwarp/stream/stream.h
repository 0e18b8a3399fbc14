/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue pair's stream over TCP: what is sent, what arrives, and what waits.
 */
#ifndef _IWP_STREAM_H
#define _IWP_STREAM_H

#include "early.h"
#include "hold.h"
#include "rx.h"
#include "tx.h"

#endif /* _IWP_STREAM_H */
