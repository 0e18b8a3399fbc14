/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_PAGEVEC_H
#define _SDP_COMPAT_LINUX_PAGEVEC_H

#include_next <linux/pagevec.h>

/* Older kernels take both for the same. */
#ifndef SDP_HAVE_FOLIO_BATCH_DRAIN
#define __folio_batch_release(batch)	\
	__pagevec_release((struct pagevec *)(batch))
#endif

#endif /* _SDP_COMPAT_LINUX_PAGEVEC_H */
