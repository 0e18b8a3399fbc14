/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_UNIT_LINUX_UNALIGNED_H
#define _SDP_UNIT_LINUX_UNALIGNED_H

#include <linux/types.h>

static inline u16 get_unaligned_be16(const void *p)
{
	const u8 *b = (const u8 *)p;

	return (u16)(b[0] << 8 | b[1]);
}

static inline u32 get_unaligned_be32(const void *p)
{
	const u8 *b = (const u8 *)p;

	return (u32)get_unaligned_be16(b) << 16 | get_unaligned_be16(b + 2);
}

static inline u64 get_unaligned_be64(const void *p)
{
	const u8 *b = (const u8 *)p;

	return (u64)get_unaligned_be32(b) << 32 | get_unaligned_be32(b + 4);
}

static inline void put_unaligned_be16(u16 val, void *p)
{
	u8 *b = (u8 *)p;

	b[0] = (u8)(val >> 8);
	b[1] = (u8)val;
}

static inline void put_unaligned_be32(u32 val, void *p)
{
	put_unaligned_be16((u16)(val >> 16), p);
	put_unaligned_be16((u16)val, (u8 *)p + 2);
}

static inline void put_unaligned_be64(u64 val, void *p)
{
	put_unaligned_be32((u32)(val >> 32), p);
	put_unaligned_be32((u32)val, (u8 *)p + 4);
}

static inline u32 get_unaligned_le32(const void *p)
{
	const u8 *b = (const u8 *)p;

	return (u32)b[3] << 24 | (u32)b[2] << 16 | (u32)b[1] << 8 | b[0];
}

static inline void put_unaligned_le32(u32 val, void *p)
{
	u8 *b = (u8 *)p;

	b[0] = (u8)val;
	b[1] = (u8)(val >> 8);
	b[2] = (u8)(val >> 16);
	b[3] = (u8)(val >> 24);
}

#endif /* _SDP_UNIT_LINUX_UNALIGNED_H */
