// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA Read from a loopback peer straight into user space memory, for kernel consumers
 * in the context of the process: nothing is pinned or registered at this end, and
 * nothing completes later.
 */
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "queue/queue.h"
#include "internal.h"

/**
 * struct iwp_loopback_read - a read in progress
 * @to: destination
 * @done: bytes copied
 */
struct iwp_loopback_read {
	struct iov_iter *to;
	size_t done;
};

/*
 * The memory is registered by the peer, so _copy_to_iter() need not check each page for
 * kernel objects (hardened usercopy).
 */
static int iwp_loopback_read_span(void *ctx, void *span, size_t len)
{
	struct iwp_loopback_read *read = ctx;
	size_t copied = _copy_to_iter(span, len, read->to);

	read->done += copied;
	return copied == len ? 0 : -EFAULT;
}

/* Whether a request would be executed at once if it were posted. */
static bool iwp_loopback_idle(struct iwp_loopback_dir *dir)
{
	return iwp_loopback_usable(dir) && !iwp_sq_next(dir->from);
}

/* No page fault is possible in a chunk, as the region's lock is held. */
static bool iwp_loopback_read_chunk(struct iwp_loopback_dir *dir, struct iwp_loopback_read *read,
				    u32 stag, u64 addr, u32 len)
{
	enum iwp_mem_err err = IWP_MEM_STAG;

	/* The direction belongs to us while its tasklet is disabled. */
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
 * iwp_loopback_read() - read the peer's memory into user space
 * @qp: queue pair of a kernel consumer, to which the caller has a reference
 * @stag: the peer's region
 * @addr: the peer's address of the first byte
 * @to: destination; advanced by what was read
 * @len: number of bytes
 *
 * Context: process; does not fault pages in, as the consumer may hold a lock.
 *
 * Return: bytes read: all, or those before the first that cannot be read this way;
 * -EFAULT if the destination's first page is not present.
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
