// SPDX-License-Identifier: GPL-2.0
/* The flags of a mapping are set by a function, since commit bc292ab00f6c (Linux 6.3). */
#include <linux/mm.h>
#include <linux/module.h>

void probe_flags(struct vm_area_struct *vma);
void probe_flags(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_DONTDUMP);
}
MODULE_LICENSE("GPL");
