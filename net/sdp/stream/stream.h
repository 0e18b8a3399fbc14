/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The copy path: the send ring and the messages made of it, the receive buffers, the
 * receive ring, urgent data.
 */
#ifndef _SDP_STREAM_H
#define _SDP_STREAM_H

#include "immediate.h"
#include "oob.h"
#include "rx.h"
#include "timestamp.h"
#include "tx.h"
#include "usercopy.h"

#endif /* _SDP_STREAM_H */
