// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdp-run on programs into which no library can be preloaded, where the kernel has SDP
 * sockets: it has to say so, and about all others nothing.
 */
#include "child.h"

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace
{

namespace fs = std::filesystem;
using nlohmann::json;

constexpr unsigned nobody = 65534;

/** All that is run is copied to where everybody may read it. */
class NotPreloaded : public testing::Test
{
protected:
	NotPreloaded()
	{
		fs::permissions(directory_.path(), fs::perms(0755));
		for (const char *file : {SDP_RUN, LIBSDP_SO, MOCK_SO, STATIC_PROGRAM})
			fs::copy_file(file, place(fs::path(file).filename()));
		fs::copy_file("/bin/true", place("dynamic"));
	}

	[[nodiscard]] std::string place(const std::string &name) const
	{
		return directory_.path() / name;
	}

	[[nodiscard]] std::string script(const std::string &name, const std::string &line) const
	{
		directory_.create_file(name, line + "\n");
		fs::permissions(place(name), fs::perms(0755));
		return place(name);
	}

	[[nodiscard]] child::Outcome sdp_run(std::vector<std::string> arguments,
					     child::Environment environment = {},
					     std::vector<std::string> before = {}) const
	{
		before.push_back(place(fs::path(SDP_RUN).filename()));
		before.insert(before.end(), arguments.begin(), arguments.end());
		environment.insert({{"LD_PRELOAD", place(fs::path(MOCK_SO).filename())},
				    {"MOCK_LOG", "/dev/null"},
				    {"SIMPLE_LIBSDP", "1"}});
		return child::run(before, environment);
	}

	static std::string line(const std::string &binary, const std::string &what,
				const std::string &program)
	{
		return "sdp-run: no library can be preloaded (" + binary + " " + what +
		       "): " + program + " uses TCP (try: sdp-bpf)\n";
	}

	const child::Directory directory_;
	const std::string static_ = place(fs::path(STATIC_PROGRAM).filename());
	const std::string dynamic_ = place("dynamic");
};

TEST_F(NotPreloaded, AStaticProgramIsNamed)
{
	const auto outcome = sdp_run({static_});

	EXPECT_EQ(outcome.errors, line(static_, "is statically linked", static_));
	EXPECT_EQ(outcome.status, 42);
	EXPECT_EQ(sdp_run({dynamic_}).errors, "");
}

TEST_F(NotPreloaded, APositionIndependentStaticProgramIsNamed)
{
	EXPECT_EQ(sdp_run({STATIC_PIE}).errors,
		  line(STATIC_PIE, "is statically linked", STATIC_PIE));
}

TEST_F(NotPreloaded, PathIsFollowedAsExecDoes)
{
	const std::string name = "libsdp-test-tool";
	const auto run = [&](const std::string &path) {
		return sdp_run({name}, {{"PATH", path}}, {"env", "-C", place("bin")}).errors;
	};

	fs::create_directories(place("first") + "/" + name); // a directory is no program
	fs::create_directory(place("second"));
	fs::create_directory(place("bin"));
	fs::copy_file(static_, place("second/") + name);
	EXPECT_EQ(run(place("first") + ":" + place("second")),
		  line(place("second/") + name, "is statically linked", name));
	// The working directory, by an empty part at the end.
	fs::copy_file(static_, place("bin/") + name);
	EXPECT_EQ(run(place("first") + ":"), line(name, "is statically linked", name));
}

TEST_F(NotPreloaded, OfAScriptTheInterpreterCounts)
{
	const std::string direct = script("direct", "#! \t" + static_ + "\tan argument");
	const std::string indirect = script("indirect", "#!" + direct);
	const std::string itself = script("itself", "#!" + place("itself"));

	EXPECT_EQ(sdp_run({direct}).errors, line(static_, "is statically linked", direct));
	EXPECT_EQ(sdp_run({indirect}).errors, line(static_, "is statically linked", indirect));
	EXPECT_EQ(sdp_run({script("shell", "#!/bin/sh")}).errors, "");
	EXPECT_EQ(sdp_run({script("nothing", "#!")}).errors, "");
	EXPECT_EQ(sdp_run({itself}).status, 126);
}

// Nobody writes to it.
TEST_F(NotPreloaded, APipeIsNotWaitedFor)
{
	ASSERT_EQ(mkfifo(place("pipe").c_str(), 0755), 0);
	EXPECT_EQ(sdp_run({script("piped", "#!" + place("pipe"))}).status, 126);
}

TEST_F(NotPreloaded, ThereAreReasonsForSilence)
{
	directory_.create_file("libsdp.conf", "use tcp * * *:*\n");
	EXPECT_EQ(sdp_run({"--quiet", static_}).errors, "");
	EXPECT_EQ(sdp_run({static_}, {{"LIBSDP_TOLD", "1"}}).errors, "");
	EXPECT_EQ(sdp_run({"--config", place("libsdp.conf"), static_}, {},
			  {"env", "-u", "SIMPLE_LIBSDP"})
			  .errors,
		  "");
}

TEST_F(NotPreloaded, TheKernelsRefusalIsEnough)
{
	EXPECT_EQ(sdp_run({static_}, {{"MOCK_SDP", std::to_string(EPROTONOSUPPORT)}}).errors,
		  "sdp-run: no SDP sockets here (Protocol not supported): " + static_ +
			  " uses TCP (try: modprobe sdp)\n");
}

// What a program starts has a library that the program has not.
TEST_F(NotPreloaded, ThatOneHasNoneSaysNothingOfOthers)
{
	const std::string within = script(
		"within", "#!/bin/sh\nexec " + place(fs::path(SDP_RUN).filename()) + " " + static_);

	EXPECT_EQ(sdp_run({within}).errors, line(static_, "is statically linked", static_));
}

TEST_F(NotPreloaded, WhySaysSo)
{
	const auto why = [&](const std::vector<std::string> &arguments) {
		return sdp_run(arguments).output;
	};
	const json told = json::parse(why({"--why", "--json", "127.0.0.1:1", static_}));
	const json expected = {
		{"file", static_}, {"loaded", false}, {"error", static_ + " is statically linked"}};

	EXPECT_EQ(told["library"], expected);
	ASSERT_EQ(told["endpoints"][0]["decisions"].size(), 2U);
	for (const json &decision : told["endpoints"][0]["decisions"]) {
		EXPECT_EQ(decision["outcome"], "tcp");
		EXPECT_EQ(decision["reason"], "no library can be preloaded (" + static_ +
						      " is statically linked); try: sdp-bpf");
	}
	EXPECT_NE(why({"--why", static_})
			  .find("library: cannot be preloaded, " + static_ +
				" is statically linked\n"),
		  std::string::npos);
	EXPECT_EQ(why({"--why", dynamic_}).find("library"), std::string::npos);
	EXPECT_EQ(json::parse(why({"--why", "--json", dynamic_}))["library"],
		  (json{{"file", dynamic_}, {"loaded", true}, {"error", nullptr}}));
	EXPECT_TRUE(json::parse(why({"--why", "--json", "no-such-program"}))["library"].is_null());
}

/** Programs that have rights which their user has not. */
class WithRights : public NotPreloaded
{
protected:
	void SetUp() override
	{
		struct statvfs system = {};

		if (geteuid() != 0)
			GTEST_SKIP() << "only root gives programs away";
		if (statvfs(place("").c_str(), &system) != 0 || (system.f_flag & ST_NOSUID) != 0)
			GTEST_SKIP() << "programs give no rights in " << directory_.path();
		if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
			GTEST_SKIP() << "programs give no rights to this process";
	}

	void belongs_to(unsigned user, unsigned group, unsigned mode) const
	{
		ASSERT_EQ(chown(dynamic_.c_str(), user, group), 0);
		ASSERT_EQ(chmod(dynamic_.c_str(), mode), 0);
	}

	const std::vector<std::string> unprivileged_ = {"setpriv",
							"--reuid",
							std::to_string(nobody),
							"--regid",
							std::to_string(nobody),
							"--clear-groups"};
};

TEST_F(WithRights, OfAUser)
{
	belongs_to(nobody, 0, 04755);
	EXPECT_EQ(sdp_run({dynamic_}).errors, line(dynamic_, "is set-user-ID", dynamic_));
	EXPECT_EQ(sdp_run({dynamic_}, {}, unprivileged_).errors, "");
	EXPECT_EQ(sdp_run({dynamic_}, {}, {"setpriv", "--no-new-privs"}).errors, "");
	belongs_to(0, 0, 04755);
	EXPECT_EQ(sdp_run({dynamic_}).errors, "");
	EXPECT_EQ(sdp_run({dynamic_}, {}, unprivileged_).errors,
		  line(dynamic_, "is set-user-ID", dynamic_));
}

TEST_F(WithRights, OfAGroup)
{
	belongs_to(0, nobody, 02755);
	EXPECT_EQ(sdp_run({dynamic_}).errors, line(dynamic_, "is set-group-ID", dynamic_));
	// Without the group's right to execute it the bit is about locks.
	belongs_to(0, nobody, 02705);
	EXPECT_EQ(sdp_run({dynamic_}).errors, "");
}

// The kernel takes such a script's own mode for nothing.
TEST_F(WithRights, OfAnInterpreter)
{
	const std::string user = script("user", "#!" + dynamic_);

	ASSERT_EQ(chown(user.c_str(), nobody, 0), 0);
	ASSERT_EQ(chmod(user.c_str(), 04755), 0);
	EXPECT_EQ(sdp_run({user}).errors, "");
	belongs_to(nobody, 0, 04755);
	EXPECT_EQ(sdp_run({user}).errors, line(dynamic_, "is set-user-ID", user));
}

TEST_F(WithRights, ByCapabilities)
{
	vfs_cap_data capabilities = {};

	capabilities.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
	capabilities.data[0].permitted = 1U << CAP_NET_BIND_SERVICE;
	if (setxattr(dynamic_.c_str(), "security.capability", &capabilities, sizeof(capabilities),
		     0) != 0)
		GTEST_SKIP() << "files cannot be given capabilities here";
	EXPECT_EQ(sdp_run({dynamic_}).errors, ""); // root has them anyway
	EXPECT_EQ(sdp_run({dynamic_}, {}, unprivileged_).errors,
		  line(dynamic_, "has file capabilities", dynamic_));
}

} // namespace
