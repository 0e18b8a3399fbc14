// SPDX-License-Identifier: GPL-2.0
/*
 * folio_try_share_anon_rmap_pte() and _pmd() take a folio and a page, since
 * commit e3b4b1374f87 (Linux 6.8).
 */
#include <linux/rmap.h>

int probe(struct folio *folio, struct page *page);

int probe(struct folio *folio, struct page *page)
{
	return folio_try_share_anon_rmap_pte(folio, page) ||
	       folio_try_share_anon_rmap_pmd(folio, page);
}
