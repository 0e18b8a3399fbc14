// SPDX-License-Identifier: GPL-2.0
/* Modules may clear a range of pages of one mapping. */
#include <linux/mm.h>
#include <linux/module.h>

void probe_zap(struct vm_area_struct *vma);
void probe_zap(struct vm_area_struct *vma)
{
	zap_page_range_single(vma, vma->vm_start, PAGE_SIZE, NULL);
}
MODULE_LICENSE("GPL");
