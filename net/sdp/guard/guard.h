/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page protection for asynchronous zero copy (AZ-SDP): user space may write to
 * memory that is in flight, and the peer reads what was there before; and it may use
 * memory that is being read into, and waits for what comes.
 * Documentation/protocol/zero-copy.rst explains it.
 */
#ifndef _SDP_GUARD_H
#define _SDP_GUARD_H

#include <linux/mm.h>
#include <linux/mmu_context.h>
#include <linux/types.h>
#include <linux/userfaultfd_k.h>

#include "notifier.h"

struct sdp_guard;

/**
 * struct sdp_guard_count - what user space did to memory while it was in flight
 * @touched: pages that it wrote to, or wanted to use
 * @waited: of these, those that a writer waited for
 * @copied: of these, those that were copied because it took too long
 */
struct sdp_guard_count {
	u32 touched;
	u32 waited;
	u32 copied;
};

/**
 * struct sdp_guard_ops - what happens to a write to memory in flight
 * @name: of net.sdp.zcopy_fault and SDP_ZCOPY_FAULT
 * @protect: protects so many pages, from an address at the start of a page on, and
 *	sets @pages to them, each with a reference, and @changed to how many entries of
 *	page tables allowed writing before, each of which is a page fault if user space
 *	writes there again; in process context, may sleep; returns what is to be handed
 *	to the others, NULL or not, or ERR_PTR() if memory of this kind, or in this
 *	state, cannot be protected
 * @release: unprotects them, and drops the references; any context, but for memory that
 *	is read into: that may sleep
 * @count: what has happened so far, to be called before @release; any context
 */
struct sdp_guard_ops {
	const char *name;
	struct sdp_guard *(*protect)(unsigned long addr, u32 nr,
				     struct page **pages, u32 *changed);
	void (*release)(struct sdp_guard *guard, struct page **pages, u32 nr);
	struct sdp_guard_count (*count)(struct sdp_guard *guard,
					struct page **pages, u32 nr);
};

/*
 * Memory of which the kernel's own copy-on-write, and migration, know all, and which
 * this thread may read (protection keys).
 */
static inline bool sdp_guard_vma_ok(struct vm_area_struct *vma,
				    unsigned long addr)
{
	return vma && vma->vm_start <= addr && vma_is_anonymous(vma) &&
	       (vma->vm_flags & VM_READ) &&
	       arch_vma_access_permitted(vma, false, false, false) &&
	       !(vma->vm_flags & (VM_SPECIAL | VM_HUGETLB | VM_SHARED)) &&
	       !userfaultfd_armed(vma);
}

/* guard.c */
#define sdp_guard_default	(&sdp_guard_cow)

const struct sdp_guard_ops *sdp_guard_find(const char *name);

/* flush.c; where it is false at once, what no module may call there is not even built. */
#if defined(CONFIG_X86) && defined(CONFIG_64BIT)
bool sdp_guard_works(void);
#else
static inline bool sdp_guard_works(void)
{
	return false;
}
#endif
u32 sdp_guard_other_cpus(struct mm_struct *mm);

/* unshare.c */
u32 sdp_guard_unshare(unsigned long addr, u32 len);

/* cow.c */
extern const struct sdp_guard_ops sdp_guard_cow;

/* block.c */
extern const struct sdp_guard_ops sdp_guard_block;

/* access.c: for memory that is read into; released in process context only */
extern const struct sdp_guard_ops sdp_guard_access;

#ifdef CONFIG_MIGRATION
bool sdp_guard_access_works(void);
#else
static inline bool sdp_guard_access_works(void)
{
	return false;
}
#endif

#ifdef CONFIG_MMU_NOTIFIER
void sdp_guard_open(unsigned long addr, size_t len);
#else
static inline void sdp_guard_open(unsigned long addr, size_t len)
{
}
#endif

#endif /* _SDP_GUARD_H */
