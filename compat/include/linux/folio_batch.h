/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_FOLIO_BATCH_H
#define _SDP_COMPAT_LINUX_FOLIO_BATCH_H

/* Batches of folios had a header together with those of pages. */
#ifdef SDP_HAVE_FOLIO_BATCH_HEADER
#include_next <linux/folio_batch.h>
#else
#include <linux/pagevec.h>
#endif

/* Older kernels take both for the same. */
#if !defined(SDP_HAVE_FOLIO_BATCH_HEADER) && !defined(SDP_HAVE_FOLIO_BATCH_DRAIN)
#define __folio_batch_release(batch)	\
	__pagevec_release((struct pagevec *)(batch))
#endif

#endif /* _SDP_COMPAT_LINUX_FOLIO_BATCH_H */
