/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The send side of the copy path: ring, messages, work requests.
 */
#ifndef _SDP_TX_H
#define _SDP_TX_H

#include <linux/hrtimer.h>
#include <linux/sdp.h>
#include <linux/types.h>

#include "wire/wire.h"

struct ib_cq;
struct ib_mr;
struct ib_reg_wr;
struct ib_sge;
struct ib_wc;
struct msghdr;
struct sdp_conn;
struct sdp_sock;
struct sdp_tx;
struct sock;
struct socket;

void sdp_tx_count_cause(struct sdp_sock *ssk, enum sdp_flush cause);
bool sdp_tx_may_send(const struct sdp_sock *ssk, enum sdp_mid mid,
		     u32 payload_len);
bool sdp_tx_has_sleeper(const struct sock *sk);
void sdp_tx_push(struct sdp_sock *ssk);
bool sdp_tx_push_direct(struct sdp_sock *ssk);
void sdp_tx_update(struct sdp_sock *ssk);
void sdp_tx_update_late(struct sdp_sock *ssk);
void sdp_tx_set_peer(struct sdp_sock *ssk, u32 rcv_size);
int sdp_tx_acked_size(struct sdp_sock *ssk, u32 rcv_size);
int sdp_tx_ring_avail(struct sdp_sock *ssk, const struct sdp_ravah *ravah);
int sdp_tx_ring_space(struct sdp_sock *ssk, u32 tail);

/* conn/push.c */
void sdp_tx_flush(struct sdp_sock *ssk);
void sdp_tx_progress(struct sdp_sock *ssk);
void sdp_tx_write_begins(struct sdp_sock *ssk);
void sdp_tx_write_ends(struct sdp_sock *ssk);
void sdp_tx_pause_here(struct sdp_sock *ssk);
void sdp_tx_pause_poll(struct sdp_sock *ssk);
void sdp_tx_late(struct sdp_sock *ssk);
void sdp_tx_end_wait(struct sdp_sock *ssk);
enum hrtimer_restart sdp_tx_pause(struct hrtimer *timer);
void sdp_tx_force(struct sdp_sock *ssk);

/* post.c */
void sdp_tx_done(struct ib_cq *cq, struct ib_wc *wc);
void sdp_tx_reap(struct sdp_sock *ssk);
u32 sdp_tx_posted(const struct sdp_tx *tx);
bool sdp_tx_idle(struct sdp_sock *ssk);
bool sdp_tx_room(const struct sdp_tx *tx, u32 reserved);
bool sdp_tx_post_msg(struct sdp_sock *ssk, struct sdp_msg *msg, bool signal);
bool sdp_tx_post(struct sdp_sock *ssk, enum sdp_mid mid, u32 len, u8 flags,
		 bool signal);
bool sdp_tx_post_direct(struct sdp_sock *ssk, u32 len);
bool sdp_tx_post_empty(struct sdp_sock *ssk);
void sdp_tx_add_reg_mr(struct sdp_sock *ssk, struct ib_reg_wr *reg,
		       struct ib_mr *mr, int access);
bool sdp_tx_post_local_inv(struct sdp_sock *ssk, struct ib_mr *mr);
void sdp_tx_probe(struct sdp_sock *ssk);
void sdp_tx_nudge(struct sdp_sock *ssk);

/* peer.c */
bool sdp_tx_waiting(const struct sdp_sock *ssk);
void sdp_tx_heard(struct sdp_sock *ssk);
bool sdp_tx_silent(const struct sdp_sock *ssk);
void sdp_tx_ask_for_room(struct sdp_sock *ssk);
bool sdp_tx_probe_overdue(const struct sdp_sock *ssk);

/* sendbuf.c */
/* The ring's memory comes in pieces that the page allocator gives readily. */
#define SDP_TX_CHUNK		SDP_MEM_CHUNK

int sdp_tx_init(struct sdp_sock *ssk);
void sdp_tx_free(struct sdp_sock *ssk);
void sdp_tx_trim(struct sdp_sock *ssk);
int sdp_tx_alloc_chunks(struct sdp_sock *ssk, u32 index, u32 len);
void sdp_tx_enlarge(struct sdp_sock *ssk);

/* sendq.c */
u32 sdp_tx_limit(const struct sdp_sock *ssk);
u32 sdp_tx_space(const struct sdp_sock *ssk);
bool sdp_tx_writeable(const struct sdp_sock *ssk);
u32 sdp_tx_outstanding(const struct sdp_sock *ssk);
void *sdp_tx_reserve(struct sdp_sock *ssk, u32 *len);
void sdp_tx_append(struct sdp_sock *ssk, u32 len, bool urgent);
bool sdp_tx_may_append(const struct sdp_sock *ssk);
void sdp_tx_close_message(struct sdp_sock *ssk);
void sdp_tx_promised(struct sdp_sock *ssk);
u32 sdp_tx_gatherable(const struct sdp_sock *ssk, u32 len);
int sdp_tx_map(struct sdp_sock *ssk, u32 off, u32 len, struct ib_sge *sge);

/* coalesce.c */
bool sdp_tx_waits_by_itself(const struct sdp_conn *conn);
void sdp_tx_count_joined(struct sdp_sock *ssk);
bool sdp_tx_join(struct sdp_sock *ssk, struct msghdr *msg, size_t len);

int sdp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
void sdp_splice_eof(struct socket *sock);

#endif /* _SDP_TX_H */
