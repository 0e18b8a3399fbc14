// SPDX-License-Identifier: GPL-2.0
/*
 * How much memory of programs transfers may use: each user's is limited by
 * RLIMIT_MEMLOCK, that of all together by net.sdp.zcopy_mem.
 */
#include <linux/atomic.h>
#include <linux/seq_file.h>

#include "base/base.h"
#include "zcopy.h"

static atomic_long_t sdp_zmem_used;

/**
 * sdp_zmem_charge() - ask for memory of all transfers together
 * @z: zero copy of a socket whose transfer it is
 * @pages: how much
 *
 * Context: any.
 * Return: whether there is so much; if not, that is counted.
 */
bool sdp_zmem_charge(struct sdp_zcopy *z, u32 pages)
{
	if (atomic_long_add_return(pages, &sdp_zmem_used) <=
	    READ_ONCE(sdp_sysctl_zcopy_mem))
		return true;
	sdp_zmem_uncharge(pages);
	SDP_SOCK_INC_STATS(z->st->sk, SDP_MIB_ZCOPYMEMREFUSALS);
	return false;
}

/**
 * sdp_zmem_uncharge() - give it back
 * @pages: how much
 *
 * Context: any.
 */
void sdp_zmem_uncharge(u32 pages)
{
	atomic_long_sub(pages, &sdp_zmem_used);
}

/**
 * sdp_zmem_show() - print what is in use now, a name and value a line
 * @seq: file
 */
void sdp_zmem_show(struct seq_file *seq)
{
	seq_printf(seq, "ZcopyPages %ld\n", atomic_long_read(&sdp_zmem_used));
}
