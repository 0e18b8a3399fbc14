// SPDX-License-Identifier: GPL-2.0
/* Guards the probing itself: fails only if nothing compiles. */
#include <linux/module.h>

int always_compiles(void);
int always_compiles(void)
{
	return 0;
}
MODULE_LICENSE("GPL");
