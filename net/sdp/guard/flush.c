// SPDX-License-Identifier: GPL-2.0
/*
 * Takes away what processors know of memory that was made read only (TLB).
 *
 * A page table entry must be read only on all processors before any page fault
 * may look at it.  Otherwise one processor copies the page for a writer, while
 * another goes on to store into the old one: those stores are lost once the copy
 * is in its place.  Page faults look at an entry with the page table's lock held,
 * and changes are made with it held: that lock is not released before the flush.
 */
#include <linux/cpumask.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/smp.h>

#include <asm/cpufeature.h>
#include <asm/tlbflush.h>

#include "guard.h"
#include "walk.h"

/* Page tables of 32-bit kernels may be in memory that is not mapped. */
#if defined(CONFIG_X86) && defined(CONFIG_64BIT)
/**
 * sdp_guard_works() - whether the TLBs of all processors can be flushed from a module
 *
 * Return: false where they cannot, or where nobody has tried.
 */
bool sdp_guard_works(void)
{
	return sdp_flush_tlb_works();
}

/* Modules cannot flush a range. */
static void sdp_guard_flush_cpu(void *unused)
{
	__flush_tlb_all();
}

/*
 * Processors that run the process, or have run it last.  Where the kernel lets
 * them flush each other's TLBs (INVLPGB) there may be more that know its memory,
 * and the generation below says nothing to them.
 */
static const struct cpumask *sdp_guard_flush_cpus(struct mm_struct *mm)
{
#ifdef X86_FEATURE_INVLPGB
	if (boot_cpu_has(X86_FEATURE_INVLPGB))
		return cpu_online_mask;
#endif
	return mm_cpumask(mm);
}

/**
 * sdp_guard_flush() - flush stale writable entries of a process from all TLBs
 * @mm: the process' memory
 * @ptl: lock of the page table that has changed
 *
 * To wait for other processors with @ptl held is what the kernel does, too: it is
 * never taken with interrupts off, so that processors that spin on it answer.
 *
 * Context: process context with interrupts on; @ptl is held, and was since the
 * change.
 */
void sdp_guard_flush(struct mm_struct *mm, spinlock_t *ptl)
{
	lockdep_assert_held(ptl);
	lockdep_assert_irqs_enabled();
	/* Compared by processors that switch to the process again. */
	atomic64_inc(&mm->context.tlb_gen);
	/* Pairs with switch_mm(), which sets the mask and then looks there. */
	smp_mb__after_atomic();
	on_each_cpu_mask(sdp_guard_flush_cpus(mm), sdp_guard_flush_cpu, NULL,
			 true);
}

/**
 * sdp_guard_other_cpus() - how many processors a flush interrupts
 * @mm: memory of this process
 *
 * Context: any; others may begin or cease to run the process meanwhile.
 * Return: processors beside this one.
 */
u32 sdp_guard_other_cpus(struct mm_struct *mm)
{
	const struct cpumask *cpus = sdp_guard_flush_cpus(mm);

	return cpumask_weight(cpus) - cpumask_test_cpu(raw_smp_processor_id(), cpus);
}
#else
void sdp_guard_flush(struct mm_struct *mm, spinlock_t *ptl)
{
}

u32 sdp_guard_other_cpus(struct mm_struct *mm)
{
	return 0;
}
#endif
