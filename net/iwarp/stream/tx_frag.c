// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that segments are built in.
 *
 * A full one can be used again when the peer has acknowledged all that is in it, which is
 * often true of the oldest of a few. New ones are more expensive: most kernels clear them.
 * They belong to the processor, as queue pairs are many, and most of them idle.
 */
#include <linux/percpu.h>
#include <net/sock.h>

#include "internal.h"

/**
 * struct iwp_frags - pages of a processor, with softirqs disabled
 * @ring: pages
 * @at: which of them is being filled
 */
struct iwp_frags {
	struct page_frag ring[IWP_TX_FRAGS];
	u32 at;
};

static DEFINE_PER_CPU(struct iwp_frags, iwp_frags);

/* After a failed allocation @size is stale. */
static u32 iwp_frag_room(const struct page_frag *frag)
{
	return frag->page ? frag->size - frag->offset : 0;
}

/**
 * iwp_frag_get() - get contiguous memory for bytes of a segment
 * @len: how much
 * @room: set to how much there is
 *
 * The caller advances the offset behind what it has written, and has a reference to the
 * page for that.
 *
 * Context: softirqs disabled from here on until that is done.
 * Return: page and offset; NULL if there is no memory, or much of a page
 * would be left unused.
 */
struct page_frag *iwp_frag_get(u32 len, u32 *room)
{
	struct iwp_frags *frags = this_cpu_ptr(&iwp_frags);
	struct page_frag *frag = &frags->ring[frags->at];

	if (iwp_frag_room(frag) < len) {
		if (len > IWP_TX_LINEAR_MAX)
			return NULL;
		/* What is left of it must not become a piece of its own later. */
		frag->offset = frag->size;
		frags->at = (frags->at + 1) % IWP_TX_FRAGS;
		frag = &frags->ring[frags->at];
		skb_page_frag_refill(len, frag, GFP_ATOMIC);
	}
	*room = iwp_frag_room(frag);
	return *room < len ? NULL : frag;
}

/**
 * iwp_frags_free() - free the pages of all processors
 *
 * Context: there are no queue pairs.
 */
void iwp_frags_free(void)
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		struct iwp_frags *frags = per_cpu_ptr(&iwp_frags, cpu);

		for (i = 0; i < IWP_TX_FRAGS; i++)
			if (frags->ring[i].page)
				put_page(frags->ring[i].page);
		memset(frags, 0, sizeof(*frags));
	}
}
