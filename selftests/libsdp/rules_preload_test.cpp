// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * libsdp.so with a configuration: what it tells the kernel of which socket, and
 * what the program sees of that, which is nothing.
 */
#include "child.h"
#include "probe.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace
{

namespace fs = std::filesystem;

const std::string ok = "ok " + std::to_string(probe::sentinel) + "\n";

struct Result {
	std::string report;
	std::string calls;
	std::string errors;
};

/** A place for libsdp.conf and the files of one run. */
class Preloaded : public testing::Test
{
protected:
	Result run(const std::string &config, const std::vector<std::string> &calls,
		   const child::Environment &environment = {})
	{
		directory_.create_file("libsdp.conf", config);
		child::Environment with = environment;

		with.insert({"LIBSDP_CONFIG_FILE", directory_.path() / "libsdp.conf"});
		return run_with(calls, with);
	}

	Result run_with(const std::vector<std::string> &calls,
			const child::Environment &environment)
	{
		child::Environment all = environment;
		std::vector<std::string> command = {RULES_PROBE};

		directory_.create_file("calls", "");
		all.insert({{"LD_PRELOAD", LIBSDP_SO ":" MOCK_SO ":" MOCK_CALLS_SO},
			    {"MOCK_LOG", directory_.path() / "calls"}});
		command.insert(command.end(), calls.begin(), calls.end());
		const auto outcome = child::run(command, all);

		EXPECT_EQ(outcome.status, 0) << outcome.errors;
		return {.report = outcome.output,
			.calls = child::content_of(directory_.path() / "calls"),
			.errors = outcome.errors};
	}

	[[nodiscard]] std::string config_path() const
	{
		return directory_.path() / "libsdp.conf";
	}

	child::Directory directory_;
};

const std::string sdp_socket = "2 1 259\n";
const std::string tcp_socket = "2 1 0\n";
const std::string mode_sdp = "option 1 0\n";
const std::string mode_both = "option 1 1\n";
const std::string mode_tcp = "option 1 2\n";

TEST_F(Preloaded, WithoutAFileTheKernelDecides)
{
	const Result run = run_with(
		{"socket", "bind", "10.0.0.1", "80", "listen", "connect", "10.0.0.2", "80"},
		{{"SIMPLE_LIBSDP", "1"}});

	EXPECT_EQ(run.calls, sdp_socket + "bind 10.0.0.1 80\nlisten 5\nconnect 10.0.0.2 80\n");
	EXPECT_EQ(run.report, ok + ok + ok + ok);
	EXPECT_EQ(run.errors, "");
}

TEST_F(Preloaded, TheOldVariablesSetTheFileAside)
{
	for (const char *name : {"SIMPLE_LIBSDP", "ALWAYS_USE_SDP"})
		EXPECT_EQ(run("use tcp * * *:*\n", {"socket", "connect", "10.0.0.2", "80"},
			      {{name, ""}})
				  .calls,
			  sdp_socket + "connect 10.0.0.2 80\n")
			<< name;
}

TEST_F(Preloaded, AFileWithoutRulesLeavesItToTheKernel)
{
	EXPECT_EQ(
		run("# nothing\nlog min-level 1\n", {"socket", "connect", "10.0.0.2", "80"}).calls,
		sdp_socket + "connect 10.0.0.2 80\n");
}

TEST_F(Preloaded, ConnectIsDecidedByThePeer)
{
	const std::string config = "use tcp client * 10.0.0.1:*\n"
				   "use sdp client * 10.0.0.2:1000-2000\n";
	const auto calls_for = [&](const char *address, const char *port) {
		return run(config, {"socket", "connect", address, port}).calls;
	};

	EXPECT_EQ(calls_for("10.0.0.1", "7"),
		  sdp_socket + mode_both + mode_tcp + "connect 10.0.0.1 7\n");
	EXPECT_EQ(calls_for("10.0.0.2", "1000"),
		  sdp_socket + mode_both + mode_sdp + "connect 10.0.0.2 1000\n");
	EXPECT_EQ(calls_for("10.0.0.2", "2000"),
		  sdp_socket + mode_both + mode_sdp + "connect 10.0.0.2 2000\n");
	EXPECT_EQ(calls_for("10.0.0.2", "2001"),
		  sdp_socket + mode_both + mode_both + "connect 10.0.0.2 2001\n");
	EXPECT_EQ(calls_for("::ffff:10.0.0.1", "7"),
		  sdp_socket + mode_both + mode_tcp + "connect ::ffff:10.0.0.1 7\n");
	EXPECT_EQ(calls_for("fd00::1", "7"),
		  sdp_socket + mode_both + mode_both + "connect fd00::1 7\n");
}

TEST_F(Preloaded, ListenIsDecidedByTheOwnAddress)
{
	const std::string config = "use tcp server * 10.0.0.1:80\nuse sdp server * *:*\n";
	const child::Environment named = {{"MOCK_ADDRESS", "10.0.0.1"}, {"MOCK_PORT", "80"}};

	EXPECT_EQ(run(config, {"socket", "listen"}, named).calls,
		  sdp_socket + mode_both + "getsockname\n" + mode_tcp + "listen 5\n");
	EXPECT_EQ(run(config, {"socket", "bind", "10.0.0.1", "80", "listen"}, named).calls,
		  sdp_socket + mode_both + mode_tcp + "bind 10.0.0.1 80\ngetsockname\n" + mode_tcp +
			  "listen 5\n");
	EXPECT_EQ(run(config, {"socket", "listen"}, {{"MOCK_ADDRESS", "0.0.0.0"}}).calls,
		  sdp_socket + mode_both + "getsockname\n" + mode_sdp + "listen 5\n");
}

// With port 0 it may become a client as well as a server.
TEST_F(Preloaded, BindWithoutAPortKeepsBothPossible)
{
	const std::string config = "use tcp server * *:*\nuse sdp client * *:*\n";

	EXPECT_EQ(
		run(config, {"socket", "bind", "10.0.0.1", "0", "connect", "10.0.0.2", "80"}).calls,
		sdp_socket + mode_both + mode_both + "bind 10.0.0.1 0\n" + mode_sdp +
			"connect 10.0.0.2 80\n");
}

TEST_F(Preloaded, NothingIsConvertedIfAllUseTcp)
{
	const Result run = this->run("use tcp * * *:*\nuse sdp * * *:*\n",
				     {"socket", "connect", "10.0.0.2", "80"});

	// Whatever the descriptor is, the kernel is told: it may be inherited.
	EXPECT_EQ(run.calls, tcp_socket + mode_tcp + "connect 10.0.0.2 80\n");
	EXPECT_EQ(run.report, ok + ok);
}

TEST_F(Preloaded, RulesOfOtherProgramsDoNotCount)
{
	EXPECT_EQ(run("use tcp * ssh* *:*\nuse tcp * rules_prob? *:*\n", {"socket"}).calls,
		  tcp_socket);
	EXPECT_EQ(run("use tcp * rules *:*\nuse tcp * RULES_PROBE *:*\n", {"socket"}).calls,
		  sdp_socket + mode_both);
}

class RefusedOption : public Preloaded, public testing::WithParamInterface<int>
{
};

// Not a socket of ours, or one that is connected: the program's call goes on.
TEST_P(RefusedOption, IsNotTheProgramsBusiness)
{
	const Result run = this->run(
		"use sdp * * *:*\nlog min-level 0\n",
		{"socket", "bind", "10.0.0.1", "80", "listen", "connect", "10.0.0.2", "80"},
		{{"MOCK_OPTION", std::to_string(GetParam())}});

	EXPECT_EQ(run.report, ok + ok + ok + ok);
	EXPECT_EQ(run.errors, "");
}

INSTANTIATE_TEST_SUITE_P(Errors, RefusedOption,
			 testing::Values(ENOPROTOOPT, EISCONN, ENOTSOCK, EBADF, EINVAL, EPERM,
					 EOPNOTSUPP, ENOSYS));

TEST_F(Preloaded, ErrorsOfTheCallsReachTheProgram)
{
	const Result run =
		this->run("use sdp * * *:*\n",
			  {"bind", "10.0.0.1", "80", "listen", "connect", "10.0.0.2", "80"},
			  {{"MOCK_CALL", std::to_string(EADDRINUSE)}});
	const std::string failed = "failed " + std::to_string(EADDRINUSE) + "\n";

	EXPECT_EQ(run.report, failed + failed + failed);
}

TEST_F(Preloaded, ListenGoesOnWithoutAName)
{
	const Result run = this->run("use sdp * * *:*\n", {"socket", "listen"},
				     {{"MOCK_NAME", std::to_string(ENOTSOCK)}});

	EXPECT_EQ(run.calls, sdp_socket + mode_sdp + "getsockname\nlisten 5\n");
	EXPECT_EQ(run.report, ok + ok);
}

TEST_F(Preloaded, AddressesOfOthersAreNotLookedAt)
{
	const Result run = this->run("use sdp * * *:*\n",
				     {"socket", "null", "unspec", "short", "10.0.0.2", "80"});

	EXPECT_EQ(run.calls,
		  sdp_socket + mode_sdp + "connect null\nconnect family 0\nconnect 10.0.0.2 80\n");
}

// It is the kernel that says so.
TEST_F(Preloaded, AddressesThatAreNotThereAreNotRead)
{
	const std::string failed = "failed " + std::to_string(EFAULT) + "\n";

	for (const char *config : {"use sdp * * *:*\n", "# none\n"}) {
		const Result run = this->run(config, {"unmapped", "halfway", "fd00::1", "80"},
					     {{"MOCK_CALL", std::to_string(EFAULT)}});

		EXPECT_EQ(run.calls, "bind unread\nconnect unread\nconnect unread\n");
		EXPECT_EQ(run.report, failed + failed);
	}
}

TEST_F(Preloaded, AnErrorInTheFileIsReportedAndEndsIt)
{
	const Result run =
		this->run("use tcp client * 10.0.0.2:80\nuse sdp client * 10.0.0.2:x\n"
			  "use tcp client * *:*\n",
			  {"socket", "connect", "10.0.0.2", "80", "connect", "10.0.0.2", "81"});

	EXPECT_EQ(run.calls, sdp_socket + mode_both + mode_tcp + "connect 10.0.0.2 80\n" +
				     mode_both + "connect 10.0.0.2 81\n");
	EXPECT_TRUE(run.errors.starts_with("libsdp: rules_probe[")) << run.errors;
	EXPECT_TRUE(run.errors.ends_with("]: " + config_path() +
					 ":2:27: expected a port from 0 to 65535 or '*', "
					 "found 'x'\n"))
		<< run.errors;
}

TEST_F(Preloaded, AFileThatCannotBeReadIsReported)
{
	const std::string file = directory_.path() / "none";
	const Result absent = run_with({"socket"}, {{"LIBSDP_CONFIG_FILE", file}});
	const Result directory = run_with({"socket"}, {{"LIBSDP_CONFIG_FILE", directory_.path()}});

	EXPECT_EQ(absent.calls, sdp_socket + mode_both);
	EXPECT_TRUE(absent.errors.ends_with("cannot read " + file + ": error 2\n"))
		<< absent.errors;
	EXPECT_EQ(directory.calls, sdp_socket + mode_both);
	EXPECT_NE(directory.errors.find("cannot read"), std::string::npos) << directory.errors;
}

TEST_F(Preloaded, AHugeFileIsRefused)
{
	const Result run = this->run(std::string((1 << 20) + 1, '\n'), {"socket"});

	EXPECT_EQ(run.calls, sdp_socket + mode_both);
	EXPECT_NE(run.errors.find(": error 27\n"), std::string::npos) << run.errors; // EFBIG
}

TEST_F(Preloaded, ManyRulesAreRead)
{
	std::string config;

	for (int port = 1; port <= 20000; port++)
		config += "use tcp client * 10.0.0.2:" + std::to_string(port) + "\n";
	EXPECT_EQ(run(config + "use sdp * * *:*\n", {"connect", "10.0.0.2", "20000"}).calls,
		  mode_tcp + "connect 10.0.0.2 20000\n");
	EXPECT_EQ(run(config + "use sdp * * *:*\n", {"connect", "10.0.0.2", "20001"}).calls,
		  mode_sdp + "connect 10.0.0.2 20001\n");
}

TEST_F(Preloaded, DecisionsAreLogged)
{
	const Result run =
		this->run("log min-level 4\nuse sdp server * *:80\n",
			  {"socket", "bind", "10.0.0.1", "80", "listen", "connect", "fd00::1", "7"},
			  {{"MOCK_ADDRESS", "10.0.0.1"}, {"MOCK_PORT", "80"}});
	std::vector<std::string> lines;

	for (std::size_t begin = 0; begin < run.errors.size();) {
		const std::size_t end = run.errors.find('\n', begin);
		const std::string line = run.errors.substr(begin, end - begin);

		lines.push_back(line.substr(line.find("]: ") + 3));
		begin = end + 1;
	}
	EXPECT_EQ(lines, (std::vector<std::string>{
				 "bind 10.0.0.1:80: sdp, by line 2",
				 "listen 10.0.0.1:80: sdp, by line 2",
				 "connect [fd00::1]:7: both, since no rule matches",
			 }));
}

TEST_F(Preloaded, LevelsKeepMessagesAway)
{
	const std::vector<std::string> calls = {"socket", "bind", "10.0.0.1", "80", "listen"};
	const auto lines = [&](const std::string &level) {
		const std::string errors =
			run("log min-level " + level + "\nuse sdp server * *:80\n", calls).errors;

		return std::count(errors.begin(), errors.end(), '\n');
	};

	EXPECT_EQ(lines("0"), 2);
	EXPECT_EQ(lines("4"), 2);
	EXPECT_EQ(lines("5"), 1);
	EXPECT_EQ(lines("7"), 1);
	EXPECT_EQ(lines("8"), 0);
}

TEST_F(Preloaded, ARefusalIsLoggedOnce)
{
	const Result run =
		this->run("log min-level 8\nuse sdp * * *:*\n", {"socket", "socket", "socket"},
			  {{"MOCK_SDP", std::to_string(EPROTONOSUPPORT)}});

	EXPECT_EQ(run.report, ok + ok + ok);
	EXPECT_EQ(std::count(run.errors.begin(), run.errors.end(), '\n'), 1) << run.errors;
	EXPECT_NE(run.errors.find("no SDP sockets here (Protocol not supported), all connections "
				  "use TCP\n"),
		  std::string::npos)
		<< run.errors;
}

// As the manual has it for services: the file needs no rules for that.
TEST_F(Preloaded, ARefusalIsLoggedWithoutRules)
{
	const Result run = this->run("log min-level 8\n", {"socket"},
				     {{"MOCK_SDP", std::to_string(EPROTONOSUPPORT)}});

	EXPECT_EQ(std::count(run.errors.begin(), run.errors.end(), '\n'), 1) << run.errors;
	EXPECT_EQ(this->run("", {"socket"}, {{"MOCK_SDP", std::to_string(EPROTONOSUPPORT)}}).errors,
		  "");
}

TEST_F(Preloaded, ARefusalWithoutANameIsLoggedByItsNumber)
{
	const Result run =
		this->run("log min-level 8\nuse sdp * * *:*\n", {"socket"}, {{"MOCK_SDP", "4000"}});

	EXPECT_NE(run.errors.find("no SDP sockets here (error 4000), all connections use TCP\n"),
		  std::string::npos)
		<< run.errors;
}

TEST_F(Preloaded, LogsToAFileOfItsOwn)
{
	const bool root = geteuid() == 0;
	const std::string name = "libsdp-test-" + std::to_string(getpid());
	const fs::path place = directory_.path() / name;
	const std::string config =
		"log min-level 7 destination file " + place.native() + "\nuse sdp * * *:*\n";
	const fs::path file =
		root ? fs::path("/var/log") / name
		     : fs::path(place.native() + "." + std::to_string(geteuid())) / "log";

	EXPECT_EQ(run(config, {"socket", "connect", "10.0.0.2", "80"}).errors, "");
	const std::string text = child::content_of(file);
	struct stat status = {};

	EXPECT_NE(text.find("connect 10.0.0.2:80: sdp, by line 2\n"), std::string::npos) << text;
	EXPECT_EQ(stat(file.c_str(), &status), 0);
	EXPECT_EQ(status.st_mode & 0777, 0600U);
	if (root)
		fs::remove(file);
}

// What others could have put there is not written to.
TEST_F(Preloaded, FollowsNoLinkToALogFile)
{
	const std::string user = std::to_string(geteuid());
	const fs::path place = directory_.path() / "log";
	const fs::path victim = directory_.path() / "victim";

	if (geteuid() == 0)
		GTEST_SKIP() << "root's files are in /var/log, where nobody else puts links";
	fs::create_directory(victim);
	fs::create_directory_symlink(victim, place.native() + "." + user);
	EXPECT_EQ(run("log min-level 7 destination file " + place.native() + "\nuse sdp * * *:*\n",
		      {"socket", "connect", "10.0.0.2", "80"})
			  .report,
		  ok + ok);
	EXPECT_TRUE(fs::is_empty(victim));
}

TEST_F(Preloaded, ADestinationThatIsNotThereIsNoTrouble)
{
	EXPECT_EQ(run("log min-level 0 destination file /nonexistent/x\nuse sdp * * *:*\n",
		      {"socket", "connect", "10.0.0.2", "80"})
			  .report,
		  ok + ok);
	EXPECT_EQ(run("log min-level 0 destination syslog\nuse sdp * * *:*\n",
		      {"socket", "connect", "10.0.0.2", "80"})
			  .report,
		  ok + ok);
}

/** Standard error in a state that a message could do harm in. */
class BrokenErrors : public Preloaded
{
protected:
	// What the shell does before it becomes the program: there "$fifo" is a named
	// pipe, and descriptor 3 both its ends.
	child::Outcome run_after(const std::string &preparation)
	{
		directory_.create_file("libsdp.conf", "log min-level 1\nuse sdp * * *:*\n");
		directory_.create_file("calls", "");
		return child::run({"bash", "-c",
				   "fifo=$0/fifo; mkfifo $fifo; exec 3<>$fifo; " + preparation +
					   "; LD_PRELOAD=" LIBSDP_SO ":" MOCK_SO ":" MOCK_CALLS_SO
					   " exec timeout 20 " RULES_PROBE " socket listen",
				   directory_.path()},
				  {{"LIBSDP_CONFIG_FILE", config_path()},
				   {"MOCK_LOG", directory_.path() / "calls"}});
	}
};

TEST_F(BrokenErrors, WorkWithAPipeThatSomebodyReads)
{
	const auto outcome = run_after("exec 2>$fifo");

	EXPECT_EQ(outcome.status, 0);
	EXPECT_EQ(outcome.output, ok + ok);
}

TEST_F(BrokenErrors, DoNotEndTheProgramWhenNobodyReads)
{
	const auto outcome = run_after("exec 2>$fifo 3<&-");

	EXPECT_EQ(outcome.status, 0);
	EXPECT_EQ(outcome.output, ok + ok);
}

TEST_F(BrokenErrors, DoNotHoldUpTheProgramWhenThePipeIsFull)
{
	const auto outcome = run_after("head -c 65536 /dev/zero >&3; exec 2>$fifo");

	EXPECT_EQ(outcome.status, 0);
	EXPECT_EQ(outcome.output, ok + ok);
}

TEST_F(Preloaded, KeepsMessagesOutOfAFileOfTheProgram)
{
	const fs::path file = directory_.path() / "own";
	const Result run = this->run("log min-level 1\nuse sdp * * *:*\n",
				     {"socket", "listen", "stderr", file, "socket", "listen"});

	EXPECT_EQ(run.report, ok + ok + ok + ok + ok);
	EXPECT_NE(run.errors, "");
	EXPECT_EQ(child::content_of(file), "");
}

} // namespace
