/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_PGTABLE_H
#define _SDP_COMPAT_LINUX_PGTABLE_H

#include_next <linux/pgtable.h>

/* Older kernels know one kind of writable memory. */
#ifndef SDP_HAVE_PTE_MKWRITE_NOVMA
#define pte_mkwrite_novma(pte)	pte_mkwrite(pte)
#endif

#endif /* _SDP_COMPAT_LINUX_PGTABLE_H */
