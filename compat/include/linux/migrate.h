/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_MIGRATE_H
#define _SDP_COMPAT_LINUX_MIGRATE_H

#include_next <linux/migrate.h>

/*
 * Whether a program's page fault that waits for a page which is being moved leaves other
 * threads alone: with older kernels, or without locks of mappings, it has mmap_lock.  (One
 * in the kernel, in copy_to_user(), has it in any case.)
 */
static inline bool migration_waits_alone(void)
{
#ifdef SDP_HAVE_FAULT_VMA_LOCK
	return true;
#else
	return false;
#endif
}

#ifndef SDP_HAVE_FAULT_VMA_LOCK
/* Never called then; modules may not link to what the kernel may not have. */
#define migrate_vma_setup(args)		((void)(args), -EOPNOTSUPP)
#define migrate_vma_finalize(args)	((void)(args))
#endif

#endif /* _SDP_COMPAT_LINUX_MIGRATE_H */
