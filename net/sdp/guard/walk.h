/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page table walks, for the guards.
 */
#ifndef _SDP_GUARD_WALK_H
#define _SDP_GUARD_WALK_H

#include <linux/kconfig.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

/**
 * sdp_guard_pmd() - find the entry of a page table, or of a huge page
 * @mm: the process' memory, locked for reading
 * @addr: address in it
 *
 * Return: the entry; NULL if there is none.
 */
static inline pmd_t *sdp_guard_pmd(struct mm_struct *mm, unsigned long addr)
{
	pgd_t *pgd = pgd_offset(mm, addr);
	p4d_t *p4d;
	pud_t *pud;

	mmap_assert_locked(mm);
	if (pgd_none(*pgd))
		return NULL;
	p4d = p4d_offset(pgd, addr);
	if (p4d_none(*p4d))
		return NULL;
	pud = pud_offset(p4d, addr);
	if (!pud_present(*pud) || pud_leaf(*pud))
		return NULL;
	return pmd_offset(pud, addr);
}

/**
 * sdp_guard_lock_table() - lock a page table
 * @mm: the process' memory, locked for reading
 * @pmd: what the table's own entry was: present, and no huge page
 *
 * mmap_lock alone does not keep the table: with CONFIG_PT_RECLAIM madvise() takes an empty
 * one away, and frees it after a grace period.  Its lock keeps it, if it is still there:
 * the caller compares the entry with what it was.
 *
 * Context: the entry was read in the RCU read-side critical section that this is in.
 * Return: the lock, held.
 */
static inline spinlock_t *sdp_guard_lock_table(struct mm_struct *mm, pmd_t pmd)
{
	spinlock_t *ptl = pte_lockptr(mm, &pmd);

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "the page table may be freed");
	spin_lock(ptl);
	return ptl;
}

/* flush.c */
void sdp_guard_flush(struct mm_struct *mm, spinlock_t *ptl);

/* users.c */
void sdp_guard_drain(void);
void sdp_guard_drain_for(struct folio *folio, bool *drained);
int sdp_guard_mappings(pte_t *ptep, unsigned long addr, struct page *page);
bool sdp_guard_is_used(struct folio *folio, int mappings);

#endif /* _SDP_GUARD_WALK_H */
