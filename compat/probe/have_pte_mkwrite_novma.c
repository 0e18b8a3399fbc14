// SPDX-License-Identifier: GPL-2.0
/*
 * An entry is made writable without a look at what it belongs to, since
 * commit 2f0584f3f4bd (Linux 6.6).
 */
#include <linux/mm.h>

pte_t probe(pte_t pte);

pte_t probe(pte_t pte)
{
	return pte_mkwrite_novma(pte);
}
