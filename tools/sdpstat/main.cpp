// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdpstat: list AF_SDP sockets, their statistics, and the devices.
 */
#include "options.h"
#include "output.h"
#include "processes.h"
#include "prometheus.h"
#include "rounds.h"
#include "source.h"
#include "watch.h"

#include "../common/print.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace
{

using sdpstat::Options;

constexpr int exit_unreadable = 1;
constexpr int exit_usage = 2;
constexpr int exit_no_module = 3;

std::string statistics_report(const Options &options)
{
	const auto counters = sdpstat::read_counters(options.proc);

	return options.json ? sdpstat::counters_as_json(counters)
			    : sdpstat::counters_as_text(counters);
}

std::string devices_report(const Options &options)
{
	const auto devices = sdpstat::read_devices(options.proc);

	return options.json ? sdpstat::devices_as_json(devices) : sdpstat::devices_as_text(devices);
}

sdpstat::Question question(const Options &options)
{
	sdpstat::Question question;

	question.states = options.filter.states;
	question.flow = options.columns.flow || options.json;
	question.zcopy = options.columns.zcopy || options.columns.rates || options.json;
	question.memory = options.columns.memory;
	question.timeouts = options.columns.timeouts;
	return question;
}

sdpstat::Holders wanted_holders(const Options &options)
{
	if (!options.columns.processes && options.filter.processes.empty())
		return {};
	return sdpstat::find_holders("/proc");
}

std::vector<sdpstat::Socket> wanted_sockets(const Options &options, const sdpstat::Holders &holders)
{
	auto sockets = sdpstat::read_sockets(options.proc, question(options));

	std::erase_if(sockets,
		      [&](const auto &socket) { return !options.filter.accepts(socket, holders); });
	return sockets;
}

std::string sockets_report(const Options &options, sdpstat::Watch *watch = nullptr)
{
	const auto holders = wanted_holders(options);
	auto sockets = wanted_sockets(options, holders);

	if (watch != nullptr)
		watch->look(sockets, sdpstat::Watch::Clock::now());
	return options.json ? sdpstat::sockets_as_json(sockets, holders, options.columns)
			    : sdpstat::sockets_as_text(sockets, holders, options.columns);
}

std::string summary_report(const Options &options)
{
	const auto sockets = wanted_sockets(options, wanted_holders(options));

	return options.json ? sdpstat::summary_as_json(sockets) : sdpstat::summary_as_text(sockets);
}

std::string prometheus_report(const Options &options)
{
	return sdpstat::as_prometheus(sdpstat::read_counters(options.proc),
				      sdpstat::read_sockets(options.proc, {}));
}

std::string chosen_report(const Options &options)
{
	if (options.statistics)
		return statistics_report(options);
	if (options.summary)
		return summary_report(options);
	if (options.prometheus)
		return prometheus_report(options);
	return options.devices ? devices_report(options) : sockets_report(options);
}

void watch_sockets(const Options &options)
{
	const sdpstat::Rounds rounds = {.interval = std::chrono::duration<double>(*options.watch),
					.count = options.rounds,
					.json = options.json};
	sdpstat::Watch watch;

	sdpstat::show_rounds(rounds, {}, [&] { return sockets_report(options, &watch); });
}

void report(const Options &options)
{
	if (options.watch)
		watch_sockets(options);
	else
		sdp::print(chosen_report(options));
}

int run(int argc, char **argv)
{
	Options options;
	CLI::App app("List AF_SDP sockets with their states, queues and peers, the protocol's "
		     "counters, or RDMA devices.");

	sdpstat::describe(app, options);
	try {
		app.parse(argc, argv);
		sdpstat::finish(app, options);
	} catch (const CLI::ParseError &outcome) {
		return app.exit(outcome) == 0 ? EXIT_SUCCESS : exit_usage;
	}
	report(options);
	return EXIT_SUCCESS;
}

} // namespace

int main(int argc, char **argv)
{
	try {
		return run(argc, argv);
	} catch (const sdpstat::ModuleAbsent &error) {
		std::fprintf(stderr, "sdpstat: %s\n", error.what());
		return exit_no_module;
	} catch (const std::exception &error) {
		std::fprintf(stderr, "sdpstat: %s\n", error.what());
		return exit_unreadable;
	}
}
