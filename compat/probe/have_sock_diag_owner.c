// SPDX-License-Identifier: GPL-2.0
/*
 * The core holds the module of a sock_diag_handler while it is asked, since
 * commit 114b4bb1cc19 (Linux 6.9).
 */
#include <linux/module.h>
#include <linux/sock_diag.h>

const struct sock_diag_handler probe_handler = { .owner = NULL };
MODULE_LICENSE("GPL");
