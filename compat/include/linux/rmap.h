/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_RMAP_H
#define _SDP_COMPAT_LINUX_RMAP_H

#include_next <linux/rmap.h>

/* Older kernels have one function for both, which takes a page. */
#ifndef SDP_HAVE_FOLIO_SHARE_ANON
#define folio_try_share_anon_rmap_pte(folio, page)	\
	((void)(folio), page_try_share_anon_rmap(page))
#define folio_try_share_anon_rmap_pmd(folio, page)	\
	((void)(folio), page_try_share_anon_rmap(page))
#endif

#endif /* _SDP_COMPAT_LINUX_RMAP_H */
