// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "report.h"

#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stats.h"

namespace sdpbench
{

namespace
{

constexpr double micro = 1e6;

/** What a test and its columns are called. */
struct Names {
	const char *test;
	const char *figure; /**< in JSON */
	const char *count;
	const char *unit;
	const char *last; /**< column */
};

const Names &names_of(Test test)
{
	static const std::map<Test, Names> names{
		{Test::bandwidth, {"bw", "mbit_per_s", "total B", "Mbit/s", "highest"}},
		{Test::latency, {"lat", "one_way_us", "round trips", "one-way us", "median"}},
		{Test::fill, {"fill", "unread_bytes", "total B", "unread B", "highest"}},
		{Test::progress, {"progress", "exchange_us", "exchanges", "us each", "median"}},
		{Test::touch, {"touch", "mbit_per_s", "total B", "Mbit/s", "highest"}},
		{Test::hotspot, {"hotspot", "one_way_us", "round trips", "one-way us", "median"}}};

	return names.at(test);
}

std::uint64_t messages_of(const Plan &plan)
{
	return (plan.total + plan.message - 1) / plan.message;
}

std::uint64_t bursts_of(const Plan &plan)
{
	return (messages_of(plan) + plan.burst - 1) / plan.burst;
}

// Whether what counts is half a round trip.
bool is_latency(Test test)
{
	return test == Test::latency || test == Test::hotspot;
}

double figure(const Plan &plan, const Pass &pass)
{
	if (plan.test == Test::fill)
		return static_cast<double>(pass.unread);
	if (one_way(plan.test))
		return static_cast<double>(plan.total) * plan.connections * 8 / pass.seconds /
		       micro;
	const double exchange = pass.seconds / static_cast<double>(bursts_of(plan)) * micro;
	return is_latency(plan.test) ? exchange / 2 : exchange;
}

/** Microseconds of processors for a message, whichever way it went. */
std::vector<double> busy_per_message(const Result &result)
{
	const double ways = one_way(result.plan.test) ? 1 : 2;
	const double messages =
		static_cast<double>(messages_of(result.plan)) * ways * result.plan.connections;
	std::vector<double> values;

	for (const Pass &pass : result.passes)
		if (pass.busy)
			values.push_back(*pass.busy * micro / messages);
	return values;
}

/** In the unit of the test, one for each pass. */
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

std::string bandwidth_line(const Result &result)
{
	const std::vector<double> values = figures(result);

	return fmt::format("{:<10} {:>9} {:>12} {:>12.2f} {:>12.2f} {:>12.2f}\n", result.label,
			   result.plan.message, result.plan.total, median(values), smallest(values),
			   largest(values));
}

std::string exchange_line(const Result &result)
{
	const std::vector<double> single = all_one_way(result);
	const double ways = is_latency(result.plan.test) ? 1 : 2;

	return fmt::format("{:<10} {:>9} {:>12} {:>12.2f} {:>12.2f} {:>12.2f}\n", result.label,
			   result.plan.message, bursts_of(result.plan), median(figures(result)),
			   smallest(single) * ways * micro, median(single) * ways * micro);
}

nlohmann::ordered_json object_of(const Result &result)
{
	const Names &names = names_of(result.plan.test);
	nlohmann::ordered_json object{
		{"label", result.label},       {"test", names.test},
		{"size", result.plan.message}, {"messages", messages_of(result.plan)},
		{"bytes", result.plan.total},  {"nodelay", result.plan.nodelay}};

	object[names.figure] = median(figures(result));
	if (is_latency(result.plan.test)) {
		object["min_us"] = smallest(all_one_way(result)) * micro;
		object["median_us"] = median(all_one_way(result)) * micro;
	}
	object["connections"] = result.plan.connections;
	object["burst"] = result.plan.burst;
	object["computation_us"] = result.plan.computation.count();
	if (const std::vector<double> busy = busy_per_message(result); !busy.empty())
		object["busy_us_per_message"] = median(busy);
	object["runs"] = figures(result);
	return object;
}

std::string heading(const Names &names)
{
	return fmt::format("{:<10} {:>9} {:>12} {:>12} {:>12} {:>12}\n", "transport", "message B",
			   names.count, names.unit, "lowest", names.last);
}

} // namespace

std::string as_table(const std::vector<Result> &results)
{
	std::string text;

	if (results.empty())
		return text;
	const Test test = results.front().plan.test;
	text = heading(names_of(test));
	for (const Result &result : results)
		text += one_way(test) ? bandwidth_line(result) : exchange_line(result);
	return text;
}

std::string as_json(const std::vector<Result> &results)
{
	nlohmann::ordered_json array = nlohmann::ordered_json::array();

	std::transform(results.begin(), results.end(), std::back_inserter(array), object_of);
	return array.dump(1, '\t') + "\n";
}

} // namespace sdpbench
