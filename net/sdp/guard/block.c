// SPDX-License-Identifier: GPL-2.0
/*
 * Block-on-write for memory that is being sent (the zero-copy paper, section 4.2).
 * The pages are protected as for copy-on-write (cow.c).  But before a write fault
 * installs its copy, the kernel calls the MMU notifiers of the process, and ours
 * returns only when the peer has read the page.
 *
 * So readers do not wait, SIGKILL ends a wait, and a wait may end at any time: the
 * copy, which the kernel has made before, is always right.  Waits are short.
 */
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "base/base.h"
#include "guard.h"
#include "notifier.h"

/* How long a writer is blocked before it goes on with copies. */
#define SDP_BLOCK_LIMIT		max(HZ / 50, 2)

/**
 * struct sdp_guard - memory that is being sent
 * @users: references: of each waiter, and of the sender
 * @notifier: of the process
 * @list: in sdp_notifier::guards; empty once the memory is sent
 * @start: address of its first byte
 * @end: behind its last
 * @open: no longer blocks: the memory is sent, or a wait has taken too long
 * @late: a wait has taken too long
 * @waits: number of waits so far
 * @waiting: number of waiters now
 * @wake: wait queue of the waiters
 */
struct sdp_guard {
	refcount_t users;
	struct sdp_notifier *notifier;
	struct list_head list;
	unsigned long start;
	unsigned long end;
	bool open;
	bool late;
	u32 waits;
	u32 waiting;
	wait_queue_head_t wake;
};

static void sdp_block_put(struct sdp_guard *guard)
{
	if (!refcount_dec_and_test(&guard->users))
		return;
	sdp_notifier_put(guard->notifier);
	kfree(guard);
}

static bool sdp_block_is_about(const struct sdp_guard *guard,
			       unsigned long start, unsigned long end)
{
	return guard->start < end && start < guard->end;
}

/*
 * Opens the guards of a range.  For callers that map other memory there, or are
 * about to overwrite all of it, and for waits that timed out (@late), which go on
 * with copies.
 */
static void sdp_block_open(struct sdp_notifier *notifier, unsigned long start,
			   unsigned long end, bool late)
{
	struct sdp_guard *guard;

	spin_lock_bh(&notifier->lock);
	list_for_each_entry(guard, &notifier->guards, list) {
		if (guard->open || !sdp_block_is_about(guard, start, end))
			continue;
		guard->late |= late;
		WRITE_ONCE(guard->open, true);
		wake_up_all(&guard->wake);
	}
	spin_unlock_bh(&notifier->lock);
}

/* The guard that blocks writes to a range, with a reference; NULL if none does. */
static struct sdp_guard *sdp_block_enter(struct sdp_notifier *notifier,
					 const struct mmu_notifier_range *range)
{
	struct sdp_guard *guard, *found = NULL;

	spin_lock_bh(&notifier->lock);
	list_for_each_entry(guard, &notifier->guards, list) {
		if (guard->open ||
		    !sdp_block_is_about(guard, range->start, range->end))
			continue;
		refcount_inc(&guard->users);
		guard->waits++;
		guard->waiting++;
		found = guard;
		break;
	}
	spin_unlock_bh(&notifier->lock);
	return found;
}

static void sdp_block_leave(struct sdp_guard *guard)
{
	struct sdp_notifier *notifier = guard->notifier;

	spin_lock_bh(&notifier->lock);
	guard->waiting--;
	spin_unlock_bh(&notifier->lock);
	sdp_block_put(guard);
}

/*
 * Whether it looks as if the current process was writing to a page, or to a huge one
 * that is split for that.  False positives wait a little, too; reclaim is none,
 * because memory may be short.
 */
static bool sdp_block_is_write(const struct mmu_notifier *mn,
			       const struct mmu_notifier_range *range)
{
	unsigned long len = range->end - range->start;

	return range->event == MMU_NOTIFY_CLEAR &&
	       mmu_notifier_range_blockable(range) &&
	       current->mm == mn->mm && !(current->flags & PF_MEMALLOC) &&
	       (len == PAGE_SIZE || len == PMD_SIZE);
}

/*
 * A caller that changes mappings has mmap_lock for writing, and all page faults of the
 * process wait behind it; so do they behind a waiting writer.  Never sleep then.
 */
static bool sdp_block_may_sleep(struct mm_struct *mm)
{
	if (!mmap_read_trylock(mm))
		return false;
	mmap_read_unlock(mm);
	return true;
}

/* Once for all that is being sent there, however often that is. */
static void sdp_block_wait(struct sdp_notifier *notifier,
			   const struct mmu_notifier_range *range)
{
	const unsigned long until = jiffies + SDP_BLOCK_LIMIT;
	struct sdp_guard *guard;
	long left;

	while ((left = until - jiffies) > 0 &&
	       (guard = sdp_block_enter(notifier, range))) {
		wait_event_killable_timeout(guard->wake, READ_ONCE(guard->open),
					    left);
		sdp_block_leave(guard);
		if (fatal_signal_pending(current)) {
			left = 0;
			break;
		}
	}
	if (left <= 0)
		sdp_block_open(notifier, range->start, range->end, true);
}

/**
 * sdp_guard_invalidate() - memory of a process is about to change
 * @mn: part of a struct sdp_notifier
 * @range: which memory, and why
 *
 * Context: any that changes the mapping; mmap_lock may be held, for reading.
 * Sleeps for SDP_BLOCK_LIMIT at most, and never with mmap_lock held for writing.
 * Return: 0.
 */
int sdp_guard_invalidate(struct mmu_notifier *mn,
			 const struct mmu_notifier_range *range)
{
	struct sdp_notifier *notifier = container_of(mn, struct sdp_notifier, mn);

	if (range->event == MMU_NOTIFY_UNMAP)
		sdp_block_open(notifier, range->start, range->end, false);
	else if (sdp_block_is_write(mn, range) && sdp_block_may_sleep(mn->mm))
		sdp_block_wait(notifier, range);
	return 0;
}

/**
 * sdp_guard_open() - stop blocking writes to memory that a read is about to fill
 * @addr: user address
 * @len: bytes
 *
 * What is in flight of it goes on with copies.
 *
 * Context: process context; may be called with the socket locked.
 */
void sdp_guard_open(unsigned long addr, size_t len)
{
	struct sdp_notifier *notifier = sdp_notifier_find_get(current->mm);

	if (!notifier)
		return;
	sdp_block_open(notifier, addr, addr + len, false);
	sdp_notifier_put(notifier);
}

static void sdp_block_end(struct sdp_guard *guard)
{
	struct sdp_notifier *notifier = guard->notifier;

	spin_lock_bh(&notifier->lock);
	list_del(&guard->list);
	WRITE_ONCE(guard->open, true);
	spin_unlock_bh(&notifier->lock);
	wake_up_all(&guard->wake);
	sdp_block_put(guard);
}

static struct sdp_guard *sdp_block_begin(unsigned long addr, u32 nr)
{
	struct sdp_notifier *notifier = sdp_notifier_get();
	struct sdp_guard *guard;

	if (IS_ERR(notifier))
		return ERR_CAST(notifier);
	guard = kzalloc(sizeof(*guard), SDP_GFP_TABLE);
	if (!guard) {
		sdp_notifier_put(notifier);
		return ERR_PTR(-ENOMEM);
	}
	refcount_set(&guard->users, 1);
	guard->notifier = notifier;
	guard->start = addr;
	guard->end = addr + ((size_t)nr << PAGE_SHIFT);
	init_waitqueue_head(&guard->wake);
	spin_lock_bh(&notifier->lock);
	list_add(&guard->list, &notifier->guards);
	spin_unlock_bh(&notifier->lock);
	return guard;
}

static struct sdp_guard *sdp_block_protect(unsigned long addr, u32 nr,
					   struct page **pages, u32 *changed)
{
	struct sdp_guard *guard, *shared;

	if (!current->mm)
		return ERR_PTR(-EOPNOTSUPP);
	/* Before it is protected: from then on writers have to wait. */
	guard = sdp_block_begin(addr, nr);
	if (IS_ERR(guard))
		return guard;
	shared = sdp_guard_cow.protect(addr, nr, pages, changed);
	if (IS_ERR(shared)) {
		sdp_block_end(guard);
		return shared;
	}
	return guard;
}

static void sdp_block_release(struct sdp_guard *guard, struct page **pages,
			      u32 nr)
{
	sdp_guard_cow.release(NULL, pages, nr);
	sdp_block_end(guard);
}

static struct sdp_guard_count sdp_block_count(struct sdp_guard *guard,
					      struct page **pages, u32 nr)
{
	struct sdp_guard_count count = sdp_guard_cow.count(NULL, pages, nr);

	spin_lock_bh(&guard->notifier->lock);
	if (guard->late)
		count.copied = count.touched;
	count.touched += guard->waiting;
	count.waited = min(guard->waits, count.touched);
	spin_unlock_bh(&guard->notifier->lock);
	return count;
}

const struct sdp_guard_ops sdp_guard_block = {
	.name = "block",
	.protect = sdp_block_protect,
	.release = sdp_block_release,
	.count = sdp_block_count,
};
