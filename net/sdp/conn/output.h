/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What leaves when, and what arrives: the entries of a connection.
 */
#ifndef _SDP_OUTPUT_H
#define _SDP_OUTPUT_H

#include <linux/hrtimer.h>
#include <linux/sdp.h>

#include "wire/wire.h"

struct sdp_conn;

bool sdp_tx_may_send(const struct sdp_conn *conn, enum sdp_mid mid,
		     u32 payload_len);
void sdp_output(struct sdp_conn *conn, enum sdp_flush cause);
void sdp_tx_update(struct sdp_conn *conn, enum sdp_flush cause);
void sdp_tx_flush(struct sdp_conn *conn);
void sdp_tx_progress(struct sdp_conn *conn, enum sdp_flush cause);
void sdp_tx_pause_here(struct sdp_conn *conn);
void sdp_tx_pause_poll(struct sdp_conn *conn);
void sdp_tx_relieve(struct sdp_conn *conn);
void sdp_tx_end_wait(struct sdp_conn *conn, enum sdp_flush cause);
enum hrtimer_restart sdp_tx_pause(struct hrtimer *timer);
void sdp_tx_force(struct sdp_conn *conn, enum sdp_flush cause);

#endif /* _SDP_OUTPUT_H */
