// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * libsdp.so in programs, with a libc socket() behind it that answers as the
 * test wants: which calls it makes, and what the program sees.
 */
#include "child.h"
#include "probe.h"

#include <cerrno>
#include <ostream>
#include <string>
#include <tuple>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace
{

constexpr int protocol_sdp = 259;

struct Call {
	int domain;
	int type;
	int protocol;

	[[nodiscard]] std::string text() const
	{
		return std::to_string(domain) + " " + std::to_string(type) + " " +
		       std::to_string(protocol);
	}

	friend void PrintTo(const Call &call, std::ostream *output)
	{
		*output << call.text();
	}

	[[nodiscard]] Call as_sdp() const
	{
		return {domain, type, protocol_sdp};
	}
};

constexpr Call tcp4{AF_INET, SOCK_STREAM, 0};

/** A program under libsdp.so and the mock: its report and the calls it made. */
struct Trace {
	std::string report;
	std::string calls;
};

struct Answers {
	int sdp = 0;
	int tcp = 0;
};

Trace run_mocked(const std::vector<std::string> &command, const Answers &answers)
{
	const child::Directory directory;
	const auto log = directory.path() / "calls";

	directory.create_file("calls", "");
	const auto outcome = child::run(command, {{"LD_PRELOAD", LIBSDP_SO ":" MOCK_SO},
						  {"MOCK_LOG", log},
						  {"PROBE_LIBRARY", EARLY_LIBRARY},
						  {"MOCK_SDP", std::to_string(answers.sdp)},
						  {"MOCK_TCP", std::to_string(answers.tcp)}});

	EXPECT_EQ(outcome.status, 0);
	EXPECT_EQ(outcome.errors, "");
	return {.report = outcome.output, .calls = child::content_of(log)};
}

Trace probe_from(const std::string &place, const Call &call, const Answers &answers)
{
	return run_mocked({PROBE, place, std::to_string(call.domain), std::to_string(call.type),
			   std::to_string(call.protocol)},
			  answers);
}

/** What the probe says of an open socket, errno being as it was before. */
std::string opened(int domain, int type)
{
	return "opened " + std::to_string(probe::sentinel) + " " + std::to_string(domain) +
	       ((type & SOCK_NONBLOCK) != 0 ? " 1" : " 0") +
	       ((type & SOCK_CLOEXEC) != 0 ? " 1\n" : " 0\n");
}

std::string failed(int error)
{
	return "failed " + std::to_string(error) + " -1 0 0\n";
}

std::string times(int count, const std::string &text)
{
	std::string result;

	for (int i = 0; i < count; i++)
		result += text;
	return result;
}

class Converted : public testing::TestWithParam<std::tuple<int, int, int>>
{
protected:
	[[nodiscard]] static Call call()
	{
		const auto [domain, flags, protocol] = GetParam();

		return {domain, SOCK_STREAM | flags, protocol};
	}
};

TEST_P(Converted, OpensOneSdpSocketOfTheSameFamilyAndType)
{
	const Trace run = probe_from("main", call(), {});

	EXPECT_EQ(run.report, opened(AF_UNIX, call().type)); // the mock's answer to protocol 259
	EXPECT_EQ(run.calls, call().as_sdp().text() + "\n");
}

TEST_P(Converted, FallsBackOnTheSocketThatWasAskedFor)
{
	const Trace run = probe_from("main", call(), {.sdp = EAFNOSUPPORT});

	EXPECT_EQ(run.report, opened(call().domain, call().type));
	EXPECT_EQ(run.calls, call().as_sdp().text() + "\n" + call().text() + "\n");
}

INSTANTIATE_TEST_SUITE_P(TcpSockets, Converted,
			 testing::Combine(testing::Values(AF_INET, AF_INET6),
					  testing::Values(0, +SOCK_NONBLOCK, +SOCK_CLOEXEC,
							  SOCK_NONBLOCK | SOCK_CLOEXEC),
					  testing::Values(0, +IPPROTO_TCP)));

class Untouched : public testing::TestWithParam<Call>
{
};

TEST_P(Untouched, ReachesLibcOnceAsItIs)
{
	// Whatever the kernel makes of it (some need privileges), it gets this.
	EXPECT_EQ(probe_from("main", GetParam(), {.sdp = EAFNOSUPPORT}).calls,
		  GetParam().text() + "\n");
}

INSTANTIATE_TEST_SUITE_P(
	OtherSockets, Untouched,
	testing::Values(Call{AF_UNIX, SOCK_STREAM, 0}, Call{AF_INET, SOCK_DGRAM, 0},
			Call{AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP},
			Call{AF_INET, SOCK_RAW, IPPROTO_TCP}, Call{AF_INET, SOCK_SEQPACKET, 0},
			Call{AF_INET, SOCK_STREAM, IPPROTO_SCTP}, Call{AF_INET, SOCK_STREAM, -1},
			Call{AF_INET, SOCK_STREAM | 0x10, 0}, Call{AF_NETLINK, SOCK_RAW, 0},
			Call{AF_PACKET, SOCK_RAW, 0}, Call{AF_UNSPEC, SOCK_STREAM, 0},
			Call{-1, SOCK_STREAM, 0}, Call{27, SOCK_STREAM, 0},
			Call{AF_INET, SOCK_STREAM, protocol_sdp}));

TEST(UntouchedSocket, KeepsItsResultAndErrno)
{
	EXPECT_EQ(probe_from("main", {AF_UNIX, SOCK_STREAM, 0}, {}).report,
		  opened(AF_UNIX, SOCK_STREAM));
	EXPECT_EQ(probe_from("main", {AF_INET, SOCK_DGRAM, 0}, {.tcp = EMFILE}).report,
		  failed(EMFILE));
	EXPECT_EQ(probe_from("main", {AF_INET, SOCK_STREAM, protocol_sdp}, {.sdp = EAFNOSUPPORT})
			  .report,
		  failed(EAFNOSUPPORT));
}

class Refusal : public testing::TestWithParam<int>
{
};

TEST_P(Refusal, LeavesTheProgramOnTcp)
{
	const Trace run = probe_from("main", tcp4, {.sdp = GetParam()});

	EXPECT_EQ(run.report, opened(AF_INET, SOCK_STREAM));
	EXPECT_EQ(run.calls, tcp4.as_sdp().text() + "\n" + tcp4.text() + "\n");
}

INSTANTIATE_TEST_SUITE_P(Errors, Refusal,
			 testing::Values(EAFNOSUPPORT, ESOCKTNOSUPPORT, EPROTONOSUPPORT, EPERM,
					 EACCES, ENOSYS, EINVAL, EPROTOTYPE, EOPNOTSUPP));

class Shortage : public testing::TestWithParam<int>
{
};

TEST_P(Shortage, IsReportedWithoutASecondTry)
{
	const Trace run = probe_from("main", tcp4, {.sdp = GetParam()});

	EXPECT_EQ(run.report, failed(GetParam()));
	EXPECT_EQ(run.calls, tcp4.as_sdp().text() + "\n");
}

INSTANTIATE_TEST_SUITE_P(Errors, Shortage, testing::Values(EMFILE, ENFILE, ENOMEM, ENOBUFS));

TEST(Fallback, ReportsTheErrorOfTcpIfThatFailsToo)
{
	EXPECT_EQ(probe_from("main", tcp4, {.sdp = EAFNOSUPPORT, .tcp = EACCES}).report,
		  failed(EACCES));
}

class Place : public testing::TestWithParam<const char *>
{
};

TEST_P(Place, ConvertsAndFallsBack)
{
	const Trace sdp = probe_from(GetParam(), tcp4, {});
	const Trace tcp = probe_from(GetParam(), tcp4, {.sdp = EAFNOSUPPORT});

	EXPECT_EQ(sdp.report, opened(AF_UNIX, SOCK_STREAM));
	EXPECT_EQ(sdp.calls, tcp4.as_sdp().text() + "\n");
	EXPECT_EQ(tcp.report, opened(AF_INET, SOCK_STREAM));
	EXPECT_EQ(tcp.calls, tcp4.as_sdp().text() + "\n" + tcp4.text() + "\n");
}

INSTANTIATE_TEST_SUITE_P(Program, Place, testing::Values("main", "signal", "fork", "dlopen"));

// The descriptor belongs to the child that is gone; only its errno is left.
TEST(VforkChild, ConvertsAndFallsBack)
{
	const std::string report = "opened " + std::to_string(probe::sentinel) + "\n";
	const Trace sdp = probe_from("vfork", tcp4, {});
	const Trace tcp = probe_from("vfork", tcp4, {.sdp = EAFNOSUPPORT});

	EXPECT_EQ(sdp.report, report);
	EXPECT_EQ(sdp.calls, tcp4.as_sdp().text() + "\n");
	EXPECT_EQ(tcp.report, report);
	EXPECT_EQ(tcp.calls, tcp4.as_sdp().text() + "\n" + tcp4.text() + "\n");
}

TEST(Threads, ConvertAtTheSameTime)
{
	constexpr int sockets = 8 * 25;
	const Trace run = probe_from("threads", tcp4, {});

	EXPECT_EQ(run.report, times(sockets, opened(AF_UNIX, SOCK_STREAM)));
	EXPECT_EQ(run.calls, times(sockets, tcp4.as_sdp().text() + "\n"));
}

// The sanitizer's runtime is a part of the program, in front of every library,
// and has its own allocator.
TEST(SanitizedProgram, ConvertsAndFallsBack)
{
	for (const char *place : {"main", "signal", "fork"}) {
		const std::vector<std::string> command = {PROBE_ADDRESS, place, "2", "1", "0"};
		const Trace sdp = run_mocked(command, {});
		const Trace tcp = run_mocked(command, {.sdp = EAFNOSUPPORT});

		EXPECT_EQ(sdp.report, opened(AF_UNIX, SOCK_STREAM)) << place;
		EXPECT_EQ(sdp.calls, tcp4.as_sdp().text() + "\n") << place;
		EXPECT_EQ(tcp.report, opened(AF_INET, SOCK_STREAM)) << place;
		EXPECT_EQ(tcp.calls, tcp4.as_sdp().text() + "\n" + tcp4.text() + "\n") << place;
	}
}

TEST(InterposingProgram, ConvertsAndFallsBack)
{
	const Trace sdp = run_mocked({INTERPOSING_PROBE}, {});
	const Trace tcp = run_mocked({INTERPOSING_PROBE}, {.sdp = EAFNOSUPPORT});

	EXPECT_EQ(sdp.report, opened(AF_UNIX, SOCK_STREAM));
	EXPECT_EQ(sdp.calls, tcp4.as_sdp().text() + "\n");
	EXPECT_EQ(tcp.report, opened(AF_INET, SOCK_STREAM));
	EXPECT_EQ(tcp.calls, tcp4.as_sdp().text() + "\n" + tcp4.text() + "\n");
}

TEST(BeforeMain, SocketsAreConverted)
{
	const Trace run = run_mocked({EARLY_PROBE}, {});

	EXPECT_EQ(run.report, times(3, opened(AF_UNIX, SOCK_STREAM)));
	EXPECT_EQ(run.calls, "10 1 259\n2 1 259\n2 1 259\n");
}

TEST(BeforeMain, SocketsFallBack)
{
	const Trace run = run_mocked({EARLY_PROBE}, {.sdp = EAFNOSUPPORT});

	EXPECT_EQ(run.report,
		  opened(AF_INET6, SOCK_STREAM) + times(2, opened(AF_INET, SOCK_STREAM)));
	EXPECT_EQ(run.calls, "10 1 259\n10 1 0\n2 1 259\n2 1 0\n2 1 259\n2 1 6\n");
}

TEST(Kernel, WithoutTheFamilyLeavesTheProgramOnTcp)
{
	const int fd = socket(AF_INET, SOCK_STREAM, protocol_sdp);

	if (fd >= 0) {
		close(fd);
		GTEST_SKIP() << "this kernel has SDP, so nothing is refused";
	}
	const auto outcome =
		child::run({PROBE, "main", "2", "1", "0"}, {{"LD_PRELOAD", LIBSDP_SO}});

	EXPECT_EQ(outcome.output, opened(AF_INET, SOCK_STREAM));
	EXPECT_EQ(outcome.errors, "");
	EXPECT_EQ(outcome.status, 0);
}

} // namespace
