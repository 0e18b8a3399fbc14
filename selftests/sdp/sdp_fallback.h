/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of the fallback to TCP share. */
#ifndef SDP_FALLBACK_H
#define SDP_FALLBACK_H

#include <fcntl.h>
#include <unistd.h>

#include "sdp_test.h"

#define SOL_SDP			1025
#define SDP_TCP_FALLBACK	1
#define SDP_FALLBACK_REASON	2

static inline int both_socket(int type_flags)
{
	int fd = new_socket(type_flags);

	set_int(fd, SOL_SDP, SDP_TCP_FALLBACK, 1);
	return fd;
}

/*
 * A slow machine must not look like a peer that does not answer. Who may not
 * change the setting has to be quick.
 */
static inline void be_patient(bool on)
{
	const char *ms = on ? "20000" : "30";
	int fd = open("/proc/sys/net/sdp/fallback_timeout", O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, ms, strlen(ms)) < 0)
		ktap_diag("fallback_timeout cannot be set");
	close(fd);
}

static inline int fallback_main(int argc, char **argv,
				const struct sdp_case *cases, size_t count)
{
	int ret;

	be_patient(true);
	ret = sdp_main(argc, argv, cases, count);
	be_patient(false);
	return ret;
}

#endif /* SDP_FALLBACK_H */
