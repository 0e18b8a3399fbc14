/* SPDX-License-Identifier: GPL-2.0 */
/* Work requests and their queues; the layer "queue" implements them. */
#ifndef _IWP_REQUEST_H
#define _IWP_REQUEST_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/siw-abi.h>

struct iwp_mr;

/**
 * struct iwp_queue - memory of a queue, optionally mapped by user space
 * @mem: elements, zeroed vmalloc memory
 * @bytes: size of @mem
 * @entry: mmap entry, or NULL for a kernel consumer
 */
struct iwp_queue {
	void *mem;
	size_t bytes;
	struct rdma_user_mmap_entry *entry;
};

/**
 * enum iwp_send_state - progress of a send request
 * @IWP_SEND_POSTED: not started
 * @IWP_SEND_ACTIVE: segments of it were built
 * @IWP_SEND_DONE: complete, except for requests before it and acknowledgments
 */
enum iwp_send_state {
	IWP_SEND_POSTED,
	IWP_SEND_ACTIVE,
	IWP_SEND_DONE,
};

/**
 * struct iwp_send - a send request
 * @id: wr_id
 * @opcode: enum siw_opcode or enum iwp_opcode
 * @flags: enum siw_wqe_flags
 * @num_sge: number of scatter/gather elements
 * @state: enum iwp_send_state
 * @status: enum siw_wc_status, when done
 * @rkey: the peer's STag, or the STag to invalidate or register
 * @raddr: the peer's address
 * @length: sum of the elements' lengths, and of what iwp_tx_iter() takes elsewhere
 * @imm: immediate data
 * @access: access flags of a registration
 * @mr: region to register
 * @end: stream position after its last byte
 * @sge: scatter/gather list; with SIW_WQE_INLINE, data follows the first element
 */
struct iwp_send {
	u64 id;
	u8 opcode;
	u8 flags;
	u8 num_sge;
	u8 state;
	u8 status;
	u32 rkey;
	u64 raddr;
	u32 length;
	__be32 imm;
	int access;
	struct iwp_mr *mr;
	u64 end;
	struct siw_sge sge[SIW_MAX_SGE];
};

/**
 * struct iwp_sq - send queue
 * @lock: serializes posting
 * @ring: requests
 * @size: entries of @ring, a power of two
 * @put: next request to be posted, not wrapped, as @next and @done
 * @next: first request that is not started
 * @done: first request that is not completed
 * @shared: user space's queue, from which requests are copied to @ring
 * @shared_get: next entry of @shared to copy
 * @max_sge: maximum scatter/gather elements of a request
 * @sig_all: all requests are signaled
 * @flushing: bit 0: a flush is running
 *
 * @put is advanced under @lock; for a user queue pair, where iwp_sq_next() runs, or by
 * the flush. @next is advanced under the socket lock, or by the loopback direction, and
 * @done there or by the flush, which holds @flushing.
 */
struct iwp_sq {
	spinlock_t lock; /* protects posting */
	struct iwp_send *ring;
	u32 size;
	u32 put;
	u32 next;
	u32 done;
	struct iwp_queue shared;
	u32 shared_get;
	u8 max_sge;
	bool sig_all;
	unsigned long flushing;
};

/**
 * struct iwp_rq - receive queue
 * @lock: serializes posting; if the queue is shared, also taking
 * @queue: memory of the ring, optionally mapped by user space
 * @ring: requests; those with SIW_WQE_VALID are posted
 * @size: entries of @ring, a power of two, or 0
 * @put: next request of a kernel consumer to be posted, not wrapped
 * @get: next request to be taken, not wrapped
 * @max_sge: maximum scatter/gather elements of a request
 * @flushing: bit 0: a flush is running; bit 1: the consumer was told that this queue pair
 *	takes no more from a shared queue
 */
struct iwp_rq {
	spinlock_t lock; /* protects posting, and taking from a shared queue */
	struct iwp_queue queue;
	struct siw_rqe *ring;
	u32 size;
	u32 put;
	u32 get;
	u8 max_sge;
	unsigned long flushing;
};

#endif /* _IWP_REQUEST_H */
