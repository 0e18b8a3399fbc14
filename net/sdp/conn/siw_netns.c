// SPDX-License-Identifier: GPL-2.0
/*
 * A stay in a socket's network namespace, for the sake of siw.
 */
#include <linux/delay.h>
#include <linux/sched/task.h>

#include "conn.h"

static void sdp_netns_assume(struct nsproxy *proxy)
{
	task_lock(current);
	current->nsproxy = proxy;
	task_unlock(current);
}

/**
 * sdp_netns_enter() - have the current task work in a socket's namespace
 * @visit: to be given to sdp_netns_leave() by the same task
 * @net: namespace, held by the caller
 *
 * The software iWARP provider (siw) opens its TCP sockets in the namespace of
 * whichever task calls it and not in its device's.  Connections are made by
 * the connection manager's worker, which lives in the initial namespace, so that a
 * connection would be made from there: to no host, or to another one that has the
 * same address.
 */
void sdp_netns_enter(struct sdp_netns_visit *visit, struct net *net)
{
	visit->home = NULL;
	if (net_eq(current->nsproxy->net_ns, net))
		return;
	visit->home = current->nsproxy;
	visit->proxy = *visit->home;
	visit->proxy.net_ns = net;
	visit->users = nsproxy_users(&visit->proxy);
	sdp_netns_assume(&visit->proxy);
}

/**
 * sdp_netns_leave() - end what sdp_netns_enter() has begun
 * @visit: as given to it
 *
 * Context: process context.
 */
void sdp_netns_leave(struct sdp_netns_visit *visit)
{
	if (!visit->home)
		return;
	sdp_netns_assume(visit->home);
	/* Readers of this task's nsproxy release it soon. */
	while (nsproxy_users(&visit->proxy) != visit->users)
		msleep(20);
}
