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
	sdp_lock_init_module();
	err = sdp_netns_init_module();
	if (err)
		return err;
	err = sdp_mem_init_module();
	if (err)
		goto err_netns;
	err = sdp_zmem_init_module();
	if (err)
		goto err_mem;
	err = sdp_work_init_module();
	if (err)
		goto err_zmem;
	err = proto_register(&sdp_prot, 1);
	if (err)
		goto err_work;
	err = sdp_device_init_module();
	if (err)
		goto err_proto;
	err = sdp_family_init_module();
	if (err)
		goto err_device;
	return 0;

err_device:
	sdp_device_exit_module();
err_proto:
	proto_unregister(&sdp_prot);
err_work:
	sdp_work_exit_module();
err_zmem:
	sdp_zmem_exit_module();
err_mem:
	sdp_mem_exit_module();
err_netns:
	sdp_netns_exit_module();
	return err;
}

static void __exit sdp_exit(void)
{
	sdp_family_exit_module();
	sdp_device_exit_module();
	/* A teardown that dropped the last socket may still be returning. */
	sdp_work_exit_module();
	sdp_watch_exit_module();
	proto_unregister(&sdp_prot);
	sdp_zmem_exit_module();
	sdp_mem_exit_module();
	sdp_netns_exit_module();
}

module_init(sdp_init);
module_exit(sdp_exit);

MODULE_DESCRIPTION("Sockets Direct Protocol: stream sockets over RDMA");
MODULE_LICENSE("GPL");
MODULE_ALIAS_NETPROTO(PF_SDP);
