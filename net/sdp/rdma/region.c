// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that a connection's peer may use: in the protection domain of this connection
 * alone, and by a key and at an address that cannot be guessed from those of others.
 */
#include <linux/align.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <rdma/ib_verbs.h>

#include "link.h"
#include "region.h"

/**
 * sdp_region_alloc() - get a region that memory can be mapped into
 * @link: RDMA side of a connection with a protection domain
 * @pages: how many pages there may be
 *
 * Context: process context, may sleep.
 * Return: the region, for ib_dereg_mr(); NULL if the device has none left.
 */
struct ib_mr *sdp_region_alloc(const struct sdp_link *link, u32 pages)
{
	struct ib_mr *mr = ib_alloc_mr(link->pd, IB_MR_TYPE_MEM_REG, pages);

	return IS_ERR(mr) ? NULL : mr;
}

/*
 * Devices count their regions, so that the bits of a key that are ours are chosen
 * at random, and others than before.  A page of 2^63 bytes, whose end cannot wrap,
 * says nothing of where the memory is; devices want its offset to be the memory's.
 */
static void sdp_region_conceal(struct ib_mr *mr)
{
	u64 page = ALIGN_DOWN(get_random_u64() >> 1, PAGE_SIZE);
	u8 step = get_random_u8() % U8_MAX + 1;

	mr->iova = page + offset_in_page(mr->iova);
	ib_update_fast_reg_key(mr, (u8)mr->rkey + step);
}

/**
 * sdp_region_map() - choose the memory of a region that is not registered
 * @mr: region; it gets a new key and a new address
 * @sg: pieces of memory, mapped for the device
 * @nents: how many
 * @len: their bytes
 *
 * Context: any.
 * Return: whether all of it could be mapped.
 */
bool sdp_region_map(struct ib_mr *mr, struct scatterlist *sg, u32 nents,
		    u32 len)
{
	if (ib_map_mr_sg(mr, sg, nents, NULL, PAGE_SIZE) != (int)nents ||
	    mr->length != len)
		return false;
	sdp_region_conceal(mr);
	return true;
}
