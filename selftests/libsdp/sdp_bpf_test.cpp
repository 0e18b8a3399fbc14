// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdp-bpf, as far as it needs neither a kernel of its own nor rights.
 */
#include "child.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace
{

class SdpBpf : public testing::Test
{
protected:
	std::string file(const std::string &text)
	{
		directory_.create_file("rules", text);
		return directory_.path() / "rules";
	}

	static child::Outcome sdp_bpf(std::vector<std::string> arguments)
	{
		arguments.insert(arguments.begin(), SDP_BPF);
		return child::run(arguments);
	}

	child::Directory directory_;
};

TEST_F(SdpBpf, CheckFindsNothing)
{
	const std::string path = file("# rules\nuse none client * *:22\nuse sdp * * *:*\n");
	const auto outcome = sdp_bpf({"check", path});

	EXPECT_EQ(outcome.status, 0);
	EXPECT_EQ(outcome.output, path + ": 2 rules, no errors\n");
	EXPECT_EQ(outcome.errors, "");
}

TEST_F(SdpBpf, CheckNamesEveryError)
{
	const std::string path = file("use both * * *:*\nuse tcp * 1234567890123456 *:*\n");
	const auto outcome = sdp_bpf({"check", path});
	const auto said = nlohmann::json::parse(sdp_bpf({"check", "--json", path}).output);

	EXPECT_EQ(outcome.status, 1);
	EXPECT_EQ(outcome.output,
		  path + ":1:5: expected 'tcp', 'sdp' or 'none', found 'both'\n" + path +
			  ":2: the kernel keeps 15 bytes of a program's name, and no more "
			  "(try: the first ones and '*')\n");
	EXPECT_EQ(said["file"], path);
	EXPECT_EQ(said["rules"], 0U);
	EXPECT_EQ(said["errors"].size(), 2U);
	EXPECT_EQ(said["errors"][0], outcome.output.substr(0, outcome.output.find('\n')));
}

// Their number is what can be read, whatever is wrong with it.
TEST_F(SdpBpf, CheckCountsRulesThatAreWrong)
{
	const auto said = [this](const std::string &text) {
		return nlohmann::json::parse(sdp_bpf({"check", "--json", file(text)}).output);
	};
	const auto contradicting = said("use sdp client * 10.0.0.1:*\nuse tcp * * *:*\n");
	const auto broken = said("use tcp\nuse tcp * a *:*\nuse tcp * * *:*\n");

	EXPECT_EQ(contradicting["rules"], 2U);
	EXPECT_EQ(contradicting["errors"].size(), 1U);
	EXPECT_EQ(broken["rules"], 2U);
	EXPECT_EQ(broken["errors"].size(), 1U);
}

TEST_F(SdpBpf, AttachNamesEveryError)
{
	const std::string path = file("use both * * *:*\nuse udp\nuse tcp * * *:*\n");
	const auto outcome = sdp_bpf({"attach", "--config", path, "/"});

	EXPECT_EQ(outcome.status, 1);
	EXPECT_EQ(outcome.output, "");
	EXPECT_EQ(outcome.errors, "sdp-bpf: " + path +
					  ":1:5: expected 'tcp', 'sdp' or 'none', found 'both'\n" +
					  "sdp-bpf: " + path +
					  ":2:5: expected 'tcp', 'sdp' or 'none', found 'udp'\n");
}

TEST_F(SdpBpf, RunNamesErrorsBeforeItRuns)
{
	const std::string path = file("use both * * *:*\nuse tcp * * *:*\n");
	const std::string error =
		"sdp-bpf: " + path + ":1:5: expected 'tcp', 'sdp' or 'none', found 'both'\n";

	for (const auto &arguments : std::vector<std::vector<std::string>>{
		     {"run", "--config", path, "--", "echo", "ran"},
		     {"run", "-c", path, "echo", "ran"},
		     {"run", "--config=" + path, "--", "--no-such-program"}}) {
		const auto outcome = sdp_bpf(arguments);

		EXPECT_EQ(outcome.status, 125);
		EXPECT_EQ(outcome.output, "");
		EXPECT_EQ(outcome.errors, error);
	}
}

// What stands behind the command's name is the command's.
TEST_F(SdpBpf, RunReadsNoOptionsOfTheCommand)
{
	const std::string path = file("use udp\n");
	const std::string error =
		"sdp-bpf: " + path + ":1:5: expected 'tcp', 'sdp' or 'none', found 'udp'\n";

	for (const auto &arguments : std::vector<std::vector<std::string>>{
		     {"run", "-c", path, "sh", "-c", "exit 3"},
		     {"run", "-c", path, "--", "sh", "-c", "exit 3"},
		     {"run", "-c", path, "sh", "--config", "/nonexistent", "--no-such-option"}}) {
		const auto outcome = sdp_bpf(arguments);

		EXPECT_EQ(outcome.status, 125);
		EXPECT_EQ(outcome.errors, error);
	}
}

TEST_F(SdpBpf, SaysWhichArgumentsAreMissing)
{
	EXPECT_EQ(sdp_bpf({"check"}).status, 2);
	EXPECT_EQ(sdp_bpf({"run"}).status, 2);
	EXPECT_EQ(sdp_bpf({"run", "--"}).status, 2);
	EXPECT_EQ(sdp_bpf({"run", "--config", "x", "--"}).status, 2);
	EXPECT_EQ(sdp_bpf({"attach", "--config", "x"}).status, 2);
	EXPECT_EQ(sdp_bpf({"check", "/nonexistent"}).status, 1);
	EXPECT_EQ(sdp_bpf({"check", EXAMPLE}).status, 0);
}

} // namespace
