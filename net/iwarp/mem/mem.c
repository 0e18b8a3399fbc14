// SPDX-License-Identifier: GPL-2.0
/*
 * Access to memory regions: lookup, checks, and the walk over the memory of a range.
 *
 * The region's lock is held for reading during a walk, so a region cannot become
 * invalid in the middle. After an invalidation has returned, the memory is not accessed
 * any more.
 */
#include <linux/error-injection.h>

#include "core/core.h"
#include "mem.h"

static struct iwp_mr *iwp_mr_find(struct ib_pd *pd, u32 stag)
{
	return xa_load(&iwp_device(pd->device)->mrs, stag >> 8);
}

static enum iwp_mem_err iwp_mr_check(const struct iwp_mr *mr,
				     const struct ib_pd *pd, u32 stag,
				     u64 addr, u32 len, int access)
{
	lockdep_assert_held(&mr->lock);
	if (!mr->valid || mr->stag != stag)
		return IWP_MEM_STAG;
	if (mr->ibmr.pd != pd)
		return IWP_MEM_PD;
	if ((mr->access & access) != access)
		return IWP_MEM_ACCESS;
	if (mr->dma)
		return IWP_MEM_OK;
	if (addr < mr->iova || addr - mr->iova > mr->length ||
	    len > mr->length - (addr - mr->iova))
		return IWP_MEM_BOUNDS;
	return IWP_MEM_OK;
}

/*
 * Returns the kernel's address and the number of contiguous bytes there: pages of user
 * memory are often contiguous, and those of a huge page always are.
 */
static void *iwp_mr_span(const struct iwp_mr *mr, u64 addr, size_t *len)
{
	u64 page_size = 1ull << mr->page_shift;
	const u64 *page;
	u64 offset, n;

	if (mr->dma)
		return (void *)(uintptr_t)addr;
	offset = addr - mr->iova + (mr->iova & (page_size - 1));
	page = &mr->pages[offset >> mr->page_shift];
	offset &= page_size - 1;
	addr = *page + offset;
	for (n = page_size - offset; n < *len && page[1] == *page + page_size;
	     page++)
		n += page_size;
	*len = min_t(u64, *len, n);
	return (void *)(uintptr_t)addr;
}

static void iwp_mr_walk(const struct iwp_mr *mr, u64 addr, size_t len,
			iwp_span_fn fn, void *ctx)
{
	lockdep_assert_held(&mr->lock);
	while (len) {
		size_t n = len;
		void *span = iwp_mr_span(mr, addr, &n);

		if (fn(ctx, span, n))
			return;
		addr += n;
		len -= n;
	}
}

/**
 * iwp_mem_walk() - visit the memory of a range
 * @pd: protection domain of the accessing queue pair, or of its shared receive queue
 * @stag: region
 * @addr: address of the first byte
 * @len: number of bytes; if 0 the region is not checked
 * @access: wanted access, IB_ACCESS_*
 * @fn: called for each contiguous part, in order, with the region's lock held: must not
 *	sleep; NULL to check only
 * @ctx: for @fn
 *
 * Nothing is visited unless the whole range is accessible.
 *
 * Context: any but hard interrupts.
 * Return: enum iwp_mem_err.
 */
enum iwp_mem_err iwp_mem_walk(struct ib_pd *pd, u32 stag, u64 addr, u32 len,
			      int access, iwp_span_fn fn, void *ctx)
{
	enum iwp_mem_err err = IWP_MEM_STAG;
	struct iwp_mr *mr;

	if (!len)
		return IWP_MEM_OK;
	rcu_read_lock();
	mr = iwp_mr_find(pd, stag);
	if (mr) {
		read_lock_bh(&mr->lock);
		err = iwp_mr_check(mr, pd, stag, addr, len, access);
		if (!err && fn)
			iwp_mr_walk(mr, addr, len, fn, ctx);
		read_unlock_bh(&mr->lock);
	}
	rcu_read_unlock();
	return err;
}

/**
 * iwp_mem_check() - check whether a range is accessible now
 * @pd: protection domain of the accessing queue pair, or of its shared receive queue
 * @stag: region
 * @addr: address of the first byte
 * @len: number of bytes
 * @access: wanted access, IB_ACCESS_*
 *
 * Return: enum iwp_mem_err.
 */
enum iwp_mem_err iwp_mem_check(struct ib_pd *pd, u32 stag, u64 addr, u32 len,
			       int access)
{
	return iwp_mem_walk(pd, stag, addr, len, access, NULL, NULL);
}

/**
 * iwp_mem_generation() - get the registration number of an STag
 * @pd: protection domain of the accessing queue pair, or of its shared receive queue
 * @stag: region
 *
 * An access between two calls with the same result was to the memory that the region
 * still has.
 *
 * Return: the number, which is never used again, or 0 if there is no valid region.
 */
u64 iwp_mem_generation(struct ib_pd *pd, u32 stag)
{
	u64 generation = 0;
	struct iwp_mr *mr;

	rcu_read_lock();
	mr = stag ? iwp_mr_find(pd, stag) : NULL;
	if (mr) {
		read_lock_bh(&mr->lock);
		if (mr->valid)
			generation = mr->generation;
		read_unlock_bh(&mr->lock);
	}
	rcu_read_unlock();
	return generation;
}

/**
 * iwp_sgl_walk() - visit a part of a scatter/gather list's memory
 * @sgl: list; what is beyond its end is not visited
 * @at: offset of the first byte
 * @len: number of bytes
 * @fn: as for iwp_mem_walk(); an error stops the walk of one element only
 * @ctx: for @fn
 *
 * Nothing of an element is visited unless all of its range is accessible.
 *
 * Return: enum iwp_mem_err.
 */
enum iwp_mem_err iwp_sgl_walk(const struct iwp_sgl *sgl, u32 at,
			      u32 len, iwp_span_fn fn, void *ctx)
{
	const struct siw_sge *sge = sgl->sge;
	enum iwp_mem_err err = IWP_MEM_OK;
	u8 left;

	for (left = sgl->num_sge; len && left && !err; sge++, left--) {
		u32 n;

		if (at >= sge->length) {
			at -= sge->length;
			continue;
		}
		n = min(len, sge->length - at);
		if (sge->lkey)
			err = iwp_mem_walk(sgl->pd, sge->lkey,
					   sge->laddr + at, n, sgl->access,
					   fn, ctx);
		else if (!sgl->allow_no_stag)
			return IWP_MEM_STAG;
		else if (fn)
			fn(ctx, (void *)(uintptr_t)(sge->laddr + at), n);
		len -= n;
		at = 0;
	}
	return err;
}

/**
 * iwp_sgl_check() - check whether a list's first bytes are accessible now
 * @sgl: list
 * @len: number of bytes
 *
 * Return: enum iwp_mem_err.
 */
enum iwp_mem_err iwp_sgl_check(const struct iwp_sgl *sgl, u32 len)
{
	return iwp_sgl_walk(sgl, 0, len, NULL, NULL);
}

/**
 * iwp_mr_end() - a region is not valid any more
 * @mr: region, whose lock is held for writing: nothing of it is being accessed
 */
void iwp_mr_end(struct iwp_mr *mr)
{
	lockdep_assert_held_write(&mr->lock);
	mr->valid = false;
}

static enum iwp_mem_err iwp_mr_invalidate(struct iwp_mr *mr, struct ib_pd *pd,
					  u32 stag, bool remote)
{
	enum iwp_mem_err err = IWP_MEM_OK;

	write_lock_bh(&mr->lock);
	if (mr->stag != stag)
		err = IWP_MEM_STAG;
	else if (mr->ibmr.pd != pd)
		err = IWP_MEM_PD;
	/* The peer may invalidate only what it has remote access to. */
	else if (mr->ibmr.type != IB_MR_TYPE_MEM_REG ||
		 (remote && !(mr->access & (IB_ACCESS_REMOTE_READ |
					    IB_ACCESS_REMOTE_WRITE))))
		err = IWP_MEM_ACCESS;
	else
		iwp_mr_end(mr);
	write_unlock_bh(&mr->lock);
	return err;
}

/**
 * iwp_mem_invalidate() - end all access to a region
 * @pd: protection domain of the queue pair
 * @stag: region, with its key
 * @remote: requested by the peer
 *
 * Return: %IWP_MEM_OK, after which the region is not accessed, or another enum
 * iwp_mem_err.
 */
enum iwp_mem_err iwp_mem_invalidate(struct ib_pd *pd, u32 stag, bool remote)
{
	enum iwp_mem_err err = IWP_MEM_STAG;
	struct iwp_mr *mr;

	rcu_read_lock();
	mr = iwp_mr_find(pd, stag);
	if (mr)
		err = iwp_mr_invalidate(mr, pd, stag, remote);
	rcu_read_unlock();
	return err;
}

/**
 * iwp_mem_register() - make a region valid that pages were mapped to
 * @pd: protection domain of the queue pair
 * @mr: region, not valid yet
 * @key: its STag with a new key
 * @access: allowed access, IB_ACCESS_*
 *
 * Return: enum iwp_mem_err; callers take whatever is not 0 for an error, also an errno from
 * a kernel that makes functions fail.
 */
enum iwp_mem_err iwp_mem_register(struct ib_pd *pd, struct iwp_mr *mr, u32 key,
				  int access)
{
	enum iwp_mem_err err = IWP_MEM_OK;

	write_lock_bh(&mr->lock);
	if (mr->ibmr.pd != pd) {
		err = IWP_MEM_PD;
	} else if (mr->valid || mr->ibmr.type != IB_MR_TYPE_MEM_REG ||
		   (mr->stag ^ key) >> 8) {
		err = IWP_MEM_STAG;
	} else {
		mr->stag = key;
		mr->access = access;
		mr->iova = mr->ibmr.iova;
		mr->length = mr->ibmr.length;
		mr->generation = iwp_next_generation(pd->device);
		mr->valid = true;
	}
	write_unlock_bh(&mr->lock);
	return err;
}
ALLOW_ERROR_INJECTION(iwp_mem_register, ERRNO);
