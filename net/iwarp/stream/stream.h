/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue pair's stream over TCP: transmission, reception, and messages held for
 * receive requests.
 *
 * All functions need the socket lock, owned by a process or as a spinlock in softirq
 * context, unless they say otherwise.
 */
#ifndef _IWP_STREAM_H
#define _IWP_STREAM_H

#include <linux/sizes.h>
#include <net/tcp.h>

#include "core/core.h"
#include "mem/mem.h"
#include "queue/queue.h"

/* If a queue pair holds: requests are segmented while TCP has less unsent data. */
#define IWP_HOLD_UNSENT		SZ_64K

/* Maximum segment length, if the engine gathers data and markers. */
#define IWP_TX_SG_ROOM		8960

/*
 * Bytes acknowledged by the peer's TCP since iwp_tx_acked(). At the start the MPA
 * Reply, which precedes start_seq, may not be acknowledged yet.
 */
static inline u32 iwp_tx_newly_acked(const struct iwp_tx *tx)
{
	u32 known = tx->start_seq + (u32)tx->acked;
	u32 una = tcp_sk(tx->sk)->snd_una;

	return after(una, known) ? una - known : 0;
}

/* tx.c */
enum iwarp_error iwp_tx_read_error(enum iwp_mem_err err);
int iwp_tx_start(struct iwp_qp *qp, struct sock *sk, u32 interval, bool crc,
		 bool long_fpdus, u16 ird, u16 ord);
void iwp_tx_ready(struct iwp_qp *qp);
bool iwp_tx_ack_received(struct iwp_qp *qp);
bool iwp_tx_acked(struct iwp_qp *qp);
void iwp_tx_terminate(struct iwp_qp *qp, enum iwarp_error error,
		      const u8 *fpdu, u32 len);
void iwp_tx_detach(struct iwp_qp *qp);

/* tx_iter.c */
bool iwp_tx_takes_iter(const struct iwp_qp *qp);
int iwp_tx_iter(struct iwp_qp *qp, struct iov_iter *from);

/* tx_frag.c */
void iwp_frags_free(void);

/* tx_work.c */
int iwp_tx_init(void);
void iwp_tx_exit(void);
void iwp_stream_init(struct iwp_qp *qp);
void iwp_stream_stop(struct iwp_qp *qp);
void iwp_stream_free(struct iwp_qp *qp);
void iwp_tx_queue(struct iwp_qp *qp);
bool iwp_tx_queue_later(struct delayed_work *work, unsigned long delay);
void iwp_tx_kick(struct iwp_qp *qp);

/* tx_msg.c */
enum iwp_mem_err iwp_send_exec_local(struct iwp_qp *qp, const struct iwp_send *send);

/* rx.c */
void iwp_rx_start(struct iwp_qp *qp, u32 interval, bool crc);
void iwp_rx_ready(struct iwp_qp *qp);
void iwp_rx_flush(struct iwp_qp *qp);

/* rx_iter.c */
bool iwp_iter_waits(struct iwp_qp *qp);
u32 iwp_rx_iter(struct iwp_qp *qp, const struct iw_ulp_recv *recv, struct iov_iter *to);
bool iwp_iter_set_low(struct iwp_qp *qp, u32 low, void (*ready)(void *context));
void iwp_iter_end(struct iwp_qp *qp);
void iwp_iter_detach(struct iwp_qp *qp);

/* rx_seg.c */
enum iwarp_error iwp_tagged_error(enum iwp_mem_err err);
bool iwp_rx_take_rqe(struct iwp_qp *qp);
void iwp_rx_complete(struct iwp_qp *qp, u8 opcode, enum siw_wc_status status,
		     u32 bytes, u8 flags, u64 value);

/* rx_ooo.c */
bool iwp_ooo_enabled(void);
void iwp_ooo_watch(struct iwp_qp *qp);
void iwp_ooo_unwatch(struct sock *sk);

/* hold.c */
int iwp_hold_enable(struct iwp_qp *qp);
void iwp_hold_limit_buffers(struct iwp_ep *ep);
void iwp_hold_start_poll(struct iwp_qp *qp);
bool iwp_hold_delays_close(struct iwp_qp *qp, const struct sock *sk);

#endif /* _IWP_STREAM_H */
