// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdp-run on libsdp.conf: --check, --explain, --why and --config.
 */
#include "child.h"

#include <cerrno>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace
{

using nlohmann::json;

class SdpRunConfig : public testing::Test
{
protected:
	std::string file(const std::string &text)
	{
		directory_.create_file("libsdp.conf", text);
		return directory_.path() / "libsdp.conf";
	}

	static child::Outcome sdp_run(std::vector<std::string> arguments,
				      const child::Environment &environment = {})
	{
		arguments.insert(arguments.begin(), SDP_RUN);
		return child::run(arguments, environment);
	}

	child::Directory directory_;
};

TEST_F(SdpRunConfig, CheckFindsNothing)
{
	const std::string path = file("# rules\nuse tcp server sshd *:22\nuse both * * *:*\n");
	const auto outcome = sdp_run({"--check", path});

	EXPECT_EQ(outcome.status, 0);
	EXPECT_EQ(outcome.output, path + ": 2 rules, no errors\n");
	EXPECT_EQ(outcome.errors, "");
	EXPECT_EQ(sdp_run({"--check"}, {{"LIBSDP_CONFIG_FILE", path}}).output, outcome.output);
}

TEST_F(SdpRunConfig, CheckNamesEveryError)
{
	const std::string path = file("use udp\nuse tcp server sshd *:22\nuse tcp server x *:\n");
	const auto outcome = sdp_run({"--check", path});

	EXPECT_EQ(outcome.status, 1);
	EXPECT_EQ(outcome.output,
		  path + ":1:5: expected 'tcp', 'sdp' or 'both', found 'udp'\n" + path +
			  ":3:20: expected a port from 0 to 65535 or '*', found nothing\n");
}

TEST_F(SdpRunConfig, CheckSpeaksJson)
{
	const std::string path = file(
		"use tcp connect ssh [fd00::]/8:22-23\nuse sdp * x 10.1.0.0/16:*\nuse x\001\n");
	const auto outcome = sdp_run({"--check", "--json", path});
	const json expected = {{"file", path},
			       {"rules",
				{{{"line", 1},
				  {"use", "tcp"},
				  {"role", "client"},
				  {"program", "ssh"},
				  {"address", "[fd00::]/8"},
				  {"first_port", 22},
				  {"last_port", 23}},
				 {{"line", 2},
				  {"use", "sdp"},
				  {"role", "*"},
				  {"program", "x"},
				  {"address", "10.1.0.0/16"},
				  {"first_port", 0},
				  {"last_port", 65535}}}},
			       {"errors",
				{{{"line", 3},
				  {"column", 5},
				  {"expected", "'tcp', 'sdp' or 'both'"},
				  {"found", "x?"}}}}};

	EXPECT_EQ(outcome.status, 1);
	EXPECT_EQ(json::parse(outcome.output), expected);
}

TEST_F(SdpRunConfig, CheckAcceptsTheExample)
{
	EXPECT_EQ(sdp_run({"--check", EXAMPLE}).output, EXAMPLE ": 7 rules, no errors\n");
}

const std::string rules = "use tcp server sshd *:22\n"
			  "  use sdp client s* 10.0.0.0/24:*  # near\n";

TEST_F(SdpRunConfig, ExplainNamesTheRule)
{
	const std::string path = file(rules);
	const auto explained = [&](const std::vector<std::string> &question) {
		std::vector<std::string> arguments = {"--config", path, "--explain"};

		arguments.insert(arguments.end(), question.begin(), question.end());
		return sdp_run(arguments).output;
	};

	EXPECT_EQ(explained({"sshd", "10.0.0.1", "22"}),
		  "server: tcp, by line 1: use tcp server sshd *:22\n"
		  "client: sdp, by line 2: use sdp client s* 10.0.0.0/24:*  # near\n");
	EXPECT_EQ(explained({"/usr/bin/ssh", "10.0.0.1", "22", "server"}),
		  "server: both, since no rule matches\n");
	EXPECT_EQ(explained({"ssh", "fd00::1", "22", "client"}),
		  "client: both, since no rule matches\n");
}

TEST_F(SdpRunConfig, ExplainKnowsWhatErrorsMean)
{
	const std::string path = file("use tcp * * *:1\nuse\nuse sdp * * *:*\n");

	EXPECT_EQ(sdp_run({"--config", path, "--explain", "x", "10.0.0.1", "1", "client"}).output,
		  "client: tcp, by line 1: use tcp * * *:1\n"
		  "Line 2 is wrong (see --check): it and what follows do not count.\n");
	EXPECT_EQ(sdp_run({"--config", path, "--explain", "x", "10.0.0.1", "2", "client"}).output,
		  "client: both, since no rule matches\n"
		  "Line 2 is wrong (see --check): it and what follows do not count.\n");
}

TEST_F(SdpRunConfig, ExplainKnowsWhatNoRulesMean)
{
	EXPECT_EQ(sdp_run({"--config", file("# none\n"), "--explain", "x", "::1", "1", "client"})
			  .output,
		  "client: sdp, since there are no rules; TCP only as net.sdp.tcp_fallback allows "
		  "it\n");
}

TEST_F(SdpRunConfig, ExplainSpeaksJson)
{
	const std::string path = file(rules);
	const json got = json::parse(
		sdp_run({"--json", "--explain", "--config", path, "sshd", "fd00::1", "22"}).output);
	const json expected = {{"file", path},
			       {"program", "sshd"},
			       {"endpoint", "[fd00::1]:22"},
			       {"decisions",
				{{{"role", "server"},
				  {"use", "tcp"},
				  {"line", 1},
				  {"rule", "use tcp server sshd *:22"}},
				 {{"role", "client"}, {"use", "both"}, {"line", nullptr}}}}};

	EXPECT_EQ(got, expected);
}

// What becomes of it depends on the kernel; what the rules say does not.
TEST_F(SdpRunConfig, WhyNamesRuleAndRoles)
{
	const std::string path = file(rules);
	const json got = json::parse(sdp_run({"--why", "--json", "--config", path, "127.0.0.1:22",
					      "[::]:22", "/usr/sbin/sshd", "-D", "10.0.0.1:1"})
					     .output);
	const json &own = got["endpoints"][0]["decisions"];
	const json &any = got["endpoints"][1]["decisions"];

	EXPECT_EQ(got["file"], path);
	EXPECT_EQ(got["program"], "sshd");
	EXPECT_EQ(got["rules"], 2);
	ASSERT_EQ(got["endpoints"].size(), 2U);
	ASSERT_EQ(own.size(), 2U);
	EXPECT_EQ(own[0]["role"], "server");
	EXPECT_EQ(own[0]["line"], 1);
	EXPECT_EQ(own[0]["rule"], "use tcp server sshd *:22");
	EXPECT_EQ(own[0]["outcome"], "tcp");
	EXPECT_EQ(own[0]["reason"], "the rule says so");
	EXPECT_EQ(own[1]["role"], "client");
	EXPECT_EQ(own[1]["use"], "both");
	EXPECT_EQ(own[1]["by"], "default");
	EXPECT_EQ(own[1]["route"]["netdev"], "lo");
	ASSERT_EQ(any.size(), 1U);
	EXPECT_EQ(any[0]["role"], "server");
}

std::set<std::string> members(const json &object)
{
	std::set<std::string> names;

	for (const auto &[name, value] : object.items())
		names.insert(name);
	return names;
}

// What the manual page lists, and nothing else.
TEST_F(SdpRunConfig, WhyHasTheMembersOfTheManual)
{
	const json got = json::parse(
		sdp_run({"--why", "--json", "--config", file(rules), "127.0.0.1:22", "sh"}).output);
	const json &endpoint = got["endpoints"][0];

	EXPECT_EQ(members(got),
		  (std::set<std::string>{"file", "file_exists", "rules", "first_wrong_line",
					 "program", "only_tcp", "library", "kernel", "endpoints"}));
	EXPECT_EQ(members(got["library"]), (std::set<std::string>{"file", "loaded", "error"}));
	EXPECT_EQ(members(got["kernel"]), (std::set<std::string>{"sdp", "error", "tcp_fallback"}));
	EXPECT_EQ(members(endpoint), (std::set<std::string>{"endpoint", "decisions"}));
	EXPECT_EQ(members(endpoint["decisions"][0]),
		  (std::set<std::string>{"role", "use", "by", "line", "rule", "route", "outcome",
					 "reason"}));
	EXPECT_EQ(members(endpoint["decisions"][0]["route"]),
		  (std::set<std::string>{"netdev", "source", "device", "port", "state", "gid"}));
}

TEST_F(SdpRunConfig, WhyTellsWhatTheFileIs)
{
	const auto why = [&](const std::string &text) {
		return json::parse(
			sdp_run({"--why", "--json", "--config", file(text), "sshd"}).output);
	};
	const json right = why("use tcp * sshd *:*\n"), wrong = why("use tcp * ssh *:*\nuse\n");

	EXPECT_EQ(right["file_exists"], true);
	EXPECT_EQ(right["rules"], 1);
	EXPECT_EQ(right["first_wrong_line"], nullptr);
	EXPECT_EQ(right["only_tcp"], true);
	EXPECT_EQ(wrong["first_wrong_line"], 2);
	EXPECT_EQ(wrong["only_tcp"], false);
}

TEST_F(SdpRunConfig, WhyTellsThatThereIsNoFile)
{
	if (std::filesystem::exists(CONFIG_FILE))
		GTEST_SKIP() << "there is a " CONFIG_FILE;
	const json got = json::parse(sdp_run({"--why", "--json"}).output);

	EXPECT_EQ(got["file"], CONFIG_FILE);
	EXPECT_EQ(got["file_exists"], false);
	EXPECT_EQ(got["rules"], 0);
}

TEST_F(SdpRunConfig, WhyTellsWhatTheKernelSays)
{
	const auto kernel = [&](int error) {
		return json::parse(
			sdp_run({"--why", "--json"}, {{"LD_PRELOAD", MOCK_SO},
						      {"MOCK_LOG", "/dev/null"},
						      {"MOCK_SDP", std::to_string(error)}})
				.output)["kernel"];
	};

	EXPECT_EQ(kernel(0), (json{{"sdp", true}, {"error", nullptr}, {"tcp_fallback", false}}));
	EXPECT_EQ(
		kernel(EACCES),
		(json{{"sdp", false}, {"error", "Permission denied"}, {"tcp_fallback", nullptr}}));
}

// In a network namespace where nothing leads anywhere.
TEST_F(SdpRunConfig, WhyTellsThatThereIsNoRoute)
{
	if (child::run({"unshare", "--net", "true"}).status != 0)
		GTEST_SKIP() << "no right to make a network namespace";
	const json got = json::parse(
		child::run({"unshare", "--net", SDP_RUN, "--why", "--json", "10.0.0.1:1"}).output);

	EXPECT_EQ(got["endpoints"][0]["decisions"][0]["route"],
		  (json{{"error", "Network is unreachable"}}));
}

TEST_F(SdpRunConfig, WhyWritesNothingThatATerminalActsUpon)
{
	const auto outcome = sdp_run({"--why", "--json", "127.0.0.1:22", "\xff\x1b"});

	EXPECT_EQ(outcome.status, 0) << outcome.errors;
	EXPECT_EQ(json::parse(outcome.output)["program"], "??");
}

TEST_F(SdpRunConfig, WhySaysThatTheKernelHasNoSdp)
{
	if (json::parse(sdp_run({"--why", "--json"}).output)["kernel"]["sdp"])
		GTEST_SKIP() << "this kernel has SDP";
	EXPECT_EQ(sdp_run({"--why", "--config", file(rules), "127.0.0.2:1", "ssh"}).output,
		  "configuration: " + file(rules) +
			  ", 2 rules\n"
			  "kernel: has no SDP sockets (Protocol not supported)\n"
			  "connect to 127.0.0.2:1\n"
			  "  libsdp: both, since no rule matches\n"
			  "  route: lo, from 127.0.0.1\n"
			  "  result: tcp, this kernel has no SDP sockets (Protocol not supported); "
			  "try: modprobe sdp\n");
}

TEST_F(SdpRunConfig, ConfigIsForTheProgram)
{
	const std::string path = file(rules);

	EXPECT_EQ(sdp_run({"--config", path, "printenv", "LIBSDP_CONFIG_FILE"}).output,
		  path + "\n");
}

TEST_F(SdpRunConfig, RefusesWrongArguments)
{
	const std::string path = file(rules);
	const std::pair<std::vector<std::string>, std::string> cases[] = {
		{{"--check", path, path}, "--check takes one file (see sdp-run --help)"},
		{{"--why", "nginx", "10.0.0.1:80"},
		 "addresses come before the program (see sdp-run --help)"},
		{{"--why", "server:5432", "postgres"},
		 "not an IP address with a port: 'server:5432' (see sdp-run --help)"},
		{{"--why", "[::1"}, "not an IP address with a port: '[::1' (see sdp-run --help)"},
		{{"--check", "/nonexistent"}, "/nonexistent: No such file or directory"},
		{{"--explain", "x", "10.0.0.1"},
		 "--explain takes PROGRAM ADDRESS PORT and server or client (see sdp-run --help)"},
		{{"--explain", "x", "host", "1"}, "not an IP address: 'host' (see sdp-run --help)"},
		{{"--explain", "x", "::1", "65536"}, "not a port: '65536' (see sdp-run --help)"},
		{{"--explain", "x", "::1", "1", "peer"},
		 "neither 'server' nor 'client': 'peer' (see sdp-run --help)"},
		{{"--config"}, "--config: 1 required FILE missing (see sdp-run --help)"},
		{{"--check", "--explain"},
		 "--check, --explain and --why are different questions (see sdp-run --help)"},
		{{"--json", "true"},
		 "--json is for --check, --explain and --why (see sdp-run --help)"},
	};

	for (const auto &[arguments, message] : cases) {
		const auto outcome = sdp_run(arguments);

		EXPECT_EQ(outcome.status, 125) << message;
		EXPECT_EQ(outcome.errors, "sdp-run: " + message + "\n");
	}
}

} // namespace
