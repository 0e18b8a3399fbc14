// SPDX-License-Identifier: GPL-2.0
/* Device and port attributes. */
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/ib_mad.h>
#include <rdma/iw_cm.h>
#include <rdma/siw-abi.h>

#include "device.h"
#include "stats.h"

#define IWP_VENDOR_ID		0

/*
 * Of a network device rdma_cm copies as many bytes as the longest address has, and in
 * Linux 6.1 it looks for the GID that they are. Those behind an address of Ethernet's
 * length are nobody else's, so that is where ours stands if there is no address.
 */
static void iwp_device_mark(struct iwp_device *dev)
{
	eth_random_addr(dev->raw_gid);
	dev->gid_offset = ETH_ALEN;
	rtnl_lock();
	dev_addr_mod(dev->netdev, ETH_ALEN, dev->raw_gid, ETH_ALEN);
	rtnl_unlock();
}

static void iwp_device_address(struct iwp_device *dev)
{
	const struct net_device *netdev = dev->netdev;

	if (netdev->addr_len >= ETH_ALEN &&
	    !is_zero_ether_addr(netdev->dev_addr))
		ether_addr_copy(dev->raw_gid, netdev->dev_addr);
	else
		iwp_device_mark(dev);
	addrconf_addr_eui48((u8 *)&dev->ibdev.node_guid, dev->raw_gid);
}

/**
 * iwp_device_init() - prepare a device before it is registered
 * @dev: device, zeroed
 * @netdev: its network device
 *
 * Return: 0 or a negative error number. In both cases ib_dealloc_device() undoes
 * everything.
 */
int iwp_device_init(struct iwp_device *dev, struct net_device *netdev)
{
	static atomic_t ids;
	struct ib_device *ibdev = &dev->ibdev;

	/* iw_cm looks up queue pairs with interrupts disabled. */
	xa_init_flags(&dev->qps, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->mrs, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	dev->id = atomic_inc_return(&ids);
	dev_hold(netdev);
	dev->netdev = netdev;
	dev->stats = alloc_percpu(struct iwp_stats);
	if (!dev->stats)
		return -ENOMEM;
	iwp_device_address(dev);
	strscpy(ibdev->iw_ifname, netdev->name, sizeof(ibdev->iw_ifname));
	/* Kernel sockets own their ports, so no port mapper is needed. */
	ibdev->iw_driver_flags = IW_F_NO_PORT_MAP;
	ibdev->node_type = RDMA_NODE_RNIC;
	strscpy(ibdev->node_desc, "Software iWARP with markers",
		sizeof(ibdev->node_desc));
	ibdev->phys_port_cnt = IWP_PORT;
	ibdev->num_comp_vectors = num_possible_cpus();
	/* The send queue's doorbell for user space. */
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND);
	return ib_device_set_netdev(ibdev, netdev, IWP_PORT);
}

static int iwp_query_device(struct ib_device *ibdev,
			    struct ib_device_attr *attr, struct ib_udata *udata)
{
	struct iwp_device *dev = iwp_device(ibdev);

	/* The core itself, which asks at registration, has none on newer kernels. */
	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;
	memset(attr, 0, sizeof(*attr));
	attr->device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY | IBK_ALLOW_USER_UNREG;
	attr->atomic_cap = IB_ATOMIC_NONE;
	attr->vendor_id = IWP_VENDOR_ID;
	attr->vendor_part_id = dev->id;
	attr->page_size_cap = PAGE_SIZE;
	attr->max_mr_size = ~0ull;
	attr->max_qp = IWP_MAX_QP;
	attr->max_qp_wr = IWP_MAX_WR;
	attr->max_send_sge = SIW_MAX_SGE;
	attr->max_recv_sge = SIW_MAX_SGE;
	attr->max_sge_rd = SIW_MAX_SGE;
	attr->max_cq = IWP_MAX_CQ;
	attr->max_cqe = IWP_MAX_CQE;
	attr->max_srq = IWP_MAX_SRQ;
	attr->max_srq_wr = IWP_MAX_WR;
	attr->max_srq_sge = SIW_MAX_SGE;
	attr->max_mr = IWP_MAX_QPN;
	attr->max_pd = IWP_MAX_QPN;
	attr->max_qp_rd_atom = IWP_MAX_RD_ATOM;
	attr->max_qp_init_rd_atom = IWP_MAX_RD_ATOM;
	attr->max_res_rd_atom = IWP_MAX_RD_ATOM;
	attr->max_fast_reg_page_list_len = IWP_MAX_FAST_REG;
	addrconf_addr_eui48((u8 *)&attr->sys_image_guid, dev->raw_gid);
	return 0;
}

/* State and speed are those of the network device. */
static int iwp_query_port(struct ib_device *ibdev, u32 port,
			  struct ib_port_attr *attr)
{
	const struct net_device *netdev = iwp_device(ibdev)->netdev;
	bool up = netif_running(netdev) && netif_carrier_ok(netdev);

	memset(attr, 0, sizeof(*attr));
	attr->gid_tbl_len = 1;
	attr->max_msg_sz = U32_MAX;
	attr->max_mtu = ib_mtu_int_to_enum(netdev->max_mtu);
	attr->active_mtu = ib_mtu_int_to_enum(READ_ONCE(netdev->mtu));
	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP :
				IB_PORT_PHYS_STATE_DISABLED;
	attr->port_cap_flags = IB_PORT_CM_SUP | IB_PORT_DEVICE_MGMT_SUP;
	return ib_get_eth_speed(ibdev, port, &attr->active_speed,
				&attr->active_width);
}

static int iwp_get_port_immutable(struct ib_device *ibdev, u32 port,
				  struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 1;
	immutable->core_cap_flags = RDMA_CORE_PORT_IWARP;
	return 0;
}

/* iWARP's GID is the hardware address, not an IP address. */
static int iwp_query_gid(struct ib_device *ibdev, u32 port, int index,
			 union ib_gid *gid)
{
	const struct iwp_device *dev = iwp_device(ibdev);

	memset(gid, 0, sizeof(*gid));
	ether_addr_copy(gid->raw + dev->gid_offset, dev->raw_gid);
	return 0;
}

const struct ib_device_ops iwp_core_dev_ops = {
	.alloc_hw_port_stats = iwp_alloc_hw_port_stats,
	.get_hw_stats = iwp_get_hw_stats,
	.get_port_immutable = iwp_get_port_immutable,
	.query_device = iwp_query_device,
	.query_gid = iwp_query_gid,
	.query_port = iwp_query_port,
};
