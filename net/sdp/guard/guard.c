// SPDX-License-Identifier: GPL-2.0
/*
 * Guards of memory that is being sent: their names, and which one a socket
 * wants.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "guard.h"
#include "base/net.h"
#include "socket/socket.h"

static const struct sdp_guard_ops *const sdp_guards[] = {
	&sdp_guard_share,
#ifdef CONFIG_MMU_NOTIFIER
	&sdp_guard_block,
#endif
};

/**
 * sdp_guard_find() - the guard of a name
 * @name: name
 *
 * Return: the guard; NULL if there is none.
 */
const struct sdp_guard_ops *sdp_guard_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sdp_guards); i++)
		if (!strcmp(sdp_guards[i]->name, name))
			return sdp_guards[i];
	return NULL;
}

/**
 * sdp_guard_wanted() - what protects the next write of a socket
 * @ssk: socket, locked or not
 */
const struct sdp_guard_ops *sdp_guard_wanted(const struct sdp_sock *ssk)
{
	return READ_ONCE(ssk->opt.guard) ?:
	       READ_ONCE(sdp_net(sock_net(&ssk->sk))->zcopy_fault);
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
	WRITE_ONCE(sdp_sk(sk)->opt.guard, guard);
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
	return sdp_name_put(sdp_guard_wanted(sdp_sk(sk))->name, len, optval,
			    optlen);
}
