// SPDX-License-Identifier: GPL-2.0
/* What modules may call to clear a range of pages passes over several mappings. */
#include <linux/mm.h>
#include <linux/module.h>

void probe_zap(struct vm_area_struct *vma);
void probe_zap(struct vm_area_struct *vma)
{
	zap_page_range(vma, vma->vm_start, PAGE_SIZE);
}
MODULE_LICENSE("GPL");
