// SPDX-License-Identifier: GPL-2.0
/*
 * The module: its parts come into being from the lowest layer upwards.
 */
#include <linux/module.h>
#include <linux/net.h>

#include "guard/guard.h"
#include "socket/socket.h"
#include "admin/admin.h"

static int __init sdp_init(void)
{
	int err;

	sdp_lsm_init_module();
	err = sdp_netns_init_module();
	if (err)
		return err;
	err = sdp_base_init_module();
	if (err)
		goto err_netns;
	err = proto_register(&sdp_prot, 1);
	if (err)
		goto err_base;
	err = sdp_device_init_module();
	if (err)
		goto err_proto;
	err = sdp_diag_init_module();
	if (err)
		goto err_device;
	/* Last: programs may have sockets from now on. */
	err = sdp_family_init_module();
	if (err)
		goto err_diag;
	return 0;

err_diag:
	sdp_diag_exit_module();
err_device:
	sdp_device_exit_module();
err_proto:
	proto_unregister(&sdp_prot);
err_base:
	sdp_base_exit_module();
err_netns:
	sdp_netns_exit_module();
	return err;
}

static void __exit sdp_exit(void)
{
	sdp_family_exit_module();
	sdp_diag_exit_module();
	sdp_device_exit_module();
	sdp_notifier_exit_module();
	proto_unregister(&sdp_prot);
	sdp_base_exit_module();
	sdp_netns_exit_module();
}

module_init(sdp_init);
module_exit(sdp_exit);

MODULE_DESCRIPTION("Sockets Direct Protocol: stream sockets over RDMA");
MODULE_LICENSE("GPL");
MODULE_VERSION(SDP_RELEASE);
MODULE_ALIAS_NETPROTO(PF_SDP);
