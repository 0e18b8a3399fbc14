// SPDX-License-Identifier: GPL-2.0
/* Batches of folios have a header of their own, since commit 4e1d77a8f382 (Linux 7.1). */
#include <linux/folio_batch.h>
#include <linux/module.h>

MODULE_LICENSE("GPL");
