// SPDX-License-Identifier: GPL-2.0
/*
 * Who asks for a connection, and what he may ask for.
 *
 * The RDMA core shares a device with all network namespaces if it is not told
 * otherwise, and lets a process connect any queue pair whose number it knows.  So
 * that is for us to find out.
 */
#include <linux/cred.h>
#include <rdma/rdma_cm.h>

#include "internal.h"

/*
 * The manager has one user, rdma_cm, whose own part begins with this.  It may have
 * found another device, if an address has moved there since a request came to it:
 * then nothing it says is about ours.
 */
static const struct rdma_cm_id *iwp_consumer(const struct iw_cm_id *id)
{
	const struct rdma_cm_id *rdma = id->context;

	return rdma->device == id->device ? rdma : NULL;
}

/**
 * iwp_consumer_net() - where sockets are opened for a consumer
 * @id: the connection manager's
 *
 * Addresses mean what they mean in his network namespace.  It is his that is
 * returned, which he stays in: the network device may leave it at any time.
 *
 * Return: his network namespace if the device is in the same, or NULL.
 */
struct net *iwp_consumer_net(const struct iw_cm_id *id)
{
	const struct rdma_cm_id *rdma = iwp_consumer(id);
	struct net *net;

	if (!rdma)
		return NULL;
	net = rdma->route.addr.dev_addr.net;
	return net_eq(net, dev_net(iwp_device(id->device)->netdev)) ? net :
								      NULL;
}

/**
 * iwp_consumer_resolves() - whether a request belongs to the device it came to
 * @listener: the connection manager's, which must stay
 * @local: the request's local address
 *
 * A host takes packets for all its addresses from all its networks, but rdma_cm
 * looks for the device that has the address, of which the manager knows nothing: it
 * would go on using ours without a reference.
 *
 * Return: whether rdma_cm will find the listener's device.
 */
bool iwp_consumer_resolves(const struct iw_cm_id *listener,
			   const struct sockaddr *local)
{
	const struct rdma_cm_id *rdma = iwp_consumer(listener);
	struct rdma_dev_addr found = { 0 };
	int netdev;

	if (!rdma)
		return false;
	/* One that listens at an address was found by that. */
	netdev = rdma->route.addr.dev_addr.bound_dev_if;
	if (!netdev)
		netdev = iwp_device(listener->device)->netdev->ifindex;
	found.net = rdma->route.addr.dev_addr.net;
	return !rdma_translate_ip(local, &found) &&
	       found.bound_dev_if == netdev;
}

/*
 * One of the kernel's is connected by who has made it.  A process says a number,
 * which must be that of a queue pair of the same user.
 */
static bool iwp_consumer_owns(const struct iw_cm_id *id,
			      const struct iwp_qp *qp)
{
	const struct rdma_cm_id *rdma = iwp_consumer(id);

	if (!rdma)
		return false;
	if (iwp_qp_kernel(qp) || rdma->qp)
		return rdma->qp == &qp->ibqp;
	return uid_eq(task_uid(qp->ibqp.res.task), current_uid());
}

/**
 * iwp_consumer_qp() - the queue pair that a consumer wants to connect
 * @id: the connection manager's
 * @qpn: its number
 *
 * Context: the consumer's, if it is a process.
 * Return: the queue pair, with a reference, or NULL if it is not his.
 */
struct iwp_qp *iwp_consumer_qp(const struct iw_cm_id *id, u32 qpn)
{
	struct iwp_qp *qp = iwp_qp_find(id->device, qpn);

	if (!qp || iwp_consumer_owns(id, qp))
		return qp;
	iwp_qp_put(qp);
	return NULL;
}
