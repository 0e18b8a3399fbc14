// SPDX-License-Identifier: GPL-2.0
/*
 * Block-on-access for memory that is being read into (the zero-copy paper, section 4):
 * the read has returned, and who touches the memory waits until the bytes are there.
 *
 * The kernel has such a state, that of pages which are being moved: they are locked,
 * isolated, and page tables have migration entries in their place.  We begin to move
 * pages, have the device write to them, and then leave them where they are.  fork(),
 * mremap(), munmap() and exit handle these entries as those of any other migration.
 * Other users of migrate_vma_setup() hold mmap_lock until they are done, and with it the
 * mapping; we hold a reference to the anon_vma, as migrate_pages() does.
 *
 * A page fault that meets such an entry sleeps uninterruptibly, which nobody but us can
 * end: the caller bounds the time (zcopy/async_read.c).  Kernels on which a program's own
 * faults would stop its other threads meanwhile are not supported.
 */
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/rmap.h>
#include <linux/slab.h>

#include "base/base.h"
#include "guard.h"
#include "walk.h"

/* What a page has to be: there, no longer mapped anywhere, writable and so exclusive. */
#define SDP_ACCESS_READY	(MIGRATE_PFN_VALID | MIGRATE_PFN_MIGRATE | MIGRATE_PFN_WRITE)

/**
 * struct sdp_access - memory that is being read into
 * @anon_vma: finds the page tables that have the entries, with a reference: all mappings
 *	may be gone when the bytes are there
 * @nr: its pages
 * @pfns: each page as migration knows it, and then as many zeros, for no other place
 */
struct sdp_access {
	struct anon_vma *anon_vma;
	u32 nr;
	unsigned long pfns[];
};

/* Gives the pages back to user space, with what is in them now. */
static void sdp_access_end(struct sdp_access *access)
{
	struct migrate_vma args = {
		.src = access->pfns,
		.dst = access->pfns + access->nr,
		.npages = access->nr,
	};

	migrate_vma_finalize(&args);
}

/* Whether there is no huge page in a range: it would be split. */
static bool sdp_access_is_small(struct mm_struct *mm, unsigned long addr, unsigned long end)
{
	unsigned long next;
	pmd_t *pmdp, pmd;

	for (; addr < end; addr = next) {
		next = pmd_addr_end(addr, end);
		pmdp = sdp_guard_pmd(mm, addr);
		if (!pmdp)
			continue;
		pmd = READ_ONCE(*pmdp);
		if (pmd_present(pmd) && pmd_leaf(pmd))
			return false;
	}
	return true;
}

static bool sdp_access_vma_ok(struct vm_area_struct *vma, unsigned long addr,
			      unsigned long end)
{
	return sdp_guard_vma_ok(vma, addr) && end <= vma->vm_end &&
	       (vma->vm_flags & VM_WRITE) && !(vma->vm_flags & VM_SHADOW_STACK) &&
	       arch_vma_access_permitted(vma, true, false, false) &&
	       sdp_access_is_small(vma->vm_mm, addr, end);
}

/* Whether page tables that have a page are found by what belongs to the mapping. */
static bool sdp_access_is_of(unsigned long pfn, const struct anon_vma *anon_vma)
{
	const struct folio *folio = page_folio(migrate_pfn_to_page(pfn));

	return (unsigned long)READ_ONCE(folio->mapping) ==
	       (unsigned long)anon_vma + FOLIO_MAPPING_ANON;
}

/* The memory is locked, so that the mapping stays. */
static bool sdp_access_has_all(struct sdp_access *access, const struct vm_area_struct *vma)
{
	u32 i;

	for (i = 0; i < access->nr; i++)
		if ((access->pfns[i] & SDP_ACCESS_READY) != SDP_ACCESS_READY ||
		    !sdp_access_is_of(access->pfns[i], vma->anon_vma))
			return false;
	access->anon_vma = vma->anon_vma;
	get_anon_vma(access->anon_vma);
	return true;
}

/* Returns -EAGAIN if pages are not there, or have other users now. */
static int sdp_access_begin(struct sdp_access *access, unsigned long addr)
{
	struct migrate_vma args = {
		.src = access->pfns,
		.dst = access->pfns + access->nr,
		.start = addr,
		.end = addr + ((unsigned long)access->nr << PAGE_SHIFT),
		.flags = MIGRATE_VMA_SELECT_SYSTEM,
	};
	int err = -EOPNOTSUPP;

	if (mmap_read_lock_killable(current->mm))
		return -EINTR;
	args.vma = find_vma(current->mm, addr);
	if (sdp_access_vma_ok(args.vma, addr, args.end))
		err = migrate_vma_setup(&args);
	if (!err && !sdp_access_has_all(access, args.vma)) {
		sdp_access_end(access);
		err = -EAGAIN;
	}
	mmap_read_unlock(current->mm);
	return err;
}

static int sdp_access_try(struct sdp_access *access, unsigned long addr)
{
	size_t len = (size_t)access->nr << PAGE_SHIFT;
	int err = sdp_access_begin(access, addr);

	if (err != -EAGAIN)
		return err;
	/* Also waits for what another socket reads into. */
	if (fault_in_safe_writeable((char __user *)addr, len))
		return -EFAULT;
	return sdp_access_begin(access, addr);
}

static struct sdp_guard *sdp_access_protect(unsigned long addr, u32 nr, struct page **pages,
					    u32 *changed)
{
	struct sdp_access *access;
	int err;
	u32 i;

	if (!sdp_guard_access_works() || !current->mm)
		return ERR_PTR(-EOPNOTSUPP);
	access = kvzalloc(struct_size(access, pfns, 2 * (size_t)nr), SDP_GFP_TABLE);
	if (!access)
		return ERR_PTR(-ENOMEM);
	access->nr = nr;
	err = sdp_access_try(access, addr);
	if (err) {
		kvfree(access);
		return ERR_PTR(err);
	}
	for (i = 0; i < nr; i++)
		pages[i] = migrate_pfn_to_page(access->pfns[i]);
	*changed = nr;
	return (struct sdp_guard *)access;
}

/* The pages' references are migration's own, which drops them. */
static void sdp_access_release(struct sdp_guard *guard, struct page **pages, u32 nr)
{
	struct sdp_access *access = (struct sdp_access *)guard;
	u32 i;

	/* Or memory that MADV_FREE has given up would lose what it has got. */
	for (i = 0; i < nr; i++)
		set_page_dirty(pages[i]);
	sdp_access_end(access);
	put_anon_vma(access->anon_vma);
	/* The next read would have to drain the lists of all processors. */
	sdp_guard_drain();
	kvfree(access);
}

/* A look from outside: waiters that have come are known, not what they waited for. */
static struct sdp_guard_count sdp_access_count(struct sdp_guard *guard, struct page **pages,
					       u32 nr)
{
	struct sdp_guard_count count = {};
	u32 i;

	for (i = 0; i < nr; i++)
		count.waited += folio_test_waiters(page_folio(pages[i]));
	count.touched = count.waited;
	return count;
}

/**
 * sdp_guard_access_works() - whether memory can be read into behind the program's back
 *
 * Return: false where a page fault that waits would stop other threads of the process.
 */
bool sdp_guard_access_works(void)
{
	return migration_waits_alone();
}

const struct sdp_guard_ops sdp_guard_access = {
	.name = "access",
	.protect = sdp_access_protect,
	.release = sdp_access_release,
	.count = sdp_access_count,
};
