// SPDX-License-Identifier: GPL-2.0
/* Checksums: CRC32C by the CPU's instruction, if it has one. */
#include <linux/crc32c.h>
#include <linux/module.h>

#include "crc.h"

static struct sdp_crc32c iwp_crc;

/**
 * iwp_crc32c() - continue a checksum
 * @crc: checksum of the bytes before
 * @data: bytes
 * @len: number of bytes
 *
 * Context: any but hard interrupts.
 * Return: the continued checksum.
 */
u32 iwp_crc32c(u32 crc, const void *data, unsigned int len)
{
	return sdp_crc32c(&iwp_crc, crc, data, len);
}

/**
 * iwp_crc_code() - get the name of the code that computes checksums
 *
 * Return: the name of a driver of the kernel, such as "crc32c-intel".
 */
const char *iwp_crc_code(void)
{
	return sdp_crc32c_code(&iwp_crc);
}

/**
 * iwp_crc_init() - choose the code that computes checksums
 *
 * Return: 0 or a negative error number.
 */
int iwp_crc_init(void)
{
	return sdp_crc32c_open(&iwp_crc);
}

/**
 * iwp_crc_exit() - release it; nothing computes checksums any more
 */
void iwp_crc_exit(void)
{
	sdp_crc32c_close(&iwp_crc);
}

/* For those who collect modules for an initial RAM file system. */
MODULE_SOFTDEP("pre: crypto-crc32c");
