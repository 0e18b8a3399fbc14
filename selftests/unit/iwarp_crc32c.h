/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/**
 * @file
 * CRC32C bit by bit, as its definition says: what the kernel's function of this
 * name computes.
 */
#pragma once

#include <array>

#include <linux/types.h>

/** One entry for each byte: eight steps of the shift register. */
inline std::array<u32, 256> crc32c_table()
{
	std::array<u32, 256> table{};

	for (u32 i = 0; i < table.size(); i++) {
		u32 crc = i;
		for (int bit = 0; bit < 8; bit++)
			crc = (crc & 1) != 0 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
		table.at(i) = crc;
	}
	return table;
}

/** Neither the seed nor the end is complemented. */
inline u32 crc32c(u32 crc, const u8 *data, size_t length)
{
	static const std::array<u32, 256> table = crc32c_table();

	for (size_t i = 0; i < length; i++)
		crc = table.at((crc ^ data[i]) & 0xff) ^ crc >> 8;
	return crc;
}
