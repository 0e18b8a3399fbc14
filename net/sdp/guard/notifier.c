// SPDX-License-Identifier: GPL-2.0
/*
 * Who is told of changes to a process' memory: ourselves, so that writers can
 * be made to wait (block.c), and perhaps others, who would have to be told
 * of what guards do to it, and cannot be.
 *
 * A process is watched from its first write with net.sdp.zcopy_fault=block on,
 * and until it ends: to begin takes all locks of its memory.
 */
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "base/base.h"
#include "guard.h"
#include "notifier.h"

static DEFINE_SPINLOCK(sdp_watch_lock);
static LIST_HEAD(sdp_watches);
/* How many there are, in the list or not: each is freed by code of ours. */
static atomic_t sdp_watch_count = ATOMIC_INIT(0);

/**
 * sdp_watch_put() - drop a reference
 * @watch: watch of a process, which may be gone
 *
 * Context: any.
 */
void sdp_watch_put(struct sdp_watch *watch)
{
	if (refcount_dec_and_test(&watch->users))
		kfree(watch);
}

/* The watch of a process; NULL if there is none. */
static struct sdp_watch *sdp_watch_find(const struct mm_struct *mm)
{
	struct sdp_watch *watch;

	lockdep_assert_held(&sdp_watch_lock);
	list_for_each_entry(watch, &sdp_watches, list)
		if (watch->notifier.mm == mm)
			return watch;
	return NULL;
}

/* Whether nobody else is in the list of notifiers, nor in the tree of them. */
static bool sdp_watch_is_alone(const struct sdp_watch *watch)
{
	const struct hlist_node *node = &watch->notifier.hlist;
	const struct rb_node *rb = &watch->probe.interval_tree.rb;

	return READ_ONCE(node->pprev) == watch->first &&
	       !READ_ONCE(node->next) && !rb_parent(rb) &&
	       !READ_ONCE(rb->rb_left) && !READ_ONCE(rb->rb_right);
}

/**
 * sdp_watch_is_shared() - whether others want to be told of changes
 * @mm: memory of a process, locked for reading
 *
 * Such as devices, or virtual machines, that use it by its address.
 */
bool sdp_watch_is_shared(struct mm_struct *mm)
{
	struct sdp_watch *watch;
	bool shared;

	mmap_assert_locked(mm);
	if (!mm_has_notifiers(mm))
		return false;
	spin_lock(&sdp_watch_lock);
	watch = sdp_watch_find(mm);
	shared = !watch || !sdp_watch_is_alone(watch);
	spin_unlock(&sdp_watch_lock);
	return shared;
}

/* Nobody has mapped the memory that this is about. */
static bool sdp_watch_probe(struct mmu_interval_notifier *probe,
			    const struct mmu_notifier_range *range,
			    unsigned long seq)
{
	mmu_interval_set_seq(probe, seq);
	return true;
}

static const struct mmu_interval_notifier_ops sdp_watch_probe_ops = {
	.invalidate = sdp_watch_probe,
};

static struct mmu_notifier *sdp_watch_alloc(struct mm_struct *mm)
{
	struct sdp_watch *watch = kzalloc(sizeof(*watch), SDP_GFP_TABLE);

	if (!watch)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&watch->lock);
	INIT_LIST_HEAD(&watch->guards);
	refcount_set(&watch->users, 1);
	atomic_inc(&sdp_watch_count);
	return &watch->notifier;
}

static void sdp_watch_free(struct mmu_notifier *notifier)
{
	sdp_watch_put(container_of(notifier, struct sdp_watch, notifier));
	if (atomic_dec_and_test(&sdp_watch_count))
		wake_up_var(&sdp_watch_count);
}

/* Of those who may end it, the one who takes it from the list does. */
static void sdp_watch_end(struct sdp_watch *watch)
{
	mmu_interval_notifier_remove(&watch->probe);
	mmu_notifier_put(&watch->notifier);
}

/* The process is gone. */
static void sdp_watch_release(struct mmu_notifier *notifier,
			      struct mm_struct *mm)
{
	struct sdp_watch *watch;

	spin_lock(&sdp_watch_lock);
	watch = sdp_watch_find(mm);
	if (watch)
		list_del(&watch->list);
	spin_unlock(&sdp_watch_lock);
	if (watch)
		sdp_watch_end(watch);
}

static const struct mmu_notifier_ops sdp_watch_ops = {
	.alloc_notifier = sdp_watch_alloc,
	.free_notifier = sdp_watch_free,
	.release = sdp_watch_release,
	.invalidate_range_start = sdp_guard_invalidate,
};

/* The process' memory is locked for writing. */
static struct sdp_watch *sdp_watch_begin(struct mm_struct *mm)
{
	struct mmu_notifier *notifier;
	struct sdp_watch *watch;
	int err;

	mmap_assert_write_locked(mm);
	/* Who is there already would have to be told. */
	if (mm_has_notifiers(mm))
		return ERR_PTR(-EOPNOTSUPP);
	notifier = mmu_notifier_get_locked(&sdp_watch_ops, mm);
	if (IS_ERR(notifier))
		return ERR_CAST(notifier);
	watch = container_of(notifier, struct sdp_watch, notifier);
	err = mmu_interval_notifier_insert_locked(&watch->probe, mm, 0,
						  PAGE_SIZE,
						  &sdp_watch_probe_ops);
	if (err) {
		mmu_notifier_put(notifier);
		return ERR_PTR(err);
	}
	watch->first = notifier->hlist.pprev;
	spin_lock(&sdp_watch_lock);
	list_add(&watch->list, &sdp_watches);
	spin_unlock(&sdp_watch_lock);
	return watch;
}

/**
 * sdp_watch_find_get() - the watch of a process, if there is one
 * @mm: its memory; NULL for none
 *
 * Return: the watch, with a reference; NULL if there is none.
 */
struct sdp_watch *sdp_watch_find_get(struct mm_struct *mm)
{
	struct sdp_watch *watch;

	if (!mm || !mm_has_notifiers(mm))
		return NULL;
	spin_lock(&sdp_watch_lock);
	watch = sdp_watch_find(mm);
	if (watch)
		refcount_inc(&watch->users);
	spin_unlock(&sdp_watch_lock);
	return watch;
}

/**
 * sdp_watch_get() - watch the memory of this process
 *
 * Context: process context; the memory is not locked.
 * Return: the watch, with a reference; ERR_PTR(-EOPNOTSUPP) if others watch it,
 * too, ERR_PTR(-ENOMEM), or ERR_PTR(-EINTR).
 */
struct sdp_watch *sdp_watch_get(void)
{
	struct mm_struct *mm = current->mm;
	struct sdp_watch *watch = sdp_watch_find_get(mm);

	if (watch)
		return watch;
	if (mmap_write_lock_killable(mm))
		return ERR_PTR(-EINTR);
	watch = sdp_watch_find_get(mm);
	if (!watch) {
		watch = sdp_watch_begin(mm);
		if (!IS_ERR(watch))
			refcount_inc(&watch->users);
	}
	mmap_write_unlock(mm);
	return watch;
}

/**
 * sdp_watch_exit_module() - end all watches
 *
 * There are no guards any more.
 */
void sdp_watch_exit_module(void)
{
	struct sdp_watch *watch;

	do {
		spin_lock(&sdp_watch_lock);
		watch = list_first_entry_or_null(&sdp_watches, struct sdp_watch,
						 list);
		if (watch)
			list_del(&watch->list);
		spin_unlock(&sdp_watch_lock);
		if (watch)
			sdp_watch_end(watch);
	} while (watch);
	mmu_notifier_synchronize();
	/* That does not wait for callbacks which other processors have begun. */
	wait_var_event(&sdp_watch_count, !atomic_read(&sdp_watch_count));
}
