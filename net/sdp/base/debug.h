/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dynamic debug messages about decisions.
 */
#ifndef _SDP_DEBUG_H
#define _SDP_DEBUG_H

#include <linux/printk.h>

#include "sk.h"

/* Not on the data path, for which there are tracepoints. */
#define sdp_dbg(sk, fmt, ...)						\
do {									\
	const struct sdp_base *__base = sdp_base(sk);			\
									\
	pr_debug("sdp: [%pI6c]:%u > [%pI6c]:%u: " fmt "\n",		\
		 &__base->local.ip, ntohs(__base->local.port),		\
		 &__base->peer.ip, ntohs(__base->peer.port),		\
		 ##__VA_ARGS__);					\
} while (0)

#endif /* _SDP_DEBUG_H */
