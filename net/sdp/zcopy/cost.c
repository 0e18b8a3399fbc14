// SPDX-License-Identifier: GPL-2.0
/*
 * What protection costs a program, where that is more than the copies that it saves.
 *
 * Programs that fill the same memory again and again, as most do: each page that was sent
 * without a copy, and is still protected, then takes a page fault when it is written to,
 * although it has been sent.  A fault costs more than the copy of a page that is saved, so
 * that such programs are better off with copies, unless their pages are huge.
 *
 * Programs that run on several processors: all others are interrupted for each piece of
 * memory that becomes read only (guard/flush.c).
 *
 * Of memory that is sent again the entries of page tables show whether it was written to:
 * those allow writing.  Each took a fault, unless a read has made them writable before
 * (guard/unshare.c); but not more than this thread has had since its last write.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "base/base.h"
#include "guard/guard.h"
#include "stream/stream.h"
#include "zcopy.h"

/*
 * Instructions, see Documentation/protocol/zero-copy.rst: a page fault on a page that
 * nobody else uses any more; to copy a page, or to protect and release it; and, assumed,
 * the time of another processor that is interrupted to flush its TLB.
 */
#define SDP_COST_FAULT		1434U
#define SDP_COST_COPY		562U
#define SDP_COST_PROTECT	134U
#define SDP_COST_FLUSH		4000U
/* So many writes are copied at first. */
#define SDP_ZCOST_FIRST	16
/* After so many that were dear. */
#define SDP_ZCOST_TIMES	2

/**
 * sdp_zcost_forget() - what is sent next says nothing about what was sent before
 * @z: zero copy of a locked socket (by its owner or in softirq)
 */
void sdp_zcost_forget(struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	memset(z->sent, 0, sizeof(z->sent));
}

/* Whether this memory, with these pages, was sent before; and remembers it. */
static bool sdp_zcost_again(struct sdp_zcopy *z, const struct sdp_zpages *zp)
{
	unsigned long addr = PAGE_ALIGN(zp->addr);
	u32 *sent = &z->sent[hash_long(addr >> PAGE_SHIFT, SDP_ZSENT_BITS)];
	unsigned long first = page_to_pfn(zp->pages[zp->first]);
	unsigned long last = page_to_pfn(zp->pages[zp->first + zp->guarded - 1]);
	u32 key = (hash_long(addr ^ zp->len, 32) ^ hash_long(first, 32) ^ hash_long(last, 31)) | 1;
	bool again = *sent == key;

	*sent = key;
	return again;
}

/* Page faults of this thread since it has last sent something here; none if another has. */
static u32 sdp_zcost_faults(struct sdp_zcopy *z)
{
	u32 faults = z->sender == current->pid ? current->min_flt - z->sender_faults : 0;

	z->sender = current->pid;
	z->sender_faults = current->min_flt;
	return faults;
}

/**
 * sdp_zcost_count() - memory has been protected to be sent
 * @z: zero copy of a locked socket
 * @zm: the write that sends it, maybe in several pieces
 * @zp: its pages
 *
 * Context: process context, the writer's.
 */
void sdp_zcost_count(struct sdp_zcopy *z, struct sdp_zmsg *zm, const struct sdp_zpages *zp)
{
	sdp_owned(z->st->sk);
	if (!zp->guarded || !sdp_stream_is(z->st, zm->epoch))
		return;
	if (!zm->guarded) {
		zm->faults = sdp_zcost_faults(z);
		zm->again = sdp_zcost_again(z, zp);
	}
	zm->guarded += zp->guarded;
	zm->changed += zp->changed;
	if (zp->changed)
		zm->flushes += sdp_guard_other_cpus(current->mm);
}

/* Whether to protect pages, and take these faults, costs less than to copy them. */
static bool sdp_zcost_pays(const struct sdp_zmsg *zm, u64 faults)
{
	return faults * SDP_COST_FAULT + (u64)zm->flushes * SDP_COST_FLUSH +
	       (u64)zm->guarded * SDP_COST_PROTECT <= (u64)zm->guarded * SDP_COST_COPY;
}

/*
 * Copies are cheaper if this happens twice, one after the other: a read may have passed over
 * memory once that it makes writable otherwise.
 */
static void sdp_zcost_is_dear(struct sdp_zcopy *z)
{
	z->dears++;
	if (z->dears < SDP_ZCOST_TIMES)
		return;
	z->dears = 0;
	sdp_backoff_learn_from(&z->dear, false, SDP_ZCOST_FIRST);
	sdp_zcopy_tell(z, "faults and interrupts cost more than copies", &z->dear);
	sdp_zcost_forget(z);
}

/**
 * sdp_zcost_learn() - a write is over
 * @z: zero copy of a locked socket
 * @zm: the write, of which something was protected
 *
 * If its memory was sent before, the entries of page tables show whether it was written
 * to since.  Others than this thread may have done that, and had the faults: then nothing
 * is learned, nor of memory that is new, but what the interrupts cost.
 */
void sdp_zcost_learn(struct sdp_zcopy *z, const struct sdp_zmsg *zm)
{
	const struct sdp_net *sn = sdp_net(sock_net(z->st->sk));
	u32 changed = zm->changed - min(zm->changed, z->unshared);

	sdp_owned(z->st->sk);
	if (!sdp_stream_is(z->st, zm->epoch))
		return;
	z->unshared = 0;
	/* While it is tried again reads are to look at once. */
	if (z->dear.step)
		z->unsent.skip = 0;
	/* What is about to be copied will look as if it was written to. */
	if (z->touched.skip || READ_ONCE(sn->zcopy_fault_limit) >= 100)
		return;
	if (!sdp_zcost_pays(zm, zm->again ? min(changed, zm->faults) : 0)) {
		sdp_zcost_is_dear(z);
		return;
	}
	z->dears = 0;
	if (zm->again ? sdp_zcost_pays(zm, changed) : zm->flushes)
		sdp_backoff_learn_from(&z->dear, true, SDP_ZCOST_FIRST);
}
