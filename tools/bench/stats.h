// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What several runs say together.
 */
#ifndef SDPBENCH_STATS_H
#define SDPBENCH_STATS_H

#include <cstdint>
#include <vector>

namespace sdpbench
{

/** @return the middle one, or the mean of the two middle ones. @p values is not empty. */
[[nodiscard]] double median(std::vector<double> values);

/** @return the least of @p values, which is not empty. */
[[nodiscard]] double smallest(const std::vector<double> &values);

/** @return the greatest of @p values, which is not empty. */
[[nodiscard]] double largest(const std::vector<double> &values);

/** Adds samples up. */
class Mean
{
public:
	void add(std::uint64_t sample)
	{
		sum_ += sample;
		count_++;
	}
	/** @return the mean of the samples, rounded down; 0 without any. */
	[[nodiscard]] std::uint64_t get() const
	{
		return count_ == 0 ? 0 : sum_ / count_;
	}

private:
	std::uint64_t sum_ = 0;
	std::uint64_t count_ = 0;
};

} // namespace sdpbench

#endif // SDPBENCH_STATS_H
