/* SPDX-License-Identifier: GPL-2.0 */
/* Copy of what a process writes, in many short pieces, as between markers. */
#ifndef _IWP_USER_H
#define _IWP_USER_H

#include <linux/uaccess.h>
#include <linux/uio.h>

/**
 * struct iwp_user - payload that a process has
 * @from: where
 * @at: address of the next byte, if all of the payload is contiguous; else NULL
 * @done: bytes copied from @at
 */
struct iwp_user {
	struct iov_iter *from;
	const void __user *at;
	size_t done;
};

/*
 * What is contiguous in the process's memory, and not the kernel's, needs no iterator. Not
 * all who make one have looked whether it is (io_uring's bundles have not).
 */
static inline void iwp_user_begin(struct iwp_user *user, struct iov_iter *from, size_t len)
{
	*user = (struct iwp_user) { .from = from };
	if (iter_is_ubuf(from))
		user->at = from->ubuf + from->iov_offset;
	else if (iter_is_iovec(from) && iter_iov_len(from) >= len)
		user->at = iter_iov_addr(from);
	if (user->at && !access_ok(user->at, len))
		user->at = NULL;
}

/*
 * Copies to pages of our own: they need not be checked to be no other objects of the
 * kernel's (hardened usercopy). Returns 0 or -EFAULT.
 */
static inline int iwp_user_copy(struct iwp_user *user, void *to, size_t len)
{
	/* This looks at addresses, and reports to sanitizers, which want all copies. */
	if (!user->at || IS_ENABLED(CONFIG_KASAN) || IS_ENABLED(CONFIG_KMSAN))
		return _copy_from_iter(to, len, user->from) == len ? 0 : -EFAULT;
	if (raw_copy_from_user(to, user->at + user->done, len))
		return -EFAULT;
	user->done += len;
	return 0;
}

static inline void iwp_user_end(struct iwp_user *user)
{
	if (user->done)
		iov_iter_advance(user->from, user->done);
}

#endif /* _IWP_USER_H */
