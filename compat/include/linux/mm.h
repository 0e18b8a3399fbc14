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

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

/*
 * Not every kernel exports it, or what was there before it.  Where none is, programs that
 * map what they receive have to release the pages themselves (MADV_DONTNEED).
 */
#ifndef SDP_HAVE_ZAP_VMA_RANGE
#define zap_vma_range	sdp_zap_vma_range
static inline void zap_vma_range(struct vm_area_struct *vma, unsigned long addr,
				 unsigned long size)
{
#ifdef SDP_HAVE_ZAP_PAGE_RANGE_SINGLE
	zap_page_range_single(vma, addr, size, NULL);
#elif defined(SDP_HAVE_ZAP_PAGE_RANGE)
	zap_page_range(vma, addr, size);
#endif
}
#endif

#endif /* _SDP_COMPAT_LINUX_MM_H */
