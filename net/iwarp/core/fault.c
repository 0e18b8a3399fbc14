// SPDX-License-Identifier: GPL-2.0
/*
 * Faults on request, in /sys/kernel/debug/iwarp: a folder for each, with the files that all
 * faults of the kernel have.
 */
#include <linux/debugfs.h>
#include <linux/fault-inject.h>

#include "fault.h"

static const char * const iwp_fault_names[IWP_FAULT_COUNT] = {
	[IWP_FAULT_CQE_LATE] = "cqe_late",
	[IWP_FAULT_CQE_ERROR] = "cqe_error",
	[IWP_FAULT_EVENT_LATE] = "event_late",
	[IWP_FAULT_EVENT_LOST] = "event_lost",
	[IWP_FAULT_MPA_LOST] = "mpa_lost",
	[IWP_FAULT_MPA_LATE] = "mpa_late",
};

static struct fault_attr iwp_faults[IWP_FAULT_COUNT] = {
	[0 ... IWP_FAULT_COUNT - 1] = FAULT_ATTR_INITIALIZER,
};

static struct dentry *iwp_fault_dir;
u32 iwp_fault_status;
u32 iwp_fault_opcode;

/**
 * iwp_fault() - whether something is to go wrong now
 * @which: what
 *
 * Not for who has the nth allocation of a task fail, which would count this as one.
 *
 * Context: any.
 */
bool iwp_fault(enum iwp_fault which)
{
	struct fault_attr *attr = &iwp_faults[which];

	return READ_ONCE(attr->probability) && should_fail(attr, 1);
}

/**
 * iwp_fault_init_module() - offer all faults in debugfs
 */
void iwp_fault_init_module(void)
{
	unsigned int i;

	iwp_fault_dir = debugfs_create_dir("iwarp", NULL);
	debugfs_create_u32("status", 0600, iwp_fault_dir, &iwp_fault_status);
	debugfs_create_u32("opcode", 0600, iwp_fault_dir, &iwp_fault_opcode);
	for (i = 0; i < IWP_FAULT_COUNT; i++)
		fault_create_debugfs_attr(iwp_fault_names[i], iwp_fault_dir, &iwp_faults[i]);
}

/**
 * iwp_fault_exit_module() - remove them; there are no devices
 */
void iwp_fault_exit_module(void)
{
	debugfs_remove_recursive(iwp_fault_dir);
}
