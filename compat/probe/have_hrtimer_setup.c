// SPDX-License-Identifier: GPL-2.0
/*
 * A timer is given its function when it is initialised, since
 * commit 908a1d775422 (Linux 6.13).
 */
#include <linux/hrtimer.h>
#include <linux/module.h>

static enum hrtimer_restart probe_over(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

void probe_setup(struct hrtimer *timer);
void probe_setup(struct hrtimer *timer)
{
	hrtimer_setup(timer, probe_over, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}
MODULE_LICENSE("GPL");
