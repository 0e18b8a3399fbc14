// SPDX-License-Identifier: GPL-2.0
/* Modules may drop the last reference to an anon_vma; with no kernel so far. */
#include <linux/module.h>
#include <linux/rmap.h>

void probe_put(struct anon_vma *anon_vma);
void probe_put(struct anon_vma *anon_vma)
{
	put_anon_vma(anon_vma);
}
MODULE_LICENSE("GPL");
