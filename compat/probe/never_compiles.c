// SPDX-License-Identifier: GPL-2.0
/* Guards the probing itself: an object here means that errors go unseen. */
#include <linux/module.h>

int never_compiles(struct no_such_structure *argument)
{
	return argument->no_such_member;
}
MODULE_LICENSE("GPL");
