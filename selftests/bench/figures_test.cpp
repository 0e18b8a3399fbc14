// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * From passes to figures: statistics, idle time, what is printed.
 */
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cpu.h"
#include "protocol.h"
#include "report.h"
#include "stats.h"

using namespace sdpbench;

namespace
{

// The name alone is GoogleTest's in a test.
using Kind = sdpbench::Test;

Plan plan(Kind test, std::uint64_t message, std::uint64_t total, std::uint64_t burst = 1)
{
	return {.test = test,
		.nodelay = true,
		.message = message,
		.total = total,
		.burst = burst,
		.computation = std::chrono::microseconds(burst > 1 ? 250 : 0),
		.repeat = 3};
}

nlohmann::json parsed(const Result &result)
{
	return nlohmann::json::parse(as_json({result})).at(0);
}

} // namespace

TEST(stats, median_of_odd_and_even_counts)
{
	EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
	EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
	EXPECT_DOUBLE_EQ(median({7}), 7);
}

TEST(stats, extremes)
{
	EXPECT_DOUBLE_EQ(smallest({2, -1, 5}), -1);
	EXPECT_DOUBLE_EQ(largest({2, -1, 5}), 5);
}

TEST(cpu, idle_time_of_all_processors_is_added)
{
	EXPECT_EQ(idle_nanoseconds("cpu: 0\n"
				   "  .idle_entrytime : 77 nsecs\n"
				   "  .idle_sleeptime : 1000 nsecs\n"
				   "  .iowait_sleeptime: 20 nsecs\n"
				   "cpu: 1\n"
				   "  .idle_sleeptime : 300 nsecs\n"
				   "  .iowait_sleeptime: 4 nsecs"),
		  1324U);
}

TEST(cpu, nothing_is_made_up)
{
	EXPECT_FALSE(idle_nanoseconds(""));
	EXPECT_FALSE(idle_nanoseconds("Timer List Version: v0.9\n"));
	EXPECT_FALSE(idle_nanoseconds("  .idle_sleeptime : nsecs\n"));
	EXPECT_FALSE(idle_nanoseconds("  .idle_sleeptime : 99999999999999999999999 nsecs\n"));
}

TEST(report, bandwidth)
{
	const nlohmann::json object =
		parsed({"x",
			plan(Kind::bandwidth, 100, 1000),
			{{0.001, 0.0005, 0, {}}, {0.002, 0.001, 0, {}}, {0.004, 0.002, 0, {}}}});

	EXPECT_EQ(object.at("test"), "bw");
	EXPECT_EQ(object.at("messages"), 10);
	EXPECT_DOUBLE_EQ(object.at("mbit_per_s").get<double>(), 4);
	EXPECT_DOUBLE_EQ(object.at("busy_us_per_message").get<double>(), 100);
	EXPECT_EQ(object.at("runs").size(), 3U);
}

TEST(report, throughput_is_that_of_all_connections)
{
	Plan several = plan(Kind::touch, 100, 1000);

	several.connections = 4;
	const nlohmann::json object = parsed({"x", several, {{0.002, 0.001, 0, {}}}});
	EXPECT_EQ(object.at("test"), "touch");
	EXPECT_DOUBLE_EQ(object.at("mbit_per_s").get<double>(), 16);
	EXPECT_DOUBLE_EQ(object.at("busy_us_per_message").get<double>(), 25);
	several.test = Kind::hotspot;
	EXPECT_DOUBLE_EQ(
		parsed({"x", several, {{0.002, {}, 0, {1e-4}}}}).at("one_way_us").get<double>(),
		100);
}

TEST(report, latency_is_half_a_round_trip)
{
	const nlohmann::json object =
		parsed({"x",
			plan(Kind::latency, 10, 40),
			{{0.0008, std::nullopt, 0, {1e-4, 1e-4, 1e-4, 1e-4}}}});

	EXPECT_EQ(object.at("test"), "lat");
	EXPECT_DOUBLE_EQ(object.at("one_way_us").get<double>(), 100);
	EXPECT_DOUBLE_EQ(object.at("median_us").get<double>(), 100);
	EXPECT_FALSE(object.contains("busy_us_per_message"));
}

TEST(report, an_exchange_is_a_burst_to_and_fro)
{
	const nlohmann::json object =
		parsed({"x", plan(Kind::progress, 10, 600, 20), {{0.003, 0.0012, 0, {}}}});

	EXPECT_EQ(object.at("test"), "progress");
	EXPECT_DOUBLE_EQ(object.at("exchange_us").get<double>(), 1000);
	// 60 messages each way.
	EXPECT_DOUBLE_EQ(object.at("busy_us_per_message").get<double>(), 10);
	EXPECT_EQ(object.at("burst"), 20);
	EXPECT_EQ(object.at("computation_us"), 250);
}

TEST(report, fill_is_what_the_server_saw)
{
	const nlohmann::json object = parsed({"x",
					      plan(Kind::fill, 10, 600),
					      {{1, {}, 5, {}}, {1, {}, 40, {}}, {1, {}, 30, {}}}});

	EXPECT_EQ(object.at("test"), "fill");
	EXPECT_DOUBLE_EQ(object.at("unread_bytes").get<double>(), 30);
}

TEST(stats, mean_of_samples)
{
	Mean mean;

	EXPECT_EQ(mean.get(), 0U);
	mean.add(1);
	mean.add(5);
	mean.add(6);
	EXPECT_EQ(mean.get(), 4U);
}

TEST(report, a_line_for_each_result)
{
	const Result result{"label", plan(Kind::bandwidth, 100, 1000), {{0.002, {}, 0, {}}}};
	const std::string text = as_table({result, result});

	EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
	EXPECT_NE(text.find("4.00"), std::string::npos);
	EXPECT_TRUE(as_table({}).empty());
}

TEST(protocol, messages_cover_a_range)
{
	const Request request{Kind::bandwidth, false, true, 10, 25, 1, {}};
	std::vector<std::byte> buffer(10);
	std::vector<std::pair<std::uint64_t, std::size_t>> seen;

	for_each_message(request, {0, 25}, buffer, [&](auto message, std::uint64_t offset) {
		seen.emplace_back(offset, message.size());
	});
	EXPECT_EQ(seen,
		  (std::vector<std::pair<std::uint64_t, std::size_t>>{{0, 10}, {10, 10}, {20, 5}}));
}

TEST(protocol, bursts_cover_a_pass)
{
	const Request request{Kind::progress, false, true, 10, 70, 3, {}};
	std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;

	for_each_burst(request, [&](Range burst) { seen.emplace_back(burst.begin, burst.end); });
	EXPECT_EQ(seen, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{
				{0, 30}, {30, 60}, {60, 70}}));
}
