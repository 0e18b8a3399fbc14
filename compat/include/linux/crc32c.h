/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CRC32C by the best code that there is for this CPU. Older kernels' crc32c() uses what
 * was there when libcrc32c was loaded, which may be the table: the initial RAM file
 * system may have had nothing else. So there a user has a transform of its own.
 */
#ifndef _SDP_COMPAT_LINUX_CRC32C_H
#define _SDP_COMPAT_LINUX_CRC32C_H

#include_next <linux/crc32c.h>

#ifdef SDP_HAVE_CRC32C_LIBRARY
#include <linux/bits.h>
#include <linux/crc32.h>

struct sdp_crc32c {
};

static inline int sdp_crc32c_open(struct sdp_crc32c *user)
{
	return 0;
}

static inline void sdp_crc32c_close(struct sdp_crc32c *user)
{
}

static inline const char *sdp_crc32c_code(const struct sdp_crc32c *user)
{
	return crc32_optimizations() & CRC32C_OPTIMIZATION ? "crc32c-arch" :
							      "crc32c-generic";
}

static inline u32 sdp_crc32c(const struct sdp_crc32c *user, u32 crc,
			     const void *data, unsigned int len)
{
	return crc32c(crc, data, len);
}
#else
#include <crypto/hash.h>
#include <linux/kmod.h>

struct sdp_crc32c {
	struct crypto_shash *tfm;
};

/* Nothing is loaded for a name that is there, be it only the table: ask for all. */
static inline int sdp_crc32c_open(struct sdp_crc32c *user)
{
	request_module("crypto-crc32c");
	user->tfm = crypto_alloc_shash("crc32c", 0, 0);
	return PTR_ERR_OR_ZERO(user->tfm);
}

static inline void sdp_crc32c_close(struct sdp_crc32c *user)
{
	crypto_free_shash(user->tfm);
}

static inline const char *sdp_crc32c_code(const struct sdp_crc32c *user)
{
	return crypto_shash_driver_name(user->tfm);
}

static inline u32 sdp_crc32c(const struct sdp_crc32c *user, u32 crc,
			     const void *data, unsigned int len)
{
	SHASH_DESC_ON_STACK(desc, user->tfm);
	u32 *sum = (u32 *)shash_desc_ctx(desc);

	desc->tfm = user->tfm;
	*sum = crc;
	/* It cannot fail; what it has not summed would be a wrong checksum. */
	WARN_ON_ONCE(crypto_shash_update(desc, data, len));
	crc = *sum;
	barrier_data(sum);
	return crc;
}
#endif

#endif /* _SDP_COMPAT_LINUX_CRC32C_H */
