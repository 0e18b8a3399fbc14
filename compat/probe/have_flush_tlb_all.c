// SPDX-License-Identifier: GPL-2.0
/*
 * Modules may flush all of this processor's TLB (x86), until
 * commit 6276c67f2bc4 (Linux 6.19).
 */
#include <linux/module.h>
#include <asm/tlbflush.h>

void probe_flush(void);
void probe_flush(void)
{
	__flush_tlb_all();
}
MODULE_LICENSE("GPL");
