// SPDX-License-Identifier: GPL-2.0
/*
 * Options at SOL_SDP: the engine of flow control, zero copy, page protection.
 */
#include <linux/sdp.h>

#include "guard/guard.h"
#include "socket.h"

/**
 * sdp_flow_setsockopt() - set SDP_FLOW_CONTROL
 * @sk: socket, not locked
 * @optval: the engine's name
 * @optlen: its length
 *
 * As with TCP_CONGESTION a name may be cut off anywhere, and need not end in a
 * zero.
 *
 * Return: 0; -ENOENT if there is no such engine; -EINVAL without a name, or
 * when the socket is connected or listens; -EFAULT.
 */
int sdp_flow_setsockopt(struct sock *sk, sockptr_t optval, unsigned int optlen)
{
	const struct sdp_flow_ops *flow;
	char name[SDP_NAME_MAX];
	int err;

	err = sdp_name_get(name, optval, optlen);
	if (err)
		return err;
	flow = sdp_flow_find(name);
	if (!flow)
		return -ENOENT;
	sdp_lock_sock(sk);
	if (sdp_in_state(sk, TCPF_CLOSE))
		sdp_sk(sk)->base.opt.flow = flow;
	else
		err = -EINVAL;
	sdp_release_sock(sk);
	return err;
}

/**
 * sdp_flow_getsockopt() - read SDP_FLOW_CONTROL
 * @sk: socket, not locked
 * @len: room for the answer, not negative
 * @optval: where to put the name: of the engine in use, without a connection of
 *	the one that is wanted
 * @optlen: set to what was written
 *
 * Return: 0 or -EFAULT.
 */
int sdp_flow_getsockopt(struct sock *sk, int len, char __user *optval,
			int __user *optlen)
{
	const struct sdp_sock *ssk = sdp_sk(sk);
	const struct sdp_flow_ops *flow;

	sdp_lock_sock(sk);
	flow = sdp_option_flow(sk);
	if (ssk->conn.link.qp && !sdp_in_state(sk, SDPF_CONNECTING))
		flow = ssk->conn.stream.flow;
	sdp_release_sock(sk);
	return sdp_name_put(flow->name, len, optval, optlen);
}

/**
 * sdp_zcopy_setsockopt() - set SDP_ZCOPY
 * @sk: socket, not locked
 * @optval: the mode's name, which need not end in a zero
 * @optlen: its length
 *
 * The ends agree on zero copy when they connect, so that it is too late then.
 *
 * Return: 0; -EINVAL if there is no such mode, or when the socket is connected
 * or listens; -EFAULT.
 */
int sdp_zcopy_setsockopt(struct sock *sk, sockptr_t optval,
			 unsigned int optlen)
{
	char name[SDP_NAME_MAX];
	int mode;
	int err;

	err = sdp_name_get(name, optval, optlen);
	if (err)
		return err;
	mode = sdp_zcopy_mode_find(name);
	if (mode < 0)
		return mode;
	sdp_lock_sock(sk);
	if (sdp_in_state(sk, TCPF_CLOSE))
		sdp_sk(sk)->base.opt.zcopy = mode;
	else
		err = -EINVAL;
	sdp_release_sock(sk);
	return err;
}

/**
 * sdp_zcopy_getsockopt() - read SDP_ZCOPY
 * @sk: socket, not locked
 * @len: room for the answer, not negative
 * @optval: where to put the name: of the mode in use, without a connection of
 *	the one that is wanted
 * @optlen: set to what was written
 *
 * Return: 0 or -EFAULT.
 */
int sdp_zcopy_getsockopt(struct sock *sk, int len, char __user *optval,
			 int __user *optlen)
{
	const struct sdp_sock *ssk = sdp_sk(sk);
	enum sdp_zcopy_mode mode;

	sdp_lock_sock(sk);
	mode = sdp_option_zcopy(sk);
	if (ssk->conn.link.qp && !sdp_in_state(sk, SDPF_CONNECTING))
		mode = sdp_zcopy_mode(&ssk->conn.zcopy);
	sdp_release_sock(sk);
	return sdp_name_put(sdp_zcopy_mode_name(mode), len, optval, optlen);
}

/**
 * sdp_guard_setsockopt() - set SDP_ZCOPY_FAULT
 * @sk: socket, not locked
 * @optval: the name, which need not end in a zero
 * @optlen: its length
 *
 * It concerns the writes that follow.
 *
 * Return: 0; -EINVAL if there is no such guard; -EFAULT.
 */
int sdp_guard_setsockopt(struct sock *sk, sockptr_t optval,
			 unsigned int optlen)
{
	const struct sdp_guard_ops *guard;
	char name[SDP_NAME_MAX];
	int err;

	err = sdp_name_get(name, optval, optlen);
	if (err)
		return err;
	guard = sdp_guard_find(name);
	if (!guard)
		return -EINVAL;
	WRITE_ONCE(sdp_sk(sk)->base.opt.guard, guard);
	return 0;
}

/**
 * sdp_guard_getsockopt() - read SDP_ZCOPY_FAULT
 * @sk: socket, not locked
 * @len: room for the answer, not negative
 * @optval: where to put the name
 * @optlen: set to what was written
 *
 * Return: 0 or -EFAULT.
 */
int sdp_guard_getsockopt(struct sock *sk, int len, char __user *optval,
			 int __user *optlen)
{
	return sdp_name_put(sdp_option_guard(sk)->name, len, optval,
			    optlen);
}

/**
 * sdp_zcopy_recv_setsockopt() - set SDP_ZCOPY_RECV
 * @sk: socket, not locked
 * @optval: the mode's name, which need not end in a zero
 * @optlen: its length
 *
 * It concerns the reads that follow.
 *
 * Return: 0; -EINVAL if there is no such mode; -EOPNOTSUPP if this kernel cannot do it;
 * -EFAULT.
 */
int sdp_zcopy_recv_setsockopt(struct sock *sk, sockptr_t optval, unsigned int optlen)
{
	char name[SDP_NAME_MAX];
	int mode = sdp_name_get(name, optval, optlen);

	if (mode)
		return mode;
	mode = sdp_zcopy_recv_find(name);
	if (mode < 0)
		return mode;
	WRITE_ONCE(sdp_sk(sk)->base.opt.zcopy_recv, mode);
	return 0;
}

/**
 * sdp_zcopy_recv_getsockopt() - read SDP_ZCOPY_RECV
 * @sk: socket, not locked
 * @len: room for the answer, not negative
 * @optval: where to put the name
 * @optlen: set to what was written
 *
 * Return: 0 or -EFAULT.
 */
int sdp_zcopy_recv_getsockopt(struct sock *sk, int len, char __user *optval,
			      int __user *optlen)
{
	return sdp_name_put(sdp_zcopy_mode_name(sdp_option_zcopy_recv(sk)), len, optval,
			    optlen);
}
