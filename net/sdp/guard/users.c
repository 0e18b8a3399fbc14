// SPDX-License-Identifier: GPL-2.0
/*
 * Other users of a page beside the page table that maps it.
 *
 * Code that has looked up a page to write to it holds a reference until that is
 * done: direct I/O of file systems that do not pin, ptrace(), write() to
 * /proc/PID/mem.  Were the page protected meanwhile, user space would get a copy
 * with its next store, and never see what is written to the old one.
 */
#include <linux/folio_batch.h>
#include <linux/mm.h>

#include "walk.h"

/**
 * sdp_guard_drain() - empty the per-CPU lists of this processor
 *
 * New pages, and such as have begun to be in use, are there first, with a reference to
 * each.  do_wp_page() drains those of its own processor, too; the function for that is
 * not exported, but this one begins with it.
 *
 * Context: any in which folios may be released.
 */
void sdp_guard_drain(void)
{
	struct folio_batch none;

	folio_batch_init(&none);
	__folio_batch_release(&none);
}

/**
 * sdp_guard_drain_for() - empty the lists of this processor if a page is in one
 * @folio: a page that looks used
 * @drained: whether that was done already; set if it was done now
 *
 * Context: any in which a page table is locked.
 */
void sdp_guard_drain_for(struct folio *folio, bool *drained)
{
	if (*drained || folio_ref_count(folio) == 1)
		return;
	sdp_guard_drain();
	*drained = true;
}

/* An entry that maps the page which lies so far from another in its folio. */
static bool sdp_guard_is_mapping(pte_t pte, unsigned long pfn)
{
	return pte_present(pte) && pte_pfn(pte) == pfn;
}

/**
 * sdp_guard_mappings() - entries of a page table that map a folio
 * @ptep: the one for @page
 * @addr: its user address
 * @page: page of a folio
 *
 * Each has a reference.  Those that cannot change are counted, which are these
 * ones, and only as far as they are contiguous as the folio is: the references of
 * mappings elsewhere cannot be told from those of other users.
 *
 * Context: the page table is locked.
 */
int sdp_guard_mappings(pte_t *ptep, unsigned long addr, struct page *page)
{
	struct folio *folio = page_folio(page);
	long at = (addr >> PAGE_SHIFT) & (PTRS_PER_PTE - 1);
	long before = folio_page_idx(folio, page);
	long after = folio_nr_pages(folio) - before;
	long i = -min(before, at);
	int nr = 0;

	for (after = min(after, (long)PTRS_PER_PTE - at); i < after; i++)
		nr += sdp_guard_is_mapping(ptep_get(ptep + i),
					   page_to_pfn(page) + i);
	return nr;
}

/**
 * sdp_guard_is_used() - whether other users may write to a page
 * @folio: exclusive page, or the large folio that it is part of
 * @mappings: entries of the locked page table that map it, or did until now
 *
 * The page's own entry is cleared, so that no new look-up finds it: lockless ones
 * (GUP-fast) take a reference first and then look at the entry again, while its
 * clearing precedes the look at the references here.  Mappings, and the swap cache,
 * hold a reference, too: to take one for a user costs a copy.
 *
 * Context: the page's page table is locked.
 */
bool sdp_guard_is_used(struct folio *folio, int mappings)
{
	return folio_ref_count(folio) > mappings;
}
