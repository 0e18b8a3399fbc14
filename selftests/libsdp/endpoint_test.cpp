// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdpstat: addresses as the kernel prints them, ranges, and the filter.
 */
#include "endpoint.h"
#include "filter.h"

#include <bit>
#include <string>

#include <gtest/gtest.h>

namespace
{

using namespace sdpstat;

// The kernel prints words in the byte order of the machine; the samples below
// are from one that has the least significant byte first.
static_assert(std::endian::native == std::endian::little, "write these samples for this machine");

Endpoint endpoint(std::string_view text)
{
	return parse_endpoint(text).value();
}

TEST(ParseEndpoint, ReadsIpv4)
{
	EXPECT_EQ(endpoint("0100007F:1F90").text(), "127.0.0.1:8080");
	EXPECT_EQ(endpoint("020200C0:FFFF").text(), "192.0.2.2:65535");
	EXPECT_EQ(endpoint("00000000:0000").text(), "0.0.0.0:*");
	EXPECT_EQ(endpoint("0100007F:1F90").family, Family::inet);
	EXPECT_EQ(endpoint("0100007F:1F90").port, 8080);
	EXPECT_EQ(endpoint("0100007F:1F90").address_text(), "127.0.0.1");
}

TEST(ParseEndpoint, ReadsIpv6)
{
	EXPECT_EQ(endpoint("B80D0120000000000000000001000000:0016").text(), "[2001:db8::1]:22");
	EXPECT_EQ(endpoint("00000000000000000000000000000000:0000").text(), "[::]:*");
	EXPECT_EQ(endpoint("0000000000000000FFFF0000020200C0:0FA0").text(),
		  "[::ffff:192.0.2.2]:4000");
	EXPECT_EQ(endpoint("000080FE00000000FF563412F0DEBC9A:0001").text(),
		  "[fe80::1234:56ff:9abc:def0]:1");
	EXPECT_EQ(endpoint("B80D0120000000000000000001000000:0016").family, Family::inet6);
}

TEST(ParseEndpoint, RejectsEverythingElse)
{
	for (const char *text : {"",
				 ":",
				 "0100007F",
				 "0100007F:",
				 "0100007F:1F90:",
				 "0100007F:1F90 ",
				 "0100007F:10000",
				 "0100007:1F90",
				 "0100007F0:1F90",
				 "010000-F:1F90",
				 "-100007F:1F90",
				 "0x00007F:1F90",
				 "0100007G:1F90",
				 "0100007F:1F9G",
				 "0100007F:-001",
				 "127.0.0.1:8080",
				 "B80D01200000000000000000:0016",
				 "B80D012000000000000000000100000G:0016",
				 "B80D0120000000000000000001000000",
				 "B80D01200000000000000000010000000:0016"})
		EXPECT_FALSE(parse_endpoint(text)) << "'" << text << "'";
}

bool contains(std::string_view range, std::string_view candidate)
{
	return endpoint(candidate).is_in(parse_prefix(range).value());
}

TEST(Prefix, ContainsItsAddresses)
{
	EXPECT_TRUE(contains("192.0.2.2", "020200C0:0001"));
	EXPECT_FALSE(contains("192.0.2.3", "020200C0:0001"));
	EXPECT_TRUE(contains("192.0.2.2", "0000000000000000FFFF0000020200C0:0001"));
	EXPECT_TRUE(contains("192.0.2.0/24", "020200C0:0001"));
	EXPECT_TRUE(contains("192.0.2.3/31", "020200C0:0001"));
	EXPECT_FALSE(contains("192.0.2.0/31", "020200C0:0001"));
	EXPECT_FALSE(contains("192.0.3.0/24", "020200C0:0001"));
	EXPECT_TRUE(contains("192.0.3.0/23", "020200C0:0001"));
	EXPECT_TRUE(contains("0.0.0.0/0", "020200C0:0001"));
	EXPECT_FALSE(contains("0.0.0.0/0", "B80D0120000000000000000001000000:0016"));
	EXPECT_TRUE(contains("2001:db8::1", "B80D0120000000000000000001000000:0016"));
	EXPECT_TRUE(contains("2001:db8::/127", "B80D0120000000000000000001000000:0016"));
	EXPECT_FALSE(contains("2001:db8::/128", "B80D0120000000000000000001000000:0016"));
	EXPECT_FALSE(contains("2001:db9::/32", "B80D0120000000000000000001000000:0016"));
	EXPECT_TRUE(contains("2001:db9::/31", "B80D0120000000000000000001000000:0016"));
}

// As ss(8) has it: what is mapped is so because the socket is one of IPv6.
TEST(Prefix, OfIpv6HasMappedAddressesOfIpv6Alone)
{
	for (const char *range : {"::/0", "::/80", "::/95"}) {
		EXPECT_FALSE(contains(range, "020200C0:0001")) << range;
		EXPECT_EQ(contains(range, "0000000000000000FFFF0000020200C0:0001"),
			  range != std::string_view("::/95"))
			<< range;
	}
	EXPECT_TRUE(contains("::/0", "B80D0120000000000000000001000000:0016"));
}

TEST(Prefix, RejectsWhatIsNone)
{
	for (const char *text :
	     {"", "/", "/24", "192.0.2", "192.0.2.0/", "192.0.2.0/33", "192.0.2.0/-1",
	      "192.0.2.0/2x", "2001:db8::/129", "localhost", "::1%lo", "[::1]", "192.0.2.256"})
		EXPECT_FALSE(parse_prefix(text)) << "'" << text << "'";
}

Socket socket_in(State state)
{
	Socket socket;

	socket.state = state;
	socket.local = endpoint("0100007F:1F90");
	socket.peer = endpoint("020200C0:C822");
	return socket;
}

TEST(Filter, SelectsByState)
{
	const Filter connections;
	Filter listening;
	Filter all;

	listening.states = bit(State::listen);
	all.states = all_states;
	for (int number = 1; number <= 255; number++) {
		const auto state = static_cast<State>(number);
		const Socket socket = socket_in(state);

		EXPECT_EQ(connections.accepts(socket, {}), number != 7 && number != 10) << number;
		EXPECT_EQ(listening.accepts(socket, {}), number == 10) << number;
		EXPECT_TRUE(all.accepts(socket, {})) << number;
	}
}

TEST(Filter, FindsPortAndAddressAtEitherEnd)
{
	const Socket socket = socket_in(State::established);
	Filter filter;

	for (const auto &[port, found] :
	     {std::pair{8080, true}, {51234, true}, {80, false}, {0, false}}) {
		filter.port = static_cast<std::uint16_t>(port);
		EXPECT_EQ(filter.accepts(socket, {}), found) << port;
	}
	filter.port = 8080;
	for (const auto &[range, found] : {std::pair{"127.0.0.0/8", true},
					   {"192.0.2.2", true},
					   {"192.0.2.1", false},
					   {"::/0", false}}) {
		filter.address = parse_prefix(range);
		EXPECT_EQ(filter.accepts(socket, {}), found) << range;
	}
	filter.address = parse_prefix("127.0.0.1");
	filter.port = 81;
	EXPECT_FALSE(filter.accepts(socket, {}));
}

} // namespace
