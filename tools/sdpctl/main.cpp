// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdpctl: tell what is wrong with SDP on this host, what it does, and how to set it.
 */
#include "check.h"
#include "devices.h"
#include "firewall.h"
#include "resources.h"
#include "module.h"
#include "options.h"
#include "peer.h"
#include "program.h"

#include "../common/print.h"
#include "../sdpstat/source.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace
{

using sdpctl::Check;
using sdpctl::Options;
using sdpctl::Report;
using sdpctl::Status;

constexpr int exit_wrong = 1;
constexpr int exit_usage = 2;
constexpr int exit_no_module = 3;

// Without the module devices and filters can still be right or wrong.
Report diagnose(const std::optional<sdpctl::Peer> &peer, const std::string &program)
{
	const sdpctl::Places places;
	const auto ports = libsdp::read_ports(places.sys / "class/infiniband");
	Report report = sdpctl::check_module(places);

	sdpctl::append(report, sdpctl::check_devices(places, ports, libsdp::own_addresses()));
	if (sdpctl::is_loaded(places))
		sdpctl::append(report, sdpctl::check_resources(places, sdpctl::own_memlock()));
	sdpctl::append(report, sdpctl::check_firewall(places, ports));
	if (peer)
		sdpctl::append(report, sdpctl::check_peer(places, ports, *peer));
	if (peer && !program.empty())
		sdpctl::append(report, sdpctl::check_program(program, *peer));
	return report;
}

int doctor(const Options &options)
{
	std::optional<sdpctl::Peer> peer;

	if (!options.peer.empty())
		peer = sdpctl::Peer(options.peer);
	// As it was found: a connection to the peer may load the module.
	const bool had_module = sdpctl::is_loaded({});
	const Report report = diagnose(peer, options.program);
	const std::string text = options.json ? sdpctl::as_json(report) : sdpctl::as_text(report);

	sdp::print(text);
	if (!had_module)
		return exit_no_module;
	return std::any_of(report.begin(), report.end(),
			   [](const Check &check) { return check.status == Status::wrong; })
		       ? exit_wrong
		       : EXIT_SUCCESS;
}

int top(const Options &options)
{
	sdpctl::show_top(options.top);
	return EXIT_SUCCESS;
}

int tune(const Options &options)
{
	const sdpctl::Places places;

	if (options.tune.workload.empty()) {
		sdp::print(options.json ? sdpctl::workloads_as_json()
					: sdpctl::workloads_as_text());
		return EXIT_SUCCESS;
	}
	if (!sdpctl::is_loaded(places))
		throw sdpstat::ModuleAbsent(
			"the kernel module 'sdp' is not loaded (try: modprobe sdp)");
	const auto ports = libsdp::read_ports(places.sys / "class/infiniband");
	const auto tuning =
		sdpctl::tune(places, sdpctl::look_at_machine(places, ports), options.tune);

	// So that to write to a reader that has gone fails, and all is undone.
	std::signal(SIGPIPE, SIG_IGN);
	sdpctl::report(places, tuning, [&] {
		sdp::print(options.json ? sdpctl::tuning_as_json(tuning)
					: sdpctl::tuning_as_text(tuning));
	});
	return EXIT_SUCCESS;
}

int run(int argc, char **argv)
{
	Options options;
	CLI::App app("Tell what is right and what is wrong with SDP on this host, what its "
		     "connections do, and which settings suit them.",
		     "sdpctl");

	sdpctl::describe(app, options);
	try {
		app.parse(argc, argv);
		sdpctl::finish(options);
	} catch (const CLI::ParseError &outcome) {
		return app.exit(outcome) == 0 ? EXIT_SUCCESS : exit_usage;
	}
	if (app.got_subcommand("top"))
		return top(options);
	return app.got_subcommand("tune") ? tune(options) : doctor(options);
}

} // namespace

int main(int argc, char **argv)
{
	try {
		return run(argc, argv);
	} catch (const sdpstat::ModuleAbsent &error) {
		std::fprintf(stderr, "sdpctl: %s\n", error.what());
		return exit_no_module;
	} catch (const std::exception &error) {
		std::fprintf(stderr, "sdpctl: %s\n", error.what());
		return exit_wrong;
	}
}
