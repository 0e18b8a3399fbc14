/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_MM_H
#define _SDP_COMPAT_LINUX_MM_H

#include_next <linux/mm.h>

/* Older kernels have no shadow stacks. */
#ifndef VM_SHADOW_STACK
#define VM_SHADOW_STACK	VM_NONE
#endif

#ifndef SDP_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}
#endif

#endif /* _SDP_COMPAT_LINUX_MM_H */
