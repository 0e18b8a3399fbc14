/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page protection for asynchronous zero copy (AZ-SDP): a program may write to
 * memory that is still being sent, and the peer reads what was there before.
 * Documentation/zero-copy.rst explains it.
 */
#ifndef _SDP_GUARD_H
#define _SDP_GUARD_H

#include <linux/types.h>

struct page;

/* guard_share.c */
int sdp_guard_share(unsigned long addr, u32 nr, struct page **pages);
void sdp_guard_put(struct page **pages, u32 nr);

#endif /* _SDP_GUARD_H */
