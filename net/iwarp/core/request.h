/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work requests and the queues that they wait in; the layer "queue" works with them.
 */
#ifndef _IWP_REQUEST_H
#define _IWP_REQUEST_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/siw-abi.h>

struct iwp_mr;

/**
 * struct iwp_queue - memory of a queue, perhaps shared with a process
 * @mem: its elements, from vmalloc, zeroed
 * @bytes: of all elements
 * @entry: the process's key to it, or NULL
 */
struct iwp_queue {
	void *mem;
	size_t bytes;
	struct rdma_user_mmap_entry *entry;
};

/**
 * enum iwp_send_state - where a send request is
 * @IWP_SEND_POSTED: not begun
 * @IWP_SEND_ACTIVE: parts of it, or all, have become segments
 * @IWP_SEND_DONE: it needs nothing more but those before it
 */
enum iwp_send_state {
	IWP_SEND_POSTED,
	IWP_SEND_ACTIVE,
	IWP_SEND_DONE,
};

/**
 * struct iwp_send - a send request
 * @id: the user's name for it
 * @opcode: enum siw_opcode or enum iwp_opcode
 * @flags: enum siw_wqe_flags
 * @num_sge: pieces of memory
 * @state: enum iwp_send_state
 * @status: enum siw_wc_status, once it is done
 * @rkey: the peer's STag, or what to invalidate or register
 * @raddr: the peer's address
 * @length: bytes in all pieces
 * @imm: immediate data
 * @access: for a registration
 * @mr: region to register
 * @end: place in the stream behind its last byte
 * @sge: pieces; with SIW_WQE_INLINE, the data itself follows the first
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
 * @lock: orders those who post
 * @ring: requests
 * @size: of the ring, a power of two
 * @put: where the next request goes
 * @next: the first request that is not begun; as all below, not wrapped
 * @done: the first request that has not completed
 * @shared: the queue of a process, from which requests move to @ring
 * @shared_get: where the next of them is
 * @max_sge: pieces of memory in a request
 * @sig_all: each request is to be reported
 * @flushing: somebody takes completed requests off, bit 0
 *
 * @put is moved under @lock, @next under the socket's lock, and @done by the
 * owner of @flushing.
 */
struct iwp_sq {
	spinlock_t lock; /* of posting */
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
 * @lock: orders those who post
 * @queue: memory of the requests, perhaps shared with a process
 * @ring: requests; a valid one may be taken
 * @size: of the ring, a power of two, or 0
 * @put: where the next request of a kernel user goes, not wrapped
 * @get: the next request to be used, not wrapped
 * @max_sge: pieces of memory in a request
 * @flushing: somebody takes requests off, bit 0
 */
struct iwp_rq {
	spinlock_t lock; /* of posting */
	struct iwp_queue queue;
	struct siw_rqe *ring;
	u32 size;
	u32 put;
	u32 get;
	u8 max_sge;
	unsigned long flushing;
};

#endif /* _IWP_REQUEST_H */
