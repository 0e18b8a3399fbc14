/* SPDX-License-Identifier: GPL-2.0 */
/* Memory regions and access to them by STag; queues shared with user space. */
#ifndef _IWP_MEM_H
#define _IWP_MEM_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/siw-abi.h>

struct iwp_queue;

/**
 * enum iwp_mem_err - result of an access check
 * @IWP_MEM_OK: access allowed
 * @IWP_MEM_STAG: no such STag, or it is not valid
 * @IWP_MEM_PD: the region belongs to another protection domain
 * @IWP_MEM_ACCESS: the region does not allow this kind of access
 * @IWP_MEM_BOUNDS: the range is not completely in the region
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
 * @ibmr: the RDMA core's part
 * @lock: held for reading during copies, and for writing to change @valid: no copy is
 *	in progress in an invalid region
 * @valid: the STag may be used; under @lock
 * @generation: number of this registration, unique on the device; under @lock
 * @dma: all of the kernel's memory, for kernel consumers
 * @stag: with its key; under @lock
 * @access: access flags; under @lock
 * @iova: address of the first byte in work requests and for the peer; under @lock
 * @length: in bytes; under @lock
 * @page_shift: of the entries of @pages
 * @npages: entries in use
 * @max_pages: entries allocated
 * @pages: kernel addresses
 * @umem: pinned user memory, or NULL
 * @rcu: lookups are under RCU
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
 * struct iwp_sgl - a scatter/gather list
 * @pd: protection domain of the accessing queue pair, or of its shared receive queue
 * @sge: elements
 * @num_sge: number of elements
 * @access: wanted access, IB_ACCESS_*
 * @allow_no_stag: elements without an STag have kernel addresses
 */
struct iwp_sgl {
	struct ib_pd *pd;
	const struct siw_sge *sge;
	u8 num_sge;
	int access;
	bool allow_no_stag;
};

/* Returns 0, or a negative error number to stop the walk. */
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
void iwp_mr_end(struct iwp_mr *mr);
enum iwp_mem_err iwp_mem_invalidate(struct ib_pd *pd, u32 stag, bool remote);
enum iwp_mem_err iwp_mem_register(struct ib_pd *pd, struct iwp_mr *mr, u32 key,
				  int access);

/* mr.c */
extern const struct ib_device_ops iwp_mr_dev_ops;

/* umap.c */
int iwp_queue_alloc(struct iwp_queue *queue, size_t bytes,
		    struct ib_udata *udata, u64 *key);
void iwp_queue_free(struct iwp_queue *queue);
extern const struct ib_device_ops iwp_umap_dev_ops;

#include "copy.h"

#endif /* _IWP_MEM_H */
