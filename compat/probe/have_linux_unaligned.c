// SPDX-License-Identifier: GPL-2.0
/* The helpers for unaligned access are in <linux/unaligned.h>. */
#include <linux/unaligned.h>

u32 probe(const void *p);

u32 probe(const void *p)
{
	return get_unaligned_be32(p);
}
