// SPDX-License-Identifier: GPL-2.0
/*
 * Batches of folios are let go of by a function of their own, since
 * commit 982a7194afc9 (Linux 6.5).
 */
#include <linux/pagevec.h>

void probe(struct folio_batch *batch);

void probe(struct folio_batch *batch)
{
	__folio_batch_release(batch);
}
