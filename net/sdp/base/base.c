// SPDX-License-Identifier: GPL-2.0
/*
 * What the module, each socket and each namespace begin with.
 */
#include "base.h"

/* How a network namespace's part is found; the admin layer makes it. */
unsigned int sdp_net_id __read_mostly;

struct workqueue_struct *sdp_wq;
struct workqueue_struct *sdp_connect_wq;
struct workqueue_struct *sdp_accept_wq;
struct workqueue_struct *sdp_share_wq;

/* Peers' connections that are set up at the same time; more would wait for their device. */
#define SDP_ACCEPTS	32

/**
 * sdp_base_init() - begin a new socket
 * @sk: unpublished socket, zeroed but for the generic part
 * @ops: what the layers above do
 */
void sdp_base_init(struct sock *sk, const struct sdp_base_ops *ops)
{
	struct sdp_base *base = sdp_base(sk);

	base->ops = ops;
	base->mib = sdp_net(sock_net(sk))->mib;
	sdp_lock_init(&base->lock);
	sdp_timer_init(sk);
}

/**
 * sdp_set_state() - enter a state
 * @sk: locked socket
 * @state: one of TCP's states, or SDP_TIME_WAIT
 */
void sdp_set_state(struct sock *sk, int state)
{
	trace_sdp_state(sk, state);
	/* Pairs with READ_ONCE() in poll() and /proc. */
	WRITE_ONCE(sk->sk_state, state);
}

/* Items queue others in the queues that stand behind theirs. */
static void sdp_work_exit_module(void)
{
	if (sdp_share_wq)
		destroy_workqueue(sdp_share_wq);
	if (sdp_accept_wq)
		destroy_workqueue(sdp_accept_wq);
	if (sdp_connect_wq)
		destroy_workqueue(sdp_connect_wq);
	if (sdp_wq)
		destroy_workqueue(sdp_wq);
}

static int __init sdp_work_init_module(void)
{
	const unsigned int flags = WQ_UNBOUND | WQ_MEM_RECLAIM;

	sdp_wq = alloc_workqueue("sdp", flags, 0);
	sdp_connect_wq = alloc_workqueue("sdp_connect", flags, 0);
	sdp_accept_wq = alloc_workqueue("sdp_accept", flags, SDP_ACCEPTS);
	sdp_share_wq = alloc_workqueue("sdp_share", flags, 0);
	if (sdp_wq && sdp_connect_wq && sdp_accept_wq && sdp_share_wq)
		return 0;
	sdp_work_exit_module();
	return -ENOMEM;
}

/**
 * sdp_base_init_module() - prepare what all sockets share
 *
 * Context: the process that loads the module.
 * Return: 0 or a negative errno.
 */
int __init sdp_base_init_module(void)
{
	int err;

	sdp_lock_init_module();
	err = sdp_mem_init_module();
	if (err)
		return err;
	err = sdp_work_init_module();
	if (err)
		sdp_mem_exit_module();
	return err;
}

/**
 * sdp_base_exit_module() - the last socket is gone
 *
 * The work item that dropped it may still be returning, until this does.
 */
void sdp_base_exit_module(void)
{
	sdp_work_exit_module();
	sdp_mem_exit_module();
}
