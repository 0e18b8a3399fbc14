/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory regions: what an STag stands for, and copies to and from it; queues that are
 * shared with a process.
 */
#ifndef _IWP_MEM_H
#define _IWP_MEM_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/siw-abi.h>

struct iwp_queue;

/**
 * enum iwp_mem_err - why an access was refused
 * @IWP_MEM_OK: it was not
 * @IWP_MEM_STAG: no such STag, or it is not valid now
 * @IWP_MEM_PD: it belongs to another protection domain
 * @IWP_MEM_ACCESS: the region does not allow this kind of access
 * @IWP_MEM_BOUNDS: not all of the range is inside of the region
 */
enum iwp_mem_err {
	IWP_MEM_OK,
	IWP_MEM_STAG,
	IWP_MEM_PD,
	IWP_MEM_ACCESS,
	IWP_MEM_BOUNDS,
};

/**
 * struct iwp_mr - a memory region
 * @ibmr: what the RDMA core knows
 * @lock: readers copy, the writer makes it valid or invalid: an invalid
 *	region is one in which no copy is under way
 * @valid: under @lock
 * @generation: of all the device's registrations, which this one is; under
 *	@lock
 * @dma: all of the kernel's memory, for its own use
 * @stag: with its key, under @lock
 * @access: under @lock
 * @iova: address of the first byte, as the peer says it; under @lock
 * @length: in bytes; under @lock
 * @page_shift: of the entries of @pages
 * @npages: entries in use
 * @max_pages: entries allocated
 * @pages: kernel addresses
 * @umem: pinned memory of a process, or NULL
 * @rcu: readers look regions up under RCU
 */
struct iwp_mr {
	struct ib_mr ibmr;
	rwlock_t lock;
	bool valid;
	u64 generation;
	bool dma;
	u32 stag;
	int access;
	u64 iova;
	u64 length;
	unsigned int page_shift;
	u32 npages;
	u32 max_pages;
	u64 *pages;
	struct ib_umem *umem;
	struct rcu_head rcu;
};

static inline struct iwp_mr *iwp_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct iwp_mr, ibmr);
}

/**
 * struct iwp_sgl - pieces of memory that make up a whole
 * @pd: protection domain of who wants access
 * @sge: the pieces
 * @num_sge: how many
 * @access: which kind of access is wanted, IB_ACCESS_*
 * @allow_no_stag: a piece without an STag is the kernel's own memory
 */
struct iwp_sgl {
	struct ib_pd *pd;
	const struct siw_sge *sge;
	u8 num_sge;
	int access;
	bool allow_no_stag;
};

/* Returns 0, or a negative error number that ends the walk. */
typedef int (*iwp_span_fn)(void *ctx, void *span, size_t len);

/* mem.c */
enum iwp_mem_err iwp_mem_walk(struct ib_pd *pd, u32 stag, u64 addr, u32 len,
			      int access, iwp_span_fn fn, void *ctx);
enum iwp_mem_err iwp_mem_check(struct ib_pd *pd, u32 stag, u64 addr, u32 len,
			       int access);
u64 iwp_mem_generation(struct ib_pd *pd, u32 stag);
enum iwp_mem_err iwp_sgl_walk(const struct iwp_sgl *sgl, u32 at,
			      u32 len, iwp_span_fn fn, void *ctx);
enum iwp_mem_err iwp_sgl_check(const struct iwp_sgl *sgl, u32 len);
enum iwp_mem_err iwp_mem_invalidate(struct ib_pd *pd, u32 stag, bool remote);
enum iwp_mem_err iwp_mem_register(struct ib_pd *pd, struct iwp_mr *mr, u32 key,
				  int access);

/* mr.c */
extern const struct ib_device_ops iwp_mr_dev_ops;

/* umap.c: what is shared with a process */
int iwp_queue_alloc(struct iwp_queue *queue, size_t bytes,
		    struct ib_udata *udata, u64 *key);
void iwp_queue_free(struct iwp_queue *queue);
extern const struct ib_device_ops iwp_umap_dev_ops;

#include "copy.h"

#endif /* _IWP_MEM_H */
