// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "report.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sdpbench
{

namespace
{

constexpr double micro = 1e6;

std::uint64_t messages_of(const Plan &plan)
{
	return (plan.total + plan.message - 1) / plan.message;
}

double figure(const Plan &plan, const Pass &pass)
{
	if (plan.test == Test::bandwidth)
		return static_cast<double>(plan.total) * 8 / pass.seconds / micro;
	return pass.seconds / 2 / static_cast<double>(messages_of(plan)) * micro;
}

/** In Mbit/s or microseconds, one for each pass. */
std::vector<double> figures(const Result &result)
{
	std::vector<double> values;

	values.reserve(result.passes.size());
	for (const Pass &pass : result.passes)
		values.push_back(figure(result.plan, pass));
	return values;
}

std::vector<double> all_one_way(const Result &result)
{
	std::vector<double> values;

	for (const Pass &pass : result.passes)
		values.insert(values.end(), pass.one_way.begin(), pass.one_way.end());
	return values;
}

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

std::string bandwidth_line(const Result &result)
{
	const std::vector<double> values = figures(result);

	return fmt::format("{:<10} {:>9} {:>12} {:>12.2f} {:>12.2f} {:>12.2f}\n", result.label,
			   result.plan.message, result.plan.total, median(values), smallest(values),
			   largest(values));
}

std::string latency_line(const Result &result)
{
	const std::vector<double> single = all_one_way(result);

	return fmt::format("{:<10} {:>9} {:>12} {:>12.2f} {:>12.2f} {:>12.2f}\n", result.label,
			   result.plan.message, messages_of(result.plan), median(figures(result)),
			   smallest(single) * micro, median(single) * micro);
}

nlohmann::ordered_json object_of(const Result &result)
{
	const bool bandwidth = result.plan.test == Test::bandwidth;
	nlohmann::ordered_json object{
		{"label", result.label},       {"test", bandwidth ? "bw" : "lat"},
		{"size", result.plan.message}, {"messages", messages_of(result.plan)},
		{"bytes", result.plan.total},  {"nodelay", result.plan.nodelay}};

	object[bandwidth ? "mbit_per_s" : "one_way_us"] = median(figures(result));
	if (!bandwidth) {
		object["min_us"] = smallest(all_one_way(result)) * micro;
		object["median_us"] = median(all_one_way(result)) * micro;
	}
	object["runs"] = figures(result);
	return object;
}

} // namespace

std::string as_table(const std::vector<Result> &results)
{
	std::string text;

	if (results.empty())
		return text;
	const bool bandwidth = results.front().plan.test == Test::bandwidth;
	constexpr const char *heading = "{:<10} {:>9} {:>12} {:>12} {:>12} {:>12}\n";
	text = bandwidth ? fmt::format(heading, "transport", "message B", "total B", "Mbit/s",
				       "lowest", "highest")
			 : fmt::format(heading, "transport", "message B", "round trips",
				       "one-way us", "lowest", "median");
	for (const Result &result : results)
		text += bandwidth ? bandwidth_line(result) : latency_line(result);
	return text;
}

std::string as_json(const std::vector<Result> &results)
{
	nlohmann::ordered_json array = nlohmann::ordered_json::array();

	std::transform(results.begin(), results.end(), std::back_inserter(array), object_of);
	return array.dump(1, '\t') + "\n";
}

} // namespace sdpbench
