// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdpstat as a program: options, messages and exit codes.
 */
#include "child.h"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace
{

constexpr const char *table =
	"  sl  local_address rem_address        uid inode   rx_queue "
	"tx_queue state credits flow dev ring peer_ring stalls coalesced "
	"flushes zcopy zcopy_bytes zcopy_misses   \n"
	"   0: 0100007F:1F90 00000000:0000     0 4711\t00000002:00000080 A "
	"0:0 - - 0:0 0 0 0 0:0:0:0 - 0:0:0:0:0 0:0:0:0   \n"
	"   1: 0100007F:1F90 020200C0:C822  1000 4712\t00010000:00000000 1 "
	"62:64 nic rxe0 65536:17 4096 1 2 3:4:5:6 sync 9:8:7:6:5 1:2:3:4 short   \n"
	"   2: B80D0120000000000000000001000000:0016 "
	"B80D0120000000000000000002000000:0FA0     0 4713\t"
	"00000000:00000011 8 1:2 credit rxe0 0:0 0 0 0 0:0:0:0 off 0:0:0:0:0 "
	"0:0:0:0\n"
	"   3: 00000000:0000 00000000:0000     0 4714\t00000000:00000000 7 "
	"0:0 - - 0:0 0 0 0 0:0:0:0 - 0:0:0:0:0 0:0:0:0   \n";

class Sdpstat : public testing::Test
{
protected:
	[[nodiscard]] child::Outcome run(std::vector<std::string> options) const
	{
		options.insert(options.begin(), {SDPSTAT, "--proc", proc_.path()});
		return child::run(options);
	}

	/** The inodes of the sockets that are listed, in order. */
	[[nodiscard]] std::vector<int> listed(std::vector<std::string> options) const
	{
		std::vector<int> inodes;

		options.emplace_back("--json");
		const auto outcome = run(std::move(options));

		EXPECT_EQ(outcome.status, 0) << outcome.errors;
		const auto report = nlohmann::json::parse(outcome.output);

		for (const auto &socket : report.at("sockets"))
			inodes.push_back(socket.at("inode"));
		return inodes;
	}

	child::Directory proc_;
};

using Inodes = std::vector<int>;

TEST_F(Sdpstat, ListsWhatIsAskedFor)
{
	proc_.create_file("sdp", table);
	EXPECT_EQ(listed({}), (Inodes{4712, 4713}));
	EXPECT_EQ(listed({"-n"}), (Inodes{4712, 4713}));
	EXPECT_EQ(listed({"-l"}), (Inodes{4711}));
	EXPECT_EQ(listed({"--listening"}), (Inodes{4711}));
	EXPECT_EQ(listed({"-a"}), (Inodes{4711, 4712, 4713, 4714}));
	EXPECT_EQ(listed({"--all", "--port", "8080"}), (Inodes{4711, 4712}));
	EXPECT_EQ(listed({"--all", "--address", "2001:db8::/32"}), (Inodes{4713}));
	EXPECT_EQ(listed({"--port", "1"}), (Inodes{}));
}

TEST_F(Sdpstat, Filters)
{
	proc_.create_file("sdp", table);
	EXPECT_EQ(listed({"--state", "established"}), (Inodes{4712}));
	EXPECT_EQ(listed({"--state", "LISTEN", "--state", "close-wait"}), (Inodes{4711, 4713}));
	EXPECT_EQ(listed({"--state", "all"}), (Inodes{4711, 4712, 4713, 4714}));
	EXPECT_EQ(listed({"--state", "connected"}), (Inodes{4712, 4713}));
	EXPECT_EQ(listed({"--engine", "nic"}), (Inodes{4712}));
	EXPECT_EQ(listed({"--engine", "nic", "--engine", "credit"}), (Inodes{4712, 4713}));
	EXPECT_EQ(listed({"--engine", "tcp"}), (Inodes{}));
	EXPECT_EQ(listed({"-a", "--process", "nobody-of-this-name"}), (Inodes{}));
	EXPECT_EQ(listed({"-a", "--engine", "nic", "--port", "22"}), (Inodes{}));
}

TEST_F(Sdpstat, CountsSockets)
{
	proc_.create_file("sdp", table);
	EXPECT_EQ(run({"-s"}).output, "Sockets: 2\n"
				      "Bytes to read: 65536, to send: 17\n\n"
				      "State        Sockets\n"
				      "ESTABLISHED        1\n"
				      "CLOSE_WAIT         1\n\n"
				      "Flow    Device  Connections\n"
				      "credit  rxe0              1\n"
				      "nic     rxe0              1\n");
	EXPECT_EQ(nlohmann::json::parse(run({"--summary", "-l", "--json"}).output),
		  nlohmann::json::parse(R"({"summary": {"sockets": 1, "unread": 0, "unsent": 0,
			"states": {"LISTEN": 1}, "carriers": []}})"));
}

TEST_F(Sdpstat, WritesForPrometheus)
{
	proc_.create_file("sdp", table);
	proc_.create_file("sdpstats", "ActiveOpens 3\nMemPages 9\n");
	const auto outcome = run({"--prometheus"});

	EXPECT_EQ(outcome.status, 0) << outcome.errors;
	EXPECT_EQ(outcome.output,
		  "# HELP sdp_active_opens_total ActiveOpens in /proc/net/sdpstats.\n"
		  "# TYPE sdp_active_opens_total counter\n"
		  "sdp_active_opens_total 3\n"
		  "# HELP sdp_mem_pages MemPages in /proc/net/sdpstats.\n"
		  "# TYPE sdp_mem_pages gauge\n"
		  "sdp_mem_pages 9\n"
		  "# HELP sdp_sockets_by_state Sockets in each state.\n"
		  "# TYPE sdp_sockets_by_state gauge\n"
		  "sdp_sockets_by_state{state=\"ESTABLISHED\"} 1\n"
		  "sdp_sockets_by_state{state=\"SYN_SENT\"} 0\n"
		  "sdp_sockets_by_state{state=\"SYN_RECV\"} 0\n"
		  "sdp_sockets_by_state{state=\"FIN_WAIT1\"} 0\n"
		  "sdp_sockets_by_state{state=\"FIN_WAIT2\"} 0\n"
		  "sdp_sockets_by_state{state=\"TIME_WAIT\"} 0\n"
		  "sdp_sockets_by_state{state=\"CLOSE\"} 1\n"
		  "sdp_sockets_by_state{state=\"CLOSE_WAIT\"} 1\n"
		  "sdp_sockets_by_state{state=\"LAST_ACK\"} 0\n"
		  "sdp_sockets_by_state{state=\"LISTEN\"} 1\n"
		  "sdp_sockets_by_state{state=\"CLOSING\"} 0\n"
		  "# HELP sdp_connections Connections by engine of flow control and RDMA device.\n"
		  "# TYPE sdp_connections gauge\n"
		  "sdp_connections{flow=\"credit\",device=\"rxe0\"} 1\n"
		  "sdp_connections{flow=\"nic\",device=\"rxe0\"} 1\n"
		  "# HELP sdp_unread_bytes Bytes that programs have not read.\n"
		  "# TYPE sdp_unread_bytes gauge\n"
		  "sdp_unread_bytes 65536\n"
		  "# HELP sdp_unsent_bytes Bytes that peers have not acknowledged.\n"
		  "# TYPE sdp_unsent_bytes gauge\n"
		  "sdp_unsent_bytes 17\n");
}

// It looks again until nobody takes what it writes.
TEST_F(Sdpstat, Watches)
{
	proc_.create_file("sdp", table);
	const auto outcome =
		child::run({"sh", "-c", R"("$0" --proc "$1" --watch 0.1 --port 51234 | head -n 5)",
			    SDPSTAT, proc_.path()});

	EXPECT_EQ(outcome.output,
		  "State        Recv-Q  Send-Q  Local Address:Port  Peer Address:Port  Credits  "
		  "Flow  Device  In/s  Out/s\n"
		  "ESTABLISHED   65536       0  127.0.0.1:8080      192.0.2.2:51234    62:64    "
		  "nic   rxe0       -      -\n"
		  "\n"
		  "State        Recv-Q  Send-Q  Local Address:Port  Peer Address:Port  Credits  "
		  "Flow  Device  In/s  Out/s\n"
		  "ESTABLISHED   65536       0  127.0.0.1:8080      192.0.2.2:51234    62:64    "
		  "nic   rxe0       0      0\n");
}

TEST_F(Sdpstat, WatchesForSomeRounds)
{
	proc_.create_file("sdp", table);
	const auto outcome = run({"--watch", "0.1", "--rounds", "2", "-l"});
	const std::string round = "State   Recv-Q  Send-Q  Local Address:Port  Peer Address:Port  "
				  "Credits  Flow  Device  In/s  Out/s\n"
				  "LISTEN       2     128  127.0.0.1:8080      0.0.0.0:*          "
				  "0:0      -     -          -      -\n\n";

	EXPECT_EQ(outcome.status, 0) << outcome.errors;
	EXPECT_EQ(outcome.output, round + round);
}

TEST_F(Sdpstat, WritesATable)
{
	proc_.create_file("sdp", table);
	const auto outcome = run({"-l"});

	EXPECT_EQ(outcome.status, 0);
	EXPECT_EQ(outcome.errors, "");
	EXPECT_EQ(outcome.output, "State   Recv-Q  Send-Q  Local Address:Port  Peer Address:Port  "
				  "Credits  Flow  Device\n"
				  "LISTEN       2     128  127.0.0.1:8080      0.0.0.0:*          "
				  "0:0      -     -\n");
}

TEST_F(Sdpstat, ShowsFlowControl)
{
	proc_.create_file("sdp", table);
	const auto outcome = run({"--flow", "--port", "51234"});

	EXPECT_EQ(outcome.errors, "");
	EXPECT_EQ(outcome.output,
		  "State        Recv-Q  Send-Q  Local Address:Port  Peer Address:Port  Credits  "
		  "Flow  Device  Limited By  Ring      Why    Peer Ring  Stalls  Coalesced  "
		  "Flushes\n"
		  "ESTABLISHED   65536       0  127.0.0.1:8080      192.0.2.2:51234    62:64    "
		  "nic   rxe0    -           17/65536  short       4096       1          2  "
		  "3:4:5:6\n");
}

TEST_F(Sdpstat, ShowsZeroCopy)
{
	proc_.create_file("sdp", table);
	const auto outcome = run({"--zcopy", "--port", "51234"});

	EXPECT_EQ(outcome.errors, "");
	EXPECT_EQ(outcome.output,
		  "State        Recv-Q  Send-Q  Local Address:Port  Peer Address:Port  Credits  "
		  "Flow  Device  Zcopy  Sent:Zcopy:Async  Received:Zcopy  Refused  Cancelled  "
		  "Unguarded  Faults\n"
		  "ESTABLISHED   65536       0  127.0.0.1:8080      192.0.2.2:51234    62:64    "
		  "nic   rxe0    sync   9:8:7             6:5                   1          2  "
		  "        3       4\n");
}

TEST_F(Sdpstat, ShowsStatistics)
{
	proc_.create_file("sdpstats", "ActiveOpens 3\nSomethingNew 7\n");
	EXPECT_EQ(run({"-S"}).output,
		  "Counter       Value\nActiveOpens       3\nSomethingNew      7\n");
	EXPECT_EQ(
		nlohmann::json::parse(run({"--statistics", "--json"}).output),
		nlohmann::json::parse(R"({"statistics": {"ActiveOpens": 3, "SomethingNew": 7}})"));
}

TEST_F(Sdpstat, ShowsDevices)
{
	proc_.create_file("sdp_devices",
			  "device transport interface flags segment tx_full tx_wake crc "
			  "engines zcopy lacks\n"
			  "rxe0 roce verbs - 0 0 0 - credit,rdma,nic sync,async -\n");
	EXPECT_EQ(run({"-d"}).output,
		  "Device  Transport  Engines          Zcopy       Lacks  Interface  "
		  "Flags  Segment  Full  Wake  Hardware  Software\n"
		  "rxe0    roce       credit,rdma,nic  sync,async  -      verbs      "
		  "-            -     -     -  -         -\n");
	EXPECT_EQ(nlohmann::json::parse(run({"--devices", "--json"}).output),
		  nlohmann::json::parse(
			  R"({"devices": [{"device": "rxe0", "transport": "roce",
			     "engines": ["credit", "rdma", "nic"], "zcopy": ["sync", "async"],
			     "lacks": [], "provider": null}]})"));
}

TEST_F(Sdpstat, SaysThatTheModuleIsNotLoaded)
{
	for (const auto &[option, name] :
	     {std::pair{"-a", "sdp"}, {"-s", "sdp"}, {"-S", "sdpstats"}, {"-d", "sdp_devices"}}) {
		const auto outcome = run({option});

		EXPECT_EQ(outcome.status, 3);
		EXPECT_EQ(outcome.output, "");
		EXPECT_EQ(outcome.errors, "sdpstat: there is no " + (proc_.path() / name).native() +
						  ": the kernel module 'sdp' is not loaded (try: "
						  "modprobe sdp)\n");
	}
}

TEST_F(Sdpstat, NamesFileAndLineOfATableItCannotRead)
{
	proc_.create_file("sdp", std::string(table) + "garbage\n");
	const auto outcome = run({});

	EXPECT_EQ(outcome.status, 1);
	EXPECT_EQ(outcome.output, "");
	EXPECT_EQ(outcome.errors,
		  "sdpstat: " + (proc_.path() / "sdp").native() +
			  ": line 6: sl: expected the number of the row and a colon, "
			  "found 'garbage'\n");
}

TEST_F(Sdpstat, SaysWhyItCannotOpenATable)
{
	const auto outcome = child::run({SDPSTAT, "--proc", proc_.path() / "nonexistent"});

	EXPECT_EQ(outcome.status, 1);
	EXPECT_EQ(outcome.errors, "sdpstat: " + (proc_.path() / "nonexistent" / "sdp").native() +
					  ": No such file or directory\n");
}

TEST_F(Sdpstat, NoticesThatNobodyTakesItsOutput)
{
	proc_.create_file("sdp", table);
	const auto outcome = child::run(
		{"sh", "-c", R"(exec "$0" --proc "$1" >/dev/full)", SDPSTAT, proc_.path()});

	EXPECT_EQ(outcome.status, 1);
	EXPECT_EQ(outcome.errors, "sdpstat: standard output: No space left on device\n");
}

TEST_F(Sdpstat, RefusesWrongOptions)
{
	const std::pair<std::vector<std::string>, std::string> cases[] = {
		{{"--frobnicate"}, "--frobnicate"},
		{{"extra"}, "extra"},
		{{"-l", "-a"}, "--all excludes --listening"},
		{{"-S", "-p"}, "--statistics excludes --processes"},
		{{"-S", "--port", "1"}, "--statistics excludes --port"},
		{{"-S", "--flow"}, "--statistics excludes --flow"},
		{{"-S", "-z"}, "--statistics excludes --zcopy"},
		{{"-S", "-d"}, "--statistics excludes --devices"},
		{{"-s", "-S"}, "--summary excludes --statistics"},
		{{"--watch", "-s"}, "--watch excludes --summary"},
		{{"--watch", "0"}, "--watch"},
		{{"--rounds", "2"}, "--rounds requires --watch"},
		{{"--prometheus", "-j"}, "--prometheus excludes --json"},
		{{"--prometheus", "--process", "nginx"}, "--prometheus excludes --process"},
		{{"-S", "--engine", "nic"}, "--statistics excludes --engine"},
		{{"-d", "-m"}, "--devices excludes --memory"},
		{{"--state", "listen", "-a"}, "--state excludes --all"},
		{{"--state", "open"}, "--state: no state: 'open'"},
		{{"-d", "-e"}, "--devices excludes --extended"},
		{{"--port", "65536"}, "--port"},
		{{"--port", "http"}, "--port"},
		{{"--address", "localhost"}, "--address: no IP address or range: 'localhost'"},
	};

	proc_.create_file("sdp", table);
	for (const auto &[options, message] : cases) {
		const auto outcome = run(options);

		EXPECT_EQ(outcome.status, 2) << message;
		EXPECT_EQ(outcome.output, "") << message;
		EXPECT_NE(outcome.errors.find(message), std::string::npos) << outcome.errors;
		EXPECT_TRUE(outcome.errors.starts_with("sdpstat: ")) << outcome.errors;
	}
}

TEST_F(Sdpstat, ExplainsItself)
{
	const auto help = child::run({SDPSTAT, "--help"});

	EXPECT_EQ(help.status, 0);
	EXPECT_NE(help.output.find("--listening"), std::string::npos);
	EXPECT_TRUE(child::run({SDPSTAT, "--version"}).output.starts_with("sdpstat "));
}

} // namespace
