/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's types in user space, where the system's header of this name
 * has only those of the ABI.
 */
#ifndef _SDP_UNIT_LINUX_TYPES_H
#define _SDP_UNIT_LINUX_TYPES_H

/* NOLINTBEGIN(modernize-*): also compiled as C. */
#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
/* NOLINTEND(modernize-*) */

#endif /* _SDP_UNIT_LINUX_TYPES_H */
