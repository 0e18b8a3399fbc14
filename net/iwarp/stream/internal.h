/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of this folder. */
#ifndef _IWP_STREAM_INTERNAL_H
#define _IWP_STREAM_INTERNAL_H

#include "stream.h"

/* Maximum fragments of a segment, if all pages are of order 0. */
#define IWP_TX_SEG_VECS		20
/* The same, if the engine gathers data and markers; see IWP_TX_SG_ROOM. */
#define IWP_TX_SG_VECS		56

/* Pages of a processor that segments are built in: some segments of the longest. */
#define IWP_TX_FRAGS		4
/*
 * What is longer is contiguous only in what is left of a page. The network stack's have 32
 * KiB if there is memory.
 */
#define IWP_TX_LINEAR_MAX	(SZ_32K / 3)

/* First RDMA Read number: small enough for every connection to wrap soon. */
#define IWP_READS_FIRST		(-4u)

/* Source position of a copy to memory regions. */
struct iwp_copy {
	const struct iwarp_source *src;
	u32 off;
};

/* Maximum number of FPDUs that are placed early. */
#define IWP_EARLY_SLOTS		1024
/* Maximum bytes placed in one call from TCP. */
#define IWP_EARLY_BUDGET	65536

/**
 * struct iwp_early - placement ahead of a hole in TCP's stream
 * @wire: the FPDU that is being parsed
 * @qp: queue pair
 * @start_seq: TCP sequence number of the first byte in Full Operation
 * @off: disabled, after an error that will occur in order, too
 * @run: TCP sequence number of the first byte of the run that was parsed last
 * @next: TCP sequence number of the first byte of that run that was not parsed
 * @hole_filling: a segment arrived that fills the hole
 * @filled_end: TCP sequence number after that segment
 * @failed: some payload of @wire could not be placed
 * @target: registration that its payload goes to, see struct iwarp_place
 * @sge: scatter/gather list that it goes to, if untagged or an RDMA Read Response
 * @num_sge: number of elements
 * @pd: protection domain of the list
 * @at: offset of the payload in them
 * @nr: number of our RDMA Read Request that @wire responds to
 * @rqe: receive request that @wire will take
 * @placed: FPDUs that were placed
 * @slots: memory for @placed
 */
struct iwp_early {
	struct iwarp_rx wire;
	struct iwp_qp *qp;
	u32 start_seq;
	bool off;
	u32 run;
	u32 next;
	bool hole_filling;
	u32 filled_end;
	bool failed;
	u64 target;
	const struct siw_sge *sge;
	u8 num_sge;
	struct ib_pd *pd;
	u32 at;
	u32 nr;
	struct siw_rqe rqe;
	struct iwarp_placed placed;
	struct iwarp_place slots[IWP_EARLY_SLOTS];
};

/* Index in the send queue of an outbound RDMA Read Request. */
static inline u32 iwp_read_index(const struct iwp_tx *tx, u32 nr)
{
	return tx->orq[nr & (tx->orq_size - 1)];
}

/* Data sink STag of an outbound RDMA Read Request. */
static inline u32 iwp_read_stag(const struct iwp_tx *tx, u32 nr)
{
	return iwp_read_index(tx, nr) << 8 | 1;
}

/* Whether everything was segmented. Socket lock held. */
static inline bool iwp_tx_written(const struct iwp_qp *qp)
{
	const struct iwp_tx *tx = &qp->tx;

	return tx->msg.source == IWP_MSG_NONE && !tx->send_rtr &&
	       tx->reads_get == tx->reads_put && !iwp_sq_pending(&qp->sq);
}

/* Whether TCP has all segments, too, so that only acknowledgments are missing. */
static inline bool iwp_tx_idle(const struct iwp_qp *qp)
{
	return !qp->tx.nr_vecs && iwp_tx_written(qp);
}

/* Returns false without loopback, or after that direction was detached. */
static inline bool iwp_stream_kick_loopback(const struct iwp_qp *qp,
					    struct iwp_loopback_dir *dir)
{
	if (dir)
		qp->ops->loopback_kick(dir);
	return dir;
}

/* tx.c */
void iwp_tx_begin_batch(struct iwp_tx *tx);
u32 iwp_tx_batch(const struct iwp_qp *qp);
void iwp_tx_submit(struct iwp_qp *qp, u32 len, u32 segs);

/* tx_work.c */
void iwp_tx_retry(struct iwp_qp *qp);

/* tx_msg.c */
void iwp_tx_next_msg(struct iwp_qp *qp);
void iwp_tx_msg_sent(struct iwp_qp *qp);
void iwp_tx_send_failed(struct iwp_qp *qp, struct iwp_send *send,
			enum siw_wc_status status);

/* tx_frag.c */
struct page_frag *iwp_frag_get(u32 len, u32 *room);

/* tx_seg.c */
int iwp_tx_segment(struct iwp_qp *qp);
void iwp_vec_truncate(struct iwp_tx *tx, u32 nr, u32 last_len);
void iwp_tx_release_pages(struct iwp_tx *tx);

/* rx.c */
void iwp_skb_copy(const struct iwarp_source *src, u32 off, void *to, u32 len);
u32 iwp_skb_crc(const struct iwarp_source *src, u32 off, u32 len, u32 crc);

/* rx_seg.c */
extern const struct iwarp_rx_ops iwp_rx_ops;
void iwp_rx_expect_response(struct iwp_qp *qp);
struct iwp_send *iwp_read_send(struct iwp_qp *qp, u32 nr);
u64 iwp_rqe_len(const struct siw_rqe *rqe);
enum iwp_mem_err iwp_write_check(struct iwp_qp *qp,
				 const struct iwarp_hdr *hdr);
enum iwp_mem_err iwp_scatter(struct iwp_qp *qp, struct ib_pd *pd,
			     const struct siw_sge *sge, u8 num_sge, u32 at,
			     u32 len, struct iwp_copy *copy);
enum iwp_mem_err iwp_place_write(struct iwp_qp *qp,
				 const struct iwarp_hdr *hdr, u32 at, u32 len,
				 struct iwp_copy *copy);
enum iwarp_error iwp_rx_send_fits(struct iwp_qp *qp,
				  const struct iwarp_hdr *hdr);
enum iwarp_error iwp_rx_place_send(struct iwp_qp *qp,
				   const struct iwarp_hdr *hdr,
				   const struct iwarp_source *src, u32 off,
				   u32 len, u32 at);
enum iwarp_error iwp_rx_end_send(struct iwp_qp *qp,
				 const struct iwarp_hdr *hdr);
void iwp_rx_immediate(struct iwp_qp *qp, const struct iwarp_hdr *hdr,
		      u32 written, u64 imm);

/* rx_place_early.c */
struct iwp_early *iwp_early_new(struct iwp_qp *qp);
void iwp_early_free(struct iwp_qp *qp);
u32 iwp_early_take(struct iwp_qp *qp);

/* rx_ooo.c */
void iwp_ooo_hole_filled(struct iwp_qp *qp);

/* rx_iter.c */
void iwp_iter_init(struct iwp_qp *qp);
void iwp_iter_stop(struct iwp_qp *qp);
enum iwarp_error iwp_iter_place_send(struct iwp_qp *qp, const struct iwarp_hdr *hdr,
				     const struct iwarp_source *src, u32 off, u32 len, u32 at);

/* hold.c */
void iwp_hold_init(struct iwp_qp *qp);
void iwp_hold_free(struct iwp_qp *qp);
void iwp_hold_alloc(struct iwp_qp *qp);
bool iwp_hold_spills(struct iwp_qp *qp);
u32 iwp_hold_begin(struct iwp_qp *qp, const struct iwarp_hdr *hdr);
void iwp_hold_store(struct iwp_qp *qp, const struct iwarp_hdr *hdr);
void iwp_hold_deliver(struct iwp_qp *qp);
bool iwp_hold_can_deliver(struct iwp_qp *qp);
void iwp_hold_read_done(struct iwp_qp *qp);

/* ack.c */
void iwp_ack_init(struct iwp_qp *qp);
void iwp_ack_stop(struct iwp_qp *qp);
void iwp_ack_schedule(struct iwp_qp *qp);

/* A valid FPDU arrives in order: was its payload placed early? */
static inline u32 iwp_early_verdict(struct iwp_qp *qp)
{
	const struct iwp_early *early = qp->rx.early;

	if (!early || !early->placed.count)
		return IWARP_RX_GO;
	return iwp_early_take(qp);
}

#endif /* _IWP_STREAM_INTERNAL_H */
