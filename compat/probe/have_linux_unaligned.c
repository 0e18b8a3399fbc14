// SPDX-License-Identifier: GPL-2.0
/*
 * The helpers for unaligned access are in <linux/unaligned.h>, since
 * commit 5f60d5f6bbc1 (Linux 6.12).
 */
#include <linux/unaligned.h>

u32 probe(const void *p);

u32 probe(const void *p)
{
	return get_unaligned_be32(p);
}
