/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The send side of the copy path: ring, messages, work requests.
 */
#ifndef _SDP_TX_H
#define _SDP_TX_H

#include <linux/types.h>

struct ib_cq;
struct ib_sge;
struct ib_wc;
struct msghdr;
struct sdp_sock;
struct sock;
struct socket;

void sdp_tx_done(struct ib_cq *cq, struct ib_wc *wc);
void sdp_tx_reap(struct sdp_sock *ssk);
void sdp_tx_push(struct sdp_sock *ssk);
void sdp_tx_flush(struct sdp_sock *ssk);
void sdp_tx_force(struct sdp_sock *ssk);
void sdp_tx_probe(struct sdp_sock *ssk);
bool sdp_tx_waiting(const struct sdp_sock *ssk);
bool sdp_tx_silent(const struct sdp_sock *ssk);
void sdp_tx_heard(struct sdp_sock *ssk);
bool sdp_tx_probe_overdue(const struct sdp_sock *ssk);
void sdp_tx_set_peer(struct sdp_sock *ssk, u32 rcv_size);
int sdp_tx_acked_size(struct sdp_sock *ssk, u32 rcv_size);

/* txring.c */
/* The ring's memory comes in pieces that the page allocator gives readily. */
#define SDP_TX_CHUNK		(16U * 1024)

int sdp_tx_init(struct sdp_sock *ssk);
void sdp_tx_free(struct sdp_sock *ssk);
void sdp_tx_trim(struct sdp_sock *ssk);
u32 sdp_tx_limit(const struct sdp_sock *ssk);
u32 sdp_tx_space(const struct sdp_sock *ssk);
bool sdp_tx_writeable(const struct sdp_sock *ssk);
u32 sdp_tx_outstanding(const struct sdp_sock *ssk);
void *sdp_tx_reserve(struct sdp_sock *ssk, u32 *len);
void sdp_tx_append(struct sdp_sock *ssk, u32 len, bool urgent);
void sdp_tx_close_message(struct sdp_sock *ssk);
int sdp_tx_map(struct sdp_sock *ssk, u32 len, struct ib_sge *sge);

int sdp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
void sdp_splice_eof(struct socket *sock);

#endif /* _SDP_TX_H */
