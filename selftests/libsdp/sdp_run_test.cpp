// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdp-run: what it does to the program's environment, its exit codes, and a
 * real client on a machine without AF_SDP.
 */
#include "child.h"
#include "http_server.h"

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace
{

namespace fs = std::filesystem;

std::string preload_seen_by_program(const child::Environment &environment)
{
	return child::run({SDP_RUN, "printenv", "LD_PRELOAD"}, environment).output;
}

TEST(SdpRun, PutsTheLibraryFirst)
{
	EXPECT_EQ(preload_seen_by_program({{"LD_PRELOAD", ""}}), LIBSDP_SO "\n");
	EXPECT_EQ(preload_seen_by_program({{"LD_PRELOAD", MOCK_SO}, {"MOCK_LOG", "/dev/null"}}),
		  LIBSDP_SO ":" MOCK_SO "\n");
}

TEST(SdpRun, PassesArgumentsOn)
{
	const auto outcome = child::run({SDP_RUN, "-q", "printf", "<%s>", "a b", "", "--", "-x"});

	EXPECT_EQ(outcome.output, "<a b><><--><-x>");
	EXPECT_EQ(outcome.errors, "");
	EXPECT_EQ(child::run({SDP_RUN, "--", "printf", "<%s>", "--help"}).output, "<--help>");
	EXPECT_EQ(child::run({SDP_RUN, "printf", "<%s>", "--help", "--config", "--"}).output,
		  "<--help><--config><-->");
	EXPECT_EQ(child::run({SDP_RUN, "--", "printf", "<%s>", "--", "--version"}).output,
		  "<--><--version>");
	EXPECT_EQ(child::run({SDP_RUN, "--", "--version"}).status, 127);
}

TEST(SdpRun, ExitsAsTheProgramDoes)
{
	EXPECT_EQ(child::run({SDP_RUN, "true"}).status, 0);
	EXPECT_EQ(child::run({SDP_RUN, "sh", "-c", "exit 42"}).status, 42);
	EXPECT_EQ(child::run({SDP_RUN, "sh", "-c", "kill -TERM $$"}).status, 128 + 15);
}

TEST(SdpRun, SaysWhyAProgramDoesNotStart)
{
	const auto missing = child::run({SDP_RUN, "/nonexistent/program"});
	const auto directory = child::run({SDP_RUN, "/"});

	EXPECT_EQ(missing.status, 127);
	EXPECT_EQ(missing.errors, "sdp-run: /nonexistent/program: No such file or directory\n");
	EXPECT_EQ(directory.status, 126);
	EXPECT_EQ(directory.errors, "sdp-run: /: Permission denied\n");
}

// Nobody to say something to is no reason to do anything else.
TEST(SdpRun, NeedsNoStandardError)
{
	for (const char *nobody : {"2>&-", "2>/dev/full"}) {
		const auto status = [&](const char *program) {
			return child::run({"sh", "-c",
					   std::string("unset LIBSDP_TOLD; exec ") + SDP_RUN + " " +
						   program + " " + nobody})
				.status;
		};

		EXPECT_EQ(status("sh -c 'exit 42'"), 42) << nobody;
		EXPECT_EQ(status("/nonexistent/program"), 127) << nobody;
		EXPECT_EQ(status("--frobnicate"), 125) << nobody;
	}
}

TEST(SdpRun, RefusesWrongArguments)
{
	const auto none = child::run({SDP_RUN});
	const auto unknown = child::run({SDP_RUN, "--frobnicate", "true"});

	EXPECT_EQ(none.status, 125);
	EXPECT_EQ(none.errors, "sdp-run: which program? (see sdp-run --help)\n");
	EXPECT_EQ(child::run({SDP_RUN, "--"}).status, 125);
	EXPECT_EQ(unknown.status, 125);
	EXPECT_EQ(unknown.errors, "sdp-run: unknown option '--frobnicate' (see sdp-run --help)\n");
}

TEST(SdpRun, ExplainsItself)
{
	const auto help = child::run({SDP_RUN, "--help"});

	EXPECT_EQ(help.status, 0);
	EXPECT_NE(help.output.find("Usage: sdp-run "), std::string::npos) << help.output;
	EXPECT_TRUE(child::run({SDP_RUN, "--version"}).output.starts_with("sdp-run "));
}

TEST(SdpRun, FailsWithoutTheLibrary)
{
	const child::Directory directory;
	const fs::path lone = directory.path() / "sdp-run";

	if (fs::exists(SDP_LIBRARY_DIR "/libsdp.so.1"))
		GTEST_SKIP() << "libsdp.so.1 is installed in " SDP_LIBRARY_DIR;
	fs::copy_file(SDP_RUN, lone);
	const auto outcome = child::run({lone, "true"});

	EXPECT_EQ(outcome.status, 125);
	EXPECT_EQ(outcome.errors,
		  "sdp-run: libsdp.so.1 is neither beside this program nor in " SDP_LIBRARY_DIR
		  "\n");
}

TEST(SdpRun, RefusesAPathThatThePreloadListCannotHold)
{
	for (const char *name : {"with blank-", "with:colon-"}) {
		const child::Directory directory(name);

		fs::copy_file(SDP_RUN, directory.path() / "sdp-run");
		fs::copy_file(LIBSDP_SO, directory.path() / "libsdp.so.1");
		const auto outcome = child::run({directory.path() / "sdp-run", "true"});

		EXPECT_EQ(outcome.status, 125) << name;
		EXPECT_EQ(outcome.errors,
			  "sdp-run: " + (directory.path() / "libsdp.so.1").native() +
				  ": LD_PRELOAD cannot express a path with a blank "
				  "or a colon\n");
	}
}

std::size_t lines_about_tcp(const child::Outcome &outcome)
{
	const std::string phrase = "no SDP sockets here";
	std::size_t count = 0;

	for (std::size_t at = outcome.errors.find(phrase); at != std::string::npos;
	     at = outcome.errors.find(phrase, at + 1))
		count++;
	return count;
}

// Of a tree of processes, two of which open sockets, and one of which runs another
// sdp-run; where SDP sockets fail with an error.
child::Outcome tree(const std::vector<std::string> &options, const std::string &rules, int error)
{
	const child::Directory directory;
	const std::string open = "bash -c ': > /dev/tcp/127.0.0.1/1'; ";
	std::vector<std::string> command = {SDP_RUN};

	directory.create_file("libsdp.conf", rules);
	command.insert(command.end(), options.begin(), options.end());
	command.insert(command.end(), {"sh", "-c", open + open + SDP_RUN " " + open + "exit 42"});
	return child::run(command, {{"LD_PRELOAD", MOCK_SO},
				    {"MOCK_LOG", "/dev/null"},
				    {"MOCK_SDP", std::to_string(error)},
				    {"LIBSDP_CONFIG_FILE", directory.path() / "libsdp.conf"}});
}

TEST(SdpRunOnTcp, SaysSoOnceForAllProcesses)
{
	const auto outcome = tree({}, "log min-level 0\n", EPROTONOSUPPORT);

	EXPECT_EQ(outcome.status, 42);
	EXPECT_EQ(outcome.errors.find("sdp-run: no SDP sockets here (Protocol not supported): sh "
				      "uses TCP (try: modprobe sdp)\n"),
		  0U)
		<< outcome.errors;
	EXPECT_EQ(lines_about_tcp(outcome), 1U) << outcome.errors;
}

TEST(SdpRunOnTcp, KnowsWhatIsNotTheModule)
{
	EXPECT_EQ(
		tree({}, "", EACCES)
			.errors.find(
				"sdp-run: no SDP sockets here (Permission denied): sh uses TCP\n"),
		0U);
	EXPECT_EQ(lines_about_tcp(tree({}, "", 0)), 0U);
	EXPECT_EQ(lines_about_tcp(tree({}, "", EMFILE)), 0U);
}

TEST(SdpRunOnTcp, IsSilentIfAskedToBe)
{
	EXPECT_EQ(lines_about_tcp(tree({"-q"}, "log min-level 0\n", EPROTONOSUPPORT)), 0U);
	EXPECT_EQ(lines_about_tcp(tree({"--quiet"}, "", EPROTONOSUPPORT)), 0U);
}

TEST(SdpRunOnTcp, IsSilentWhereARuleSaysSo)
{
	EXPECT_EQ(lines_about_tcp(tree({}, "use tcp * * *:*\n", EPROTONOSUPPORT)), 0U);
	EXPECT_EQ(lines_about_tcp(tree({}, "use tcp * bash *:*\n", EPROTONOSUPPORT)), 1U);
	EXPECT_EQ(lines_about_tcp(tree({}, "use tcp server * *:*\n", EPROTONOSUPPORT)), 1U);
}

// Every byte depends on its place, with a period that no buffer size has.
std::string pattern(std::size_t size)
{
	std::string bytes(size, '\0');
	std::uint32_t state = 1;

	for (char &byte : bytes) {
		state = state * 1664525 + 1013904223;
		byte = static_cast<char>(state >> 24);
	}
	return bytes;
}

class Curl : public testing::Test
{
protected:
	void SetUp() override
	{
		if (child::run({"sh", "-c", "command -v curl"}).status != 0)
			GTEST_SKIP() << "curl is not installed";
	}
};

void expect_download(const child::Environment &environment, const std::string &told)
{
	const std::string body = pattern(1 << 20);
	const HttpServer server(body);
	const auto outcome = child::run({SDP_RUN, "curl", "--silent", "--show-error", "--noproxy",
					 "*", "--max-time", "30", server.url()},
					environment);

	EXPECT_EQ(outcome.status, 0);
	EXPECT_EQ(outcome.errors, told);
	EXPECT_TRUE(outcome.output == body)
		<< "other bytes, " << outcome.output.size() << " of them";
}

TEST_F(Curl, StaysOnTcpWhereTheKernelHasNoSdp)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 259);

	if (fd >= 0) {
		close(fd);
		GTEST_SKIP() << "this kernel has SDP";
	}
	expect_download({}, "sdp-run: no SDP sockets here (Protocol not supported): curl uses TCP "
			    "(try: modprobe sdp)\n");
}

TEST_F(Curl, StaysOnTcpWhereSdpIsRefused)
{
	const child::Directory directory;
	const auto log = directory.path() / "calls";

	directory.create_file("calls", "");
	expect_download(
		{{"LD_PRELOAD", MOCK_SO}, {"MOCK_LOG", log}, {"MOCK_SDP", std::to_string(EACCES)}},
		"sdp-run: no SDP sockets here (Permission denied): curl uses TCP\n");
	EXPECT_NE(child::content_of(log).find("2 1 259\n2 1 6\n"), std::string::npos);
}

} // namespace
