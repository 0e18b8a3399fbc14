// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdpbench: bandwidth, latency and communication progress of stream sockets of
 * one address family.
 */
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "client.h"
#include "local_server.h"
#include "report.h"
#include "server.h"
#include "smc.h"
#include "socket.h"

namespace
{

using namespace sdpbench;

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr std::uint64_t largest_message = std::uint64_t{1} << 30;

const std::map<std::string, Family> families{
	{"sdp", Family::sdp}, {"tcp", Family::tcp}, {"smc", Family::smc}};
const std::map<std::string, Test> tests{{"bw", Test::bandwidth}, {"lat", Test::latency},
					{"fill", Test::fill},	 {"progress", Test::progress},
					{"touch", Test::touch},	 {"hotspot", Test::hotspot}};

struct Options {
	bool local = false;
	bool serve = false;
	std::string family = "sdp";
	std::string test = "bw";
	std::string flow;
	std::string label;
	std::string server = "127.0.0.1";
	std::string client;
	std::uint16_t port = 7471;
	std::vector<std::uint64_t> sizes{65536};
	std::uint64_t iterations = 1000;
	std::uint64_t bytes = 0;
	std::uint64_t burst = 0;
	unsigned connections = 1;
	std::uint64_t computation = 0;
	bool uneven = false;
	std::string nodelay = "on";
	unsigned repeat = 1;
	std::string json;
};

std::vector<std::string> names(const auto &map)
{
	std::vector<std::string> result;

	result.reserve(map.size());
	for (const auto &entry : map)
		result.push_back(entry.first);
	return result;
}

void describe_role(CLI::App &app, Options &options)
{
	auto *const local =
		app.add_flag("--local", options.local, "run the server too, in a child process");
	app.add_flag("--serve", options.serve, "be the server, until killed")->excludes(local);
	app.add_option("-f,--family", options.family, "address family")
		->check(CLI::IsMember(names(families)))
		->capture_default_str();
	app.add_option("--flow", options.flow,
		       "fail unless AF_SDP connections have this engine of flow control")
		->type_name("NAME");
	app.add_option("-s,--server", options.server, "address of the server")
		->type_name("ADDRESS")
		->capture_default_str();
	app.add_option("-c,--client", options.client, "address the client binds to")
		->type_name("ADDRESS");
	app.add_option("-p,--port", options.port, "port of the server; any with --local")
		->type_name("PORT")
		->check(CLI::Range(1, 65535))
		->capture_default_str();
}

void describe_test(CLI::App &app, Options &options)
{
	app.add_option("-t,--test", options.test,
		       "bw: the client streams to the server; lat: a message to and fro; fill: as "
		       "bw, but for how much "
		       "the server has not read yet; progress: "
		       "a burst of messages to and fro, each end computing when it has sent one; "
		       "touch: as bw, the client overwriting its memory after each burst; hotspot: "
		       "as lat, the server going through the connections in turn")
		->check(CLI::IsMember(names(tests)))
		->capture_default_str();
	app.add_option("--size", options.sizes, "bytes of a message; several with commas; K, M")
		->delimiter(',')
		->type_name("SIZE,...")
		->transform(CLI::AsSizeValue(false))
		->check(CLI::Range(std::uint64_t{1}, largest_message));
	auto *const iterations =
		app.add_option("-n,--iterations", options.iterations,
			       "messages of a pass of one connection; bursts, for progress")
			->type_name("COUNT")
			->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
			->capture_default_str();
	app.add_option("--bytes", options.bytes, "bytes of a pass, instead of --iterations")
		->type_name("SIZE")
		->transform(CLI::AsSizeValue(false))
		->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 50))
		->excludes(iterations);
	app.add_option("--burst", options.burst,
		       "messages of a burst: 100 for progress, 1 for touch and bw, unless told "
		       "otherwise")
		->type_name("COUNT")
		->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20));
	app.add_option("--connections", options.connections,
		       "how many the client has, each in a thread of its own")
		->type_name("COUNT")
		->check(CLI::Range(1, 1000))
		->capture_default_str();
	app.add_option("--compute", options.computation,
		       "computation, done by sleeping: of the client after a burst for bw, of "
		       "the server for fill, of both after a burst for progress")
		->type_name("MICROSECONDS")
		->check(CLI::Range(std::uint64_t{0}, std::uint64_t{60'000'000}))
		->capture_default_str();
	app.add_flag("--uneven", options.uneven,
		     "computation takes a random time, from none to twice what --compute says");
	app.add_option("--nodelay", options.nodelay, "TCP_NODELAY at both ends")
		->check(CLI::IsMember({"on", "off"}))
		->capture_default_str();
	app.add_option("-r,--repeat", options.repeat, "timed passes; the median counts")
		->type_name("COUNT")
		->check(CLI::Range(1, 10000))
		->capture_default_str();
}

void describe(CLI::App &app, Options &options)
{
	app.name("sdpbench");
	describe_role(app, options);
	describe_test(app, options);
	app.add_option("--json", options.json, "write the results to this file too")
		->type_name("FILE");
	app.add_option("--label", options.label,
		       "what to call the transport in the results, if not after its family")
		->type_name("NAME");
	app.failure_message([](const CLI::App *, const CLI::Error &error) {
		return fmt::format("sdpbench: {} (see sdpbench --help)\n", error.what());
	});
}

// An end that cannot do what was wanted does something else, and figures would be of that.
void require_flow(const Stream &stream, const std::string &wanted)
{
	const std::string used = stream.flow_control();

	if (used != wanted)
		throw std::runtime_error(
			fmt::format("flow control is '{}' and not '{}'", used, wanted));
}

Stream connect_as_told(const Options &options, std::uint16_t port)
{
	const Family family = families.at(options.family);
	const Address server(options.server, port);

	Stream stream = options.client.empty()
				? connect(family, server)
				: connect_from(family, Address(options.client, 0), server);

	if (family == Family::smc)
		require_smc_r(stream.local_port());
	if (!options.flow.empty())
		require_flow(stream, options.flow);
	return stream;
}

// Only progress and touch have bursts of several messages.
std::uint64_t burst_of(const Options &options, Test test)
{
	if (test == Test::progress)
		return options.burst != 0 ? options.burst : 100;
	const bool has_bursts = test == Test::touch || test == Test::bandwidth;
	return has_bursts && options.burst != 0 ? options.burst : 1;
}

Plan plan_for(const Options &options, std::uint64_t size)
{
	const Test test = tests.at(options.test);
	const std::uint64_t burst = burst_of(options, test);
	const std::uint64_t messages = options.iterations * (test == Test::progress ? burst : 1);

	return {.test = test,
		.nodelay = options.nodelay == "on",
		.message = size,
		.total = options.bytes != 0 ? options.bytes : size * messages,
		.burst = burst,
		.computation = std::chrono::microseconds(options.computation),
		.repeat = options.repeat,
		.connections = options.connections,
		.uneven = options.uneven};
}

// Connections of its own for each size: none inherits what another one warmed up.
std::vector<Result> measure(const Options &options, std::uint16_t port)
{
	const std::string label = options.label.empty() ? options.family : options.label;
	std::vector<Result> results;

	for (const std::uint64_t size : options.sizes) {
		const Plan plan = plan_for(options, size);
		std::vector<Stream> streams;

		while (streams.size() < plan.connections)
			streams.push_back(connect_as_told(options, port));
		results.push_back({label, plan, run_plan(streams, plan)});
	}
	return results;
}

void write_file(const std::string &path, const std::string &text)
{
	std::ofstream file(path);

	file << text << std::flush;
	if (!file)
		throw std::system_error(errno, std::generic_category(),
					fmt::format("cannot write '{}'", path));
}

int run_client(const Options &options)
{
	std::optional<LocalServer> server;

	if (options.local)
		server.emplace(families.at(options.family), Address(options.server, 0));
	const std::vector<Result> results =
		measure(options, server ? server->port() : options.port);
	fmt::print("{}", as_table(results));
	if (!options.json.empty())
		write_file(options.json, as_json(results));
	return EXIT_SUCCESS;
}

int run(int argc, char **argv)
{
	Options options;
	CLI::App app("Measure bandwidth, latency or communication progress of stream sockets. "
		     "Every byte of a first pass, which is not timed, is checked.");

	describe(app, options);
	try {
		app.parse(argc, argv);
	} catch (const CLI::ParseError &outcome) {
		return app.exit(outcome) == 0 ? EXIT_SUCCESS : exit_usage;
	}
	if (!options.serve)
		return run_client(options);
	Listener listener(families.at(options.family), Address(options.server, options.port));
	serve(listener);
}

} // namespace

int main(int argc, char **argv)
{
	try {
		return run(argc, argv);
	} catch (const std::exception &error) {
		fmt::print(stderr, "sdpbench: {}\n", error.what());
		return exit_failed;
	}
}
