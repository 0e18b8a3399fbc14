// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "pattern.h"

namespace sdpbench
{

namespace
{

// The finalizer of MurmurHash3: every bit of the input reaches the low byte.
std::byte byte_at(std::uint64_t stream, std::uint64_t offset)
{
	std::uint64_t x = offset + (stream << 56);

	x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdU;
	x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53U;
	return static_cast<std::byte>(x ^ (x >> 33));
}

} // namespace

void fill(std::span<std::byte> data, std::uint64_t stream, std::uint64_t offset)
{
	for (std::byte &byte : data)
		byte = byte_at(stream, offset++);
}

std::optional<std::uint64_t> find_wrong(std::span<const std::byte> data, std::uint64_t stream,
					std::uint64_t offset)
{
	for (const std::byte byte : data)
		if (byte != byte_at(stream, offset++))
			return offset - 1;
	return std::nullopt;
}

} // namespace sdpbench
