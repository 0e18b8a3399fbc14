/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an administrator sees: settings in /proc/sys/net/sdp, counters, sockets and
 * devices in /proc/net, and sockets by netlink, for each network namespace.
 */
#ifndef _SDP_ADMIN_H
#define _SDP_ADMIN_H

#include "base/base.h"

struct seq_file;

int sdp_sysctl_init(struct net *net);
void sdp_sysctl_exit(struct net *net);
int sdp_proc_init(struct net *net);
void sdp_proc_exit(struct net *net);
int sdp_mib_init(struct net *net);
void sdp_mib_exit(struct net *net);
int sdp_mib_show(struct seq_file *seq, void *v);
int sdp_devices_show(struct seq_file *seq, void *v);

int __init sdp_netns_init_module(void);
void sdp_netns_exit_module(void);
int __init sdp_diag_init_module(void);
void sdp_diag_exit_module(void);

#endif /* _SDP_ADMIN_H */
