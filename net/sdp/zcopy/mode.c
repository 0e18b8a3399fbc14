// SPDX-License-Identifier: GPL-2.0
/*
 * Modes of zero copy: their names, and which one a socket wants and uses.
 */
#include <linux/kernel.h>
#include <linux/sdp.h>
#include <linux/string.h>

#include "base/net.h"
#include "socket/socket.h"
#include "zcopy.h"

static const char *const sdp_zcopy_names[] = {
	[SDP_ZCOPY_OFF] = "off",
	[SDP_ZCOPY_SYNC] = "sync",
	[SDP_ZCOPY_ASYNC] = "async",
};

/**
 * sdp_zcopy_mode_name() - as administrators and programs know it
 * @mode: mode
 *
 * Return: its name.
 */
const char *sdp_zcopy_mode_name(enum sdp_zcopy_mode mode)
{
	return sdp_zcopy_names[mode];
}

/**
 * sdp_zcopy_mode_find() - the mode of a name
 * @name: name
 *
 * Return: enum sdp_zcopy_mode, or -EINVAL if there is none.
 */
int sdp_zcopy_mode_find(const char *name)
{
	int i;

	for (i = 0; i < (int)ARRAY_SIZE(sdp_zcopy_names); i++)
		if (!strcmp(sdp_zcopy_names[i], name))
			return i;
	return -EINVAL;
}

/**
 * sdp_zcopy_wanted_mode() - what a new connection is to use
 * @ssk: socket
 */
enum sdp_zcopy_mode sdp_zcopy_wanted_mode(const struct sdp_sock *ssk)
{
	if (ssk->opt.zcopy >= 0)
		return ssk->opt.zcopy;
	return READ_ONCE(sdp_net(sock_net(&ssk->sk))->zcopy);
}

/**
 * sdp_zcopy_mode() - what a connection uses
 * @ssk: socket, locked or not
 *
 * Return: the mode; SDP_ZCOPY_OFF also if the device or the peer cannot do it.
 */
enum sdp_zcopy_mode sdp_zcopy_mode(const struct sdp_sock *ssk)
{
	const struct sdp_zcopy *z = &ssk->conn.zcopy;

	if (!READ_ONCE(z->on) || !READ_ONCE(z->source.max))
		return SDP_ZCOPY_OFF;
	return READ_ONCE(z->async) ? SDP_ZCOPY_ASYNC : SDP_ZCOPY_SYNC;
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
		sdp_sk(sk)->opt.zcopy = mode;
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
	mode = sdp_zcopy_wanted_mode(ssk);
	if (ssk->conn.qp && !sdp_in_state(sk, SDPF_CONNECTING))
		mode = sdp_zcopy_mode(ssk);
	sdp_release_sock(sk);
	return sdp_name_put(sdp_zcopy_mode_name(mode), len, optval, optlen);
}
