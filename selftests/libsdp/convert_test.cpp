// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The decisions of libsdp, over every argument that the kernel knows.
 */
#include "convert.h"

#include <cerrno>
#include <set>
#include <tuple>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace
{

using Arguments = std::tuple<int, int, int>;

// Every call that is to be converted, written out.
const std::set<Arguments> convertible = {
	{AF_INET, SOCK_STREAM, 0},
	{AF_INET, SOCK_STREAM, IPPROTO_TCP},
	{AF_INET, SOCK_STREAM, IPPROTO_MPTCP},
	{AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0},
	{AF_INET, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_TCP},
	{AF_INET, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_MPTCP},
	{AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0},
	{AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP},
	{AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_MPTCP},
	{AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0},
	{AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP},
	{AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_MPTCP},
	{AF_INET6, SOCK_STREAM, 0},
	{AF_INET6, SOCK_STREAM, IPPROTO_TCP},
	{AF_INET6, SOCK_STREAM, IPPROTO_MPTCP},
	{AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0},
	{AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_TCP},
	{AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_MPTCP},
	{AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0},
	{AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP},
	{AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_MPTCP},
	{AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0},
	{AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP},
	{AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_MPTCP},
};

std::set<int> all_types()
{
	constexpr int unknown_flag = 0x10;
	std::set<int> types;

	for (int kind = -1; kind <= 0xf; kind++)
		for (int flags : {0, +SOCK_NONBLOCK, +SOCK_CLOEXEC, SOCK_NONBLOCK | SOCK_CLOEXEC})
			types.insert({kind | flags, kind | flags | unknown_flag});
	return types;
}

std::set<Arguments> accepted_of_all()
{
	std::set<Arguments> accepted;

	for (int domain = -1; domain <= AF_MAX; domain++)
		for (int type : all_types())
			for (int protocol = -1; protocol <= IPPROTO_MPTCP + 1; protocol++)
				if (libsdp::wants_tcp_stream({domain, type, protocol}))
					accepted.emplace(domain, type, protocol);
	return accepted;
}

TEST(Convert, AcceptsTcpStreamsAndNothingElse)
{
	EXPECT_EQ(accepted_of_all(), convertible);
}

TEST(Convert, ChangesTheProtocolOnly)
{
	for (const auto &[domain, type, protocol] : convertible) {
		const libsdp::SocketCall call = libsdp::converted({domain, type, protocol});

		EXPECT_EQ(call.domain, domain);
		EXPECT_EQ(call.type, type);
		EXPECT_EQ(call.protocol, 259);
	}
}

TEST(Convert, LeavesTcpOnlyWhenResourcesRanOut)
{
	std::set<int> reported;

	for (int error = 1; error < 4096; error++) // the range of errno in the kernel
		if (!libsdp::stays_on_tcp(error))
			reported.insert(error);
	EXPECT_EQ(reported, (std::set<int>{EMFILE, ENFILE, ENOMEM, ENOBUFS}));
}

} // namespace
