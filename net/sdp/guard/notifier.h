/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MMU notifiers of processes that send guarded memory.
 */
#ifndef _SDP_GUARD_NOTIFIER_H
#define _SDP_GUARD_NOTIFIER_H

#include <linux/list.h>
#include <linux/mmu_notifier.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>

#ifdef CONFIG_MMU_NOTIFIER
/**
 * struct sdp_notifier - MMU notifier of a process whose writes guards may block
 * @mn: called for all changes; belongs to the process until it ends
 * @probe: of no memory: alone in the interval tree of the process as long as
 *	there are no interval notifiers of others
 * @first: where @mn hangs while it is the first in the list
 * @list: in the list of all notifiers
 * @users: references: of its guards, and of the process
 * @lock: taken in any context
 * @guards: memory in flight
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
