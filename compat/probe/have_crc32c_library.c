// SPDX-License-Identifier: GPL-2.0
/*
 * crc32c() chooses the processor's instruction itself, and says whether there is one,
 * since commit b5ae12e0ee09 (Linux 6.14).
 */
#include <linux/crc32.h>
#include <linux/crc32c.h>
#include <linux/module.h>

u32 probe_crc(u32 crc, const void *data, size_t len);

u32 probe_crc(u32 crc, const void *data, size_t len)
{
	if (crc32_optimizations() & CRC32C_OPTIMIZATION)
		crc = ~crc;
	return crc32c(crc, data, len);
}
MODULE_LICENSE("GPL");
