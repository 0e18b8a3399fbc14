/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_ASM_TLBFLUSH_H
#define _SDP_COMPAT_ASM_TLBFLUSH_H

#include_next <asm/tlbflush.h>

#ifdef CONFIG_X86
#ifdef SDP_HAVE_FLUSH_TLB_ALL
static inline bool sdp_flush_tlb_works(void)
{
	return true;
}
#else
/*
 * Newer kernels keep __flush_tlb_all() to KVM.  User memory has no global entries. Without
 * PCIDs, entries of a processor go when CR3 is written; with them, an instruction drops
 * those of all. Processors of 2010 to 2012 have PCIDs, but not the instruction.
 */
#include <asm/cpufeature.h>
#include <asm/invpcid.h>
#include <asm/special_insns.h>

static inline bool sdp_flush_tlb_works(void)
{
	return boot_cpu_has(X86_FEATURE_INVPCID) || !boot_cpu_has(X86_FEATURE_PCID);
}

/* With interrupts off. A guest of Xen that is paravirtual must not: it asks for its CR3. */
static inline void sdp_compat_flush_tlb(void)
{
	if (boot_cpu_has(X86_FEATURE_INVPCID) && !boot_cpu_has(X86_FEATURE_XENPV))
		invpcid_flush_all_nonglobals();
	else
		write_cr3(__read_cr3());
}

#define __flush_tlb_all()	sdp_compat_flush_tlb()
#endif
#endif

#endif /* _SDP_COMPAT_ASM_TLBFLUSH_H */
