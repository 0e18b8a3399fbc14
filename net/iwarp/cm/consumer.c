// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of the consumer that requests a connection.
 *
 * Unless configured otherwise the RDMA core shares devices with all network namespaces,
 * and it lets a process connect any queue pair by number. So both is checked here.
 */
#include <linux/cred.h>
#include <linux/sched/signal.h>
#include <rdma/rdma_cm.h>

#include "internal.h"

/*
 * The only user of iw_cm is rdma_cm, whose private structure begins with an rdma_cm_id.
 * It may have resolved another device, if an address moved there since a request
 * arrived: then nothing in it refers to ours.
 */
static const struct rdma_cm_id *iwp_consumer(const struct iw_cm_id *id)
{
	const struct rdma_cm_id *rdma = id->context;

	return rdma->device == id->device ? rdma : NULL;
}

/**
 * iwp_consumer_net() - get the network namespace for a consumer's sockets
 * @id: iw_cm_id
 *
 * Addresses are those of the consumer's namespace. That is returned, as the consumer
 * stays in it, while the network device may leave it at any time.
 *
 * Return: the consumer's network namespace if the device is in the same, or NULL.
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
 * iwp_consumer_resolves() - check that rdma_cm resolves a request's address to the
 * device
 * @listener: iw_cm_id of the listener, which must stay
 * @local: the request's local address
 *
 * A host accepts packets for all its addresses on all interfaces, but rdma_cm looks up
 * the device that has the address. iw_cm does not know of that, and would go on using
 * our device without a reference.
 *
 * Return: whether rdma_cm will find the listener's device.
 */
bool iwp_consumer_resolves(const struct iw_cm_id *listener,
			   const struct sockaddr *local)
{
	/* A listener's device does not change. */
	const struct rdma_cm_id *rdma = listener->context;
	struct rdma_dev_addr found = { 0 };
	int netdev;

	/* A listener bound to an address was resolved by that address. */
	netdev = rdma->route.addr.dev_addr.bound_dev_if;
	if (!netdev)
		netdev = iwp_device(listener->device)->netdev->ifindex;
	found.net = rdma->route.addr.dev_addr.net;
	return !rdma_translate_ip(local, &found) &&
	       found.bound_dev_if == netdev;
}

/* The rule of ptrace(), which none but the kernel itself may ask. */
static bool iwp_consumer_controls(struct task_struct *creator)
{
	const struct cred *own = current_cred(), *cred = get_task_cred(creator);
	bool same;

	same = uid_eq(own->uid, cred->uid) && uid_eq(own->uid, cred->euid) &&
	       uid_eq(own->uid, cred->suid) && gid_eq(own->gid, cred->gid) &&
	       gid_eq(own->gid, cred->egid) && gid_eq(own->gid, cred->sgid) &&
	       cap_issubset(cred->cap_permitted, own->cap_permitted);
	put_cred(cred);
	return same;
}

/*
 * A kernel queue pair is connected by its creator. User space passes a number, which
 * must be that of a queue pair of its own, or of a process that it may trace: a program
 * that runs for the same user with the rights of another one is none of those.
 */
static bool iwp_consumer_owns(const struct iw_cm_id *id,
			      const struct iwp_qp *qp)
{
	const struct rdma_cm_id *rdma = iwp_consumer(id);

	if (!rdma)
		return false;
	if (iwp_qp_kernel(qp) || rdma->qp)
		return rdma->qp == &qp->ibqp;
	return same_thread_group(qp->ibqp.res.task, current) ||
	       iwp_consumer_controls(qp->ibqp.res.task);
}

/**
 * iwp_consumer_qp() - look up the queue pair that a consumer wants to connect
 * @id: iw_cm_id
 * @qpn: queue pair number
 *
 * Context: the consumer's process, if it is in user space.
 * Return: the queue pair, with a reference, or NULL if the consumer may not use it.
 */
struct iwp_qp *iwp_consumer_qp(const struct iw_cm_id *id, u32 qpn)
{
	struct iwp_qp *qp = iwp_qp_find(id->device, qpn);

	if (!qp || iwp_consumer_owns(id, qp))
		return qp;
	iwp_qp_put(qp);
	return NULL;
}
