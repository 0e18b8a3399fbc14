// SPDX-License-Identifier: GPL-2.0
/* Modules may walk the page tables that there are. */
#include <linux/mm.h>
#include <linux/module.h>

int probe_walk(struct mm_struct *mm, pte_fn_t fn);
int probe_walk(struct mm_struct *mm, pte_fn_t fn)
{
	return apply_to_existing_page_range(mm, 0, PAGE_SIZE, fn, NULL);
}
MODULE_LICENSE("GPL");
