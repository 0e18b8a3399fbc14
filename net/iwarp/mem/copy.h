/* SPDX-License-Identifier: GPL-2.0 */
/* Copy of payload. */
#ifndef _IWP_COPY_H
#define _IWP_COPY_H

#include <linux/string.h>

/*
 * The kernel's memcpy() depends on its version and on CPU features, and its speed
 * varies by a factor of three. Payload is long enough for rep movs.
 */
static inline void iwp_copy(void *to, const void *from, size_t len)
{
#if defined(CONFIG_X86_64) && !defined(CONFIG_KASAN)
	size_t words = len >> 3;

	asm volatile("rep movsq"
		     : "+D" (to), "+S" (from), "+c" (words) : : "memory");
	len &= 7;
	asm volatile("rep movsb"
		     : "+D" (to), "+S" (from), "+c" (len) : : "memory");
#else
	memcpy(to, from, len);
#endif
}

#endif /* _IWP_COPY_H */
