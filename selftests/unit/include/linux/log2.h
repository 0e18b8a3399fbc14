/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_UNIT_LINUX_LOG2_H
#define _SDP_UNIT_LINUX_LOG2_H

/* Not of 0, as in the kernel. */
#define ilog2(n) (31U - (unsigned int)__builtin_clz(n))
#define rounddown_pow_of_two(n) (1U << ilog2(n))

#endif /* _SDP_UNIT_LINUX_LOG2_H */
