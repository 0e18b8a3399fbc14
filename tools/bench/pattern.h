// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Bytes that tell where in which stream they belong.
 */
#ifndef SDPBENCH_PATTERN_H
#define SDPBENCH_PATTERN_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sdpbench
{

/**
 * Fill @p data with the bytes that @p stream has from @p offset on. A byte
 * lost, repeated, moved or taken from another stream shows.
 */
void fill(std::span<std::byte> data, std::uint64_t stream, std::uint64_t offset);

/** @return the offset in @p stream of the first byte that is wrong, if one is. */
[[nodiscard]] std::optional<std::uint64_t> find_wrong(std::span<const std::byte> data,
						      std::uint64_t stream, std::uint64_t offset);

} // namespace sdpbench

#endif // SDPBENCH_PATTERN_H
