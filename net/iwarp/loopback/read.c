// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a joined peer's memory straight into a process's, for consumers that
 * are called by it: nothing at this end has to be pinned or registered, and
 * nothing completes later.
 */
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "queue/queue.h"
#include "internal.h"

/**
 * struct iwp_loopback_read - a read that is under way
 * @to: the process's memory
 * @done: bytes that are there
 */
struct iwp_loopback_read {
	struct iov_iter *to;
	size_t done;
};

/*
 * What the peer has let us read it has registered.  So that no object of the
 * kernel is given away by mistake need not be seen to for each page.
 */
static int iwp_loopback_read_span(void *ctx, void *span, size_t len)
{
	struct iwp_loopback_read *read = ctx;
	size_t copied = _copy_to_iter(span, len, read->to);

	read->done += copied;
	return copied == len ? 0 : -EFAULT;
}

/* Whether a request would be executed now, were it posted. */
static bool iwp_loopback_idle(struct iwp_loopback_dir *dir)
{
	return iwp_loopback_usable(dir) && !iwp_sq_next(dir->from);
}

/*
 * Regions are locked while a piece is copied, so that no page fault can be
 * waited for.
 */
static bool iwp_loopback_read_chunk(struct iwp_loopback_dir *dir, struct iwp_loopback_read *read,
				    u32 stag, u64 addr, u32 len)
{
	enum iwp_mem_err err = IWP_MEM_STAG;

	/* As long as the dir's tasklet may not run, the dir is ours. */
	tasklet_disable(&dir->task);
	pagefault_disable();
	if (iwp_loopback_idle(dir))
		err = iwp_mem_walk(dir->to->ibqp.pd, stag, addr, len,
				   IB_ACCESS_REMOTE_READ, iwp_loopback_read_span,
				   read);
	pagefault_enable();
	tasklet_enable(&dir->task);
	return !err;
}

/**
 * iwp_loopback_read() - read the peer's memory into a process's
 * @qp: queue pair of a consumer in the kernel, which keeps it
 * @stag: the peer's region
 * @addr: address of the first byte, as the peer says it
 * @to: the process's memory; advanced by what was read
 * @len: how many bytes
 *
 * Context: process; does not wait for the process's memory, because the consumer
 * may hold a lock.
 *
 * Return: how many were read: all, or those before the first that cannot be
 * read this way; -EFAULT if the process's memory is not there at the first.
 */
ssize_t iwp_loopback_read(struct iwp_qp *qp, u32 stag, u64 addr,
			  struct iov_iter *to, size_t len)
{
	struct iwp_loopback_dir *dir = READ_ONCE(qp->loopback.out);
	struct iwp_loopback_read read = { .to = to };
	size_t end = 0;
	bool may = dir;

	while (may && read.done == end && end < len) {
		end += min_t(size_t, len - end, IWP_LOOPBACK_CHUNK);
		may = iwp_loopback_read_chunk(dir, &read, stag, addr + read.done,
					      end - read.done);
	}
	if (!read.done)
		return may && len ? -EFAULT : 0;
	iwp_count(qp->dev, IWP_STAT_LOCAL_REQUESTS, 1);
	iwp_count(qp->dev, IWP_STAT_LOCAL_BYTES, read.done);
	return read.done;
}
