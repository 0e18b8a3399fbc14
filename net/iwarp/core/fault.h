/* SPDX-License-Identifier: GPL-2.0 */
/* What a device does wrong on request, for tests: by the kernel's fault injection. */
#ifndef _IWP_FAULT_H
#define _IWP_FAULT_H

#include <linux/types.h>

/* How late something comes, and a frame that the peer waits ten for; seconds. */
#define IWP_FAULT_DELAY		1
#define IWP_FAULT_MPA_DELAY	12

/**
 * enum iwp_fault - what can go wrong; see iwp_fault_names[] for the folders in debugfs
 * @IWP_FAULT_CQE_LATE: a completion is seen late, and those behind it
 * @IWP_FAULT_CQE_ERROR: a completion that says success has another status
 * @IWP_FAULT_EVENT_LATE: the consumer of a completion queue is called late
 * @IWP_FAULT_EVENT_LOST: it is not called, and the queue does not ask for it again
 * @IWP_FAULT_MPA_LOST: an MPA frame is not sent
 * @IWP_FAULT_MPA_LATE: an MPA frame is sent when the peer does not wait any more
 * @IWP_FAULT_COUNT: number of these
 */
enum iwp_fault {
	IWP_FAULT_CQE_LATE,
	IWP_FAULT_CQE_ERROR,
	IWP_FAULT_EVENT_LATE,
	IWP_FAULT_EVENT_LOST,
	IWP_FAULT_MPA_LOST,
	IWP_FAULT_MPA_LATE,
	IWP_FAULT_COUNT
};

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
/* For IWP_FAULT_CQE_ERROR: enum ib_wc_status, and enum ib_wc_opcode of which completions. */
extern u32 iwp_fault_status;
extern u32 iwp_fault_opcode;

bool iwp_fault(enum iwp_fault which);
void iwp_fault_init_module(void);
void iwp_fault_exit_module(void);
#else
static inline bool iwp_fault(enum iwp_fault which)
{
	return false;
}

static inline void iwp_fault_init_module(void)
{
}

static inline void iwp_fault_exit_module(void)
{
}
#endif

#endif /* _IWP_FAULT_H */
