/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_NET_PROTO_MEMORY_H
#define _SDP_COMPAT_NET_PROTO_MEMORY_H

/* Older kernels have all of it in <net/sock.h>. */
#ifdef SDP_HAVE_NET_PROTO_MEMORY
#include_next <net/proto_memory.h>
#else
#include <net/sock.h>
#endif

#endif /* _SDP_COMPAT_NET_PROTO_MEMORY_H */
