// SPDX-License-Identifier: GPL-2.0
/*
 * A "crc32" that computes nothing, for benchmarks in the test bed.
 *
 * Soft-RoCE checks every packet in software, which real adapters get for free,
 * and that cost hides the protocol's own. Loaded before a device is added, this
 * one wins by its priority; as both ends use it, packets still match. The
 * kernel has to be booted with cryptomgr.notests=1, or the crypto core's self
 * test finds out.
 */
#include <crypto/internal/hash.h>
#include <linux/module.h>
#include <linux/string.h>

#define NULLCRC_SIZE 4

static int nullcrc_init(struct shash_desc *desc)
{
	return 0;
}

static int nullcrc_update(struct shash_desc *desc, const u8 *data, unsigned int len)
{
	return 0;
}

static int nullcrc_final(struct shash_desc *desc, u8 *out)
{
	memset(out, 0, NULLCRC_SIZE);
	return 0;
}

static int nullcrc_finup(struct shash_desc *desc, const u8 *data, unsigned int len, u8 *out)
{
	return nullcrc_final(desc, out);
}

/* Soft-RoCE writes its seed into the descriptor's context, hence descsize. */
static int nullcrc_setkey(struct crypto_shash *tfm, const u8 *key, unsigned int len)
{
	return 0;
}

static struct shash_alg nullcrc = {
	.init = nullcrc_init,
	.update = nullcrc_update,
	.final = nullcrc_final,
	.finup = nullcrc_finup,
	.digest = nullcrc_finup,
	.setkey = nullcrc_setkey,
	.digestsize = NULLCRC_SIZE,
	.descsize = sizeof(u32),
	.base = {
		.cra_name = "crc32",
		.cra_driver_name = "crc32-null",
		.cra_priority = 1000,
		.cra_flags = CRYPTO_ALG_OPTIONAL_KEY,
		.cra_blocksize = 1,
		.cra_module = THIS_MODULE,
	},
};

static int __init nullcrc_register(void)
{
	return crypto_register_shash(&nullcrc);
}
module_init(nullcrc_register);

static void __exit nullcrc_unregister(void)
{
	crypto_unregister_shash(&nullcrc);
}
module_exit(nullcrc_unregister);

MODULE_DESCRIPTION("A crc32 that computes nothing");
MODULE_LICENSE("GPL");
