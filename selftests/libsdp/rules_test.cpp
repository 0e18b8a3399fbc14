// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Which rule decides, and the addresses that it decides by.
 */
#include "parser.h"
#include "rules.h"

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>

namespace
{

using namespace libsdp;

std::vector<Rule> rules_of(const std::string &text)
{
	Parser parser(text);
	std::vector<Rule> rules;

	while (parser.next() == Parser::Step::rule)
		rules.push_back(parser.rule());
	return rules;
}

Endpoint endpoint(const std::string &address, std::uint16_t port)
{
	return {.address = parse_address(address).value(), .port = port};
}

TEST(Decide, TakesTheFirstRuleThatMatches)
{
	const auto rules = rules_of("use tcp client * 10.0.0.1:80\n"
				    "use sdp client * 10.0.0.0/24:*\n"
				    "use tcp server * *:80\n"
				    "use sdp * * *:81\n");
	const auto line = [&](Role role, const std::string &address, std::uint16_t port) {
		return decide(rules, role, endpoint(address, port)).line;
	};

	EXPECT_EQ(line(Role::client, "10.0.0.1", 80), 1U);
	EXPECT_EQ(line(Role::client, "10.0.0.1", 81), 2U);
	EXPECT_EQ(line(Role::server, "10.0.0.1", 80), 3U);
	EXPECT_EQ(line(Role::server, "10.0.0.1", 81), 4U);
	EXPECT_EQ(line(Role::client, "fd00::1", 81), 4U);
	EXPECT_EQ(line(Role::client, "fd00::1", 80), 0U);
	EXPECT_EQ(decide(rules, Role::client, endpoint("fd00::1", 80)).transport, Transport::both);
	EXPECT_EQ(decide(rules, Role::client, endpoint("10.0.0.1", 80)).transport, Transport::tcp);
	EXPECT_EQ(decide(rules, Role::client, endpoint("10.0.0.9", 80)).transport, Transport::sdp);
	EXPECT_EQ(decide({}, Role::server, endpoint("10.0.0.9", 80)).transport, Transport::both);
}

std::optional<Transport> always_of(const std::string &text)
{
	return always(rules_of(text));
}

TEST(Always, KnowsWhetherEverySocketGetsTheSame)
{
	EXPECT_EQ(always_of(""), Transport::both);
	EXPECT_EQ(always_of("use tcp * * *:*"), Transport::tcp);
	EXPECT_EQ(always_of("use tcp server * *:*\nuse tcp client * *:*"), Transport::tcp);
	EXPECT_EQ(always_of("use tcp server * *:1\nuse tcp * * *:0-65535"), Transport::tcp);
	EXPECT_EQ(always_of("use sdp * * *:*\nuse tcp * * *:*"), Transport::sdp);
	EXPECT_EQ(always_of("use both client * *:7"), Transport::both);
	EXPECT_EQ(always_of("use tcp server * *:*"), std::nullopt);
	EXPECT_EQ(always_of("use tcp server * *:*\nuse sdp client * *:*"), std::nullopt);
	EXPECT_EQ(always_of("use tcp * * *:1-65535"), std::nullopt);
	EXPECT_EQ(always_of("use tcp * * 0.0.0.0/0:*"), std::nullopt);
	EXPECT_EQ(always_of("use sdp * * *:1\nuse tcp * * *:*"), std::nullopt);
}

TEST(FitsProgram, IsFnmatch)
{
	EXPECT_TRUE(fits_program("*", "sshd"));
	EXPECT_TRUE(fits_program("ss?d", "sshd"));
	EXPECT_TRUE(fits_program("[a-z]*d", "sshd"));
	EXPECT_FALSE(fits_program("ssh", "sshd"));
	EXPECT_FALSE(fits_program("SSHD", "sshd"));
	EXPECT_TRUE(fits_program("*", ""));
	EXPECT_FALSE(fits_program(std::string(256, '*'), "x"));
}

TEST(Names, AreThoseOfTheFile)
{
	EXPECT_STREQ(name_of(Transport::tcp), "tcp");
	EXPECT_STREQ(name_of(Transport::sdp), "sdp");
	EXPECT_STREQ(name_of(Transport::both), "both");
	EXPECT_STREQ(name_of(Role::server), "server");
	EXPECT_STREQ(name_of(Role::client), "client");
}

TEST(EndpointText, IsTheUsualNotation)
{
	EXPECT_STREQ(text_of(endpoint("10.0.0.1", 80)).get(), "10.0.0.1:80");
	EXPECT_STREQ(text_of(endpoint("::ffff:10.0.0.1", 0)).get(), "10.0.0.1:0");
	EXPECT_STREQ(text_of(endpoint("fd00::1", 65535)).get(), "[fd00::1]:65535");
	EXPECT_STREQ(text_of(endpoint("1111:2222:3333:4444:5555:6666:7777:8888", 65535)).get(),
		     "[1111:2222:3333:4444:5555:6666:7777:8888]:65535");
}

/** An address in memory of exactly its size, for the sanitizer. */
class Stored
{
public:
	template <typename Name>
	Stored(const Name &name, socklen_t length)
		: bytes_(std::make_unique<char[]>(length)), length_(length)
	{
		std::memcpy(bytes_.get(), &name, length);
	}

	[[nodiscard]] std::optional<Endpoint> read() const
	{
		return endpoint_of(reinterpret_cast<const sockaddr *>(bytes_.get()), length_);
	}

private:
	std::unique_ptr<char[]> bytes_;
	socklen_t length_;
};

TEST(EndpointOf, ReadsWhatTheKernelReads)
{
	sockaddr_in in = {};
	sockaddr_in6 in6 = {};

	in.sin_family = AF_INET;
	in.sin_port = htons(80);
	in.sin_addr.s_addr = htonl(0x0a000001);
	in6.sin6_family = AF_INET6;
	in6.sin6_port = htons(81);
	in6.sin6_addr = in6addr_loopback;
	EXPECT_STREQ(text_of(Stored(in, sizeof(in)).read().value()).get(), "10.0.0.1:80");
	EXPECT_STREQ(text_of(Stored(in6, sizeof(in6)).read().value()).get(), "[::1]:81");
	EXPECT_STREQ(text_of(Stored(in6, 24).read().value()).get(), "[::1]:81");
	for (socklen_t length = 0; length < sizeof(in); length++)
		EXPECT_FALSE(Stored(in, length).read()) << length;
	for (socklen_t length = 0; length < 24; length++)
		EXPECT_FALSE(Stored(in6, length).read()) << length;
	EXPECT_FALSE(endpoint_of(nullptr, sizeof(in)));
	in.sin_family = AF_UNIX;
	EXPECT_FALSE(Stored(in, sizeof(in)).read());
	in.sin_family = AF_UNSPEC;
	EXPECT_FALSE(Stored(in, sizeof(in)).read());
}

TEST(ParseAddress, TakesAddressesOnly)
{
	EXPECT_TRUE(parse_address("0.0.0.0").has_value());
	EXPECT_TRUE(parse_address("::").has_value());
	for (const char *text : {"", "localhost", "1.2.3.4.5", "1.2.3.4 ", "[::1]", "::1%eth0",
				 "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb"})
		EXPECT_FALSE(parse_address(text).has_value()) << text;
}

} // namespace
