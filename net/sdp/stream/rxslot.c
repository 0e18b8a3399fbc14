// SPDX-License-Identifier: GPL-2.0
/*
 * What describes receive buffers, and takes their headers.  A connection begins
 * with what its first buffers need.  What those of a ring need comes with the
 * ring, for there may be thousands of connections that never have one.
 */
#include <linux/slab.h>

#include "stream.h"

static int sdp_rx_slots_map(struct sdp_stream *st, struct sdp_rx_slots *slots)
{
	struct ib_device *ibdev = st->link->dev->ibdev;

	slots->hdr_dma = ib_dma_map_single(ibdev, slots->hdr,
					   slots->count * SDP_MSG_HDR_MAX,
					   DMA_FROM_DEVICE);
	return ib_dma_mapping_error(ibdev, slots->hdr_dma) ? -ENOMEM : 0;
}

/**
 * sdp_rx_slots_alloc() - get room for more receive buffers
 * @st: stream of a locked socket with a device
 * @slots: zeroed
 * @count: how many, 0 is none
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENOMEM with nothing to clean up.
 */
int sdp_rx_slots_alloc(struct sdp_stream *st, struct sdp_rx_slots *slots,
		       u32 count)
{
	sdp_owned(st->sk);
	if (!count)
		return 0;
	slots->count = count;
	slots->bufs = kvcalloc(count, sizeof(*slots->bufs),
			       SDP_GFP_TABLE);
	slots->hdr = kcalloc(count, SDP_MSG_HDR_MAX, SDP_GFP_TABLE);
	if (slots->bufs && slots->hdr && !sdp_rx_slots_map(st, slots))
		return 0;
	kfree(slots->hdr);
	slots->hdr = NULL;
	sdp_rx_slots_free(slots);
	return -ENOMEM;
}

/**
 * sdp_rx_slots_use() - have the buffers among those without memory
 * @rx: receive side of a locked socket
 * @slots: allocated
 */
void sdp_rx_slots_use(struct sdp_rx *rx, struct sdp_rx_slots *slots)
{
	u32 i;

	for (i = 0; i < slots->count; i++) {
		slots->bufs[i].bsdh = slots->hdr + i * SDP_MSG_HDR_MAX;
		slots->bufs[i].bsdh_dma = slots->hdr_dma + i * SDP_MSG_HDR_MAX;
		list_add_tail(&slots->bufs[i].list, &rx->unused);
	}
}

/**
 * sdp_rx_slots_unmap() - end the device's access to the headers
 * @st: stream of a locked socket with a device and without a queue pair
 * @slots: what is unread keeps its description
 */
void sdp_rx_slots_unmap(struct sdp_stream *st, struct sdp_rx_slots *slots)
{
	sdp_owned(st->sk);
	if (slots->hdr)
		ib_dma_unmap_single(st->link->dev->ibdev, slots->hdr_dma,
				    slots->count * SDP_MSG_HDR_MAX,
				    DMA_FROM_DEVICE);
	kfree(slots->hdr);
	slots->hdr = NULL;
}

/**
 * sdp_rx_slots_free() - release the descriptions
 * @slots: not mapped; nothing happens if there are none
 */
void sdp_rx_slots_free(struct sdp_rx_slots *slots)
{
	kvfree(slots->bufs);
	slots->bufs = NULL;
	slots->count = 0;
}
