// SPDX-License-Identifier: GPL-2.0
/*
 * Modes of zero copy: their names, and which one a socket wants and uses.
 */
#include <linux/kernel.h>
#include <linux/sdp.h>
#include <linux/string.h>

#include "base/base.h"
#include "zcopy.h"

static const char *const sdp_zcopy_names[] = {
	[SDP_ZCOPY_OFF] = "off",
	[SDP_ZCOPY_SYNC] = "sync",
	[SDP_ZCOPY_ASYNC] = "async",
};

/**
 * sdp_zcopy_mode_name() - as administrators and programs know it
 * @mode: mode
 *
 * Return: its name.
 */
const char *sdp_zcopy_mode_name(enum sdp_zcopy_mode mode)
{
	return sdp_zcopy_names[mode];
}

/**
 * sdp_zcopy_mode_find() - the mode of a name
 * @name: name
 *
 * Return: enum sdp_zcopy_mode, or -EINVAL if there is none.
 */
int sdp_zcopy_mode_find(const char *name)
{
	int i;

	for (i = 0; i < (int)ARRAY_SIZE(sdp_zcopy_names); i++)
		if (!strcmp(sdp_zcopy_names[i], name))
			return i;
	return -EINVAL;
}

/**
 * sdp_zcopy_mode() - what a connection uses
 * @z: zero copy of a socket, locked or not
 *
 * Return: the mode; SDP_ZCOPY_OFF also if the device or the peer cannot do it.
 */
enum sdp_zcopy_mode sdp_zcopy_mode(const struct sdp_zcopy *z)
{
	if (!READ_ONCE(z->on) || !READ_ONCE(z->source.max))
		return SDP_ZCOPY_OFF;
	return READ_ONCE(z->async) ? SDP_ZCOPY_ASYNC : SDP_ZCOPY_SYNC;
}
