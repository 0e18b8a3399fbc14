// SPDX-License-Identifier: GPL-2.0
/*
 * Copy-on-write for memory that is being sent (the zero-copy paper, section 4.2):
 * anonymous pages of user space get into the state that fork() leaves them in.
 * They are not exclusive any more, their page table entries do not allow writing,
 * and we hold a reference.  The kernel's own page fault then gives a writer a new
 * page, while the device keeps reading the old one.  Nothing ever waits, and
 * nothing has to be undone: a page whose reference was dropped becomes writable
 * again with the next write.
 *
 * Pages with other users, which may write to them, stay as they are, and are
 * copied.  What is refused takes another path: memory of files, shared, huge or
 * special memory, ranges whose pages mostly have other users, memory armed for
 * userfaultfd, and processes with MMU notifiers of others (devices, KVM).
 */
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pagemap.h>
#include <linux/rmap.h>
#include <linux/uaccess.h>

#include "base/base.h"
#include "guard.h"
#include "notifier.h"
#include "walk.h"

/* How often what is not there is faulted in: memory may be short. */
#define SDP_COW_TRIES		3

/**
 * struct sdp_cow_walk - a range of memory that is being protected
 * @mm: the process' memory
 * @vma: the current part of it
 * @pages: its pages, each with a reference; NULL for what is to be copied
 * @nr: how many there are so far
 * @used: how many of them are to be copied, because they have other users
 * @entries: how many entries have changed
 * @pmdp: entry of the current page table
 * @next: address of the next page
 * @end: behind the last page within this table
 * @changed: processors may still know pages of this table as writable
 * @drained: this processor's per-CPU lists have been drained (users.c)
 * @large: the large folio of this table that was last looked at
 * @mappings: how many entries of this table map it
 */
struct sdp_cow_walk {
	struct mm_struct *mm;
	struct vm_area_struct *vma;
	struct page **pages;
	pmd_t *pmdp;
	unsigned long next;
	unsigned long end;
	u32 nr;
	u32 used;
	u32 entries;
	bool changed;
	bool drained;
	struct folio *large;
	int mappings;
};

static void sdp_cow_put(struct page **pages, u32 nr)
{
	while (nr--)
		if (pages[nr])
			put_page(pages[nr]);
}

/* Takes references to what was protected: only now, see sdp_guard_is_used(). */
static void sdp_cow_take(struct sdp_cow_walk *walk)
{
	u32 nr = (walk->end - walk->next) >> PAGE_SHIFT;
	struct page *page;

	for (; nr; nr--) {
		page = walk->pages[walk->nr++];
		if (page)
			get_page(page);
		else
			walk->used++;
	}
}

/*
 * With the lock of a page table held, and before it is released in any case:
 * also entries that others have changed are flushed then.
 */
static void sdp_cow_flush(struct sdp_cow_walk *walk, spinlock_t *ptl)
{
	if (walk->changed || mm_tlb_flush_pending(walk->mm))
		sdp_guard_flush(walk->mm, ptl);
	walk->changed = false;
}

/* Counted once for each large folio: the lock is held until the table is done. */
static int sdp_cow_mappings(struct sdp_cow_walk *walk, pte_t *ptep,
			    unsigned long addr, struct page *page)
{
	struct folio *folio = page_folio(page);

	if (!folio_test_large(folio))
		return 1;
	if (folio != walk->large)
		walk->mappings = sdp_guard_mappings(ptep, addr, page);
	walk->large = folio;
	return walk->mappings;
}

/* An exclusive page; returns whether it is protected now. */
static bool sdp_cow_exclusive(struct sdp_cow_walk *walk, pte_t *ptep,
			      unsigned long addr)
{
	pte_t pte = ptep_get(ptep);
	struct page *page = pte_page(pte);
	int mappings = sdp_cow_mappings(walk, ptep, addr, page);
	struct folio *folio = page_folio(page);
	bool shared;

	sdp_guard_drain_for(folio, &walk->drained);
	/* A full barrier between this and the look at the references. */
	pte = ptep_get_and_clear(walk->mm, addr, ptep);
	shared = !sdp_guard_is_used(folio, mappings) &&
		 !folio_try_share_anon_rmap_pte(folio, page);
	if (shared)
		pte = pte_wrprotect(pte);
	walk->changed |= shared;
	walk->entries += shared;
	set_pte_at(walk->mm, addr, ptep, pte);
	return shared;
}

/* One page, with the lock of its page table held. */
static int sdp_cow_pte(struct sdp_cow_walk *walk, pte_t *ptep,
		       unsigned long addr, struct page **pagep)
{
	pte_t pte = ptep_get(ptep);
	struct page *page;

	if (!pte_present(pte) || pte_protnone(pte))
		return -EAGAIN;
	/* A write there gets a new page as it is. */
	if (is_zero_pfn(pte_pfn(pte))) {
		*pagep = ZERO_PAGE(addr);
		return 0;
	}
	if (pte_special(pte))
		return -EOPNOTSUPP;
	page = pte_page(pte);
	if (!PageAnon(page) || folio_test_ksm(page_folio(page)))
		return -EOPNOTSUPP;
	if (PageAnonExclusive(page) && !sdp_cow_exclusive(walk, ptep, addr))
		page = NULL;
	*pagep = page;
	return 0;
}

/* With the lock of the page table held until all of the range is known to be done. */
static int sdp_cow_entries(struct sdp_cow_walk *walk, pte_t *ptep)
{
	struct page **pagep = walk->pages + walk->nr;
	unsigned long addr = walk->next;
	int err = 0;

	for (; !err && addr < walk->end; addr += PAGE_SIZE)
		err = sdp_cow_pte(walk, ptep++, addr, pagep++);
	if (!err)
		sdp_cow_take(walk);
	return err;
}

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
/* As sdp_cow_exclusive(), for a huge page. */
static bool sdp_cow_huge_exclusive(struct sdp_cow_walk *walk,
				   struct page *head)
{
	unsigned long addr = walk->next & HPAGE_PMD_MASK;
	struct folio *folio = page_folio(head);
	pmd_t *pmdp = walk->pmdp;
	bool shared;
	pmd_t pmd;

	sdp_guard_drain_for(folio, &walk->drained);
	/* Never empty: MADV_DONTNEED, which may run now, would pass it over. */
	pmd = pmdp_establish(walk->vma, addr, pmdp, pmd_mkinvalid(*pmdp));
	shared = !sdp_guard_is_used(folio, 1) &&
		 !folio_try_share_anon_rmap_pmd(folio, head);
	if (shared)
		pmd = pmd_wrprotect(pmd);
	walk->changed |= shared;
	walk->entries += shared;
	set_pmd_at(walk->mm, addr, pmdp, pmd);
	return shared;
}

static int sdp_cow_huge_entry(struct sdp_cow_walk *walk)
{
	struct page *head = pmd_page(*walk->pmdp);
	struct page **pages = walk->pages + walk->nr;
	u32 first = (walk->next & ~HPAGE_PMD_MASK) >> PAGE_SHIFT;
	u32 nr = (walk->end - walk->next) >> PAGE_SHIFT;
	bool shared;
	u32 i;

	if (!PageAnon(head))
		return -EOPNOTSUPP;
	shared = !PageAnonExclusive(head) ||
		 sdp_cow_huge_exclusive(walk, head);
	for (i = 0; i < nr; i++)
		pages[i] = shared ? head + first + i : NULL;
	sdp_cow_take(walk);
	return 0;
}

/* A transparent huge page stays one: only its entry changes. */
static int sdp_cow_huge(struct sdp_cow_walk *walk)
{
	spinlock_t *ptl = pmd_lock(walk->mm, walk->pmdp);
	int err = -EAGAIN;

	if (pmd_trans_huge(*walk->pmdp) && !pmd_protnone(*walk->pmdp))
		err = sdp_cow_huge_entry(walk);
	sdp_cow_flush(walk, ptl);
	spin_unlock(ptl);
	return err;
}
#else
static int sdp_cow_huge(struct sdp_cow_walk *walk)
{
	return -EOPNOTSUPP;
}
#endif

/* With what was there, which may be gone when it is locked. */
static int sdp_cow_table(struct sdp_cow_walk *walk, pmd_t pmd)
{
	int err = -EAGAIN;
	spinlock_t *ptl; /* of the table */

	if (!pmd_present(pmd))
		return -EAGAIN;
	if (pmd_trans_huge(pmd))
		return sdp_cow_huge(walk);
	if (pmd_leaf(pmd) || unlikely(pmd_bad(pmd)))
		return -EOPNOTSUPP;
	ptl = sdp_guard_lock_table(walk->mm, pmd);
	if (pmd_same(pmd, READ_ONCE(*walk->pmdp))) {
		err = sdp_cow_entries(walk, pte_offset_kernel(&pmd, walk->next));
		sdp_cow_flush(walk, ptl);
	}
	spin_unlock(ptl);
	return err;
}

/* A range within one page table. */
static int sdp_cow_part(struct sdp_cow_walk *walk)
{
	int err;

	walk->large = NULL;
	walk->pmdp = sdp_guard_pmd(walk->mm, walk->next);
	if (!walk->pmdp)
		return -EAGAIN;
	rcu_read_lock();
	err = sdp_cow_table(walk, READ_ONCE(*walk->pmdp));
	rcu_read_unlock();
	return err;
}

static int sdp_cow_range(struct sdp_cow_walk *walk, unsigned long addr,
			 unsigned long end)
{
	int err = 0;

	for (; !err && addr < end; addr = walk->end) {
		walk->vma = find_vma(walk->mm, addr);
		if (!sdp_guard_vma_ok(walk->vma, addr))
			return -EOPNOTSUPP;
		walk->next = addr;
		walk->end = pmd_addr_end(addr, min(end, walk->vma->vm_end));
		err = sdp_cow_part(walk);
		WARN_ON_ONCE(walk->changed);
	}
	return err;
}

static int sdp_cow_copy(struct page **pagep, unsigned long addr)
{
	*pagep = alloc_page(SDP_GFP_TABLE);
	if (!*pagep)
		return -ENOMEM;
	if (copy_from_user(page_address(*pagep), (const void __user *)addr,
			   PAGE_SIZE))
		return -EFAULT;
	return 0;
}

/* Copies the pages that have other users, if they are not too many. */
static int sdp_cow_copies(struct sdp_cow_walk *walk, unsigned long addr)
{
	int err = walk->used > walk->nr / 2 ? -EBUSY : 0;
	u32 i;

	for (i = 0; !err && walk->used && i < walk->nr; i++)
		if (!walk->pages[i])
			err = sdp_cow_copy(&walk->pages[i],
					   addr + i * PAGE_SIZE);
	return err;
}

static int sdp_cow_try(struct sdp_cow_walk *walk, unsigned long addr,
		       unsigned long end)
{
	int err = -EOPNOTSUPP;

	walk->drained = false;
	if (mmap_read_lock_killable(walk->mm))
		return -EINTR;
	if (!sdp_notifier_is_shared(walk->mm))
		err = sdp_cow_range(walk, addr, end);
	/*
	 * Where a process has a notifier, ours, others come without mmap_lock.  Whoever
	 * has come since then may know pages as they were; later ones see what we have
	 * changed, since that was under the lock of the page table.
	 */
	if (!err && sdp_notifier_is_shared(walk->mm))
		err = -EOPNOTSUPP;
	mmap_read_unlock(walk->mm);
	if (!err)
		err = sdp_cow_copies(walk, addr);
	if (err) {
		sdp_cow_put(walk->pages, walk->nr);
		walk->nr = 0;
		walk->used = 0;
	}
	return err;
}

/*
 * As long as a reference is held, the page keeps what is in it now.  Returns an
 * error if memory of this kind, or in this state, cannot be protected, or if it
 * does not stay in memory.
 */
static struct sdp_guard *sdp_cow_protect(unsigned long addr, u32 nr,
					 struct page **pages, u32 *changed)
{
	struct sdp_cow_walk walk = { .mm = current->mm, .pages = pages };
	size_t len = (size_t)nr << PAGE_SHIFT;
	int tries, err;

	if (!sdp_guard_works() || !walk.mm)
		return ERR_PTR(-EOPNOTSUPP);
	for (tries = 0; tries < SDP_COW_TRIES; tries++) {
		if (tries && fault_in_readable((const char __user *)addr, len))
			return ERR_PTR(-EFAULT);
		err = sdp_cow_try(&walk, addr, addr + len);
		if (err != -EAGAIN)
			break;
	}
	*changed = walk.entries;
	return ERR_PTR(err);
}

static void sdp_cow_release(struct sdp_guard *guard, struct page **pages,
			    u32 nr)
{
	sdp_cow_put(pages, nr);
}

/*
 * Whether user space has got a copy of the page, or has freed it: then we are its
 * only user, or of a large folio nothing is mapped any more.  Our own copies are
 * never touched.
 */
static bool sdp_cow_is_touched(struct page *page)
{
	if (!PageAnon(page))
		return false;
	if (PageCompound(page))
		return atomic_read(&page->_mapcount) < 0 &&
		       !folio_entire_mapcount(page_folio(page));
	return page_count(page) == 1;
}

static struct sdp_guard_count sdp_cow_count(struct sdp_guard *guard,
					    struct page **pages, u32 nr)
{
	struct sdp_guard_count count = {};

	while (nr--)
		count.touched += sdp_cow_is_touched(pages[nr]);
	return count;
}

const struct sdp_guard_ops sdp_guard_cow = {
	.name = "copy",
	.protect = sdp_cow_protect,
	.release = sdp_cow_release,
	.count = sdp_cow_count,
};
