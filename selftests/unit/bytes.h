// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Bytes written by hand, for reference vectors.
 */
#pragma once

#include <cctype>
#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <linux/types.h>

using Bytes = std::vector<u8>;

/**
 * Turns pairs of hexadecimal digits into bytes.
 *
 * The vector is exactly as long as the text says, so that the address
 * sanitizer sees any access beyond it.
 *
 * @param text pairs of digits, blanks between them where they help the eye
 * @throws std::invalid_argument if a pair is not hexadecimal
 */
inline Bytes hex(std::string_view text)
{
	std::string digits;
	for (const char c : text)
		if (std::isspace(static_cast<unsigned char>(c)) == 0)
			digits += c;

	Bytes bytes(digits.size() / 2);
	for (size_t i = 0; i < bytes.size(); i++) {
		const char *pair = digits.data() + 2 * i;
		if (std::from_chars(pair, pair + 2, bytes[i], 16).ptr != pair + 2)
			throw std::invalid_argument("not a hexadecimal byte: " +
						    std::string(pair, 2));
	}
	if (digits.size() % 2 != 0)
		throw std::invalid_argument("half a byte at the end of a vector");
	return bytes;
}

/** One after the other. */
inline Bytes operator+(Bytes first, const Bytes &second)
{
	first.insert(first.end(), second.begin(), second.end());
	return first;
}

/** Only the first bytes, in memory of their own. */
inline Bytes truncated(const Bytes &bytes, size_t length)
{
	return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)};
}

/** With one byte changed. */
inline Bytes with(Bytes bytes, size_t offset, u8 value)
{
	bytes.at(offset) = value;
	return bytes;
}
