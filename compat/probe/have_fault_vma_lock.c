// SPDX-License-Identifier: GPL-2.0
/*
 * Page faults wait for a page that is being moved with the lock of its mapping held, not
 * the lock of all memory: since commit 1235ccd05b6d (Linux 6.6), with which this function
 * took the fault instead of the memory.
 */
#include <linux/migrate.h>
#include <linux/module.h>
#include <linux/pagemap.h>

int probe_setup(struct migrate_vma *args);

#ifndef CONFIG_PER_VMA_LOCK
#error "no locks of mappings"
#endif

static_assert(__builtin_types_compatible_p(typeof(__folio_lock_or_retry),
					   vm_fault_t(struct folio *, struct vm_fault *)));

int probe_setup(struct migrate_vma *args)
{
	int err = migrate_vma_setup(args);

	if (!err)
		migrate_vma_finalize(args);
	return err;
}
MODULE_LICENSE("GPL");
