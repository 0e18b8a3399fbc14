// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdp-bpf: convert TCP sockets of chosen processes inside the kernel, by rules.
 */
#include "cgroup.h"
#include "converter.h"
#include "policy.h"
#include "runner.h"

#include "../common/print.h"
#include "inspect.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace
{

using sdpbpf::GroupId;

constexpr int exit_failure = 1;
constexpr int exit_usage = 2;
constexpr int exit_unsupported = 3;
constexpr int exit_run_failure = 125;

struct Options {
	std::vector<std::string> groups;
	std::optional<std::string> config;
	bool all = false;
	bool json = false;
};

// All are looked up before anything changes.
std::vector<GroupId> ids_of(const std::vector<std::string> &names)
{
	std::vector<GroupId> ids;

	ids.reserve(names.size());
	for (const std::string &name : names)
		ids.push_back(sdpbpf::group_id(sdpbpf::find_group(name)));
	return ids;
}

std::optional<sdpbpf::Policy> policy_in(const Options &options)
{
	if (!options.config)
		return std::nullopt;
	return sdpbpf::read_policy(*options.config);
}

void add_all(const sdpbpf::Groups &groups, const std::vector<GroupId> &ids,
	     const std::optional<sdpbpf::Policy> &policy)
{
	for (const GroupId id : ids)
		groups.add(id, policy);
}

void attach_first(const std::vector<GroupId> &ids, const std::optional<sdpbpf::Policy> &policy)
{
	const sdpbpf::Converter converter(policy ? sdpbpf::Programs::all
						 : sdpbpf::Programs::converting);

	add_all(converter.groups(), ids, policy);
	converter.pin();
}

// Until now there may have been no rules.
void attach_more(const sdpbpf::Groups &groups, const std::vector<GroupId> &ids,
		 const std::optional<sdpbpf::Policy> &policy)
{
	if (policy && !sdpbpf::is_refusing_pinned()) {
		const sdpbpf::Converter refusing(sdpbpf::Programs::refusing,
						 sdpbpf::pinned_groups());
		refusing.pin_refusing();
	}
	add_all(groups, ids, policy);
}

void attach(const Options &options)
{
	const auto policy = policy_in(options);
	const auto ids = ids_of(options.groups);

	sdpbpf::require_support(policy);
	const sdpbpf::PinLock lock;

	if (const auto groups = sdpbpf::pinned_groups())
		attach_more(*groups, ids, policy);
	else
		attach_first(ids, policy);
}

// All that is wrong in the file, or how many rules it has.
int check(const Options &options)
{
	sdpbpf::Errors errors;
	const std::string text = libsdp::read_config_file(*options.config);
	const auto policy = sdpbpf::policy_of(*options.config, text, errors);

	if (options.json) {
		const nlohmann::json answer{{"file", *options.config},
					    {"rules", policy.rules.size()},
					    {"errors", errors}};
		sdp::print(answer.dump(8) + "\n");
	} else if (errors.empty()) {
		sdp::print(fmt::format("{}: {} rules, no errors\n", *options.config,
				       policy.rules.size()));
	} else {
		sdp::print(fmt::format("{}\n", fmt::join(errors, "\n")));
	}
	return errors.empty() ? EXIT_SUCCESS : exit_failure;
}

void detach(const Options &options)
{
	const sdpbpf::PinLock lock;

	if (options.all) {
		sdpbpf::unpin();
		return;
	}
	const auto groups = sdpbpf::pinned_groups();

	if (!groups)
		throw std::runtime_error("no control group is attached");
	const auto ids = ids_of(options.groups);
	for (std::size_t i = 0; i < ids.size(); i++)
		if (!groups->remove(ids[i]))
			throw std::runtime_error(
				fmt::format("'{}' is not attached", options.groups[i]));
	if (groups->list().empty())
		sdpbpf::unpin();
}

// A group that was removed while attached has no path any more.
std::string as_json(const std::optional<sdpbpf::Groups> &groups)
{
	auto list = nlohmann::json::array();

	if (groups) {
		const auto paths = sdpbpf::all_groups();
		for (const auto &[id, state] : groups->list()) {
			nlohmann::json path;
			if (paths.contains(id))
				path = paths.at(id);
			list.push_back({{"id", id},
					{"path", path},
					{"rules", state.has_rules},
					{"converted", state.counts.converted},
					{"refused", state.counts.refused}});
		}
	}
	const nlohmann::json answer{{"attached", groups.has_value()}, {"groups", list}};
	return answer.dump(8) + "\n";
}

std::string as_text(const std::optional<sdpbpf::Groups> &groups)
{
	if (!groups)
		return "No control group is attached.\n";
	const auto paths = sdpbpf::all_groups();
	std::string text = "Converted   Refused Rules Control group\n";
	for (const auto &[id, state] : groups->list())
		text += fmt::format("{:9} {:9} {:5} {}\n", state.counts.converted,
				    state.counts.refused, state.has_rules ? "yes" : "no",
				    paths.contains(id) ? paths.at(id) : "(removed)");
	return text;
}

void status(const Options &options)
{
	const auto groups = sdpbpf::pinned_groups();
	const std::string text = options.json ? as_json(groups) : as_text(groups);

	sdp::print(text);
}

void describe_config(CLI::App &command, Options &options)
{
	command.add_option("-c,--config", options.config, "do it by the rules in FILE")
		->type_name("FILE");
}

CLI::App *describe_run(CLI::App &app, Options &options)
{
	CLI::App *run = app.add_subcommand("run", "run a command, and convert the sockets of all "
						  "processes that come of it");

	describe_config(*run, options);
	run->prefix_command();
	return run;
}

CLI::App *describe_attach(CLI::App &app, Options &options)
{
	CLI::App *attach =
		app.add_subcommand("attach", "convert the processes of control groups from now on");

	describe_config(*attach, options);
	attach->add_option("group", options.groups, "directory, or path within the hierarchy")
		->required()
		->type_name("GROUP...");
	return attach;
}

CLI::App *describe_check(CLI::App &app, Options &options)
{
	CLI::App *check = app.add_subcommand("check", "tell what is wrong in a file of rules");

	check->add_option("file", options.config, "as for --config")->required()->type_name("FILE");
	check->add_flag("-j,--json", options.json, "write JSON");
	return check;
}

CLI::App *describe_detach(CLI::App &app, Options &options)
{
	CLI::App *detach = app.add_subcommand("detach", "convert their new sockets no more");
	CLI::Option *group = detach->add_option("group", options.groups, "as given to attach")
				     ->type_name("GROUP...");

	detach->add_flag("-a,--all", options.all, "all control groups")->excludes(group);
	return detach;
}

CLI::App *describe_status(CLI::App &app, Options &options)
{
	CLI::App *status = app.add_subcommand("status", "list the control groups");

	status->add_flag("-j,--json", options.json, "write JSON");
	return status;
}

/** What CLI11 shall read, in reverse as it wants it, and what is the command's alone. */
struct Arguments {
	std::vector<std::string> own;
	std::vector<std::string> behind_mark;
};

// CLI11 takes the first argument that it does not know, and all behind it, for the
// command; but behind "--" it insists on knowing them.
Arguments arguments_of(int argc, char **argv)
{
	Arguments arguments{.own = {argv + 1, argv + argc}, .behind_mark = {}};
	auto &own = arguments.own;
	const auto run = std::ranges::find(own, "run");
	const auto mark = std::find(run, own.end(), "--");

	arguments.behind_mark.assign(mark, own.end());
	own.erase(mark, own.end());
	std::ranges::reverse(own);
	return arguments;
}

// The mark is the command's if it stands behind the command's name.
std::vector<std::string> command_of(const CLI::App &run, const Arguments &arguments)
{
	std::vector<std::string> command = run.remaining();
	const auto &behind = arguments.behind_mark;
	const bool is_commands = !command.empty();

	if (!is_commands && behind.size() < 2)
		throw CLI::RequiredError("COMMAND");
	if (!behind.empty())
		command.insert(command.end(), behind.begin() + (is_commands ? 0 : 1), behind.end());
	return command;
}

// Reads the arguments; the result is to be called.
using Action = std::function<int()>;

Action choose(CLI::App &app, Options &options, int argc, char **argv)
{
	const CLI::App *run = describe_run(app, options);
	const CLI::App *on = describe_attach(app, options);
	const CLI::App *off = describe_detach(app, options);
	const CLI::App *checks = describe_check(app, options);
	const Arguments arguments = arguments_of(argc, argv);

	describe_status(app, options);
	app.parse(std::vector<std::string>(arguments.own));
	if (run->parsed())
		return [command = command_of(*run, arguments), &options] {
			return sdpbpf::run_converted(command, policy_in(options));
		};
	if (checks->parsed())
		return [&options] { return check(options); };
	if (off->parsed() && options.groups.empty() && !options.all)
		throw CLI::RequiredError("GROUP or --all");
	auto *const done = on->parsed() ? attach : off->parsed() ? detach : status;
	return [done, &options] {
		done(options);
		return EXIT_SUCCESS;
	};
}

int act(const Action &action, bool running)
{
	try {
		return action();
	} catch (const sdpbpf::Unsupported &error) {
		fmt::print(stderr, "sdp-bpf: {}\n", error.what());
		return running ? exit_run_failure : exit_unsupported;
	} catch (const std::exception &error) {
		fmt::print(stderr, "sdp-bpf: {}\n", error.what());
		return running ? exit_run_failure : exit_failure;
	}
}

int run(int argc, char **argv)
{
	Options options;
	CLI::App app("Convert the TCP sockets of chosen processes to SDP inside the kernel.",
		     "sdp-bpf");
	Action action;

	app.set_version_flag("-V,--version", "sdp-bpf " SDP_VERSION);
	app.add_flag_callback("-v,--verbose", sdpbpf::be_verbose,
			      "show what libbpf and the kernel's verifier say");
	app.require_subcommand(1);
	app.failure_message([](const CLI::App *, const CLI::Error &error) {
		return fmt::format("sdp-bpf: {} (see sdp-bpf --help)\n", error.what());
	});
	try {
		action = choose(app, options, argc, argv);
	} catch (const CLI::ParseError &outcome) {
		return app.exit(outcome) == 0 ? EXIT_SUCCESS : exit_usage;
	}
	return act(action, app.got_subcommand("run"));
}

} // namespace

int main(int argc, char **argv)
{
	try {
		return run(argc, argv);
	} catch (const std::exception &error) {
		std::fprintf(stderr, "sdp-bpf: %s\n", error.what());
		return exit_failure;
	}
}
