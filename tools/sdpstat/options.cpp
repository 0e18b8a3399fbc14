// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "options.h"

#include <initializer_list>

#include <fmt/format.h>

namespace sdpstat
{
namespace
{

void describe_selection(CLI::App &app, Options &options)
{
	app.add_flag("-l,--listening", options.listening, "show listening sockets only");
	app.add_flag("-a,--all", options.all, "show listening, connected and closed sockets");
	app.add_option("--state", options.states,
		       "show sockets in this state, named as ss(8) does; may be repeated")
		->type_name("STATE")
		->expected(1)
		->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
		->check([](const std::string &text) {
			return parse_states(text) ? std::string() : "no state: '" + text + "'";
		});
	app.add_option("--engine", options.filter.engines,
		       "show connections with this engine of flow control; may be repeated")
		->type_name("ENGINE")
		->expected(1)
		->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
	app.add_option("--process", options.filter.processes,
		       "show sockets that this process holds; may be repeated")
		->type_name("NAME|PID")
		->expected(1)
		->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
	app.add_option("--port", options.filter.port, "show sockets with this port at either end")
		->type_name("PORT")
		->check(CLI::Range(1, 65535));
	app.add_option("--address", options.address,
		       "show sockets with an address of this range at either end")
		->type_name("ADDRESS[/BITS]")
		->check([](const std::string &text) {
			return parse_prefix(text) ? std::string()
						  : "no IP address or range: '" + text + "'";
		});
}

void describe_output(CLI::App &app, Options &options)
{
	app.add_flag(
		"-n,--numeric", [](std::int64_t) {},
		"show addresses and ports as numbers; they always are");
	app.add_flag("-e,--extended", options.columns.extended,
		     "show owner, inode and queue pair as well");
	app.add_flag("-f,--flow", options.columns.flow,
		     "show rings and counters of flow control as well");
	app.add_flag("-z,--zcopy", options.columns.zcopy,
		     "show what went without a copy, and what could not, as well");
	app.add_flag("-i,--info", options.info, "show both: --flow and --zcopy");
	app.add_flag("-m,--memory", options.columns.memory,
		     "show the memory of each socket; needs CAP_NET_ADMIN");
	app.add_flag("-o,--options", options.columns.timeouts,
		     "show after how long a connection is probed or given up; needs CAP_NET_ADMIN");
	app.add_flag("-p,--processes", options.columns.processes,
		     "show the processes that hold each socket");
	app.add_flag("-j,--json", options.json, "write JSON");
	app.add_option("--proc", options.proc,
		       "read the tables in this directory instead of asking the kernel")
		->type_name("DIRECTORY");
}

// Which sockets are listed, and what is said of them.
constexpr std::initializer_list<const char *> about_sockets = {
	"--listening", "--all",	 "--state", "--engine", "--process", "--port",	  "--address",
	"--extended",  "--flow", "--zcopy", "--info",	"--memory",  "--options", "--processes",
};

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
	refuse_together(app, "--state", {"--listening", "--all"});
	refuse_together(app, "--watch", {"--statistics", "--devices", "--summary", "--prometheus"});
	if (app.count("--rounds") != 0 && app.count("--watch") == 0)
		throw CLI::RequiresError("--rounds", "--watch");
	refuse_together(app, "--summary", {"--statistics", "--devices", "--prometheus"});
	refuse_together(app, "--prometheus", {"--statistics", "--devices", "--json"});
	for (const char *whole : {"--prometheus", "--statistics", "--devices"})
		refuse_together(app, whole, about_sockets);
	refuse_together(app, "--statistics", {"--devices"});
}

} // namespace

void describe(CLI::App &app, Options &options)
{
	app.name("sdpstat");
	app.set_version_flag("-V,--version", "sdpstat " SDP_VERSION);
	describe_selection(app, options);
	describe_output(app, options);
	app.add_option("--watch", options.watch,
		       "look again every so many seconds, and show how fast each connection is")
		->type_name("[SECONDS]")
		->expected(0, 1)
		->default_str("1")
		->check(CLI::Range(0.1, 86400.0));
	app.add_option("--rounds", options.rounds, "with --watch, look so many times")
		->type_name("NUMBER")
		->check(CLI::PositiveNumber);
	app.add_flag("-s,--summary", options.summary, "count the sockets instead of listing them");
	app.add_flag("--prometheus", options.prometheus,
		     "write counters and numbers of sockets for Prometheus");
	app.add_flag("-S,--statistics", options.statistics,
		     "show the counters of the protocol instead of sockets");
	app.add_flag("-d,--devices", options.devices,
		     "show the RDMA devices, and what their providers say, instead of sockets");
	app.failure_message([](const CLI::App *, const CLI::Error &error) {
		return fmt::format("sdpstat: {} (see sdpstat --help)\n", error.what());
	});
}

void finish(const CLI::App &app, Options &options)
{
	refuse_contradictions(app);
	if (options.all)
		options.filter.states = all_states;
	else if (options.listening)
		options.filter.states = bit(State::listen);
	if (!options.states.empty())
		options.filter.states = 0;
	for (const std::string &name : options.states)
		options.filter.states |= parse_states(name).value();
	if (options.info)
		options.columns.flow = options.columns.zcopy = true;
	options.columns.rates = options.watch.has_value();
	if (!options.address.empty())
		options.filter.address = parse_prefix(options.address);
}

} // namespace sdpstat
