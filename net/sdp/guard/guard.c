// SPDX-License-Identifier: GPL-2.0
/*
 * Guards of memory that is being sent: their names, and which one a socket
 * wants.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "base/base.h"
#include "guard.h"

static const struct sdp_guard_ops *const sdp_guards[] = {
	&sdp_guard_cow,
#ifdef CONFIG_MMU_NOTIFIER
	&sdp_guard_block,
#endif
};

/**
 * sdp_guard_find() - the guard of a name
 * @name: name
 *
 * Return: the guard; NULL if there is none.
 */
const struct sdp_guard_ops *sdp_guard_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sdp_guards); i++)
		if (!strcmp(sdp_guards[i]->name, name))
			return sdp_guards[i];
	return NULL;
}

#ifndef CONFIG_MIGRATION
/* Nobody asks for it: sdp_guard_access_works() says no. */
const struct sdp_guard_ops sdp_guard_access = {
	.name = "access",
};
#endif
