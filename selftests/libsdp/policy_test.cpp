// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Rules as sdp-bpf gives them to the kernel: what is translated, what is refused, and
 * that they decide as libsdp does.
 */
#include "match.h"
#include "parser.h"
#include "pattern.h"
#include "policy.h"
#include "rules.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <fnmatch.h>
#include <gtest/gtest.h>

namespace
{

using libsdp::Role;
using libsdp::Rule;
using libsdp::Transport;
using sdpbpf::Pattern;
using sdpbpf::pattern_of;

std::vector<std::string> errors_of(const std::string &text)
{
	sdpbpf::Errors errors;

	(void)sdpbpf::policy_of("f", text, errors);
	return errors;
}

std::string error_of(const std::string &text)
{
	const auto errors = errors_of(text);

	EXPECT_EQ(errors.size(), 1U) << text;
	return errors.empty() ? "" : errors.front();
}

sdpbpf::Policy policy_of(const std::string &text)
{
	sdpbpf::Errors errors;
	auto policy = sdpbpf::policy_of("f", text, errors);

	EXPECT_EQ(errors, sdpbpf::Errors{}) << text;
	return policy;
}

/** A name as the kernel has it. */
struct Name {
	char bytes[SDP_BPF_NAME_SIZE] = {};

	explicit Name(const std::string &text)
	{
		std::memcpy(bytes, text.data(), std::min(text.size(), sizeof(bytes) - 1));
	}
};

bool fits(const Pattern &pattern, const std::string &name)
{
	sdp_bpf_rule rule{};

	std::ranges::copy(pattern.step, rule.step);
	rule.stay = pattern.stay;
	rule.end = pattern.end();
	return sdp_bpf_fits_program(&rule, Name(name).bytes) != 0;
}

const std::vector<std::string> names{
	"",	"a",	 "b",	     "ab",  "abc", "aab",   "aaab",    "sshd",
	"ssh",	"SSHD",	 "a-b",	     "a]b", "a*b", "a?b",   "[a",      "a[b",
	"\\",	"a\\b",	 "^",	     "!",   "-",   "a.b",   ".a",      "a/b",
	"\xe4", "a\xff", "postgres", "x y", "]",   "abcab", "python3", "123456789012345"};

TEST(Pattern, FitsWhatFnmatchFits)
{
	for (const char *text :
	     {"*",	"",	  "a",		 "?",		"??",	 "a*",		 "*a",
	      "*a*",	"a*b",	  "**",		 "*?*",		"a?b",	 "s?hd",	 "[ab]",
	      "[!ab]",	"[^ab]*", "[a-c]b",	 "*[a-c]",	"[]]",	 "[!]]",	 "a[]]b",
	      "a[*?]b", "[a-]*",  "[!-]",	 "\\*",		"a\\*b", "a\\?b",	 "\\a",
	      "a\\",	"\\\\",	  "]",		 "a]b",		"-",	 "python[0-9]*", "*aab",
	      "a*a*b",	"ab*ab",  "1234567890*", "[\x80-\xff]", "*\xff"}) {
		const Pattern pattern = pattern_of(text);

		for (const std::string &name : names)
			EXPECT_EQ(fits(pattern, name), fnmatch(text, name.c_str(), 0) == 0)
				<< "'" << text << "' and '" << name << "'";
	}
}

TEST(Pattern, ThatAreMadeUpFitWhatFnmatchFits)
{
	std::mt19937 random(20261129);
	const std::vector<std::string> places{"a", "b", "*", "?", "[ab]", "[!a]", "\\*"};
	const auto below = [&random](std::size_t limit) { return random() % limit; };

	for (int round = 0; round < 3000; round++) {
		std::string text, name;

		for (std::size_t i = below(8); i > 0; i--)
			text += places[below(places.size())];
		for (std::size_t i = below(9); i > 0; i--)
			name += "ab*"[below(3)];
		EXPECT_EQ(fits(pattern_of(text), name), fnmatch(text.c_str(), name.c_str(), 0) == 0)
			<< "'" << text << "' and '" << name << "'";
	}
}

TEST(Pattern, ThatTheKernelCannotFollowIsRefused)
{
	EXPECT_EQ(error_of("use tcp * 1234567890123456 *:*"),
		  "f:1: the kernel keeps 15 bytes of a program's name, and no more (try: the "
		  "first ones and '*')");
	EXPECT_EQ(error_of("use tcp * [[:alpha:]] *:*"),
		  "f:1: '[' and '\\' have no place within brackets here");
	EXPECT_EQ(error_of("use tcp * [\\]] *:*"),
		  "f:1: '[' and '\\' have no place within brackets here");
	EXPECT_EQ(error_of("use tcp * a[b *:*"), "f:1: ']' is missing behind '['");
	EXPECT_EQ(error_of("use tcp * [!] *:*"), "f:1: ']' is missing behind '['");
	EXPECT_NO_THROW((void)pattern_of("123456789012345"));
	EXPECT_NO_THROW((void)pattern_of("*1*2*3*4*5*6*7*8*9*0*1*2*3*4*5*"));
}

TEST(Pattern, TellsWhetherANameMayFitTwo)
{
	const auto both = [](const char *one, const char *other) {
		const bool answer = may_both_fit(pattern_of(one), pattern_of(other));

		EXPECT_EQ(answer, may_both_fit(pattern_of(other), pattern_of(one)));
		return answer;
	};

	EXPECT_TRUE(both("*", "*"));
	EXPECT_TRUE(both("*", "sshd"));
	EXPECT_TRUE(both("s*", "*d"));
	EXPECT_TRUE(both("a?c", "[a-b]bc"));
	EXPECT_TRUE(both("a*c", "ac"));
	EXPECT_FALSE(both("ssh", "sshd"));
	EXPECT_FALSE(both("a*", "b*"));
	EXPECT_FALSE(both("[ab]*", "[!ab]*"));
	EXPECT_FALSE(both("??", "???*"));
}

TEST(Policy, NamesFileAndLineOfWhatIsWrong)
{
	EXPECT_EQ(error_of("use both * * *:*"),
		  "f:1:5: expected 'tcp', 'sdp' or 'none', found 'both'");
	EXPECT_EQ(error_of("\nlog min-level 9\nuse tcp * * *:*"),
		  "f:2:1: expected 'use', found 'log'");
	EXPECT_EQ(errors_of("use tcp * * *:x\nuse udp\nuse tcp * * *:*"),
		  (std::vector<std::string>{
			  "f:1:15: expected a port from 0 to 65535 or '*', found 'x'",
			  "f:2:5: expected 'tcp', 'sdp' or 'none', found 'udp'"}));
}

TEST(Policy, HasAnAnswerToEveryQuestion)
{
	const std::string end = " open (try: end with 'use tcp * * *:*' or 'use sdp * * *:*')";

	EXPECT_EQ(errors_of(""), (std::vector<std::string>{"f:1: the rules leave a server" + end,
							   "f:1: the rules leave a client" + end}));
	EXPECT_EQ(errors_of("use sdp * a *:*\nuse sdp * ?* *:*\nuse sdp * * 0.0.0.0/0:*\n").size(),
		  2U);
	EXPECT_EQ(error_of("use sdp server * *:*\nuse sdp client * *:1-65535"),
		  "f:2: the rules leave a client" + end);
	EXPECT_EQ(errors_of("use sdp server * *:*\nuse none client ** *:0-65535"),
		  sdpbpf::Errors{});
}

TEST(Policy, GivesAProgramOneKindOfSockets)
{
	const std::string because =
		": a socket is made before its address is known, and a program has one kind";

	EXPECT_EQ(error_of("use sdp client * 10.0.0.0/8:*\nuse tcp * * *:*"),
		  "f:2: 'tcp' for a program that has 'sdp' by line 1" + because);
	EXPECT_EQ(error_of("use tcp server nginx *:*\nuse sdp * n* *:*\nuse tcp * * *:*"),
		  "f:2: 'sdp' for a program that has 'tcp' by line 1" + because);
	EXPECT_EQ(error_of("use sdp * a* *:1\nuse tcp * * *:*"),
		  "f:2: 'tcp' for a program that has 'sdp' by line 1" + because);
	for (const char *text :
	     {"use sdp * nginx *:*\nuse tcp * * *:*",
	      "use sdp server nginx *:*\nuse sdp client nginx *:*\nuse tcp * * *:*",
	      "use sdp * nginx *:80\nuse none * nginx *:*\nuse tcp * * *:*",
	      "use none * * *:1\nuse sdp * n* *:2\nuse sdp * n* *:*\nuse tcp * * *:*",
	      "use sdp * ssh *:1\nuse tcp * sshd *:*\nuse sdp * * *:*"})
		EXPECT_EQ(errors_of(text), sdpbpf::Errors{}) << text;
}

TEST(Policy, HasNoRuleThatIsNeverReached)
{
	const std::string because =
		": no use of a socket comes so far: rules above it decide about all of them";

	EXPECT_EQ(error_of("use tcp * * *:*\nuse none client * 10.0.0.1:*"), "f:2" + because);
	EXPECT_EQ(error_of("use sdp * * *:*\nuse tcp * * *:*"), "f:2" + because);
	EXPECT_EQ(error_of("use tcp server * *:*\nuse none client * *:*\nuse tcp * a *:1"),
		  "f:3" + because);
	EXPECT_EQ(error_of("use tcp * ng* *:*\nuse none * nginx *:80\nuse tcp * * *:*"),
		  "f:2" + because);
	EXPECT_EQ(error_of("use tcp * a? *:*\nuse none * a? *:80\nuse tcp * * *:*"),
		  "f:2" + because);
	for (const char *text : {"use tcp server * *:*\nuse none * a *:1\nuse tcp * * *:*",
				 "use tcp * nginx *:*\nuse none * ng* *:80\nuse tcp * * *:*",
				 "use none * a *:*\nuse tcp * * *:*\n"})
		EXPECT_EQ(errors_of(text), sdpbpf::Errors{}) << text;
}

TEST(Policy, HasSoManyRulesAndNoMore)
{
	std::string text;

	for (int i = 1; i < 256; i++)
		text += "use tcp * * *:" + std::to_string(i) + "\n";
	EXPECT_EQ(policy_of(text + "use tcp * * *:*\n").rules.size(), 256U);
	EXPECT_EQ(error_of(text + "use tcp * a *:*\nuse tcp * * *:*\n"),
		  "f:257: there are more than 256 rules");
}

TEST(Policy, TellsWhichRuleConverts)
{
	EXPECT_EQ(policy_of("use tcp * * *:*").converts, "");
	EXPECT_EQ(policy_of("use tcp * a *:*\n\nuse sdp * * *:*").converts, "f:3");
}

TEST(Policy, IsReadFromAFile)
{
	EXPECT_THROW((void)sdpbpf::read_policy("/nonexistent"), std::system_error);
	EXPECT_THROW((void)sdpbpf::read_policy("/dev/null"), std::runtime_error);
}

/** Asks both: the rules as the kernel has them, and libsdp. */
class SameQuestions
{
public:
	explicit SameQuestions(std::string text) : text_(std::move(text)), policy_(policy_of(text_))
	{
	}

	struct Answer {
		std::string transport;
		unsigned line = 0;

		bool operator==(const Answer &) const = default;
	};

	[[nodiscard]] Answer of_kernel(const std::string &program, std::optional<Role> role,
				       const libsdp::Endpoint &endpoint) const
	{
		sdp_bpf_question question{};
		const Name name(program);

		std::memcpy(question.program, name.bytes, sizeof(question.program));
		std::memcpy(question.address, endpoint.address.bytes.data(),
			    sizeof(question.address));
		question.port = endpoint.port;
		if (role)
			question.role = *role == Role::server ? SDP_BPF_SERVER : SDP_BPF_CLIENT;
		for (const sdp_bpf_rule &rule : policy_.rules)
			if (sdp_bpf_decides(&rule, &question) != 0)
				return {.transport = name_of(rule.transport), .line = rule.line};
		return {};
	}

	[[nodiscard]] Answer of_library(const std::string &program, Role role,
					const libsdp::Endpoint &endpoint) const
	{
		libsdp::Parser parser(text_, libsdp::Parser::Reader::kernel);
		std::vector<Rule> rules;

		while (parser.next() == libsdp::Parser::Step::rule)
			if (libsdp::fits_program(parser.rule().program, program.c_str()))
				rules.push_back(parser.rule());
		const auto decision = libsdp::decide(rules, role, endpoint);

		return {.transport = libsdp::name_of(decision.transport), .line = decision.line};
	}

private:
	static std::string name_of(unsigned transport)
	{
		return transport == SDP_BPF_TCP ? "tcp" : transport == SDP_BPF_SDP ? "sdp" : "none";
	}

	std::string text_;
	sdpbpf::Policy policy_;
};

const std::vector<std::string> files{
	"use tcp * * *:*",
	"use none client * 10.0.0.1:80\nuse sdp client * 10.0.0.0/24:*\nuse none server * *:80\n"
	"use sdp * * *:*",
	"use none * postgres 10.0.0.0/8:5432\nuse none * p* [fd00::]/64:5000-6000\n"
	"use tcp * postgres *:*\nuse sdp * * *:*",
	"use none client * 0.0.0.0/0:*\nuse tcp * * *:*",
	"use none client * ::/0:*\nuse tcp * * *:*",
	"use none server * [::ffff:10.0.0.0/104]:*\nuse none * * 10.0.0.1/31:1-80\nuse tcp * * *:*",
	"use none * * 10.128.0.0/9:*\nuse none * * fd00::/7:81-65535\nuse sdp * * *:*",
	"use none * ? *:0\nuse none connect [a-m]* *:*\nuse tcp listen n* *:*\nuse tcp * * *:*"};

const std::vector<std::string> programs{"postgres", "p", "nginx", "a", "", "abcdefghijklmno"};

std::vector<libsdp::Endpoint> endpoints()
{
	std::vector<libsdp::Endpoint> all;

	for (const char *address :
	     {"10.0.0.1", "10.0.0.0", "10.0.1.1", "10.128.0.1", "11.0.0.1", "0.0.0.0", "::", "::1",
	      "fd00::1", "fd00:0:0:1::", "fe00::", "::ffff:10.0.0.1", "ffff::ffff:10.0.0.1"})
		for (const std::uint16_t port : {0, 1, 80, 81, 5432, 6000, 65535})
			all.push_back({*libsdp::parse_address(address), port});
	return all;
}

/** Calls a function with each role and endpoint. */
template <typename Function> void for_each_use(const Function &function)
{
	for (const libsdp::Endpoint &endpoint : endpoints())
		for (const Role role : {Role::server, Role::client})
			function(role, endpoint);
}

TEST(SameQuestions, GetTheSameAnswers)
{
	for (const std::string &text : files) {
		const SameQuestions both(text);

		for (const std::string &program : programs)
			for_each_use([&](Role role, const libsdp::Endpoint &endpoint) {
				const auto kernel = both.of_kernel(program, role, endpoint);

				EXPECT_EQ(kernel, both.of_library(program, role, endpoint))
					<< text << "\n"
					<< program << " " << text_of(endpoint).get();
				EXPECT_NE(kernel.line, 0U);
			});
	}
}

// Which kind a program's sockets are is what libsdp would use, wherever that is allowed.
TEST(SameQuestions, AgreeOnTheKindOfASocketThatIsMade)
{
	for (const std::string &text : files) {
		const SameQuestions both(text);

		for (const std::string &program : programs) {
			const auto made = both.of_kernel(program, std::nullopt, {});

			for_each_use([&](Role role, const libsdp::Endpoint &endpoint) {
				const auto answer = both.of_library(program, role, endpoint);

				EXPECT_TRUE(answer.transport == "none" ||
					    answer.transport == made.transport)
					<< text << "\n"
					<< program << " " << text_of(endpoint).get();
			});
		}
	}
}

} // namespace
