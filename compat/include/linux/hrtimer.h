/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_HRTIMER_H
#define _SDP_COMPAT_LINUX_HRTIMER_H

#include_next <linux/hrtimer.h>

#ifndef SDP_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*fn)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = fn;
}
#endif

#endif /* _SDP_COMPAT_LINUX_HRTIMER_H */
