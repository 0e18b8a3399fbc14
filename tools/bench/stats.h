// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What several runs say together.
 */
#ifndef SDPBENCH_STATS_H
#define SDPBENCH_STATS_H

#include <vector>

namespace sdpbench
{

/** @return the middle one, or the mean of the two middle ones. @p values is not empty. */
[[nodiscard]] double median(std::vector<double> values);

/** @return the least of @p values, which is not empty. */
[[nodiscard]] double smallest(const std::vector<double> &values);

/** @return the greatest of @p values, which is not empty. */
[[nodiscard]] double largest(const std::vector<double> &values);

} // namespace sdpbench

#endif // SDPBENCH_STATS_H
