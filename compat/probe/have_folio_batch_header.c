// SPDX-License-Identifier: GPL-2.0
/* Batches of folios have a header of their own. */
#include <linux/folio_batch.h>
#include <linux/module.h>

MODULE_LICENSE("GPL");
