// SPDX-License-Identifier: GPL-2.0
/*
 * Network namespaces: sysctls, counters and the list of sockets are theirs.
 */
#include "admin.h"

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
