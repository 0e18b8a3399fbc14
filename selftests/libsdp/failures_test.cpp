// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * libsdp.so where libc fails: it says so at most, and the program goes on.
 */
#include "child.h"
#include "probe.h"

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

// As rules_preload_test has them: a socket, and what the kernel is told of it.
const std::string sdp_socket = "2 1 259\n";
const std::string mode_sdp = "option 1 0\n";
const std::string mode_both = "option 1 1\n";

struct Result {
	std::string report;
	std::string calls;
	std::string errors;
};

/** A program that opens a socket and connects it, under rules that decide. */
class Failing : public testing::Test
{
protected:
	Result run(const child::Environment &environment)
	{
		return run_with("use sdp * * *:*\n", environment);
	}

	Result run_with(const std::string &config, child::Environment environment)
	{
		directory_.create_file("libsdp.conf", config);
		directory_.create_file("calls", "");
		environment.insert(
			{{"LIBSDP_CONFIG_FILE", directory_.path() / "libsdp.conf"},
			 {"LD_PRELOAD", LIBSDP_SO ":" MOCK_SO ":" MOCK_CALLS_SO ":" MOCK_LIBC_SO},
			 {"MOCK_LOG", directory_.path() / "calls"}});
		const auto outcome = child::run(
			{RULES_PROBE, "socket", "connect", "10.0.0.2", "80"}, environment);

		EXPECT_EQ(outcome.status, 0) << outcome.errors;
		EXPECT_EQ(outcome.output, ok + ok);
		return {.report = outcome.output,
			.calls = child::content_of(directory_.path() / "calls"),
			.errors = outcome.errors};
	}

	// The file cannot be read, which is said once, and all sockets get "both".
	void expect_unreadable(const Result &run, int error)
	{
		const std::string said = "cannot read " +
					 (directory_.path() / "libsdp.conf").native() + ": error " +
					 std::to_string(error) + "\n";

		EXPECT_EQ(run.calls, sdp_socket + mode_both + mode_both + "connect 10.0.0.2 80\n");
		EXPECT_TRUE(run.errors.ends_with(said)) << run.errors;
		EXPECT_EQ(run.errors.find('\n'), run.errors.size() - 1) << run.errors;
	}

	child::Directory directory_;
};

const std::string decided = sdp_socket + mode_sdp + mode_sdp + "connect 10.0.0.2 80\n";

TEST_F(Failing, NothingDoesWithoutBeingTold)
{
	const Result run = this->run({});

	EXPECT_EQ(run.calls, decided);
	EXPECT_EQ(run.errors, "");
}

// Not even a message can be decided about: it is as without a file.
TEST_F(Failing, NoMemoryForAConfiguration)
{
	const Result run = this->run({{"MOCK_MMAP", "1"}});

	EXPECT_EQ(run.calls, sdp_socket + "connect 10.0.0.2 80\n");
	EXPECT_EQ(run.errors, "");
}

TEST_F(Failing, NoMemoryForTheFile)
{
	expect_unreadable(run({{"MOCK_MMAP", "2"}}), ENOMEM);
}

TEST_F(Failing, NoMemoryForTheRules)
{
	expect_unreadable(run({{"MOCK_MMAP", "3"}}), ENOMEM);
}

TEST_F(Failing, AFileThatDoesNotSayWhatItIs)
{
	expect_unreadable(run({{"MOCK_FSTAT", std::to_string(EIO)}}), EIO);
}

TEST_F(Failing, ReadingFailsAtOnce)
{
	expect_unreadable(run({{"MOCK_READ", std::to_string(-EIO)}}), EIO);
}

// Half of a rule must not be taken for all of it.
TEST_F(Failing, ReadingFailsInTheMiddle)
{
	expect_unreadable(run({{"MOCK_READ", "4 " + std::to_string(-EIO)}}), EIO);
}

TEST_F(Failing, ReadingIsInterruptedAndGoesOn)
{
	const std::string again = std::to_string(-EINTR);

	EXPECT_EQ(run({{"MOCK_READ", again + " 1 " + again + " 3 2"}}).calls, decided);
}

TEST_F(Failing, AFileThatWasCutMeanwhile)
{
	const Result run =
		this->run_with("use sdp * * *:*\nuse tcp * * *:*\n", {{"MOCK_READ", "16 0"}});

	EXPECT_EQ(run.calls, decided);
	EXPECT_EQ(run.errors, "");
}

// Then the kernel itself is called.
TEST_F(Failing, NoFurtherFunctionIsVisible)
{
	const auto outcome =
		child::run({RULES_PROBE, "socket", "bind", "127.0.0.1", "0", "listen", "socket",
			    "connect", "127.0.0.1", "1"},
			   {{"LD_PRELOAD", LIBSDP_SO ":" MOCK_NEXT_SO}, {"SIMPLE_LIBSDP", "1"}});

	EXPECT_EQ(outcome.status, 0) << outcome.errors;
	EXPECT_EQ(outcome.output,
		  ok + ok + ok + ok + "failed " + std::to_string(ECONNREFUSED) + "\n");
}

/** Another user's log, whoever runs the test. */
class UsersLog : public Failing
{
protected:
	/** Make the directory that the log is to be in, and log. */
	Result log(mode_t mode, bool owned)
	{
		fs::create_directory(place_);
		EXPECT_EQ(chmod(place_.c_str(), mode), 0);
		if (owned && geteuid() == 0) {
			EXPECT_EQ(chown(place_.c_str(), user_, user_), 0);
		}
		return log_to(directory_.path() / "log");
	}

	Result log_to(const fs::path &name)
	{
		return run_with("log min-level 7 destination file " + name.native() +
					"\nuse sdp * * *:*\n",
				{{"MOCK_EUID", std::to_string(user_)}});
	}

	const uid_t user_ = geteuid() == 0 ? 4711 : geteuid();
	const fs::path place_ = directory_.path() / ("log." + std::to_string(user_));
};

TEST_F(UsersLog, IsInADirectoryOfItsOwn)
{
	const Result run = log(0700, true);
	const std::string text = child::content_of(place_ / "log");

	EXPECT_EQ(run.calls, decided);
	EXPECT_NE(text.find("connect 10.0.0.2:80: sdp, by line 2\n"), std::string::npos) << text;
}

TEST_F(UsersLog, IsNotWhereOthersCanLook)
{
	for (const mode_t mode : {0770, 0707, 0755}) {
		EXPECT_EQ(log(mode, true).calls, decided);
		EXPECT_TRUE(fs::is_empty(place_)) << mode;
	}
}

TEST_F(UsersLog, IsNotInAnothersDirectory)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "only root makes directories for others";
	EXPECT_EQ(log(0700, false).calls, decided);
	EXPECT_TRUE(fs::is_empty(place_));
}

TEST_F(UsersLog, IsNotBehindALink)
{
	const fs::path victim = directory_.path() / "victim";

	fs::create_directory(victim);
	fs::create_directory_symlink(victim, place_);
	EXPECT_EQ(log_to(directory_.path() / "log").calls, decided);
	EXPECT_TRUE(fs::is_empty(victim));
}

TEST_F(UsersLog, IsNotWhereNoDirectoryCanBe)
{
	EXPECT_EQ(log_to("/nonexistent/log").calls, decided);
}

TEST_F(UsersLog, HasNoNameThatIsTooLong)
{
	EXPECT_EQ(log_to(directory_.path() / std::string(2000, 'x')).calls, decided);
}

} // namespace
