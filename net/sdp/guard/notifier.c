// SPDX-License-Identifier: GPL-2.0
/*
 * MMU notifiers: ours, by which block.c makes writers wait; and whether there are
 * others, which would have to be notified of what guards do, and cannot be.
 *
 * A process has ours from its first write with net.sdp.zcopy_fault=block on, and
 * until it ends: registering takes all locks of its memory.
 */
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "base/base.h"
#include "guard.h"
#include "notifier.h"

static DEFINE_SPINLOCK(sdp_notifier_lock);
static LIST_HEAD(sdp_notifiers);
/* How many there are, in the list or not: each is freed by code of ours. */
static atomic_t sdp_notifier_count = ATOMIC_INIT(0);

/**
 * sdp_notifier_put() - drop a reference
 * @notifier: notifier of a process, which may be gone
 *
 * Context: any.
 */
void sdp_notifier_put(struct sdp_notifier *notifier)
{
	if (refcount_dec_and_test(&notifier->users))
		kfree(notifier);
}

/* The notifier of a process; NULL if there is none. */
static struct sdp_notifier *sdp_notifier_find(const struct mm_struct *mm)
{
	struct sdp_notifier *notifier;

	lockdep_assert_held(&sdp_notifier_lock);
	list_for_each_entry(notifier, &sdp_notifiers, list)
		if (notifier->mn.mm == mm)
			return notifier;
	return NULL;
}

/* Whether ours is the only one, in the list of notifiers and in the interval tree. */
static bool sdp_notifier_is_alone(const struct sdp_notifier *notifier)
{
	const struct hlist_node *node = &notifier->mn.hlist;
	const struct rb_node *rb = &notifier->probe.interval_tree.rb;

	return READ_ONCE(node->pprev) == notifier->first &&
	       !READ_ONCE(node->next) && !rb_parent(rb) &&
	       !READ_ONCE(rb->rb_left) && !READ_ONCE(rb->rb_right);
}

/**
 * sdp_notifier_is_shared() - whether a process has notifiers other than ours
 * @mm: memory of a process, locked for reading
 *
 * Such as of devices, or virtual machines, that use the memory by its address.
 */
bool sdp_notifier_is_shared(struct mm_struct *mm)
{
	struct sdp_notifier *notifier;
	bool shared;

	mmap_assert_locked(mm);
	if (!mm_has_notifiers(mm))
		return false;
	spin_lock(&sdp_notifier_lock);
	notifier = sdp_notifier_find(mm);
	shared = !notifier || !sdp_notifier_is_alone(notifier);
	spin_unlock(&sdp_notifier_lock);
	return shared;
}

/* The probe's range is not mapped by anything. */
static bool sdp_notifier_probe(struct mmu_interval_notifier *probe,
			       const struct mmu_notifier_range *range,
			       unsigned long seq)
{
	mmu_interval_set_seq(probe, seq);
	return true;
}

static const struct mmu_interval_notifier_ops sdp_notifier_probe_ops = {
	.invalidate = sdp_notifier_probe,
};

static struct mmu_notifier *sdp_notifier_alloc(struct mm_struct *mm)
{
	struct sdp_notifier *notifier = kzalloc(sizeof(*notifier), SDP_GFP_TABLE);

	if (!notifier)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&notifier->lock);
	INIT_LIST_HEAD(&notifier->guards);
	refcount_set(&notifier->users, 1);
	atomic_inc(&sdp_notifier_count);
	return &notifier->mn;
}

static void sdp_notifier_free(struct mmu_notifier *mn)
{
	sdp_notifier_put(container_of(mn, struct sdp_notifier, mn));
	if (atomic_dec_and_test(&sdp_notifier_count))
		wake_up_var(&sdp_notifier_count);
}

/* Called once: by the context that has removed it from the list. */
static void sdp_notifier_end(struct sdp_notifier *notifier)
{
	mmu_interval_notifier_remove(&notifier->probe);
	mmu_notifier_put(&notifier->mn);
}

/* The process is gone. */
static void sdp_notifier_release(struct mmu_notifier *mn,
				 struct mm_struct *mm)
{
	struct sdp_notifier *notifier;

	spin_lock(&sdp_notifier_lock);
	notifier = sdp_notifier_find(mm);
	if (notifier)
		list_del(&notifier->list);
	spin_unlock(&sdp_notifier_lock);
	if (notifier)
		sdp_notifier_end(notifier);
}

static const struct mmu_notifier_ops sdp_notifier_ops = {
	.alloc_notifier = sdp_notifier_alloc,
	.free_notifier = sdp_notifier_free,
	.release = sdp_notifier_release,
	.invalidate_range_start = sdp_guard_invalidate,
};

/* The process' memory is locked for writing. */
static struct sdp_notifier *sdp_notifier_begin(struct mm_struct *mm)
{
	struct mmu_notifier *mn;
	struct sdp_notifier *notifier;
	int err;

	mmap_assert_write_locked(mm);
	/* Other notifiers would have to be called, see above. */
	if (mm_has_notifiers(mm))
		return ERR_PTR(-EOPNOTSUPP);
	mn = mmu_notifier_get_locked(&sdp_notifier_ops, mm);
	if (IS_ERR(mn))
		return ERR_CAST(mn);
	notifier = container_of(mn, struct sdp_notifier, mn);
	err = mmu_interval_notifier_insert_locked(&notifier->probe, mm, 0,
						  PAGE_SIZE,
						  &sdp_notifier_probe_ops);
	if (err) {
		mmu_notifier_put(mn);
		return ERR_PTR(err);
	}
	notifier->first = mn->hlist.pprev;
	spin_lock(&sdp_notifier_lock);
	list_add(&notifier->list, &sdp_notifiers);
	spin_unlock(&sdp_notifier_lock);
	return notifier;
}

/**
 * sdp_notifier_find_get() - the notifier of a process, if there is one
 * @mm: its memory; NULL for none
 *
 * Return: the notifier, with a reference; NULL if there is none.
 */
struct sdp_notifier *sdp_notifier_find_get(struct mm_struct *mm)
{
	struct sdp_notifier *notifier;

	if (!mm || !mm_has_notifiers(mm))
		return NULL;
	spin_lock(&sdp_notifier_lock);
	notifier = sdp_notifier_find(mm);
	if (notifier)
		refcount_inc(&notifier->users);
	spin_unlock(&sdp_notifier_lock);
	return notifier;
}

/**
 * sdp_notifier_get() - the notifier of this process, a new one if there is none
 *
 * Context: process context; the memory is not locked.
 * Return: the notifier, with a reference; ERR_PTR(-EOPNOTSUPP) if others watch it,
 * too, ERR_PTR(-ENOMEM), or ERR_PTR(-EINTR).
 */
struct sdp_notifier *sdp_notifier_get(void)
{
	struct mm_struct *mm = current->mm;
	struct sdp_notifier *notifier = sdp_notifier_find_get(mm);

	if (notifier)
		return notifier;
	if (mmap_write_lock_killable(mm))
		return ERR_PTR(-EINTR);
	notifier = sdp_notifier_find_get(mm);
	if (!notifier) {
		notifier = sdp_notifier_begin(mm);
		if (!IS_ERR(notifier))
			refcount_inc(&notifier->users);
	}
	mmap_write_unlock(mm);
	return notifier;
}

/**
 * sdp_notifier_exit_module() - end all notifiers
 *
 * There are no guards any more.
 */
void sdp_notifier_exit_module(void)
{
	struct sdp_notifier *notifier;

	do {
		spin_lock(&sdp_notifier_lock);
		notifier = list_first_entry_or_null(&sdp_notifiers,
						    struct sdp_notifier, list);
		if (notifier)
			list_del(&notifier->list);
		spin_unlock(&sdp_notifier_lock);
		if (notifier)
			sdp_notifier_end(notifier);
	} while (notifier);
	mmu_notifier_synchronize();
	/* That does not wait for callbacks which other processors have begun. */
	wait_var_event(&sdp_notifier_count, !atomic_read(&sdp_notifier_count));
}
