// SPDX-License-Identifier: GPL-2.0
/*
 * Block-on-write for memory that is being sent (the zero-copy paper, section
 * 4.2): migration entries take the place of the pages in the page tables, as if
 * they were about to be moved, and the kernel's own page fault waits until the
 * entries are gone, which is when the peer has read the pages.
 *
 * Such a wait cannot be interrupted, not even by SIGKILL, and who reads has to
 * wait, too.  So nobody waits for long: then the pages are moved indeed, the
 * program goes on with copies, and the device keeps reading the old ones.
 */
#include <linux/highmem.h>
#include <linux/migrate.h>
#include <linux/pagemap.h>
#include <linux/rmap.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "guard.h"

/* How often somebody looks; who waits at two looks in a row gets copies. */
#define SDP_MIGRATE_PERIOD	max(HZ / 100, 1)

/**
 * struct sdp_migrate_page - a page that is being sent
 * @page: the page, with a reference, or NULL
 * @anon_vma: where its mappings are found, NULL if it is not guarded (any more);
 *	with a reference, because while they are entries nothing else keeps that
 */
struct sdp_migrate_page {
	struct page *page;
	struct anon_vma *anon_vma;
};

/**
 * struct sdp_guard - a range of guarded memory
 * @look: looks for waiters
 * @end: ends the guard
 * @waited: somebody waited at the last look
 * @copied: pages that were copied
 * @nr: number of pages
 * @src: what migrate_vma_setup() has said of each page
 * @dst: where each page goes, 0 = it stays
 * @list: the pages
 */
struct sdp_guard {
	struct delayed_work look;
	struct work_struct end;
	bool waited;
	u32 copied;
	u32 nr;
	unsigned long *src;
	unsigned long *dst;
	struct sdp_migrate_page list[];
};

static struct workqueue_struct *sdp_guard_wq;

#ifdef CONFIG_DEVICE_MIGRATION
/* As __put_anon_vma(), which is not for modules. */
static void sdp_migrate_free_anon_vma(struct anon_vma *anon_vma)
{
	if (rwsem_is_locked(&anon_vma->root->rwsem)) {
		anon_vma_lock_write(anon_vma);
		anon_vma_unlock_write(anon_vma);
	}
	kfree(anon_vma);
}

static void sdp_migrate_put_anon_vma(struct anon_vma *anon_vma)
{
	struct anon_vma *root = anon_vma->root;

	if (!atomic_dec_and_test(&anon_vma->refcount))
		return;
	sdp_migrate_free_anon_vma(anon_vma);
	if (root != anon_vma && atomic_dec_and_test(&root->refcount))
		sdp_migrate_free_anon_vma(root);
}

/* Ends what keeps the program from the page, or from the copy of it. */
static void sdp_migrate_open(struct sdp_guard *guard, u32 i)
{
	struct sdp_migrate_page *p = &guard->list[i];
	struct anon_vma *anon_vma = p->anon_vma;

	migrate_device_finalize(&guard->src[i], &guard->dst[i], 1);
	WRITE_ONCE(p->anon_vma, NULL);
	sdp_migrate_put_anon_vma(anon_vma);
}

/*
 * Gives the program a copy of a page.  It stays guarded if there is no memory,
 * or if somebody else uses it just now: then the next look has to do.
 */
static void sdp_migrate_copy(struct sdp_guard *guard, u32 i)
{
	struct page *new = alloc_page(GFP_HIGHUSER_MOVABLE | __GFP_NOWARN);
	struct page *page = guard->list[i].page;

	if (!new)
		return;
	lock_page(new);
	copy_highpage(new, page);
	guard->dst[i] = migrate_pfn(page_to_pfn(new));
	/* With our reference it could not be moved; it has that of its owner. */
	put_page(page);
	migrate_device_pages(&guard->src[i], &guard->dst[i], 1);
	get_page(page);
	if (guard->src[i] & MIGRATE_PFN_MIGRATE) {
		sdp_migrate_open(guard, i);
		WRITE_ONCE(guard->copied, guard->copied + 1);
		return;
	}
	guard->src[i] |= MIGRATE_PFN_MIGRATE;
	guard->dst[i] = 0;
	unlock_page(new);
	put_page(new);
}

/*
 * Takes what migrate_vma_setup() says of a page, which is locked, and has no
 * mappings any more, if it could be guarded.
 */
static int sdp_migrate_take(struct sdp_guard *guard, u32 i)
{
	struct page *page = migrate_pfn_to_page(guard->src[i]);
	struct sdp_migrate_page *p = &guard->list[i];

	if (!(guard->src[i] & MIGRATE_PFN_MIGRATE))
		return -EBUSY;
	/* Whoever writes there gets a new page as it is. */
	if (!page) {
		p->page = ZERO_PAGE(0);
		get_page(p->page);
		return 0;
	}
	if (PageKsm(page) || folio_test_swapcache(page_folio(page))) {
		migrate_device_finalize(&guard->src[i], &guard->dst[i], 1);
		return -EBUSY;
	}
	p->page = page;
	get_page(page);
	p->anon_vma = (void *)((unsigned long)page->mapping -
			       PAGE_MAPPING_ANON);
	get_anon_vma(p->anon_vma);
	return 0;
}

static int sdp_migrate_vma(struct sdp_guard *guard, struct vm_area_struct *vma,
			   u32 first, unsigned long addr, unsigned long end)
{
	struct migrate_vma args = {
		.vma = vma,
		.src = guard->src + first,
		.dst = guard->dst + first,
		.start = addr,
		.end = end,
		.pgmap_owner = guard,
		.flags = MIGRATE_VMA_SELECT_SYSTEM,
	};
	int err = migrate_vma_setup(&args);
	int failed = 0;
	u32 i;

	if (err)
		return err;
	for (i = first; i < first + args.npages; i++) {
		err = sdp_migrate_take(guard, i);
		failed = failed ?: err;
	}
	return failed;
}

static int sdp_migrate_range(struct sdp_guard *guard, unsigned long addr)
{
	unsigned long end = addr + ((size_t)guard->nr << PAGE_SHIFT);
	struct vm_area_struct *vma;
	unsigned long next;
	u32 first = 0;
	int err = 0;

	if (mmap_read_lock_killable(current->mm))
		return -EINTR;
	for (; !err && addr < end; addr = next) {
		vma = find_vma(current->mm, addr);
		next = end;
		err = -EOPNOTSUPP;
		if (!sdp_guard_vma_ok(vma, addr))
			break;
		next = min(end, vma->vm_end);
		err = sdp_migrate_vma(guard, vma, first, addr, next);
		first += (next - addr) >> PAGE_SHIFT;
	}
	mmap_read_unlock(current->mm);
	return err;
}
#else
static void sdp_migrate_open(struct sdp_guard *guard, u32 i)
{
}

static void sdp_migrate_copy(struct sdp_guard *guard, u32 i)
{
}

static int sdp_migrate_range(struct sdp_guard *guard, unsigned long addr)
{
	return -EOPNOTSUPP;
}
#endif

/* All is as if nothing had happened, and who waits goes on. */
static void sdp_migrate_free(struct sdp_guard *guard)
{
	u32 i;

	for (i = 0; i < guard->nr; i++) {
		if (guard->list[i].anon_vma)
			sdp_migrate_open(guard, i);
		if (guard->list[i].page)
			put_page(guard->list[i].page);
	}
	kvfree(guard->src);
	kvfree(guard);
}

static void sdp_migrate_end(struct work_struct *work)
{
	struct sdp_guard *guard = container_of(work, struct sdp_guard, end);

	cancel_delayed_work_sync(&guard->look);
	sdp_migrate_free(guard);
}

static u32 sdp_migrate_waiters(const struct sdp_guard *guard)
{
	u32 waiters = 0;
	u32 i;

	for (i = 0; i < guard->nr; i++)
		waiters += READ_ONCE(guard->list[i].anon_vma) &&
			   folio_test_waiters(page_folio(guard->list[i].page));
	return waiters;
}

static void sdp_migrate_copy_all(struct sdp_guard *guard)
{
	u32 i;

	for (i = 0; i < guard->nr; i++)
		if (guard->list[i].anon_vma)
			sdp_migrate_copy(guard, i);
}

/*
 * Needs neither mmap_lock nor the socket lock: who waits for a page may hold
 * both.
 */
static void sdp_migrate_look(struct work_struct *work)
{
	struct sdp_guard *guard = container_of(to_delayed_work(work),
					       struct sdp_guard, look);
	bool waiting = sdp_migrate_waiters(guard);

	if (waiting && guard->waited)
		sdp_migrate_copy_all(guard);
	guard->waited = waiting;
	queue_delayed_work(sdp_guard_wq, &guard->look, SDP_MIGRATE_PERIOD);
}

static void sdp_migrate_release(struct sdp_guard *guard, struct page **pages,
				u32 nr)
{
	queue_work(sdp_guard_wq, &guard->end);
}

static struct sdp_guard_count sdp_migrate_count(struct sdp_guard *guard,
						struct page **pages, u32 nr)
{
	u32 copied = READ_ONCE(guard->copied);
	u32 waited = copied + sdp_migrate_waiters(guard);

	return (struct sdp_guard_count){
		.touched = waited,
		.waited = waited,
		.copied = copied,
	};
}

static struct sdp_guard *sdp_migrate_alloc(u32 nr)
{
	struct sdp_guard *guard = kvzalloc(struct_size(guard, list, nr),
					   GFP_KERNEL);

	if (!guard)
		return NULL;
	guard->src = kvcalloc(2 * nr, sizeof(*guard->src), GFP_KERNEL);
	if (!guard->src) {
		kvfree(guard);
		return NULL;
	}
	guard->dst = guard->src + nr;
	guard->nr = nr;
	INIT_DELAYED_WORK(&guard->look, sdp_migrate_look);
	INIT_WORK(&guard->end, sdp_migrate_end);
	return guard;
}

static struct sdp_guard *sdp_migrate_protect(unsigned long addr, u32 nr,
					     struct page **pages)
{
	struct sdp_guard *guard;
	int err;
	u32 i;

	/* What is in swap, or was never there, is not guarded. */
	if (fault_in_readable((const char __user *)addr,
			      (size_t)nr << PAGE_SHIFT))
		return ERR_PTR(-EFAULT);
	guard = sdp_migrate_alloc(nr);
	if (!guard)
		return ERR_PTR(-ENOMEM);
	err = sdp_migrate_range(guard, addr);
	if (err) {
		sdp_migrate_free(guard);
		return ERR_PTR(err);
	}
	for (i = 0; i < nr; i++)
		pages[i] = guard->list[i].page;
	queue_delayed_work(sdp_guard_wq, &guard->look, SDP_MIGRATE_PERIOD);
	return guard;
}

const struct sdp_guard_ops sdp_guard_migrate = {
	.name = "block",
	.protect = sdp_migrate_protect,
	.release = sdp_migrate_release,
	.count = sdp_migrate_count,
};

/**
 * sdp_guard_init_module() - create what guards share
 *
 * Return: 0 or -ENOMEM.
 */
int __init sdp_guard_init_module(void)
{
	sdp_guard_wq = alloc_workqueue("sdp_guard", WQ_UNBOUND | WQ_HIGHPRI |
				       WQ_MEM_RECLAIM, 0);
	return sdp_guard_wq ? 0 : -ENOMEM;
}

/**
 * sdp_guard_exit_module() - wait until the last guard has ended
 */
void sdp_guard_exit_module(void)
{
	destroy_workqueue(sdp_guard_wq);
}
