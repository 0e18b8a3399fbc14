/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_NET_SCM_H
#define _SDP_COMPAT_NET_SCM_H

#include_next <net/scm.h>

#include <linux/ktime.h>
#include <linux/socket.h>

/* Older kernels make control data of struct timespec64. */
#ifndef SDP_HAVE_SCM_TIMESTAMPING_KTIME
struct sdp_compat_scm_timestamping {
	ktime_t ts[3];
};

static inline struct scm_timestamping_internal
sdp_compat_scm(const struct sdp_compat_scm_timestamping *tss)
{
	struct scm_timestamping_internal old = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(old.ts); i++)
		old.ts[i] = ktime_to_timespec64(tss->ts[i]);
	return old;
}

static inline void sdp_compat_put_scm64(struct msghdr *msg,
					const struct sdp_compat_scm_timestamping *tss)
{
	struct scm_timestamping_internal old = sdp_compat_scm(tss);

	put_cmsg_scm_timestamping64(msg, &old);
}

static inline void sdp_compat_put_scm(struct msghdr *msg,
				      const struct sdp_compat_scm_timestamping *tss)
{
	struct scm_timestamping_internal old = sdp_compat_scm(tss);

	put_cmsg_scm_timestamping(msg, &old);
}

#define scm_timestamping_internal	sdp_compat_scm_timestamping
#define put_cmsg_scm_timestamping64	sdp_compat_put_scm64
#define put_cmsg_scm_timestamping	sdp_compat_put_scm
#endif

#endif /* _SDP_COMPAT_NET_SCM_H */
