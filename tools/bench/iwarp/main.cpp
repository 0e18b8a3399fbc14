// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * iwarpbench: bandwidth and latency of messages by verbs between two iWARP
 * devices of this node, and what host and offload engine spend on them.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "run.h"

namespace
{

using namespace iwarpbench;

constexpr double micro = 1e6;
constexpr double mebi = 1 << 20;
constexpr int exit_usage = 2;

const std::map<std::string, Test> tests{
	{"bw", Test::bandwidth}, {"lat", Test::latency}, {"iso", Test::iso}};

struct Options {
	Addresses addresses{.server = "10.0.0.2", .client = "10.0.0.1", .port = "7471"};
	std::string test = "bw";
	std::uint64_t size = 65536;
	std::uint64_t count = 100;
	std::uint64_t buffers = 1;
	std::uint64_t computation = 0;
	std::string json;
};

void describe(CLI::App &app, Options &options)
{
	app.name("iwarpbench");
	app.add_option("-s,--server", options.addresses.server, "address of the server's device");
	app.add_option("-c,--client", options.addresses.client, "address of the client's device");
	app.add_option("-p,--port", options.addresses.port, "port of the server");
	app.add_option("-t,--test", options.test,
		       "bw: one way; lat: to and fro; iso: through a pipeline")
		->check(CLI::IsMember({"bw", "lat", "iso"}));
	app.add_option("--size", options.size, "bytes of a message; K, M")
		->transform(CLI::AsSizeValue(false))
		->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 26));
	app.add_option("-n,--iterations", options.count, "messages, or round trips")
		->check(CLI::Range(std::uint64_t{1}, std::uint64_t{16384}));
	app.add_option("--buffers", options.buffers, "messages are sent from so many in turn")
		->check(CLI::Range(std::uint64_t{1}, std::uint64_t{4096}));
	app.add_option("--compute", options.computation,
		       "microseconds before each message, done by sleeping");
	app.add_option("--json", options.json, "write the results to this file too");
}

/** What the figures are per: a message, one way, or a MiB that goes through the pipeline. */
double messages(const Plan &plan)
{
	const auto count = static_cast<double>(plan.count);

	switch (plan.test) {
	case Test::latency:
		return count * 2;
	case Test::iso:
		return count * static_cast<double>(plan.size) / mebi;
	default:
		return count;
	}
}

/** Who spent the time: the host, processors in an engine's place, an engine by its clock. */
void report_shares(nlohmann::ordered_json &object, double busy, const Counters &counters,
		   double number)
{
	object["host_us_per_message"] = (busy - counters.engine_cpu) / number * micro;
	object["engine_cpu_us_per_message"] = counters.engine_cpu / number * micro;
	object["engine_us_per_message"] = counters.engine_busy / number * micro;
}

/** Bytes that the hosts copied for each byte that was sent, and how much was early. */
void report_bytes(nlohmann::ordered_json &object, const Counters &counters, const Plan &plan)
{
	const double bytes = static_cast<double>(plan.count) * static_cast<double>(plan.size);

	object["tx_host_copies"] = counters.tx_host_bytes / bytes;
	object["rx_host_copies"] = counters.rx_host_bytes / bytes;
	if (counters.ooo_bytes > 0)
		object["early_percent"] = 100 * counters.early_bytes / counters.ooo_bytes;
}

nlohmann::ordered_json report(const Options &options, const Plan &plan, const Outcome &outcome)
{
	const double number = messages(plan);
	const double each = outcome.seconds / number * micro;
	nlohmann::ordered_json object{
		{"test", options.test}, {"size", plan.size}, {"messages", number}};

	if (plan.test == Test::latency)
		object["one_way_us"] = each;
	if (plan.test == Test::bandwidth)
		object["mbit_per_s"] = static_cast<double>(plan.size) * 8 / each;
	object["wall_us_per_message"] = each;
	object["busy_us_per_message"] = outcome.busy / number * micro;
	if (outcome.counters) {
		report_shares(object, outcome.busy, *outcome.counters, number);
		report_bytes(object, *outcome.counters, plan);
	}
	return object;
}

void run(const Options &options)
{
	const Plan plan{.test = tests.at(options.test),
			.size = options.size,
			.count = options.count,
			.buffers = options.buffers,
			.computation = std::chrono::microseconds(options.computation)};
	const auto text = nlohmann::ordered_json::array(
				  {report(options, plan, measure(options.addresses, plan))})
				  .dump(1, '\t');

	fmt::print("{}\n", text);
	if (options.json.empty())
		return;
	std::ofstream file(options.json);
	file << text << std::flush;
	if (!file)
		throw std::runtime_error(fmt::format("cannot write '{}'", options.json));
}

} // namespace

int main(int argc, char **argv)
{
	try {
		Options options;
		CLI::App app("Measure messages by verbs between two iWARP devices of this node.");

		describe(app, options);
		try {
			app.parse(argc, argv);
		} catch (const CLI::ParseError &outcome) {
			return app.exit(outcome) == 0 ? EXIT_SUCCESS : exit_usage;
		}
		run(options);
		return EXIT_SUCCESS;
	} catch (const std::exception &error) {
		fmt::print(stderr, "iwarpbench: {}\n", error.what());
		return EXIT_FAILURE;
	}
}
