// SPDX-License-Identifier: GPL-2.0
/*
 * Network namespaces: sysctls, counters and the list of sockets are theirs.
 */
#include <linux/delay.h>
#include <linux/sched/task.h>

#include "base/net.h"

unsigned int sdp_net_id __read_mostly;

static int __net_init sdp_net_init(struct net *net)
{
	struct sdp_net *sn = sdp_net(net);
	int err;

	xa_init_flags(&sn->sockets, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	mutex_init(&sn->share_mutex);
	INIT_LIST_HEAD(&sn->shares);
	err = sdp_mib_init(net);
	if (err)
		return err;
	err = sdp_sysctl_init(net);
	if (err)
		goto err_mib;
	err = sdp_proc_init(net);
	if (err)
		goto err_sysctl;
	return 0;

err_sysctl:
	sdp_sysctl_exit(net);
err_mib:
	sdp_mib_exit(net);
	return err;
}

static void __net_exit sdp_net_exit(struct net *net)
{
	WARN_ON_ONCE(!xa_empty(&sdp_net(net)->sockets) ||
		     !list_empty(&sdp_net(net)->shares));
	sdp_proc_exit(net);
	sdp_sysctl_exit(net);
	sdp_mib_exit(net);
}

static struct pernet_operations sdp_net_ops = {
	.init = sdp_net_init,
	.exit = sdp_net_exit,
	.id = &sdp_net_id,
	.size = sizeof(struct sdp_net),
};

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
 * the connection manager's worker, which lives in the initial namespace, so
 * that a connection would be made from there: to nobody, or to somebody else
 * who has the same address.
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
	/* Who looked at this task's namespaces just now lets go of them soon. */
	while (nsproxy_users(&visit->proxy) != visit->users)
		msleep(20);
}

/**
 * sdp_netns_init_module() - set up all namespaces, and those to come
 *
 * Return: 0 or a negative errno.
 */
int __init sdp_netns_init_module(void)
{
	return register_pernet_subsys(&sdp_net_ops);
}

/**
 * sdp_netns_exit_module() - clean up all namespaces
 */
void sdp_netns_exit_module(void)
{
	unregister_pernet_subsys(&sdp_net_ops);
}
