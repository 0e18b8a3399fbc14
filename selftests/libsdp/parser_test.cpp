// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The grammar of libsdp.conf: what is read, and what is said of what is wrong.
 */
#include "parser.h"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace
{

using namespace libsdp;

std::vector<Rule> rules_of(const std::string &text)
{
	Parser parser(text);
	std::vector<Rule> rules;

	for (auto step = parser.next(); step != Parser::Step::end; step = parser.next()) {
		EXPECT_EQ(step, Parser::Step::rule) << text << ": " << parser.error().expected
						    << " in column " << parser.error().column;
		if (step == Parser::Step::rule)
			rules.push_back(parser.rule());
	}
	return rules;
}

Rule rule_of(const std::string &text)
{
	const std::vector<Rule> rules = rules_of(text);

	EXPECT_EQ(rules.size(), 1U) << text;
	return rules.empty() ? Rule{} : rules.front();
}

std::string problem_with(const std::string &text)
{
	Parser parser(text);
	Parser::Step step;

	while ((step = parser.next()) == Parser::Step::rule)
		;
	if (step == Parser::Step::end)
		return "none";
	const ParseError &error = parser.error();

	return std::to_string(error.line) + ":" + std::to_string(error.column) + ": " +
	       error.expected + ", '" + std::string(error.found) + "'";
}

bool matches(const std::string &target, const std::string &address, std::uint16_t port)
{
	const std::string text = "use tcp server x " + target;

	return rule_of(text).matches({.address = parse_address(address).value(), .port = port});
}

TEST(Parser, ReadsTransports)
{
	EXPECT_EQ(rule_of("use tcp server * *:*").transport, Transport::tcp);
	EXPECT_EQ(rule_of("use sdp server * *:*").transport, Transport::sdp);
	EXPECT_EQ(rule_of("use both server * *:*").transport, Transport::both);
}

TEST(Parser, ReadsRoles)
{
	const std::vector<std::tuple<std::string, bool, bool>> cases = {
		{"server", true, false},  {"listen", true, false}, {"client", false, true},
		{"connect", false, true}, {"*", true, true},
	};

	for (const auto &[word, server, client] : cases) {
		const Rule rule = rule_of("use tcp " + word + " * *:*");

		EXPECT_EQ(rule.server, server) << word;
		EXPECT_EQ(rule.client, client) << word;
	}
}

TEST(Parser, KeepsTheProgramsPattern)
{
	for (const char *pattern : {"*", "sshd", "[a-m]*", "x?y", "a\\*b", "sdp-run", "a#b"}) {
		const std::string text = std::string("use tcp * ") + pattern + " *:*";
		Parser parser(text);

		ASSERT_EQ(parser.next(), Parser::Step::rule);
		EXPECT_EQ(parser.rule().program, pattern);
	}
}

TEST(Parser, ReadsPorts)
{
	EXPECT_TRUE(matches("*:*", "10.0.0.1", 0));
	EXPECT_TRUE(matches("*:*", "10.0.0.1", 65535));
	EXPECT_TRUE(matches("*:80", "10.0.0.1", 80));
	EXPECT_FALSE(matches("*:80", "10.0.0.1", 81));
	EXPECT_FALSE(matches("*:80", "10.0.0.1", 79));
	EXPECT_TRUE(matches("*:0-65535", "10.0.0.1", 7));
	EXPECT_TRUE(matches("*:80-90", "10.0.0.1", 80));
	EXPECT_TRUE(matches("*:80-90", "10.0.0.1", 90));
	EXPECT_FALSE(matches("*:80-90", "10.0.0.1", 91));
	EXPECT_FALSE(matches("*:80-90", "10.0.0.1", 79));
}

TEST(Parser, ReadsIpv4)
{
	EXPECT_TRUE(matches("10.0.0.1:1", "10.0.0.1", 1));
	EXPECT_FALSE(matches("10.0.0.1:1", "10.0.0.2", 1));
	EXPECT_TRUE(matches("10.0.0.1:1", "::ffff:10.0.0.1", 1));
	EXPECT_TRUE(matches("10.0.0.0/8:1", "10.255.0.1", 1));
	EXPECT_FALSE(matches("10.0.0.0/8:1", "11.0.0.1", 1));
	EXPECT_TRUE(matches("10.1.2.3/8:1", "10.255.0.1", 1));
	EXPECT_TRUE(matches("10.0.0.0/9:1", "10.127.0.1", 1));
	EXPECT_FALSE(matches("10.0.0.0/9:1", "10.128.0.1", 1));
	EXPECT_TRUE(matches("0.0.0.0/0:1", "10.128.0.1", 1));
	EXPECT_FALSE(matches("0.0.0.0/0:1", "fd00::1", 1));
	EXPECT_TRUE(matches("10.0.0.1/32:1", "10.0.0.1", 1));
	EXPECT_FALSE(matches("10.0.0.1/32:1", "10.0.0.0", 1));
}

TEST(Parser, ReadsIpv6WithAndWithoutBrackets)
{
	for (const char *target : {"fd00::1:80", "[fd00::1]:80", "[FD00::1]:80", "[fd00::1/128]:80",
				   "[fd00::1]/128:80", "fd00::1/128:80"}) {
		EXPECT_TRUE(matches(target, "fd00::1", 80)) << target;
		EXPECT_FALSE(matches(target, "fd00::2", 80)) << target;
		EXPECT_FALSE(matches(target, "fd00::1", 81)) << target;
	}
	for (const char *target : {"fd00::/15:*", "[fd00::]/15:*", "[fd00::/15]:*"}) {
		EXPECT_TRUE(matches(target, "fd00::1", 80)) << target;
		EXPECT_TRUE(matches(target, "fd01::1", 80)) << target;
		EXPECT_FALSE(matches(target, "fd02::1", 80)) << target;
		EXPECT_FALSE(matches(target, "10.0.0.1", 80)) << target;
	}
	EXPECT_TRUE(matches(":::*", "::", 80));
	EXPECT_TRUE(matches("::1:*", "::1", 80));
	EXPECT_TRUE(matches("[::]/0:*", "fd00::1", 80));
	EXPECT_FALSE(matches("[::]/0:*", "10.0.0.1", 80));
	EXPECT_TRUE(matches("[::ffff:10.0.0.0]/104:*", "10.9.9.9", 80));
	EXPECT_FALSE(matches("[::ffff:10.0.0.0]/104:*", "11.9.9.9", 80));
}

TEST(Parser, SkipsBlanksAndComments)
{
	const auto rules = rules_of("\n   \t\r\n# use tcp x\n  #\n"
				    "\tuse  tcp\tserver * *:1 # that\r\n"
				    "#\n\nuse sdp client y *:2\n\n");

	ASSERT_EQ(rules.size(), 2U);
	EXPECT_EQ(rules[0].line, 5U);
	EXPECT_EQ(rules[0].first_port, 1);
	EXPECT_EQ(rules[1].line, 8U);
	EXPECT_EQ(rules[1].transport, Transport::sdp);
}

TEST(Parser, ReadsNothing)
{
	EXPECT_TRUE(rules_of("").empty());
	EXPECT_TRUE(rules_of("\n").empty());
	EXPECT_TRUE(rules_of("#").empty());
	EXPECT_EQ(rules_of("use tcp * * *:*").size(), 1U); // without a newline at the end
}

TEST(Parser, ReadsWhereToLog)
{
	using Destination = LogSettings::Destination;
	Parser nothing("# log min-level 1"), level("log min-level 3\n"),
		syslog("log destination syslog"), file("log destination file sdp.log min-level 7"),
		both_lines(
			"log destination syslog min-level 2\nlog min-level 0 destination stderr");

	for (Parser *parser : {&nothing, &level, &syslog, &file, &both_lines})
		EXPECT_EQ(parser->next(), Parser::Step::end);
	EXPECT_EQ(nothing.log().min_level, 9U);
	EXPECT_EQ(nothing.log().destination, Destination::standard_error);
	EXPECT_EQ(level.log().min_level, 3U);
	EXPECT_EQ(syslog.log().destination, Destination::syslog);
	EXPECT_EQ(syslog.log().min_level, 9U);
	EXPECT_EQ(file.log().destination, Destination::file);
	EXPECT_EQ(file.log().file, "sdp.log");
	EXPECT_EQ(file.log().min_level, 7U);
	EXPECT_EQ(both_lines.log().destination, Destination::standard_error);
	EXPECT_EQ(both_lines.log().min_level, 0U);
}

// The file that came with every libsdp of old.
TEST(Parser, ReadsTheFileThatWasShipped)
{
	const std::string text = "# libsdp.conf - libsdp configuration file\n"
				 "log min-level 9 destination file libsdp.log\n"
				 "use both server * *:*\n"
				 "use both client * *:*\n";
	Parser parser(text);

	EXPECT_EQ(parser.next(), Parser::Step::rule);
	EXPECT_EQ(parser.log().file, "libsdp.log");
	EXPECT_EQ(parser.next(), Parser::Step::rule);
	EXPECT_EQ(parser.next(), Parser::Step::end);
}

TEST(Parser, SaysWhereAndWhatItExpected)
{
	const std::string ports = "a port from 0 to 65535";
	const std::pair<std::string, std::string> cases[] = {
		{"use tcp server * *:*\nuser", "2:1: 'use' or 'log', 'user'"},
		{"match both", "1:1: 'use' or 'log', 'match'"},
		{"  Use", "1:3: 'use' or 'log', 'Use'"},
		{"use", "1:4: 'tcp', 'sdp' or 'both', ''"},
		{"use  udp", "1:6: 'tcp', 'sdp' or 'both', 'udp'"},
		{"use tcp", "1:8: 'server', 'listen', 'client', 'connect' or '*', ''"},
		{"use tcp peer", "1:9: 'server', 'listen', 'client', 'connect' or '*', 'peer'"},
		{"use tcp server # x", "1:16: the name of a program, or a pattern, ''"},
		{"use tcp server x", "1:17: ADDRESS[/PREFIX]:PORT, ''"},
		{"use tcp server x *", "1:18: ADDRESS[/PREFIX]:PORT, '*'"},
		{"use tcp server x [fd00::1]", "1:18: ADDRESS[/PREFIX]:PORT, '[fd00::1]'"},
		{"use tcp server x host:1",
		 "1:18: an IPv4 address, an IPv6 address or '*', 'host'"},
		{"use tcp server x :1", "1:18: an IPv4 address, an IPv6 address or '*', ''"},
		{"use tcp server x 1.2.3:1",
		 "1:18: an IPv4 address, an IPv6 address or '*', '1.2.3'"},
		{"use tcp server x 1.2.3.4/:1", "1:26: a prefix length from 0 to 32, ''"},
		{"use tcp server x 1.2.3.4/33:1", "1:26: a prefix length from 0 to 32, '33'"},
		{"use tcp server x fd00::/129:1", "1:25: a prefix length from 0 to 128, '129'"},
		{"use tcp server x [fd00::]/-1:1", "1:27: a prefix length from 0 to 128, '-1'"},
		{"use tcp server x [1.2.3.4]:1", "1:19: an IPv6 address, '1.2.3.4'"},
		{"use tcp server x [fd00::1:1", "1:26: ']' after the address, ''"},
		{"use tcp server x [fd00::1]x:1", "1:27: ':' and a port, 'x'"},
		{"use tcp server x [fd00::/8]/8:1", "1:28: ':' and a port, '/8'"},
		{"use tcp server x *:", "1:20: " + ports + " or '*', ''"},
		{"use tcp server x *:65536", "1:20: " + ports + " or '*', '65536'"},
		{"use tcp server x *:http", "1:20: " + ports + " or '*', 'http'"},
		{"use tcp server x *:-1", "1:20: " + ports + " or '*', ''"},
		{"use tcp server x *:1-", "1:22: " + ports + ", ''"},
		{"use tcp server x *:1-2-3", "1:22: " + ports + ", '2-3'"},
		{"use tcp server x *:*-2", "1:20: " + ports + " or '*', '*'"},
		{"use tcp server x *:2-1", "1:22: a last port that is not below the first, '1'"},
		{"use tcp server x *:1 *", "1:22: the end of the line, '*'"},
		{"log", "1:4: 'destination' or 'min-level', ''"},
		{"log level 1", "1:5: 'destination' or 'min-level', 'level'"},
		{"log min-level", "1:14: a level from 0 to 9, ''"},
		{"log min-level 10", "1:15: a level from 0 to 9, '10'"},
		{"log min-level -1", "1:15: a level from 0 to 9, '-1'"},
		{"log destination", "1:16: 'stderr', 'syslog' or 'file', ''"},
		{"log destination stdout", "1:17: 'stderr', 'syslog' or 'file', 'stdout'"},
		{"log destination file", "1:21: the name of a file, ''"},
		{"log destination syslog x", "1:24: 'destination' or 'min-level', 'x'"},
	};

	for (const auto &[text, problem] : cases)
		EXPECT_EQ(problem_with(text), problem) << text;
}

TEST(Parser, RefusesNamesThatAreTooLong)
{
	EXPECT_EQ(rule_of("use tcp * " + std::string(255, 'x') + " *:*").program.size(), 255U);
	EXPECT_EQ(problem_with("use tcp * " + std::string(256, 'x') + " *:*"),
		  "1:11: a name of no more than 255 characters, '" + std::string(256, 'x') + "'");
}

TEST(Parser, RefusesBytesThatEndStrings)
{
	using namespace std::string_literals;

	EXPECT_EQ(problem_with("use tcp * x 10.0.0.1\0:80"s),
		  "1:13: an IPv4 address, an IPv6 address or '*', '10.0.0.1\0'"s);
}

TEST(Parser, GoesOnWithTheNextLine)
{
	const std::string text = "use udp\nuse tcp * * *:1\nlog\nuse sdp * * *:2\n";
	Parser parser(text);

	EXPECT_EQ(parser.next(), Parser::Step::error);
	EXPECT_EQ(parser.next(), Parser::Step::rule);
	EXPECT_EQ(parser.rule().line, 2U);
	EXPECT_EQ(parser.next(), Parser::Step::error);
	EXPECT_EQ(parser.error().line, 3U);
	EXPECT_EQ(parser.next(), Parser::Step::rule);
	EXPECT_EQ(parser.rule().line, 4U);
	EXPECT_EQ(parser.next(), Parser::Step::end);
	EXPECT_EQ(parser.next(), Parser::Step::end);
}

} // namespace
