/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Endpoints: a TCP socket from MPA's startup phase to Full Operation and its close, or
 * a listening one.
 */
#ifndef _IWP_CM_H
#define _IWP_CM_H

#include "core/core.h"

/**
 * struct iwp_mpa_wishes - what this end asks for when a connection is set up
 * @interval: marker interval of what it receives, or %IWARP_NO_MARKERS
 * @crc: checksums; with an engine they are the engine's, and not asked for
 */
struct iwp_mpa_wishes {
	u32 interval;
	bool crc;
};

extern const struct ib_device_ops iwp_connect_dev_ops;
extern const struct ib_device_ops iwp_listen_dev_ops;

/* mpa.c */
void iwp_mpa_wishes(struct iwp_mpa_wishes *wishes);

/* listen.c */
void iwp_requests_abort(struct iwp_device *dev);

#endif /* _IWP_CM_H */
