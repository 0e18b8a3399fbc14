/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_SOCKET_H
#define _SDP_COMPAT_LINUX_SOCKET_H

#include_next <linux/socket.h>

#ifndef SDP_HAVE_SOCKADDR_UNSIZED
#define sockaddr_unsized sockaddr
#endif

/* Older kernels have it beside MSG_MORE. */
#ifndef MSG_SENDPAGE_NOTLAST
#define MSG_SENDPAGE_NOTLAST 0
#endif

#endif /* _SDP_COMPAT_LINUX_SOCKET_H */
