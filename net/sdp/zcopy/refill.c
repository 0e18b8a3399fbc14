// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that fill the same memory again and again, as most do: each page that was sent
 * without a copy, and is still protected, then takes a page fault when it is written to,
 * although it has been sent.  A fault costs more than the copy of a page that is saved, so
 * that such programs are better off with copies, unless their pages are huge.
 *
 * Of memory that is sent again the entries of page tables show whether it was written to:
 * those allow writing.  Each took a fault, unless a read has made them writable before
 * (guard/unshare.c); but not more than this thread has had since its last write.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "stream/stream.h"
#include "zcopy.h"

/*
 * Instructions, see Documentation/protocol/zero-copy.rst: a page fault on a page that
 * nobody else uses any more; and to copy a page, or to protect and release it.
 */
#define SDP_COST_FAULT		1434U
#define SDP_COST_COPY		562U
#define SDP_COST_PROTECT	134U
/* So many writes are copied at first. */
#define SDP_ZREFILL_FIRST	16
/* After so many that were dear. */
#define SDP_ZREFILL_TIMES	2

/**
 * sdp_zrefill_forget() - what is sent next says nothing about what was sent before
 * @z: zero copy of a locked socket (by its owner or in softirq)
 */
void sdp_zrefill_forget(struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	memset(z->sent, 0, sizeof(z->sent));
}

/* Whether this memory, with these pages, was sent before; and remembers it. */
static bool sdp_zrefill_again(struct sdp_zcopy *z, const struct sdp_zpages *zp,
			      unsigned long addr)
{
	u32 *sent = &z->sent[hash_long(addr >> PAGE_SHIFT, SDP_ZSENT_BITS)];
	unsigned long first = page_to_pfn(zp->pages[zp->first]);
	unsigned long last = page_to_pfn(zp->pages[zp->first + zp->guarded - 1]);
	u32 key = (hash_long(addr ^ zp->len, 32) ^ hash_long(first, 32) ^ hash_long(last, 31)) | 1;
	bool again = *sent == key;

	*sent = key;
	return again;
}

/* Page faults of this thread since it has last sent something here; none if another has. */
static u32 sdp_zrefill_faults(struct sdp_zcopy *z)
{
	u32 faults = z->sender == current->pid ? current->min_flt - z->sender_faults : 0;

	z->sender = current->pid;
	z->sender_faults = current->min_flt;
	return faults;
}

/**
 * sdp_zrefill_count() - memory has been protected to be sent
 * @z: zero copy of a locked socket
 * @zm: the write that sends it, maybe in several pieces
 * @zp: its pages
 * @addr: user address of the first that is protected
 *
 * Context: process context, the writer's.
 */
void sdp_zrefill_count(struct sdp_zcopy *z, struct sdp_zmsg *zm, const struct sdp_zpages *zp,
		       unsigned long addr)
{
	sdp_owned(z->st->sk);
	if (!zp->guarded || !sdp_stream_is(z->st, zm->epoch))
		return;
	if (!zm->guarded) {
		zm->faults = sdp_zrefill_faults(z);
		zm->again = sdp_zrefill_again(z, zp, addr);
	}
	zm->guarded += zp->guarded;
	zm->changed += zp->changed;
}

/* Whether to protect pages, and take these faults, costs less than to copy them. */
static bool sdp_zrefill_pays(const struct sdp_zmsg *zm, u64 faults)
{
	return faults * SDP_COST_FAULT + (u64)zm->guarded * SDP_COST_PROTECT <=
	       (u64)zm->guarded * SDP_COST_COPY;
}

/*
 * Copies are cheaper if this happens twice, one after the other: a read may have passed over
 * memory once that it makes writable otherwise.
 */
static void sdp_zrefill_is_dear(struct sdp_zcopy *z)
{
	z->refills++;
	if (z->refills < SDP_ZREFILL_TIMES)
		return;
	z->refills = 0;
	sdp_backoff_learn_from(&z->refilled, false, SDP_ZREFILL_FIRST);
	sdp_zcopy_tell(z, "the program writes to it again", &z->refilled);
	sdp_zrefill_forget(z);
}

/**
 * sdp_zrefill_learn() - a write is over
 * @z: zero copy of a locked socket
 * @zm: the write, of which something was protected
 *
 * If its memory was sent before, the entries of page tables show whether it was written
 * to since.  Others than this thread may have done that, and had the faults: then nothing
 * is learned.
 */
void sdp_zrefill_learn(struct sdp_zcopy *z, const struct sdp_zmsg *zm)
{
	const struct sdp_net *sn = sdp_net(sock_net(z->st->sk));
	u32 changed = zm->changed - min(zm->changed, z->unshared);

	sdp_owned(z->st->sk);
	if (!sdp_stream_is(z->st, zm->epoch))
		return;
	z->unshared = 0;
	/* While it is tried again reads are to look at once. */
	if (z->refilled.step)
		z->unsent.skip = 0;
	/* What is about to be copied will look as if it was written to. */
	if (!zm->again || z->touched.skip || READ_ONCE(sn->zcopy_fault_limit) >= 100)
		return;
	if (!sdp_zrefill_pays(zm, min(changed, zm->faults))) {
		sdp_zrefill_is_dear(z);
		return;
	}
	z->refills = 0;
	if (sdp_zrefill_pays(zm, changed))
		sdp_backoff_learn_from(&z->refilled, true, SDP_ZREFILL_FIRST);
}
