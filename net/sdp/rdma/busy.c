// SPDX-License-Identifier: GPL-2.0
/*
 * Busy polling: completion queues as NAPI instances.
 *
 * Calls that busy-poll, SO_BUSY_POLL's and those of poll() and epoll, know NAPI instances by
 * number.  Each completion queue that is in use has one, which is never scheduled by an
 * interrupt: completions are processed by the queue's own softirq (IB_POLL_SOFTIRQ), or by
 * whoever polls, never by both.  While IRQ_POLL_F_SCHED is ours irq_poll_sched() leaves the
 * queue alone.
 */
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/busy_poll.h>
#include <rdma/ib_verbs.h>

#include "base/base.h"
#include "busy.h"
#include "device.h"
#include "link.h"

/* How often a call that goes on to poll looks before it looks at the clock. */
#define SDP_BUSY_TRIES	16

/**
 * struct sdp_busy - a completion queue that can be polled
 * @napi: what pollers find; its NAPI_STATE_SCHED protects @owned
 * @cq: the queue, which stays as long as the device
 * @owned: the softirq leaves it alone
 * @node: place in sdp_device::busy
 */
struct sdp_busy {
	struct napi_struct napi;
	struct ib_cq *cq;
	bool owned;
	struct list_head node;
};

static int sdp_busy_process(struct ib_cq *cq, int budget, int tries)
{
	int done = 0;

	while (tries-- && !done) {
		done = ib_process_cq_direct(cq, budget);
		cpu_relax();
	}
	return done;
}

/* The softirq's again: an interrupt that came meanwhile is lost, so the queue is asked. */
static void sdp_busy_release(struct sdp_busy *busy)
{
	struct ib_cq *cq = busy->cq;

	busy->owned = false;
	clear_bit_unlock(IRQ_POLL_F_SCHED, &cq->iop.state);
	/* Pairs with that of irq_poll_sched(): what it has left to us is missed. */
	smp_mb__after_atomic();
	if (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0)
		irq_poll_sched(&cq->iop);
}

/* For the network namespace of who polls: the queue serves those of many. */
static void sdp_busy_count(int done)
{
	if (done > 0 && !in_serving_softirq() && current->nsproxy)
		SNMP_ADD_STATS(sdp_net(current->nsproxy->net_ns)->mib, SDP_MIB_BUSYPOLLS, done);
}

/*
 * No interrupt is wanted as long as somebody goes on to poll; NAPI clears
 * NAPI_STATE_IN_BUSY_POLL for the last time that it calls.
 */
static int sdp_busy_poll(struct napi_struct *napi, int budget)
{
	struct sdp_busy *busy = container_of(napi, struct sdp_busy, napi);
	bool more = test_bit(NAPI_STATE_IN_BUSY_POLL, &napi->state);
	/* The first time may be the only one. */
	int tries = more && busy->owned ? SDP_BUSY_TRIES : 1;
	struct ib_cq *cq = busy->cq;
	int done = 0;

	if (!busy->owned)
		busy->owned = !test_and_set_bit_lock(IRQ_POLL_F_SCHED, &cq->iop.state);
	if (busy->owned)
		done = sdp_busy_process(cq, budget, tries);
	sdp_busy_count(done);
	if (more || done == budget)
		return done;
	if (busy->owned)
		sdp_busy_release(busy);
	napi_complete_done(napi, done);
	return done;
}

/**
 * sdp_busy_init() - prepare a new device's completion queues for being polled
 * @dev: device
 *
 * Where softirqs are threads, which do not keep others off their processor, none are.
 *
 * Context: process context.
 */
void sdp_busy_init(struct sdp_device *dev)
{
	INIT_LIST_HEAD(&dev->busy);
	mutex_init(&dev->busy_lock);
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		dev->busy_netdev = alloc_netdev_dummy(0);
}

/* NAPI may have ended behind a full budget, without asking: then the queue is still ours. */
static void sdp_busy_stop(struct sdp_busy *busy)
{
	napi_disable(&busy->napi);
	local_bh_disable();
	if (busy->owned)
		sdp_busy_release(busy);
	local_bh_enable();
	__netif_napi_del(&busy->napi);
}

/**
 * sdp_busy_exit() - end all polling
 * @dev: device that goes; no connection uses it
 *
 * Context: process context; waits for who polls.
 */
void sdp_busy_exit(struct sdp_device *dev)
{
	struct sdp_busy *busy, *next;

	list_for_each_entry(busy, &dev->busy, node)
		sdp_busy_stop(busy);
	synchronize_net();
	list_for_each_entry_safe(busy, next, &dev->busy, node)
		kfree(busy);
	if (dev->busy_netdev)
		free_netdev(dev->busy_netdev);
}

static struct sdp_busy *sdp_busy_find(const struct sdp_device *dev, const struct ib_cq *cq)
{
	struct sdp_busy *busy;

	list_for_each_entry(busy, &dev->busy, node)
		if (busy->cq == cq)
			return busy;
	return NULL;
}

static struct sdp_busy *sdp_busy_add(struct sdp_device *dev, struct ib_cq *cq)
{
	struct sdp_busy *busy = kzalloc(sizeof(*busy), GFP_KERNEL);

	if (!busy)
		return NULL;
	busy->cq = cq;
	netif_napi_add(dev->busy_netdev, &busy->napi, sdp_busy_poll);
	napi_enable(&busy->napi);
	list_add(&busy->node, &dev->busy);
	return busy;
}

/**
 * sdp_busy_attach() - let a connection's completion queue be polled
 * @link: RDMA side of the connection, with a queue
 *
 * Without the memory for it readers sleep at once.
 *
 * Context: process context.
 */
void sdp_busy_attach(struct sdp_link *link)
{
	struct sdp_device *dev = link->dev;
	struct sdp_busy *busy;

	if (!dev->busy_netdev)
		return;
	mutex_lock(&dev->busy_lock);
	busy = sdp_busy_find(dev, link->cq) ?: sdp_busy_add(dev, link->cq);
	mutex_unlock(&dev->busy_lock);
	if (busy)
		WRITE_ONCE(link->sk->sk_napi_id, busy->napi.napi_id);
}

/**
 * sdp_busy_detach() - the connection has no completion queue any more
 * @link: its RDMA side
 *
 * Context: process context.
 */
void sdp_busy_detach(struct sdp_link *link)
{
	WRITE_ONCE(link->sk->sk_napi_id, 0);
}

/**
 * sdp_busy_loop() - poll what a socket waits for
 * @sk: socket, which may have no connection
 * @end: whether to stop; NULL: at once
 * @arg: of @end, which also gets the time when polling began
 *
 * Context: process context, without the socket lock, which completions take.
 */
void sdp_busy_loop(struct sock *sk, bool (*end)(void *arg, unsigned long start), void *arg)
{
	unsigned int id = READ_ONCE(sk->sk_napi_id);

	if (id >= MIN_NAPI_ID)
		napi_busy_loop(id, end, arg, READ_ONCE(sk->sk_prefer_busy_poll),
			       READ_ONCE(sk->sk_busy_poll_budget) ?: BUSY_POLL_BUDGET);
}
