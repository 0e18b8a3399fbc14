/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_UNIT_LINUX_COMPILER_H
#define _SDP_UNIT_LINUX_COMPILER_H

#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, val) (*(volatile __typeof__(x) *)&(x) = (val))

#define noinline __attribute__((noinline))

#endif /* _SDP_UNIT_LINUX_COMPILER_H */
