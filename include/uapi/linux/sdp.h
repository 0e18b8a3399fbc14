/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Sockets Direct Protocol: the interface between the kernel and programs.
 */
#ifndef _UAPI_LINUX_SDP_H
#define _UAPI_LINUX_SDP_H

/*
 * The address family.  The kernel's headers give the same number to AF_IB,
 * for which no socket family exists; 27 is what SDP has always used on Linux.
 */
#ifndef AF_SDP
#define AF_SDP	27
#define PF_SDP	AF_SDP
#endif

/* Socket options that SDP added to level SOL_TCP before it had its own. */
#define SDP_ZCOPY_THRESH	80	/* bytes; int */
#define SDP_LAST_BIND_ERR	81	/* errno of the last bind, get only; int */

#endif /* _UAPI_LINUX_SDP_H */
