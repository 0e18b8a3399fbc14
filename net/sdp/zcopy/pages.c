// SPDX-License-Identifier: GPL-2.0
/*
 * How much memory of programs transfers may use: each user's is limited by
 * RLIMIT_MEMLOCK, that of all together by net.sdp.zcopy_mem.
 */
#include <linux/atomic.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>

#include "base/base.h"
#include "zcopy.h"

/* An eighth of the memory, as much as RLIMIT_MEMLOCK gives to a user. */
#define SDP_ZMEM_SHARE		8

static atomic_long_t sdp_zmem_used;
static unsigned int sdp_zmem_limit;
static unsigned int sdp_zmem_max = INT_MAX;
static struct ctl_table_header *sdp_zmem_header;

static struct ctl_table sdp_zmem_table[] = {
	{
		.procname = "zcopy_mem",
		.data = &sdp_zmem_limit,
		.maxlen = sizeof(sdp_zmem_limit),
		.mode = 0644,
		.proc_handler = proc_douintvec_minmax,
		.extra1 = SYSCTL_ZERO,
		.extra2 = &sdp_zmem_max,
	},
	/* The end mark that older kernels look for. */
	{ }
};

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
	    READ_ONCE(sdp_zmem_limit))
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

/**
 * sdp_zmem_init_module() - the limit for this machine's memory
 *
 * Return: 0 or -ENOMEM.
 */
int __init sdp_zmem_init_module(void)
{
	sdp_zmem_limit = min_t(unsigned long, totalram_pages() / SDP_ZMEM_SHARE,
			       sdp_zmem_max);
	sdp_zmem_header = register_net_sysctl_sz(&init_net, "net/sdp",
						 sdp_zmem_table,
						 ARRAY_SIZE(sdp_zmem_table) - 1);
	return sdp_zmem_header ? 0 : -ENOMEM;
}

/**
 * sdp_zmem_exit_module() - the last socket is gone
 */
void sdp_zmem_exit_module(void)
{
	unregister_net_sysctl_table(sdp_zmem_header);
}
