// SPDX-License-Identifier: GPL-2.0
/*
 * Hooks before a socket binds or connects: BPF programs of the control group, and
 * security modules where TCP may be used.
 *
 * BPF programs of a control group are written for TCP sockets, and may do with them what
 * cannot be done with ours: bind them, set their options.  So they are shown a TCP
 * socket: the one of the fallback, or one that is closed again.  All hooks run in the
 * context of the calling process, since they may judge by that, and never again in a
 * worker that goes on with the call.
 */
#include <linux/bpf-cgroup.h>
#include <linux/net.h>
#include <linux/security.h>
#include <net/inet_common.h>
#include <net/sock.h>

#include "base/base.h"
#include "fallback/fallback.h"
#include "socket.h"

/**
 * sdp_gate_inherit() - make a socket one of the control group and the security
 *	label that another one has
 * @child: unpublished socket
 * @parent: the other one
 *
 * A socket has those of the task that creates it, which may be a worker.
 */
void sdp_gate_inherit(struct sock *child, const struct sock *parent)
{
#ifdef CONFIG_SOCK_CGROUP_DATA
	struct cgroup *cgrp = sock_cgroup_ptr(&child->sk_cgrp_data);

	cgroup_bpf_put(cgrp);
	cgroup_put(cgrp);
	child->sk_cgrp_data = parent->sk_cgrp_data;
	cgrp = sock_cgroup_ptr(&child->sk_cgrp_data);
	cgroup_get(cgrp);
	cgroup_bpf_get(cgrp);
#endif
	security_sk_clone(parent, child);
}

/* A socket of the kernel's own, so that no other hooks run for it. */
static struct socket *sdp_gate_stand_in(struct sock *sk, int family)
{
	struct socket *tcp;
	int err;

	err = sock_create_kern(sock_net(sk), family, SOCK_STREAM, IPPROTO_TCP,
			       &tcp);
	if (err)
		return ERR_PTR(err);
	sdp_gate_inherit(tcp->sk, sk);
	tcp->sk->sk_bound_dev_if = READ_ONCE(sk->sk_bound_dev_if);
	tcp->sk->sk_mark = READ_ONCE(sk->sk_mark);
	return tcp;
}

static int sdp_gate_family(const struct sock *sk, bool v6)
{
	return v6 || sk->sk_family == AF_INET6 ? AF_INET6 : AF_INET;
}

static int sdp_gate_run_bind(struct sock *tsk, struct sockaddr_storage *addr,
			     int len)
{
	/* Whether it lets anybody have a low port RDMA decides by itself. */
	u32 flags = 0;

	return tsk->sk_family == AF_INET6 ?
	       sdp_cgroup_run_bind(tsk, addr, &len, CGROUP_INET6_BIND, &flags) :
	       sdp_cgroup_run_bind(tsk, addr, &len, CGROUP_INET4_BIND, &flags);
}

/**
 * sdp_gate_bind() - run the control group's BPF programs before bind()
 * @sk: locked socket
 * @addr: address, which they may change
 * @v6: it came as AF_INET6
 *
 * Context: process context.
 * Return: 0 or a negative errno.
 */
int sdp_gate_bind(struct sock *sk, struct sdp_addr *addr, bool v6)
{
	struct sockaddr_storage to;
	struct socket *tcp;
	int err;
	int len;

	sdp_owned(sk);
	if (!cgroup_bpf_enabled(CGROUP_INET4_BIND) &&
	    !cgroup_bpf_enabled(CGROUP_INET6_BIND))
		return 0;
	tcp = sdp_gate_stand_in(sk, sdp_gate_family(sk, v6));
	if (IS_ERR(tcp))
		return PTR_ERR(tcp);
	len = sdp_addr_to_user(addr, tcp->sk->sk_family == AF_INET6, &to);
	err = sdp_gate_run_bind(tcp->sk, &to, len);
	sock_release(tcp);
	if (!err)
		sdp_addr_from_rdma(&to, addr);
	return err;
}

static int sdp_gate_run_connect(struct socket *tcp, struct sdp_addr *peer)
{
	struct sock *tsk = tcp->sk;
	struct sockaddr_storage to;
	int err;
	int len;

	len = sdp_addr_to_user(peer, tsk->sk_family == AF_INET6, &to);
	lock_sock(tsk);
	err = tsk->sk_prot->pre_connect(tsk, (void *)&to, len);
	release_sock(tsk);
	if (!err)
		sdp_addr_from_rdma(&to, peer);
	return err;
}

static int sdp_gate_ask_lsm(struct socket *tcp, const struct sdp_addr *peer)
{
	struct sockaddr_storage to;
	int len;

	len = sdp_addr_to_user(peer, tcp->sk->sk_family == AF_INET6, &to);
	return sdp_lsm_connect(tcp, &to, len);
}

/**
 * sdp_gate_connect() - run the hooks of security modules and the control group's BPF
 *	programs before connect()
 * @fb: the fallback of a locked socket with its peer set, which BPF programs may
 *	change, and with a TCP socket if TCP may go on with this
 *
 * Context: process context.
 * Return: 0 or a negative errno.
 */
int sdp_gate_connect(struct sdp_fallback *fb)
{
	struct socket *tcp = sdp_fallback_ready(fb) ? fb->tcp : NULL;
	bool asked = cgroup_bpf_enabled(CGROUP_INET4_CONNECT) ||
		     cgroup_bpf_enabled(CGROUP_INET6_CONNECT);
	struct sdp_addr *peer = &sdp_base(fb->sk)->peer;
	int err;

	sdp_owned(fb->sk);
	if (tcp) {
		err = sdp_gate_ask_lsm(tcp, peer);
		if (err || !asked)
			return err;
		return sdp_gate_run_connect(tcp, peer);
	}
	if (!asked)
		return 0;
	tcp = sdp_gate_stand_in(fb->sk,
				sdp_addr_is_v4(peer) ? AF_INET : AF_INET6);
	if (IS_ERR(tcp))
		return PTR_ERR(tcp);
	err = sdp_gate_run_connect(tcp, peer);
	sock_release(tcp);
	return err;
}
