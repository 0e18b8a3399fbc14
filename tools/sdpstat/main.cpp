// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdpstat: list AF_SDP sockets, their statistics, and the devices.
 */
#include "filter.h"
#include "output.h"
#include "processes.h"
#include "table.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace
{

namespace fs = std::filesystem;

constexpr int exit_unreadable = 1;
constexpr int exit_usage = 2;
constexpr int exit_no_module = 3;

struct Options {
	sdpstat::Filter filter;
	sdpstat::Columns columns;
	std::string proc = "/proc/net";
	std::string address;
	bool statistics = false;
	bool devices = false;
	bool json = false;
	bool listening = false;
	bool all = false;
};

class ModuleAbsent : public std::runtime_error
{
	using std::runtime_error::runtime_error;
};

void describe_selection(CLI::App &app, Options &options)
{
	app.add_flag("-l,--listening", options.listening, "show listening sockets only");
	app.add_flag("-a,--all", options.all, "show listening, connected and closed sockets");
	app.add_option("--port", options.filter.port, "show sockets with this port at either end")
		->type_name("PORT")
		->check(CLI::Range(1, 65535));
	app.add_option("--address", options.address,
		       "show sockets with an address of this range at either end")
		->type_name("ADDRESS[/BITS]")
		->check([](const std::string &text) {
			return sdpstat::parse_prefix(text)
				       ? std::string()
				       : "no IP address or range: '" + text + "'";
		});
}

void describe_output(CLI::App &app, Options &options)
{
	app.add_flag(
		"-n,--numeric", [](std::int64_t) {},
		"show addresses and ports as numbers; they always are");
	app.add_flag("-e,--extended", options.columns.extended, "show owner and inode as well");
	app.add_flag("-f,--flow", options.columns.flow,
		     "show rings and counters of flow control as well");
	app.add_flag("-z,--zcopy", options.columns.zcopy,
		     "show what went without a copy, and what could not, as well");
	app.add_flag("-p,--processes", options.columns.processes,
		     "show the processes that hold each socket");
	app.add_flag("-j,--json", options.json, "write JSON");
	app.add_option("--proc", options.proc, "read the tables in this directory")
		->type_name("DIRECTORY")
		->capture_default_str();
}

void describe(CLI::App &app, Options &options)
{
	app.name("sdpstat");
	app.set_version_flag("-V,--version", "sdpstat " SDP_VERSION);
	describe_selection(app, options);
	describe_output(app, options);
	app.add_flag("-s,--statistics", options.statistics,
		     "show the counters of the protocol instead of sockets");
	app.add_flag("-d,--devices", options.devices,
		     "show the RDMA devices, and what their providers say, instead of sockets");
	app.failure_message([](const CLI::App *, const CLI::Error &error) {
		return fmt::format("sdpstat: {} (see sdpstat --help)\n", error.what());
	});
}

// CLI11's own excludes() would repeat each of these in the help text.
void refuse_together(const CLI::App &app, const std::string &option,
		     std::initializer_list<const char *> others)
{
	if (app.count(option) == 0)
		return;
	for (const char *other : others)
		if (app.count(other) != 0)
			throw CLI::ExcludesError(option, other);
}

void refuse_contradictions(const CLI::App &app)
{
	refuse_together(app, "--all", {"--listening"});
	refuse_together(app, "--statistics",
			{"--devices", "--listening", "--all", "--port", "--address", "--extended",
			 "--flow", "--zcopy", "--processes"});
	refuse_together(app, "--devices",
			{"--listening", "--all", "--port", "--address", "--extended", "--flow",
			 "--zcopy", "--processes"});
}

void finish(Options &options)
{
	using sdpstat::Selection;

	if (options.all)
		options.filter.selection = Selection::all;
	else if (options.listening)
		options.filter.selection = Selection::listening;
	if (!options.address.empty())
		options.filter.address = sdpstat::parse_prefix(options.address);
}

// The tables vanish with the module, while their directory is always there.
std::ifstream open_table(const fs::path &path)
{
	errno = 0;
	std::ifstream input(path);
	const int error = errno;

	if (input.is_open())
		return input;
	if (error == ENOENT && fs::is_directory(path.parent_path()))
		throw ModuleAbsent(fmt::format(
			"there is no {}: the kernel module 'sdp' is not loaded (try: modprobe sdp)",
			path.native()));
	throw std::system_error(error, std::generic_category(), path.native());
}

template <typename Parse> auto read_table(const fs::path &path, Parse parse)
{
	std::ifstream input = open_table(path);

	try {
		auto rows = parse(input);

		if (input.bad())
			throw std::runtime_error("error while reading");
		return rows;
	} catch (const std::runtime_error &error) {
		throw std::runtime_error(fmt::format("{}: {}", path.native(), error.what()));
	}
}

std::string statistics_report(const Options &options)
{
	const auto counters =
		read_table(fs::path(options.proc) / "sdpstats", sdpstat::parse_counters);

	return options.json ? sdpstat::counters_as_json(counters)
			    : sdpstat::counters_as_text(counters);
}

std::string devices_report(const Options &options)
{
	const auto devices =
		read_table(fs::path(options.proc) / "sdp_devices", sdpstat::parse_devices);

	return options.json ? sdpstat::devices_as_json(devices) : sdpstat::devices_as_text(devices);
}

std::string sockets_report(const Options &options)
{
	auto sockets = read_table(fs::path(options.proc) / "sdp", sdpstat::parse_sockets);
	sdpstat::Holders holders;

	std::erase_if(sockets, [&](const auto &socket) { return !options.filter.accepts(socket); });
	if (options.columns.processes)
		holders = sdpstat::find_holders("/proc");
	return options.json ? sdpstat::sockets_as_json(sockets, holders, options.columns)
			    : sdpstat::sockets_as_text(sockets, holders, options.columns);
}

std::string chosen_report(const Options &options)
{
	if (options.statistics)
		return statistics_report(options);
	return options.devices ? devices_report(options) : sockets_report(options);
}

void report(const Options &options)
{
	const std::string text = chosen_report(options);

	if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
		throw std::system_error(errno, std::generic_category(), "standard output");
}

int run(int argc, char **argv)
{
	Options options;
	CLI::App app("List AF_SDP sockets with their states, queues and peers, the protocol's "
		     "counters, or RDMA devices.");

	describe(app, options);
	try {
		app.parse(argc, argv);
		refuse_contradictions(app);
	} catch (const CLI::ParseError &outcome) {
		return app.exit(outcome) == 0 ? EXIT_SUCCESS : exit_usage;
	}
	finish(options);
	report(options);
	return EXIT_SUCCESS;
}

} // namespace

int main(int argc, char **argv)
{
	try {
		return run(argc, argv);
	} catch (const ModuleAbsent &error) {
		fmt::print(stderr, "sdpstat: {}\n", error.what());
		return exit_no_module;
	} catch (const std::exception &error) {
		fmt::print(stderr, "sdpstat: {}\n", error.what());
		return exit_unreadable;
	}
}
