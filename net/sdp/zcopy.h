/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Synchronous zero copy (ZSDP): the sender lets the peer read the program's
 * pages, the receiver reads them straight into those of its own program.
 * Documentation/zero-copy.rst explains it.
 */
#ifndef _SDP_ZCOPY_H
#define _SDP_ZCOPY_H

#include <linux/completion.h>
#include <linux/scatterlist.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/rw.h>

#include "zcopy_state.h"

struct ib_device;
struct iov_iter;
struct msghdr;
struct sdp_conn;
struct sdp_sock;

/* Pages that are offered at once, and that are read at once. */
#define SDP_ZCOPY_PAGES		256U
#define SDP_ZCOPY_READ_PAGES	64U
/* Work requests for the latter, even if each page has a place of its own. */
#define SDP_ZCOPY_READ_WRS	16U
/* Those that register the memory to read to, where devices need that. */
#define SDP_ZCOPY_REG_WRS	3U

/* What net.sdp.zcopy says. */
enum sdp_zcopy_mode {
	SDP_ZCOPY_OFF,
	SDP_ZCOPY_SYNC,
};

/**
 * struct sdp_zpages - a program's pages that a transfer uses
 * @over: completed when the device does not use them any more; the call that
 *	has pinned them waits for it, and frees them
 * @len: bytes
 * @done: bytes that were transferred, valid once it is over
 * @write: the device writes to them
 * @mmp: for RLIMIT_MEMLOCK
 * @sgt: the pages as the device sees them
 * @nents: elements that are mapped, 0 = none
 * @nr: number of pages
 * @pages: the pages, pinned
 */
struct sdp_zpages {
	struct completion over;
	u32 len;
	u32 done;
	bool write;
	struct mmpin mmp;
	struct sg_table sgt;
	u32 nents;
	u32 nr;
	struct page *pages[];
};

/* How far the pages that are sent have come. */
enum sdp_zsend_state {
	SDP_ZSEND_IDLE,		/* there are none */
	SDP_ZSEND_READY,	/* to be advertised behind all data */
	SDP_ZSEND_OUT,		/* the peer may read them */
	SDP_ZSEND_REVOKED,	/* it may not any more, as soon as that is done */
};

/**
 * struct sdp_zcopy - zero copy of a connection (socket lock)
 * @readers: calls that sleep and could read without a copy; theirs, whatever
 *	becomes of the connection
 * @on: this end takes part
 * @source: what is advertised
 * @sink: what the peer advertises
 * @send_state: how far @out has come
 * @out: pages that are sent
 * @mr: lets the peer read them, allocated when first used
 * @start: value of the source's counter when they were advertised
 * @in: pages that are being read into
 * @rw: the requests that do it
 * @read_cqe: their completion
 * @read_done: they have completed; set by the completion handler
 * @skip: large writes that are copied before the next is tried
 * @backoff: what @skip becomes when the next fails
 */
struct sdp_zcopy {
	u32 readers;
	bool on;
	struct sdp_zsource source;
	struct sdp_zsink sink;
	enum sdp_zsend_state send_state;
	struct sdp_zpages *out;
	struct ib_mr *mr;
	u32 start;
	struct sdp_zpages *in;
	struct rdma_rw_ctx rw;
	struct ib_cqe read_cqe;
	bool read_done;
	u32 skip;
	u32 backoff;
};

/* zcopy.c */
void sdp_zcopy_begin(struct sdp_sock *ssk);
void sdp_zcopy_choose(struct sdp_sock *ssk, bool ours, u32 max_adverts);
void sdp_zcopy_free(struct sdp_sock *ssk);
u32 sdp_zcopy_adverts(const struct sdp_conn *conn);
u32 sdp_zcopy_thresh(const struct sdp_sock *ssk);
u32 sdp_zcopy_segment(const struct iov_iter *iter, unsigned long *addr);
struct sdp_zpages *sdp_zpages_pin(struct ib_device *ibdev, unsigned long addr,
				  u32 len, bool write);
void sdp_zpages_wait(struct sdp_sock *ssk, struct sdp_zpages *zp,
		     unsigned long limit);
void sdp_zpages_free(struct sdp_zpages *zp);

/* zcopy_send.c */
bool sdp_zsend_wanted(struct sdp_sock *ssk, const struct msghdr *msg,
		      long timeo);
u32 sdp_zsend(struct sdp_sock *ssk, struct msghdr *msg, long *timeo);
bool sdp_zsend_push(struct sdp_sock *ssk);
void sdp_zsend_revoked(struct sdp_sock *ssk);

/* zcopy_recv.c */
void sdp_zrecv_done(struct ib_cq *cq, struct ib_wc *wc);
void sdp_zrecv_reap(struct sdp_sock *ssk);
void sdp_zrecv_release(struct sdp_sock *ssk);
void sdp_zrecv_offered(struct sdp_sock *ssk);
u32 sdp_zrecv(struct sdp_sock *ssk, struct iov_iter *iter, bool may);
bool sdp_zrecv_push(struct sdp_sock *ssk);

#endif /* _SDP_ZCOPY_H */
