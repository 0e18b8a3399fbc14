// SPDX-License-Identifier: GPL-2.0
/*
 * Debian lets modules clear a range of pages that passes over several mappings, until
 * commit e9adcfecf572 (Linux 6.3).
 */
#include <linux/mm.h>
#include <linux/module.h>

void probe_zap(struct vm_area_struct *vma);
void probe_zap(struct vm_area_struct *vma)
{
	zap_page_range(vma, vma->vm_start, PAGE_SIZE);
}
MODULE_LICENSE("GPL");
