// SPDX-License-Identifier: GPL-2.0
/*
 * Timestamps become control data from ktime_t, and not from struct timespec64, since
 * commit c66e0f453d1a (Linux 7.1).
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/socket.h>

void probe_stamp(struct scm_timestamping_internal *tss);
void probe_stamp(struct scm_timestamping_internal *tss)
{
	tss->ts[0] = ktime_set(0, 0);
}
MODULE_LICENSE("GPL");
