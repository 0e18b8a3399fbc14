/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module that times guards and the program that asks for it say to
 * each other.
 */
#ifndef _GUARDCOST_H
#define _GUARDCOST_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define GUARDCOST_PAGES 512
#define GUARDCOST_NAME_MAX 16

/**
 * struct guardcost - one step
 * @addr: where the program's memory begins
 * @guard: which guard is to protect it, a name of net.sdp.zcopy_fault
 * @ns: set to how long the step took
 */
struct guardcost {
	__u64 addr;
	char guard[GUARDCOST_NAME_MAX];
	__u64 ns;
};

/* Each is about GUARDCOST_PAGES pages of 4 KiB. */
#define GUARDCOST_COPY _IOWR('z', 1, struct guardcost)
#define GUARDCOST_PROTECT _IOWR('z', 2, struct guardcost)
#define GUARDCOST_RELEASE _IOWR('z', 3, struct guardcost)
#define GUARDCOST_GIVE _IOWR('z', 4, struct guardcost)

#endif /* _GUARDCOST_H */
