/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_SOCKET_H
#define _SDP_COMPAT_LINUX_SOCKET_H

#include_next <linux/socket.h>

#ifndef SDP_HAVE_SOCKADDR_UNSIZED
#define sockaddr_unsized sockaddr
#endif

#endif /* _SDP_COMPAT_LINUX_SOCKET_H */
