// SPDX-License-Identifier: GPL-2.0
/*
 * Whole pages of receive buffers that user space maps instead of having them copied
 * (TCP_ZEROCOPY_RECEIVE).  What was written into a ring stays there: the peer's key is
 * to the ring's pages.
 */
#include <linux/mm.h>

#include "stream.h"

/* Pages that are put into a mapping at once. */
#define SDP_RX_MAP_BATCH	16U

/* Whether the unread bytes are what a mapping could take, and nobody else is amid them. */
static bool sdp_rx_may_map(const struct sdp_stream *st)
{
	return st->link->dev && !st->rx.oob.data && !st->read_turn;
}

/**
 * sdp_rx_unmappable() - how many bytes there are before the next page to map
 * @st: stream of a locked socket
 *
 * Return: bytes; as many as are unread if they are all to be copied.
 */
u32 sdp_rx_unmappable(const struct sdp_stream *st)
{
	const struct sdp_rx_buf *buf;
	u32 skip = 0;
	u32 rest;

	sdp_owned(st->sk);
	if (!sdp_rx_may_map(st))
		return st->rx.bytes;
	list_for_each_entry(buf, &st->rx.queue, list) {
		rest = PAGE_ALIGN(buf->off) - buf->off;
		if (buf->len >= rest + PAGE_SIZE)
			return skip + rest;
		skip += buf->len;
	}
	return st->rx.bytes;
}

/* Puts pages into a mapping; returns how many. */
static u32 sdp_rx_insert(struct vm_area_struct *vma, unsigned long addr, struct page *page,
			 u32 count)
{
	struct page *pages[SDP_RX_MAP_BATCH];
	unsigned long left;
	u32 done, n, i;

	for (done = 0; done < count; done += n) {
		n = min(count - done, SDP_RX_MAP_BATCH);
		for (i = 0; i < n; i++)
			pages[i] = page + done + i;
		left = n;
		if (vm_insert_pages(vma, addr + done * PAGE_SIZE, pages, &left))
			return done + n - left;
	}
	return done;
}

/**
 * sdp_rx_first() - how many bytes the first receive buffer has
 * @st: stream of a locked socket with unread data in buffers
 */
u32 sdp_rx_first(const struct sdp_stream *st)
{
	sdp_owned(st->sk);
	return list_first_entry(&st->rx.queue, struct sdp_rx_buf, list)->len;
}

/* What is left of a message moves to memory that user space does not see. */
static void sdp_rx_renew(struct sdp_rx_buf *buf, struct sdp_rx_buf *spare, u32 taken)
{
	u32 from = buf->off + taken;

	memcpy(page_address(spare->page) + from, page_address(buf->page) + from,
	       buf->len - taken);
	swap(buf->page, spare->page);
	swap(buf->page_dma, spare->page_dma);
	swap(buf->accounted, spare->accounted);
}

/*
 * User space's memory is charged to somebody.  The first message that is taken out of a
 * buffer is copied for that, once.
 */
static bool sdp_rx_account(struct sdp_stream *st, struct sdp_rx_buf *buf)
{
	struct sdp_rx_buf spare;

	if (buf->accounted)
		return true;
	if (!sdp_rx_spare_get(st, &spare, buf->size))
		return false;
	sdp_rx_renew(buf, &spare, 0);
	sdp_rx_spare_put(st, &spare);
	return true;
}

static u32 sdp_rx_take(struct sdp_stream *st, struct sdp_rx_buf *buf,
		       struct vm_area_struct *vma, unsigned long addr, u32 count)
{
	struct sdp_rx_buf spare;
	u32 len;

	if (!sdp_rx_spare_get(st, &spare, buf->size))
		return 0;
	len = sdp_rx_insert(vma, addr, buf->page + (buf->off >> PAGE_SHIFT), count);
	len <<= PAGE_SHIFT;
	if (len)
		sdp_rx_renew(buf, &spare, len);
	sdp_rx_spare_put(st, &spare);
	return len;
}

/**
 * sdp_rx_map() - map the next whole pages of the first receive buffer, and take them
 * @st: stream of a locked socket; sdp_rx_unmappable() said 0
 * @vma: mapping with VM_MIXEDMAP
 * @addr: where to, the start of a page
 * @most: bytes that fit in there, a page at least
 *
 * The pages are user space's from now on: the buffer gets other memory before it is
 * posted again.  What is left of the message is copied there, and is not to be more than
 * what is mapped.
 *
 * Context: process context with mmap_lock; may sleep.
 * Return: bytes; 0 if they are better read, there is no memory, or something is there in
 * the mapping.
 */
u32 sdp_rx_map(struct sdp_stream *st, struct vm_area_struct *vma, unsigned long addr,
	       u32 most)
{
	struct sdp_rx_buf *buf = list_first_entry(&st->rx.queue, struct sdp_rx_buf, list);
	u32 len = min(buf->len, most) & PAGE_MASK;

	sdp_owned(st->sk);
	if (buf->len - len > len || !sdp_rx_account(st, buf))
		return 0;
	len = sdp_rx_take(st, buf, vma, addr, len >> PAGE_SHIFT);
	if (len)
		sdp_recv_consume(st, buf, len);
	return len;
}
