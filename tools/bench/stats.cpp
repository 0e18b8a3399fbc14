// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "stats.h"

#include <algorithm>
#include <cstddef>

namespace sdpbench
{

double median(std::vector<double> values)
{
	std::sort(values.begin(), values.end());
	const std::size_t middle = values.size() / 2;
	if (values.size() % 2 == 1)
		return values[middle];
	return (values[middle - 1] + values[middle]) / 2;
}

double smallest(const std::vector<double> &values)
{
	return *std::min_element(values.begin(), values.end());
}

double largest(const std::vector<double> &values)
{
	return *std::max_element(values.begin(), values.end());
}

} // namespace sdpbench
