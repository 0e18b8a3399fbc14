// SPDX-License-Identifier: GPL-2.0
/*
 * Runs every case on TCP and on SDP sockets and compares; prints KTAP.
 */
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>

#include <CLI/CLI.hpp>
#include <fnmatch.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>

#include "accepted.h"
#include "runner.h"

using namespace conformance;

namespace
{

struct Arguments {
	Options options;
	std::string only = "*";
	std::string accepted;
	std::string json;
	std::vector<Door> doors{Door::family27, Door::inet, Door::inet6};
	bool list = false;
	bool tcp_twice = false;
	bool verbose = false;
};

struct Totals {
	std::size_t number = 0;
	std::map<Verdict, std::size_t> of;
};

void take_environment(const char *name, std::string &value)
{
	if (const char *text = std::getenv(name); text && *text)
		value = text;
}

void from_environment(Options &options)
{
	std::string scale = "1";

	take_environment("SDP_TEST_SERVER", options.server[0]);
	take_environment("SDP_TEST_SERVER6", options.server[1]);
	take_environment("SDP_TEST_CLIENT", options.client[0]);
	take_environment("SDP_TEST_CLIENT6", options.client[1]);
	take_environment("SDP_TEST_SCALE", scale);
	options.scale = static_cast<unsigned>(std::max(1, std::atoi(scale.c_str())));
}

void print_details(const Comparison &result)
{
	for (const std::string &line : result.details)
		fmt::print("#   {}\n", line);
}

void print_lines(const Comparison &result)
{
	for (const Outcome &run : result.runs) {
		for (const std::string &line : run.lines)
			fmt::print("#     {}\n", line);
		fmt::print("#   --\n");
	}
}

std::string shown_name(const Comparison &result)
{
	if (result.door == Door::family27)
		return result.name;
	return fmt::format("{}@{}", result.name, door_name(result.door));
}

void print_result(Totals &totals, const Comparison &result)
{
	const std::string name = shown_name(result);

	totals.number++;
	totals.of[result.verdict]++;
	switch (result.verdict) {
	case Verdict::equal:
		fmt::print("ok {} {}\n", totals.number, name);
		break;
	case Verdict::accepted:
		fmt::print("ok {} {} # XFAIL {}\n", totals.number, name, result.why);
		break;
	default:
		print_details(result);
		fmt::print("not ok {} {} # {}\n", totals.number, name, result.why);
	}
	std::fflush(stdout);
}

// An entry that accepts nothing any more hides the next thing that breaks.
bool print_stale(Totals &totals, const AcceptedTable &accepted)
{
	bool stale = false;

	for (const Accepted &entry : accepted.entries()) {
		if (!entry.tried || entry.used)
			continue;
		fmt::print("# accepted for {}, but not seen: {} -> {}\n", entry.cases, entry.tcp,
			   entry.sdp);
		stale = true;
	}
	fmt::print("{} {} accepted_differences_exist\n", stale ? "not ok" : "ok",
		   totals.number + 1);
	return stale;
}

nlohmann::json to_json(const Comparison &result)
{
	static constexpr const char *names[] = {"equal", "accepted", "different", "failed"};

	return {{"case", result.name},
		{"door", door_name(result.door)},
		{"verdict", names[static_cast<int>(result.verdict)]},
		{"why", result.why},
		{"tcp", result.runs[0].lines},
		{"sdp", result.runs[1].lines}};
}

void write_json(const std::string &path, const nlohmann::json &all)
{
	std::ofstream file(path);

	file << all.dump(1, '\t', false, nlohmann::json::error_handler_t::replace) << "\n";
	if (!file)
		throw std::runtime_error(path + ": cannot be written");
}

std::vector<Case> pick(const std::string &pattern)
{
	std::vector<Case> picked;

	for (const Case &test : suite()) {
		if (fnmatch(pattern.c_str(), test.name.c_str(), 0) == 0)
			picked.push_back(test);
	}
	std::stable_sort(picked.begin(), picked.end(), [](const Case &a, const Case &b) {
		return a.name.substr(0, a.name.find('.')) < b.name.substr(0, b.name.find('.'));
	});
	return picked;
}

// How many comparisons there will be, see compare().
std::size_t count_results(const std::vector<Case> &cases, const std::vector<Door> &doors)
{
	std::size_t count = cases.size() * doors.size();

	if (doors.size() > 1 && std::find(doors.begin(), doors.end(), Door::inet6) != doors.end())
		count -= std::count_if(cases.begin(), cases.end(),
				       [](const Case &test) { return test.ipv6; });
	return count;
}

int run_all(const Arguments &arguments, const AcceptedTable &accepted)
{
	const Family other = arguments.tcp_twice ? Family::tcp : Family::sdp;
	const std::vector<Case> cases = pick(arguments.only);
	nlohmann::json all = nlohmann::json::array();
	Totals totals;

	fmt::print("TAP version 13\n1..{}\n",
		   count_results(cases, arguments.doors) + !arguments.tcp_twice);
	std::fflush(stdout);
	for (const Case &test : cases) {
		for (const Comparison &result :
		     compare(test, other, arguments.doors, arguments.options, accepted)) {
			if (arguments.verbose)
				print_lines(result);
			print_result(totals, result);
			if (!arguments.json.empty())
				all.push_back(to_json(result));
		}
	}
	const bool stale = !arguments.tcp_twice && print_stale(totals, accepted);
	if (!arguments.json.empty())
		write_json(arguments.json, all);
	fmt::print("# {} cases: {} equal, {} with accepted differences, {} different, {} failed\n",
		   totals.number, totals.of[Verdict::equal], totals.of[Verdict::accepted],
		   totals.of[Verdict::different], totals.of[Verdict::failed]);
	return stale || totals.of[Verdict::different] || totals.of[Verdict::failed] ||
	       cases.empty();
}

Arguments parse(int argc, char **argv)
{
	CLI::App app{"Run every case on TCP and on SDP sockets, and compare"};
	const std::map<std::string, Door> doors{
		{"family27", Door::family27}, {"inet", Door::inet}, {"inet6", Door::inet6}};
	Arguments arguments;

	from_environment(arguments.options);
	arguments.accepted = std::string(argv[0]).substr(0, std::string(argv[0]).rfind('/') + 1) +
			     "sdp_conformance.accepted";
	app.add_option("--case,--only", arguments.only,
		       "run only the cases that match this pattern");
	app.add_option("--door", arguments.doors,
		       "how to call socket(): family27, inet, inet6; all of them by default")
		->transform(CLI::CheckedTransformer(doors));
	app.add_option("--accepted", arguments.accepted, "the table of accepted differences");
	app.add_option("--json", arguments.json, "write all traces to this file");
	app.add_option("--server", arguments.options.server[0], "IPv4 address of the servers");
	app.add_option("--client", arguments.options.client[0], "IPv4 address of the clients");
	app.add_option("--server6", arguments.options.server[1], "IPv6 address of the servers");
	app.add_option("--client6", arguments.options.client[1], "IPv6 address of the clients");
	app.add_flag("--list", arguments.list, "list the cases");
	app.add_flag("--tcp-twice", arguments.tcp_twice, "compare TCP with itself");
	app.add_flag("--verbose", arguments.verbose, "print the traces");
	try {
		app.parse(argc, argv);
	} catch (const CLI::ParseError &e) {
		std::exit(app.exit(e));
	}
	return arguments;
}

} // namespace

int main(int argc, char **argv)
try {
	const Arguments arguments = parse(argc, argv);

	if (arguments.list) {
		for (const Case &test : pick(arguments.only))
			fmt::print("{}\n", test.name);
		return 0;
	}
	const AcceptedTable accepted(arguments.accepted);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return run_all(arguments, accepted);
} catch (const std::exception &e) {
	fmt::print("Bail out! {}\n", e.what());
	return 1;
}
