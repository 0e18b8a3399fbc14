// SPDX-License-Identifier: GPL-2.0
/*
 * iter_iov_addr() tells where an iterator's current segment is, since
 * commit 95e49cf8373a (Linux 6.4).
 */
#include <linux/uio.h>

void *probe(const struct iov_iter *iter);

void *probe(const struct iov_iter *iter)
{
	return iter_iov_addr(iter);
}
