// SPDX-License-Identifier: GPL-2.0
/*
 * Makes memory that was sent writable again, before the next read writes to it.
 * The pages are still as cow.c has left them: the kernel makes them writable with
 * the next write, a page fault for each.  A device that is to write there takes
 * these faults as well, in pin_user_pages().  This does what do_wp_page() does for
 * a page without other users, for all of them at once.
 *
 * What is not as simple as that is left for the page fault: pages that are in
 * flight, that a child has as well, that are in the swap cache, merged, being
 * moved, or in large folios, and what is not protected by a guard, or by fork().
 */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/rmap.h>

#include "guard.h"
#include "walk.h"

/**
 * struct sdp_unshare_walk - a range of memory that becomes writable
 * @mm: the process' memory
 * @nr: how many pages became so
 * @drained: this processor's per-CPU lists have been drained (users.c)
 */
struct sdp_unshare_walk {
	struct mm_struct *mm;
	u32 nr;
	bool drained;
};

/*
 * Whether a page that is mapped here has no other user.  That is reliable with the
 * page locked: migration, KSM and the swap cache lock it and hold a reference.
 */
static bool sdp_unshare_is_alone(struct folio *folio)
{
	return folio_ref_count(folio) == 1 && !folio_test_ksm(folio) &&
	       !folio_test_swapcache(folio);
}

/*
 * Marks the page as exclusive, and returns whether it is.  fork() cannot share it
 * now, because mmap_lock is held; nor any other guard, because that takes the lock
 * of the page table.
 */
static bool sdp_unshare_claim(struct folio *folio, struct page *page)
{
	bool alone;

	if (!sdp_unshare_is_alone(folio) || !folio_trylock(folio))
		return false;
	alone = sdp_unshare_is_alone(folio);
	/* Before the entry says so: pin_user_pages_fast() looks at it first. */
	if (alone)
		SetPageAnonExclusive(page);
	folio_unlock(folio);
	return alone;
}

/* Whether an entry is one that a guard, or fork(), leaves. */
static bool sdp_unshare_is_protected(pte_t pte)
{
	return pte_present(pte) && !pte_protnone(pte) && !pte_write(pte) &&
	       !pte_special(pte) && !pte_uffd_wp(pte);
}

/*
 * One page, below the lock of its page table.  A processor that still knows the old
 * entry takes a fault there, finds it valid, and goes on: what allows more needs no
 * flush.  It is dirty, so that MADV_FREE does not discard the page, and soft-dirty
 * tracking sees a write.
 */
static void sdp_unshare_pte(struct sdp_unshare_walk *walk, pte_t *ptep,
			    unsigned long addr)
{
	pte_t pte = ptep_get(ptep);
	struct folio *folio;
	struct page *page;

	if (!sdp_unshare_is_protected(pte))
		return;
	page = pte_page(pte);
	folio = page_folio(page);
	if (folio_test_large(folio) || !folio_test_anon(folio) ||
	    PageAnonExclusive(page))
		return;
	sdp_guard_drain_for(folio, &walk->drained);
	if (!sdp_unshare_claim(folio, page))
		return;
	/* Clean first: an entry that may be written to is dirty in one way only. */
	pte = pte_mkwrite_novma(pte_mkclean(pte));
	set_pte_at(walk->mm, addr, ptep, pte_mkyoung(pte_mkdirty(pte)));
	walk->nr++;
}

static void sdp_unshare_entries(struct sdp_unshare_walk *walk, pte_t *ptep,
				unsigned long addr, unsigned long end)
{
	for (; addr < end; addr += PAGE_SIZE)
		sdp_unshare_pte(walk, ptep++, addr);
}

/* A huge page takes one fault, and no time; and what was there may be gone when it is locked. */
static void sdp_unshare_table(struct sdp_unshare_walk *walk, pmd_t *pmdp,
			      unsigned long addr, unsigned long end)
{
	pmd_t pmd = READ_ONCE(*pmdp);
	spinlock_t *ptl; /* of the table */

	if (!pmd_present(pmd) || pmd_leaf(pmd) || unlikely(pmd_bad(pmd)))
		return;
	ptl = sdp_guard_lock_table(walk->mm, pmd);
	if (pmd_same(pmd, READ_ONCE(*pmdp)))
		sdp_unshare_entries(walk, pte_offset_kernel(&pmd, addr), addr, end);
	spin_unlock(ptl);
}

/* A range within one page table. */
static void sdp_unshare_part(struct sdp_unshare_walk *walk, unsigned long addr,
			     unsigned long end)
{
	pmd_t *pmdp = sdp_guard_pmd(walk->mm, addr);

	if (!pmdp)
		return;
	rcu_read_lock();
	sdp_unshare_table(walk, pmdp, addr, end);
	rcu_read_unlock();
}

/* Memory that user space may write to directly, not by system calls only. */
static bool sdp_unshare_vma_ok(struct vm_area_struct *vma, unsigned long addr)
{
	return sdp_guard_vma_ok(vma, addr) && (vma->vm_flags & VM_WRITE) &&
	       !(vma->vm_flags & VM_SHADOW_STACK);
}

/**
 * sdp_guard_unshare() - make memory writable that was sent
 * @addr: user address
 * @len: bytes that are about to be written there
 *
 * Pages that are not exclusive again, or whose mapping is being changed, are left
 * alone and take the page faults that they would have taken.
 *
 * Context: process context.
 * Return: pages that became writable.
 */
u32 sdp_guard_unshare(unsigned long addr, u32 len)
{
	struct sdp_unshare_walk walk = { .mm = current->mm };
	unsigned long end = PAGE_ALIGN(addr + len);
	struct vm_area_struct *vma;
	unsigned long next;

	if (!sdp_guard_works() || !walk.mm || !mmap_read_trylock(walk.mm))
		return 0;
	for (addr &= PAGE_MASK; addr < end; addr = next) {
		vma = find_vma(walk.mm, addr);
		if (!sdp_unshare_vma_ok(vma, addr))
			break;
		next = pmd_addr_end(addr, min(end, vma->vm_end));
		sdp_unshare_part(&walk, addr, next);
	}
	mmap_read_unlock(walk.mm);
	return walk.nr;
}
