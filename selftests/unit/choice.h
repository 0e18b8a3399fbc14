// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Where a schedule takes its choices from: chance, or the bytes of a fuzzer.
 */
#pragma once

#include <cstddef>
#include <random>

#include <linux/types.h>

class Choice
{
public:
	Choice() = default;
	Choice(const Choice &) = delete;
	Choice &operator=(const Choice &) = delete;
	virtual ~Choice() = default;

	/** A number from @p from to @p to. */
	virtual u32 pick(u32 from, u32 to) = 0;
};

class RandomChoice : public Choice
{
public:
	explicit RandomChoice(u32 seed) : random_(seed)
	{
	}

	u32 pick(u32 from, u32 to) override
	{
		return std::uniform_int_distribution<u32>(from, to)(random_);
	}

private:
	std::mt19937 random_;
};

/** As many bytes as a choice needs, or the first of what there is once all are used up. */
class ByteChoice : public Choice
{
public:
	ByteChoice(const u8 *bytes, std::size_t count) : bytes_(bytes), left_(count)
	{
	}

	u32 pick(u32 from, u32 to) override
	{
		const u64 range = u64{to} - from + 1;
		u64 value = 0;

		for (u64 most = 1; most < range && left_ > 0; most <<= 8, left_--)
			value = value << 8 | *bytes_++;
		return static_cast<u32>(from + value % range);
	}

	[[nodiscard]] bool empty() const
	{
		return left_ == 0;
	}

private:
	const u8 *bytes_;
	std::size_t left_;
};
