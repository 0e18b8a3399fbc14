/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is being received: segments go from TCP's buffers to where they belong.
 *
 * All of it happens under the socket's lock.
 */
#ifndef _IWP_RX_H
#define _IWP_RX_H

#include <rdma/siw-abi.h>

#include "wire/wire.h"
#include "mem/mem.h"
#include "hold.h"

struct iwp_early;
struct iwp_qp;
struct iwp_send;

/**
 * struct iwp_rx - what is being received
 * @wire: the segment that is arriving
 * @sink: what the oldest of our requests to read waits for
 * @sink_len: how much that is in all
 * @rqe: receive request that is being filled
 * @rqe_len: room in it
 * @has_rqe: there is one
 * @status: enum siw_wc_status of @rqe, if its user did something wrong
 * @written: bytes of the message that the peer wrote last
 * @write_open: more of it will come
 * @orq_seen: @orq_get of the sender when it was told last
 * @peer_error: the peer has said TERMINATE, and why
 * @hold: what waits for receive requests
 * @early: what was placed ahead of a hole, or NULL if nothing ever is
 */
struct iwp_rx {
	struct iwarp_rx wire;
	struct iwarp_sink sink;
	u32 sink_len;
	struct siw_rqe rqe;
	u64 rqe_len;
	bool has_rqe;
	u8 status;
	u32 written;
	bool write_open;
	u32 orq_seen;
	enum iwarp_error peer_error;
	struct iwp_hold hold;
	struct iwp_early *early;
};

/* rx.c */
void iwp_rx_start(struct iwp_qp *qp, u32 interval, bool crc);
void iwp_rx_ready(struct iwp_qp *qp);
void iwp_rx_flush(struct iwp_qp *qp);
void iwp_skb_copy(const struct iwarp_source *src, u32 off, void *to, u32 len);
u32 iwp_skb_crc(const struct iwarp_source *src, u32 off, u32 len, u32 crc);

/* A place in the stream's data, for the walk over the memory it goes to. */
struct iwp_copy {
	const struct iwarp_source *src;
	u32 off;
};

/* rx_seg.c */
extern const struct iwarp_rx_ops iwp_rx_ops;
enum iwarp_error iwp_tagged_error(enum iwp_mem_err err);
void iwp_rx_expect(struct iwp_qp *qp);
struct iwp_send *iwp_read_send(struct iwp_qp *qp, u32 nr);
u64 iwp_rqe_len(const struct siw_rqe *rqe);
enum iwp_mem_err iwp_write_check(struct iwp_qp *qp,
				 const struct iwarp_hdr *hdr);
enum iwp_mem_err iwp_scatter(struct iwp_qp *qp, const struct siw_sge *sge,
			     u8 num_sge, u32 at, u32 len,
			     struct iwp_copy *copy);
enum iwp_mem_err iwp_place_write(struct iwp_qp *qp,
				 const struct iwarp_hdr *hdr, u32 at, u32 len,
				 struct iwp_copy *copy);
bool iwp_rx_take_rqe(struct iwp_qp *qp);
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
void iwp_rx_complete(struct iwp_qp *qp, u8 opcode, enum siw_wc_status status,
		     u32 bytes, u8 flags, u64 value);

#endif /* _IWP_RX_H */
