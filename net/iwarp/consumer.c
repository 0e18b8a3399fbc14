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

#include "device.h"
#include "ep.h"
#include "qp.h"

/* The manager has one user, rdma_cm, whose own part begins with this. */
static const struct rdma_cm_id *iwp_consumer(const struct iw_cm_id *id)
{
	const struct rdma_cm_id *rdma = id->context;

	return WARN_ON_ONCE(rdma->device != id->device) ? NULL : rdma;
}

/**
 * iwp_consumer_here() - whether a consumer is where the device is
 * @id: the connection manager's
 *
 * Addresses mean what they mean in his network namespace, and sockets are opened
 * in that of the network device.
 *
 * Return: whether the two are the same.
 */
bool iwp_consumer_here(const struct iw_cm_id *id)
{
	const struct rdma_cm_id *rdma = iwp_consumer(id);

	return rdma && net_eq(rdma->route.addr.dev_addr.net,
			      dev_net(iwp_device(id->device)->netdev));
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
