// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdpctl tune: what it proposes on which machine, and that it changes all or nothing.
 */
#include "child.h"
#include "tune.h"

#include <filesystem>
#include <fstream>
#include <regex>
#include <span>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace
{

namespace fs = std::filesystem;

using nlohmann::json;
using sdpctl::DeviceKind;
using sdpctl::Facts;
using sdpctl::Settings;

constexpr std::uint64_t memory_bytes = 8'348'672'000; // of 8153000 KiB

const Settings defaults = {
	{"flow_control", "auto"},     {"zcopy", "off"},		  {"zcopy_recv", "sync"},
	{"zcopy_threshold", "65536"}, {"zcopy_direct", "262144"}, {"local", "1"},
	{"mem", "12288 16384 24576"}, {"num_buffers", "16"},
};

Facts facts(DeviceKind kind, const std::string &release = "6.1.0-40-amd64",
	    const Settings &changed = {})
{
	Facts facts;

	facts.machine.release = release;
	facts.machine.processors = 2;
	facts.machine.memory = std::uint64_t(1) << 30;
	if (kind != DeviceKind::none)
		facts.machine.devices = {{"dev0", kind, 4096}};
	facts.present = changed;
	facts.present.insert(defaults.begin(), defaults.end());
	return facts;
}

/** Machines with each kind of device, old and new, in each of these states. */
std::vector<Facts> everywhere(std::span<const Settings> changes)
{
	std::vector<Facts> all;

	for (const DeviceKind kind : {DeviceKind::none, DeviceKind::other, DeviceKind::iwarp,
				      DeviceKind::soft_roce, DeviceKind::adapter})
		for (const char *release : {"6.1.0", "6.12.1"})
			for (const Settings &changed : changes)
				all.push_back(facts(kind, release, changed));
	return all;
}

/** What would be set. */
Settings proposed(const std::string &workload, const Facts &facts)
{
	Settings settings;

	for (const auto &change : sdpctl::changes_of(sdpctl::workload_of(workload).judge(facts)))
		settings[change.name] = change.after;
	return settings;
}

TEST(Workloads, LeaveDefaultsThatAreBest)
{
	for (const DeviceKind kind : {DeviceKind::none, DeviceKind::other, DeviceKind::iwarp,
				      DeviceKind::soft_roce, DeviceKind::adapter})
		for (const char *workload : {"latency", "messages", "connections"})
			EXPECT_EQ(proposed(workload, facts(kind)), Settings{}) << workload;
	EXPECT_EQ(proposed("bulk", facts(DeviceKind::soft_roce, "6.12.1")), Settings{});
	EXPECT_EQ(proposed("bulk", facts(DeviceKind::iwarp)), Settings{});
	EXPECT_EQ(proposed("bulk", facts(DeviceKind::none)), Settings{});
	EXPECT_EQ(proposed("local", facts(DeviceKind::soft_roce)), Settings{});
}

TEST(Workloads, DependOnTheDevice)
{
	const Settings async = {{"zcopy", "async"}};
	// From where on an adapter gains by the figures.
	const Settings longer = {{"zcopy", "async"}, {"zcopy_threshold", "262144"}};

	EXPECT_EQ(proposed("bulk", facts(DeviceKind::soft_roce)), async);
	EXPECT_EQ(proposed("bulk", facts(DeviceKind::adapter, "6.12.1")), longer);
	EXPECT_EQ(proposed("bulk",
			   facts(DeviceKind::adapter, "6.1.0", {{"zcopy_threshold", "1048576"}})),
		  async);
	EXPECT_EQ(proposed("local", facts(DeviceKind::iwarp)), async);
	Facts both = facts(DeviceKind::soft_roce, "6.12.1");

	both.machine.devices.push_back({"mlx5_0", DeviceKind::adapter, 4096});
	EXPECT_EQ(proposed("bulk", both), longer);
}

// By figures of Soft-RoCE, which say nothing of devices that do other work.
TEST(Workloads, LeaveWhatWasNotMeasured)
{
	const Settings worst = {{"flow_control", "nic"},
				{"zcopy", "sync"},
				{"zcopy_direct", "0"},
				{"zcopy_recv", "async"},
				{"zcopy_threshold", "4096"}};
	Settings async = worst;

	async["zcopy"] = "async";
	for (const DeviceKind kind : {DeviceKind::none, DeviceKind::other, DeviceKind::iwarp})
		for (const char *workload : {"latency", "bulk"})
			for (const Settings &changed : {worst, async})
				EXPECT_EQ(proposed(workload, facts(kind, "6.12.1", changed)),
					  Settings{})
					<< workload;
	for (const Settings &changed : {worst, async})
		EXPECT_EQ(proposed("latency", facts(DeviceKind::adapter, "6.12.1", changed)),
			  Settings{});
	EXPECT_EQ(proposed("bulk", facts(DeviceKind::adapter, "6.12.1", worst)),
		  (Settings{{"zcopy", "async"}, {"zcopy_threshold", "262144"}}));
}

TEST(Workloads, TakeBackWhatIsWorse)
{
	const auto roce = [](const Settings &changed, const char *release = "6.12.1") {
		return facts(DeviceKind::soft_roce, release, changed);
	};

	EXPECT_EQ(proposed("latency", roce({{"zcopy", "sync"}})), (Settings{{"zcopy", "off"}}));
	EXPECT_EQ(proposed("latency", roce({{"zcopy", "async"}, {"zcopy_direct", "0"}})),
		  (Settings{{"zcopy_direct", "262144"}}));
	EXPECT_EQ(proposed("latency", roce({{"zcopy_direct", "0"}})), Settings{});
	EXPECT_EQ(proposed("latency", roce({{"zcopy_recv", "async"}})),
		  (Settings{{"zcopy_recv", "sync"}}));
	EXPECT_EQ(proposed("messages", roce({{"flow_control", "credit"}})),
		  (Settings{{"flow_control", "auto"}}));
	EXPECT_EQ(proposed("messages", roce({{"flow_control", "rdma"}})),
		  (Settings{{"flow_control", "auto"}}));
	EXPECT_EQ(proposed("messages", roce({{"flow_control", "nic"}})), Settings{});
	EXPECT_EQ(proposed("bulk", roce({{"flow_control", "nic"}, {"zcopy", "sync"}})),
		  (Settings{{"flow_control", "auto"}, {"zcopy", "off"}}));
	EXPECT_EQ(proposed("bulk", roce({{"flow_control", "nic"}, {"zcopy", "async"}}, "6.1.0")),
		  Settings{});
	EXPECT_EQ(proposed("bulk", roce({{"zcopy_threshold", "4096"}})), Settings{});
	EXPECT_EQ(proposed("bulk", roce({{"zcopy_threshold", "4096"}}, "6.1.0")),
		  (Settings{{"zcopy", "async"}, {"zcopy_threshold", "65536"}}));
	EXPECT_EQ(proposed("connections", roce({{"flow_control", "nic"}})),
		  (Settings{{"flow_control", "auto"}}));
	EXPECT_EQ(proposed("local", roce({{"local", "0"}})), (Settings{{"local", "1"}}));
}

TEST(Workloads, MakeRoomForConnections)
{
	Facts many = facts(DeviceKind::soft_roce);

	many.machine.memory = std::uint64_t(2) << 30;
	many.connections = 2000;
	EXPECT_EQ(proposed("connections", many), Settings{});
	// 12 pages each, and 1 MiB for each of two processors.
	many.connections = 10000;
	EXPECT_EQ(proposed("connections", many), (Settings{{"mem", "60256 80340 120512"}}));
	many.machine.processors = 4;
	EXPECT_EQ(proposed("connections", many), (Settings{{"mem", "60512 80682 121024"}}));
	// Those for which it is made fit, and no more.
	many.present["mem"] = "60512 80682 121024";
	EXPECT_EQ(proposed("connections", many), Settings{});
	EXPECT_NE(sdpctl::workload_of("connections")
			  .judge(many)[0]
			  .reason.find("is for 10000 connections now"),
		  std::string::npos);
	many.present["mem"] = "1 2 3";
	EXPECT_NE(sdpctl::workload_of("connections")
			  .judge(many)[0]
			  .reason.find("is for 0 connections now"),
		  std::string::npos);
}

TEST(Workloads, RefuseConnectionsThatCannotBe)
{
	const auto error_of = [](const Facts &facts) {
		try {
			(void)proposed("connections", facts);
			return std::string();
		} catch (const std::exception &error) {
			return std::string(error.what());
		}
	};
	Facts many = facts(DeviceKind::soft_roce);

	// Of 84,000 bytes each in half of a GiB.
	many.connections = 6391;
	EXPECT_EQ(error_of(many), "");
	many.connections = 6392;
	EXPECT_EQ(error_of(many),
		  "6392 idle connections take 512 MiB, 84 kB each with Soft-RoCE "
		  "(architecture.rst, Memory), which is more than half of this machine's 1024 "
		  "MiB");
	many.connections = 1;
	many.present.erase("mem");
	EXPECT_EQ(error_of(many), "--connections is about net.sdp.mem, which only the initial "
				  "network namespace has");
	many.connections = 0;
	EXPECT_EQ(error_of(many), "");
}

/** Whether a text of Documentation has the figures, or the section, that a source names. */
bool is_found(const std::string &source)
{
	const std::regex form(R"((\w+\.rst), (?:figures? (\S+)(?: and (\S+))?|(.+)))");
	std::smatch parts;
	std::string text;

	if (!std::regex_match(source, parts, form))
		return false;
	for (const char *directory : {"quality", "internals", "user"})
		if (const auto path = fs::path(DOCUMENTATION) / directory / parts.str(1);
		    fs::exists(path))
			text = child::content_of(path);
	if (parts[4].matched)
		return text.find("\n" + parts.str(4) + "\n") != std::string::npos;
	// "z6a, z6b: latency and throughput" says what they are.
	const auto explains = [&text](const std::string &name) {
		return std::regex_search(
			text, std::regex("\n([^ \\t\n]+, )*" + name + "(, [^ \\t\n]+)*: "));
	};
	return explains(parts.str(2)) && (!parts[3].matched || explains(parts.str(3)));
}

// Each has a number, and says where it is from.
TEST(Workloads, GiveReasons)
{
	const std::regex figure("[0-9]");

	const Settings changes[] = {
		{},
		{{"zcopy", "sync"}, {"local", "0"}, {"flow_control", "rdma"}},
		{{"zcopy", "async"}, {"zcopy_direct", "0"}, {"flow_control", "credit"}},
	};

	for (const sdpctl::Workload &workload : sdpctl::workloads())
		for (const Facts &facts : everywhere(changes))
			for (const auto &judgement : workload.judge(facts)) {
				EXPECT_TRUE(!judgement.is_change() ||
					    std::regex_search(judgement.reason, figure))
					<< judgement.reason;
				EXPECT_TRUE(is_found(judgement.source)) << judgement.source;
			}
}

/** What sysctl(8) makes of it. */
std::vector<std::string> lines_of(const sdpctl::Tuning &tuning)
{
	std::istringstream text(sdpctl::tuning_as_text(tuning));
	std::vector<std::string> lines;

	for (std::string line; std::getline(text, line);)
		if (!line.empty() && !line.starts_with("#"))
			lines.push_back(line);
	return lines;
}

// The file is the same before it is set and afterwards.
TEST(Workloads, AreSatisfiedWithWhatTheyPropose)
{
	const Settings changes[] = {
		{},
		{{"zcopy", "sync"}, {"zcopy_threshold", "4096"}, {"local", "0"}},
		{{"zcopy", "async"}, {"zcopy_direct", "0"}, {"zcopy_recv", "async"}},
		{{"flow_control", "rdma"}, {"mem", "1 2 3"}},
		{{"flow_control", "credit"}, {"zcopy_threshold", "1048576"}},
	};

	for (const sdpctl::Workload &workload : sdpctl::workloads())
		for (Facts facts : everywhere(changes)) {
			sdpctl::Tuning first = {.workload = std::string(workload.name),
						.machine = facts.machine,
						.judgements = workload.judge(facts)};
			sdpctl::Tuning second = first;

			for (const auto &change : sdpctl::changes_of(first.judgements))
				facts.present[change.name] = change.after;
			second.judgements = workload.judge(facts);
			EXPECT_TRUE(sdpctl::changes_of(second.judgements).empty());
			EXPECT_FALSE(lines_of(first).empty());
			EXPECT_EQ(lines_of(second), lines_of(first)) << workload.name;
		}
}

class Tune : public testing::Test
{
protected:
	Tune()
	{
		for (const auto &[name, value] : defaults)
			file("proc/sys/net/sdp/" + name, value);
		file("proc/sys/kernel/osrelease", "6.1.0-40-amd64");
		file("proc/meminfo", "MemTotal:        8153000 kB\nMemFree: 1 kB");
		file("sys/class/infiniband/rxe0/parent", "eth0");
		port("rxe0", 1, "4: ACTIVE", "Ethernet");
		file("sys/class/infiniband/rxe0/ports/1/gids/0",
		     "0000:0000:0000:0000:0000:ffff:0a00:0001");
		file("sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0", "eth0");
		file("sys/class/infiniband/rxe0/ports/1/gid_attrs/types/0", "RoCE v2");
		file("sys/class/net/eth0/mtu", "1500");
	}

	void file(const std::string &name, const std::string &content) const
	{
		const fs::path path = directory_.path() / name;

		fs::create_directories(path.parent_path());
		std::ofstream(path) << content << '\n';
	}

	void port(const std::string &device, unsigned number, const std::string &state,
		  const std::string &link_layer) const
	{
		const std::string directory =
			"sys/class/infiniband/" + device + "/ports/" + std::to_string(number) + "/";

		file(directory + "state", state);
		file(directory + "link_layer", link_layer);
	}

	[[nodiscard]] sdpctl::Places places() const
	{
		return {.proc = directory_.path() / "proc",
			.sys = directory_.path() / "sys",
			.modules = directory_.path() / "modules"};
	}

	[[nodiscard]] fs::path settings() const
	{
		return places().proc / "sys/net/sdp";
	}

	[[nodiscard]] sdpctl::Machine machine() const
	{
		return sdpctl::look_at_machine(
			places(), libsdp::read_ports(places().sys / "class/infiniband"));
	}

	[[nodiscard]] sdpctl::Tuning tune(const std::string &workload, bool dry_run) const
	{
		return sdpctl::tune(places(), machine(),
				    {.workload = workload, .dry_run = dry_run});
	}

	[[nodiscard]] std::string setting(const std::string &name) const
	{
		return sdpctl::read_settings(settings()).at(name);
	}

	child::Directory directory_;
};

TEST_F(Tune, LooksAtTheMachine)
{
	const sdpctl::Machine found = machine();

	EXPECT_EQ(found.release, "6.1.0-40-amd64");
	EXPECT_EQ(found.memory, memory_bytes);
	EXPECT_GE(found.processors, 1U);
	ASSERT_EQ(found.devices.size(), 1U);
	EXPECT_EQ(found.devices[0].name, "rxe0");
	EXPECT_EQ(found.devices[0].kind, DeviceKind::soft_roce);
	EXPECT_EQ(found.devices[0].packet, 1024U);
	EXPECT_FALSE(found.has_threaded_soft_roce());
	file("proc/sys/kernel/osrelease", "6.12.63+deb12-amd64");
	EXPECT_TRUE(machine().has_threaded_soft_roce());
}

TEST_F(Tune, KnowsKindsOfDevices)
{
	using Kinds = std::vector<std::pair<std::string, DeviceKind>>;
	const auto kinds = [this] {
		Kinds found;

		for (const auto &device : machine().devices)
			found.emplace_back(device.name, device.kind);
		return found;
	};

	file("proc/sys/kernel/osrelease", "6.12.63+deb12-amd64");
	file("sys/class/infiniband/iw0/design", "host");
	port("iw0", 1, "4: ACTIVE", "Ethernet");
	// Nothing goes through it.
	port("mlx0", 1, "1: DOWN", "InfiniBand");
	EXPECT_EQ(kinds(), (Kinds{{"iw0", DeviceKind::iwarp}, {"rxe0", DeviceKind::soft_roce}}));
	EXPECT_EQ(machine().kind(), DeviceKind::soft_roce);
	EXPECT_TRUE(machine().has_threaded_soft_roce());
	port("mlx0", 2, "4: ACTIVE", "InfiniBand");
	port("mlx0", 3, "4: ACTIVE", "InfiniBand");
	EXPECT_EQ(kinds(), (Kinds{{"iw0", DeviceKind::iwarp},
				  {"mlx0", DeviceKind::adapter},
				  {"rxe0", DeviceKind::soft_roce}}));
	EXPECT_EQ(machine().kind(), DeviceKind::adapter);
	EXPECT_FALSE(machine().has_threaded_soft_roce());
}

TEST_F(Tune, ChangesNothingInADryRun)
{
	const auto tuning = tune("bulk", true);

	EXPECT_FALSE(tuning.is_set);
	EXPECT_EQ(setting("zcopy"), "off");
	EXPECT_TRUE(sdpctl::tuning_as_text(tuning).ends_with("\n# Nothing was set.\n"));
}

TEST_F(Tune, Sets)
{
	const auto tuning = tune("bulk", false);

	EXPECT_TRUE(tuning.is_set);
	EXPECT_EQ(setting("zcopy"), "async");
	EXPECT_EQ(setting("flow_control"), "auto");
	EXPECT_TRUE(sdpctl::tuning_as_text(tuning).ends_with("\n# This is set now.\n"));
	const auto again = tune("bulk", false);

	EXPECT_FALSE(again.is_set);
	EXPECT_TRUE(sdpctl::tuning_as_text(again).ends_with(
		"\n# Nothing to set: nothing that was measured is better.\n"));
}

TEST_F(Tune, PutsBackWhatItCannotReport)
{
	const auto fail = [] { throw std::runtime_error("nobody takes it"); };
	const auto error_of = [&](const sdpctl::Tuning &tuning) {
		try {
			sdpctl::report(places(), tuning, fail);
			return std::string();
		} catch (const std::exception &error) {
			return std::string(error.what());
		}
	};
	const auto tuning = tune("bulk", false);

	sdpctl::report(places(), tuning, [] {});
	EXPECT_EQ(setting("zcopy"), "async");
	EXPECT_EQ(error_of(tuning), "nobody takes it; nothing is changed");
	EXPECT_EQ(setting("zcopy"), "off");
	EXPECT_EQ(error_of(tune("bulk", true)), "nobody takes it");
}

// Comments, and what sysctl(8) takes.
TEST_F(Tune, WritesAFileForSysctl)
{
	std::istringstream lines(sdpctl::tuning_as_text(tune("bulk", true)));

	for (std::string line; std::getline(lines, line);)
		EXPECT_LE(line.size(), 80U) << line;
	EXPECT_EQ(lines_of(tune("bulk", true)),
		  (std::vector<std::string>{"net.sdp.flow_control = auto", "net.sdp.zcopy = async",
					    "net.sdp.zcopy_threshold = 65536",
					    "net.sdp.zcopy_recv = sync"}));
	EXPECT_TRUE(sdpctl::tuning_as_text(tune("bulk", true))
			    .starts_with("# net.sdp for bulk: writes of 64 KiB and more, whose "
					 "memory is not written to\n# at once.\n"
					 "# Linux 6.1.0-40-amd64, processors: "));
	EXPECT_NE(sdpctl::tuning_as_text(tune("bulk", true)).find("# zcopy was off: "),
		  std::string::npos);
	EXPECT_NE(sdpctl::tuning_as_text(tune("bulk", true)).find("# flow_control stays auto: "),
		  std::string::npos);
}

TEST_F(Tune, WritesJson)
{
	const auto report = json::parse(sdpctl::tuning_as_json(tune("bulk", true)));

	EXPECT_EQ(report["workload"], "bulk");
	EXPECT_EQ(report["set"], false);
	EXPECT_EQ(report["machine"]["memory"], memory_bytes);
	EXPECT_EQ(report["machine"]["devices"],
		  json::parse(R"([{"name": "rxe0", "kind": "Soft-RoCE", "packet": 1024}])"));
	ASSERT_EQ(report["settings"].size(), 4U);
	EXPECT_EQ(report["settings"][1]["name"], "net.sdp.zcopy");
	EXPECT_EQ(report["settings"][1]["present"], "off");
	EXPECT_EQ(report["settings"][1]["proposed"], "async");
	EXPECT_TRUE(report["settings"][1]["reason"].is_string());
	EXPECT_TRUE(report["settings"][1]["source"].is_string());
}

TEST_F(Tune, PutsBackWhatItHasSet)
{
	// Takes no bytes, as a setting that refuses its value.
	fs::remove(settings() / "zcopy");
	fs::create_symlink("/dev/full", settings() / "zcopy");
	const std::vector<sdpctl::Change> changes = {{"flow_control", "auto", "credit"},
						     {"mem", "12288 16384 24576", "1 2 3"},
						     {"zcopy", "off", "async"},
						     {"local", "1", "0"}};

	try {
		sdpctl::make_changes(settings(), changes);
		ADD_FAILURE() << "/dev/full takes something";
	} catch (const sdpctl::ChangeError &error) {
		EXPECT_STREQ(error.what(), "net.sdp.zcopy = async: No space left on device; "
					   "nothing is changed");
	}
	EXPECT_EQ(libsdp::first_line(settings() / "flow_control"), "auto");
	EXPECT_EQ(libsdp::first_line(settings() / "mem"), "12288 16384 24576");
	EXPECT_EQ(libsdp::first_line(settings() / "local"), "1");
}

// A file of the kernel that takes a number, and nothing else.
TEST_F(Tune, SaysWhatItCannotPutBack)
{
	fs::remove(settings() / "local");
	fs::create_symlink("/proc/self/oom_score_adj", settings() / "local");
	try {
		sdpctl::make_changes(settings(), {{"local", "nonsense", "0"}, {"none", "", "1"}});
		ADD_FAILURE() << "there is such a setting";
	} catch (const sdpctl::ChangeError &error) {
		EXPECT_STREQ(error.what(), "net.sdp.none = 1: No such file or directory; "
					   "net.sdp.local stays 0: Invalid argument");
	}
}

TEST(TuneProgram, ListsWorkloads)
{
	const auto text = child::run({SDPCTL, "tune"});

	EXPECT_EQ(text.status, 0);
	EXPECT_TRUE(text.output.starts_with("latency      questions and answers, "));
	const auto list = json::parse(child::run({SDPCTL, "tune", "--json"}).output);

	ASSERT_EQ(list["workloads"].size(), sdpctl::workloads().size());
	EXPECT_EQ(list["workloads"][2]["name"], "bulk");
}

TEST(TuneProgram, RefusesWrongArguments)
{
	const auto unknown = child::run({SDPCTL, "tune", "fast"});

	EXPECT_EQ(unknown.status, 2);
	EXPECT_EQ(unknown.errors, "sdpctl: workload: no workload: 'fast'; sdpctl tune lists them "
				  "(see sdpctl --help)\n");
	EXPECT_EQ(child::run({SDPCTL, "tune", "connections", "--connections", "0"}).status, 2);
	for (const std::vector<std::string> &workload :
	     {std::vector<std::string>{}, std::vector<std::string>{"bulk"}}) {
		std::vector<std::string> command = {SDPCTL, "tune", "--connections", "5"};

		command.insert(command.end(), workload.begin(), workload.end());
		const auto elsewhere = child::run(command);

		EXPECT_EQ(elsewhere.status, 2);
		EXPECT_EQ(elsewhere.errors, "sdpctl: --connections: needs the workload "
					    "'connections' (see sdpctl --help)\n");
	}
	if (fs::exists("/proc/net/sdpstats"))
		GTEST_SKIP() << "this kernel has SDP";
	EXPECT_EQ(child::run({SDPCTL, "tune", "bulk", "--dry-run"}).status, 3);
}

} // namespace
