// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "options.h"

#include "peer.h"

#include <chrono>
#include <exception>

#include <fmt/format.h>

namespace sdpctl
{
namespace
{

// The message of whatever a value makes it throw.
template <typename Try> std::string complaint(Try attempt)
{
	try {
		attempt();
		return {};
	} catch (const std::exception &error) {
		return error.what();
	}
}

CLI::App *add_command(CLI::App &app, Options &options, const char *name, const char *what)
{
	CLI::App *command = app.add_subcommand(name, what);

	command->add_flag("-j,--json", options.json, "write JSON");
	return command;
}

void describe_doctor(CLI::App &command, Options &options)
{
	command.add_option("peer", options.peer, "a server to connect to")
		->type_name("HOST:PORT")
		->check([](const std::string &text) {
			return complaint([&] { return Peer(text); });
		});
	command.add_option("--program", options.program,
			   "tell what a program would use for that server, and why")
		->type_name("PROGRAM");
}

void describe_top(CLI::App &command, Options &options)
{
	command.add_option("--watch", options.interval, "look again every so many seconds (1)")
		->type_name("SECONDS")
		->check(CLI::Range(0.1, 86400.0));
	command.add_option("--rounds", options.top.rounds.count, "look so many times")
		->type_name("NUMBER")
		->check(CLI::PositiveNumber);
	command.add_option("--proc", options.top.proc,
			   "read the tables in this directory instead of asking the kernel")
		->type_name("DIRECTORY");
}

void describe_tune(CLI::App &command, Options &options)
{
	command.add_option("workload", options.tune.workload,
			   "what connections do; without it they are listed")
		->type_name("WORKLOAD")
		->check([](const std::string &text) {
			return complaint([&] { return workload_of(text).name; });
		});
	command.add_flag("-n,--dry-run", options.tune.dry_run, "set nothing");
	command.add_option("--connections", options.tune.connections,
			   "how many connections there shall be, for net.sdp.mem")
		->type_name("NUMBER")
		->check(CLI::Range(1, 100'000'000));
}

} // namespace

void describe(CLI::App &app, Options &options)
{
	app.set_version_flag("-V,--version", "sdpctl " SDP_VERSION);
	app.require_subcommand(1);
	app.failure_message([](const CLI::App *, const CLI::Error &error) {
		return fmt::format("sdpctl: {} (see sdpctl --help)\n", error.what());
	});
	describe_doctor(*add_command(app, options, "doctor",
				     "check module, devices, limits and filters, and connect to a "
				     "peer"),
			options);
	describe_top(*add_command(app, options, "top",
				  "show which connections move data now, and what they wait for"),
		     options);
	describe_tune(*add_command(app, options, "tune",
				   "set net.sdp as measured figures say for a kind of work"),
		      options);
}

void finish(Options &options)
{
	if (!options.program.empty() && options.peer.empty())
		throw CLI::ValidationError("--program",
					   "needs HOST:PORT, for which its sockets are");
	if (options.tune.connections != 0 && options.tune.workload != "connections")
		throw CLI::ValidationError("--connections", "needs the workload 'connections'");
	options.top.rounds.interval = std::chrono::duration<double>(options.interval);
	options.top.rounds.json = options.tune.json = options.json;
}

} // namespace sdpctl
