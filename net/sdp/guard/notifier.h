/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Being told of changes to a process' memory.
 */
#ifndef _SDP_GUARD_NOTIFIER_H
#define _SDP_GUARD_NOTIFIER_H

#include <linux/list.h>
#include <linux/mmu_notifier.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>

#ifdef CONFIG_MMU_NOTIFIER
/**
 * struct sdp_notifier - a process that has had memory guarded for which it waits
 * @mn: is told of all changes; belongs to the process until it ends
 * @probe: about memory that nobody has: alone in the tree of those who watch
 *	ranges of the process' memory, as long as nobody else does
 * @first: where @mn hangs while it is the first in the list
 * @list: in the list of all notifiers
 * @users: its guards, and the process
 * @lock: taken in any context
 * @guards: what is being sent
 */
struct sdp_notifier {
	struct mmu_notifier mn;
	struct mmu_interval_notifier probe;
	struct hlist_node **first;
	struct list_head list;
	refcount_t users;
	spinlock_t lock; /* protects @guards, and of these what they say */
	struct list_head guards;
};

/* notifier.c */
bool sdp_notifier_is_shared(struct mm_struct *mm);
struct sdp_notifier *sdp_notifier_find_get(struct mm_struct *mm);
struct sdp_notifier *sdp_notifier_get(void);
void sdp_notifier_put(struct sdp_notifier *notifier);
void sdp_notifier_exit_module(void);

/* block.c */
int sdp_guard_invalidate(struct mmu_notifier *mn,
			 const struct mmu_notifier_range *range);

#else
static inline bool sdp_notifier_is_shared(struct mm_struct *mm)
{
	return false;
}

static inline void sdp_notifier_exit_module(void)
{
}
#endif

#endif /* _SDP_GUARD_NOTIFIER_H */
