/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stay in a socket's network namespace, for the sake of siw.
 */
#ifndef _SDP_SIW_NETNS_H
#define _SDP_SIW_NETNS_H

#include <linux/nsproxy.h>

/**
 * struct sdp_netns_visit - a task's stay in another network namespace
 * @proxy: what the task has for its namespaces meanwhile
 * @home: what it has else, NULL if it need not leave
 * @users: count of @proxy that is the task's own
 */
struct sdp_netns_visit {
	struct nsproxy proxy;
	struct nsproxy *home;
	unsigned int users;
};

void sdp_netns_enter(struct sdp_netns_visit *visit, struct net *net);
void sdp_netns_leave(struct sdp_netns_visit *visit);

#endif /* _SDP_SIW_NETNS_H */
