// SPDX-License-Identifier: GPL-2.0
/*
 * Copy-on-write for memory that is being sent (the zero-copy paper, section
 * 4.2): the program's anonymous pages get into the state that fork() leaves
 * them in.  They are not exclusive any more, their page table entries do not
 * allow writing, and we hold a reference.  The kernel's own page fault then
 * gives the program a new page when it writes, while the device keeps reading
 * the old one.  Nothing ever waits, and nothing has to be undone: a page whose
 * reference was dropped becomes writable again with the next write.
 *
 * What is refused takes another path: memory of files, shared, huge or special
 * memory, what somebody has pinned, what userfaultfd watches, and processes
 * whose memory other devices use by its address (MMU notifiers).
 */
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pagemap.h>
#include <linux/rmap.h>

#include "guard.h"
#include "guard_walk.h"
#include "guard_watch.h"

/* How often what is not there is faulted in: memory may be short. */
#define SDP_SHARE_TRIES		3

/**
 * struct sdp_share_walk - a range of memory that is being protected
 * @mm: whose it is
 * @vma: the part of it that is looked at
 * @pages: its pages, each with a reference
 * @nr: how many there are so far
 * @pmdp: where the page table hangs that is looked at
 * @next: address of the next page
 * @end: behind the last page within this table
 * @changed: processors may still know pages of this table as writable
 */
struct sdp_share_walk {
	struct mm_struct *mm;
	struct vm_area_struct *vma;
	struct page **pages;
	pmd_t *pmdp;
	unsigned long next;
	unsigned long end;
	u32 nr;
	bool changed;
};

static void sdp_share_put(struct page **pages, u32 nr)
{
	while (nr--)
		put_page(pages[nr]);
}

static void sdp_share_take(struct sdp_share_walk *walk, struct page *page)
{
	get_page(page);
	walk->pages[walk->nr++] = page;
}

/*
 * With the lock of a page table held, and before it is released in any case:
 * also entries that others have changed are flushed then.
 */
static void sdp_share_flush(struct sdp_share_walk *walk, spinlock_t *ptl)
{
	if (walk->changed || mm_tlb_flush_pending(walk->mm))
		sdp_guard_flush(walk->mm, ptl);
	walk->changed = false;
}

/* One page, with the lock of its page table held. */
static int sdp_share_pte(struct sdp_share_walk *walk, pte_t *ptep,
			 unsigned long addr)
{
	pte_t pte = ptep_get(ptep);
	struct page *page;

	if (!pte_present(pte) || pte_protnone(pte))
		return -EAGAIN;
	/* Whoever writes there gets a new page as it is. */
	if (is_zero_pfn(pte_pfn(pte))) {
		sdp_share_take(walk, ZERO_PAGE(addr));
		return 0;
	}
	if (pte_special(pte))
		return -EOPNOTSUPP;
	page = pte_page(pte);
	if (!PageAnon(page) || PageKsm(page))
		return -EOPNOTSUPP;
	if (PageAnonExclusive(page)) {
		pte = ptep_get_and_clear(walk->mm, addr, ptep);
		if (folio_try_share_anon_rmap_pte(page_folio(page), page)) {
			set_pte_at(walk->mm, addr, ptep, pte);
			return -EBUSY;
		}
		set_pte_at(walk->mm, addr, ptep, pte_wrprotect(pte));
		walk->changed = true;
	}
	sdp_share_take(walk, page);
	return 0;
}

/*
 * The first entry of a range that is not empty, with the lock of its page table
 * held.  The rest of the range is looked at from here, so that the lock is still
 * held when all of it is known to be done.  Returns 1 when it is, to end the walk.
 */
static int sdp_share_entries(pte_t *ptep, unsigned long addr, void *data)
{
	struct sdp_share_walk *walk = data;
	int err = addr == walk->next ? 0 : -EAGAIN;

	for (; !err && addr < walk->end; addr += PAGE_SIZE)
		err = sdp_share_pte(walk, ptep++, addr);
	sdp_share_flush(walk, pte_lockptr(walk->mm, walk->pmdp));
	return err ?: 1;
}

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
static int sdp_share_huge_entry(struct sdp_share_walk *walk, pmd_t *pmdp,
				unsigned long addr)
{
	struct page *head = pmd_page(*pmdp);
	pmd_t pmd;

	if (!PageAnon(head))
		return -EOPNOTSUPP;
	if (!PageAnonExclusive(head))
		return 0;
	addr &= HPAGE_PMD_MASK;
	/* Never empty: MADV_DONTNEED, which may run now, would pass it over. */
	pmd = pmdp_establish(walk->vma, addr, pmdp, pmd_mkinvalid(*pmdp));
	if (folio_try_share_anon_rmap_pmd(page_folio(head), head)) {
		set_pmd_at(walk->mm, addr, pmdp, pmd);
		return -EBUSY;
	}
	set_pmd_at(walk->mm, addr, pmdp, pmd_wrprotect(pmd));
	walk->changed = true;
	return 0;
}

/* A transparent huge page stays one: only its entry changes. */
static int sdp_share_huge(struct sdp_share_walk *walk)
{
	pmd_t *pmdp = walk->pmdp;
	spinlock_t *ptl = pmd_lock(walk->mm, pmdp);
	unsigned long addr = walk->next;
	int err = -EAGAIN;

	if (pmd_trans_huge(*pmdp) && !pmd_protnone(*pmdp))
		err = sdp_share_huge_entry(walk, pmdp, addr);
	for (; !err && addr < walk->end; addr += PAGE_SIZE)
		sdp_share_take(walk, pmd_page(*pmdp) +
				     ((addr & ~HPAGE_PMD_MASK) >> PAGE_SHIFT));
	sdp_share_flush(walk, ptl);
	spin_unlock(ptl);
	return err;
}
#else
static int sdp_share_huge(struct sdp_share_walk *walk)
{
	return -EOPNOTSUPP;
}
#endif

/*
 * A range within one page table.  With mmap_lock held a table does not become
 * a huge page, and what is neither may become either.
 */
static int sdp_share_table(struct sdp_share_walk *walk)
{
	pmd_t pmd;
	int ret;

	walk->pmdp = sdp_guard_pmd(walk->mm, walk->next);
	if (!walk->pmdp)
		return -EAGAIN;
	pmd = READ_ONCE(*walk->pmdp);
	if (!pmd_present(pmd))
		return -EAGAIN;
	if (pmd_trans_huge(pmd))
		return sdp_share_huge(walk);
	if (pmd_leaf(pmd))
		return -EOPNOTSUPP;
	ret = apply_to_existing_page_range(walk->mm, walk->next,
					   walk->end - walk->next,
					   sdp_share_entries, walk);
	if (ret > 0)
		return 0;
	/* Empty entries are passed over without a word. */
	return ret ?: -EAGAIN;
}

static int sdp_share_range(struct sdp_share_walk *walk, unsigned long addr,
			   unsigned long end)
{
	int err = 0;

	for (; !err && addr < end; addr = walk->end) {
		walk->vma = find_vma(walk->mm, addr);
		if (!sdp_guard_vma_ok(walk->vma, addr))
			return -EOPNOTSUPP;
		walk->next = addr;
		walk->end = pmd_addr_end(addr, min(end, walk->vma->vm_end));
		err = sdp_share_table(walk);
		WARN_ON_ONCE(walk->changed);
	}
	return err;
}

static int sdp_share_try(struct sdp_share_walk *walk, unsigned long addr,
			 unsigned long end)
{
	int err = -EOPNOTSUPP;

	if (mmap_read_lock_killable(walk->mm))
		return -EINTR;
	/* Who wants to be notified of changes begins with the lock held, too. */
	if (!sdp_watch_is_shared(walk->mm))
		err = sdp_share_range(walk, addr, end);
	mmap_read_unlock(walk->mm);
	if (err) {
		sdp_share_put(walk->pages, walk->nr);
		walk->nr = 0;
	}
	return err;
}

/*
 * As long as a reference is held, the page keeps what is in it now.  Returns an
 * error if memory of this kind, or in this state, cannot be protected, or if it
 * does not stay in memory.
 */
static struct sdp_guard *sdp_share_protect(unsigned long addr, u32 nr,
					   struct page **pages)
{
	struct sdp_share_walk walk = { .mm = current->mm, .pages = pages };
	size_t len = (size_t)nr << PAGE_SHIFT;
	int tries, err;

	if (!SDP_GUARD_WORKS || !walk.mm)
		return ERR_PTR(-EOPNOTSUPP);
	for (tries = 0; tries < SDP_SHARE_TRIES; tries++) {
		if (tries && fault_in_readable((const char __user *)addr, len))
			return ERR_PTR(-EFAULT);
		err = sdp_share_try(&walk, addr, addr + len);
		if (err != -EAGAIN)
			break;
	}
	return ERR_PTR(err);
}

static void sdp_share_release(struct sdp_guard *guard, struct page **pages,
			      u32 nr)
{
	sdp_share_put(pages, nr);
}

/*
 * Whether the program has got a copy of the page, or has given it up: then we
 * are its only user.  A huge page that is not mapped as a whole any more was
 * written to, and the kernel copies whatever is written to of the rest, too.
 */
static bool sdp_share_is_touched(struct page *page)
{
	if (PageCompound(page))
		return !folio_entire_mapcount(page_folio(page));
	return page_count(page) == 1;
}

static struct sdp_guard_count sdp_share_count(struct sdp_guard *guard,
					      struct page **pages, u32 nr)
{
	struct sdp_guard_count count = {};

	while (nr--)
		count.touched += sdp_share_is_touched(pages[nr]);
	return count;
}

const struct sdp_guard_ops sdp_guard_share = {
	.name = "copy",
	.protect = sdp_share_protect,
	.release = sdp_share_release,
	.count = sdp_share_count,
};
