// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdpstat: tables for people, JSON for programs, and who holds a socket.
 */
#include "child.h"
#include "output.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace
{

using namespace sdpstat;
using Json = nlohmann::json;

std::vector<Socket> samples()
{
	Socket listener, connection;

	listener.local = parse_endpoint("00000000000000000000000000000000:1F90").value();
	listener.peer = parse_endpoint("00000000000000000000000000000000:0000").value();
	listener.inode = 4711;
	listener.rx_queue = 2;
	listener.tx_queue = 128;
	listener.state = State::listen;

	connection.local = parse_endpoint("0100007F:1F90").value();
	connection.peer = parse_endpoint("020200C0:C822").value();
	connection.uid = 1000;
	connection.inode = 4712;
	connection.rx_queue = 65536;
	connection.state = State::established;
	connection.tx_credits = 62;
	connection.rx_credits = 64;
	connection.flow = "credit";
	connection.device = "rxe0";
	connection.queue_pair = 17;
	connection.flow_state = {"peer", 262144, 1000, "short", 65536, 7, 8, {1, 2, 3, 4}};
	connection.zcopy = {"async", 1000, 900, 800, 700, 600, 5, 4, 3, 2};
	return {listener, connection};
}

const Holders holders = {{4712, {{"nginx", 10, 3}, {"evil\x1b[2J\xff", 11, 4}}}};

TEST(SocketsAsText, LinesUpItsColumns)
{
	EXPECT_EQ(sockets_as_text(samples(), {}, {}),
		  "State        Recv-Q  Send-Q  Local Address:Port  Peer Address:Port  Credits  "
		  "Flow    Device\n"
		  "LISTEN            2     128  [::]:8080           [::]:*             0:0      -  "
		  "     -\n"
		  "ESTABLISHED   65536       0  127.0.0.1:8080      192.0.2.2:51234    62:64    "
		  "credit  rxe0\n");
}

TEST(SocketsAsText, HasATitleForNothing)
{
	EXPECT_EQ(sockets_as_text({}, {}, {}), "State  Recv-Q  Send-Q  Local Address:Port  Peer "
					       "Address:Port  Credits  Flow  Device\n");
}

TEST(SocketsAsText, AddsWhatIsAskedForAndNoControlCharacters)
{
	EXPECT_EQ(sockets_as_text({samples()[1]}, holders, {.extended = true, .processes = true}),
		  "State        Recv-Q  Send-Q  Local Address:Port  Peer Address:Port  Credits  "
		  "Flow    Device"
		  "   UID  Inode  QP  Process\n"
		  "ESTABLISHED   65536       0  127.0.0.1:8080      192.0.2.2:51234    62:64    "
		  "credit  rxe0  "
		  "  1000   4712  17  nginx(pid=10,fd=3),evil?[2J?(pid=11,fd=4)\n");
}

TEST(SocketsAsText, AddsFlowControlBeforeTheOwner)
{
	EXPECT_EQ(sockets_as_text({samples()[1]}, {}, {.extended = true, .flow = true}),
		  "State        Recv-Q  Send-Q  Local Address:Port  Peer Address:Port  Credits  "
		  "Flow    Device  Limited By  Ring         Why    Peer Ring  Stalls  Coalesced  "
		  "Flushes   UID  "
		  "Inode  QP\n"
		  "ESTABLISHED   65536       0  127.0.0.1:8080      192.0.2.2:51234    62:64    "
		  "credit  rxe0    peer        1000/262144  short      65536       7          8  "
		  "1:2:3:4  1000   "
		  "4712  17\n");
}

TEST(SocketsAsJson, HasEveryField)
{
	const Json expected = Json::parse(R"({"sockets": [
		{"state": "LISTEN", "family": "inet6",
		 "local": {"address": "::", "port": 8080}, "peer": {"address": "::", "port": 0},
		 "recv_queue": 2, "send_queue": 128, "tx_credits": 0, "rx_credits": 0,
		 "flow": null, "device": null, "queue_pair": null,
		 "flow_state": {"flow_why": null, "ring": 0, "ring_used": 0, "ring_why": null, "peer_ring": 0, "stalls": 0,
		  "coalesced": 0, "flushes": {"call": 0, "interrupt": 0, "timer": 0, "pause": 0}},
		 "zcopy": {"mode": null, "sent": 0, "sent_zcopy": 0, "sent_async": 0,
		  "received": 0, "received_zcopy": 0, "refusals": 0, "cancels": 0,
		  "guard_refusals": 0, "guard_faults": 0},
		 "uid": 0, "inode": 4711},
		{"state": "ESTABLISHED", "family": "inet",
		 "local": {"address": "127.0.0.1", "port": 8080},
		 "peer": {"address": "192.0.2.2", "port": 51234},
		 "recv_queue": 65536, "send_queue": 0, "tx_credits": 62, "rx_credits": 64,
		 "flow": "credit", "device": "rxe0", "queue_pair": 17,
		 "flow_state": {"flow_why": "peer", "ring": 262144, "ring_used": 1000, "ring_why": "short",
		  "peer_ring": 65536, "stalls": 7, "coalesced": 8, "flushes": {"call": 1, "interrupt": 2, "timer": 3, "pause": 4}},
		 "zcopy": {"mode": "async", "sent": 1000, "sent_zcopy": 900, "sent_async": 800,
		  "received": 700, "received_zcopy": 600, "refusals": 5, "cancels": 4,
		  "guard_refusals": 3, "guard_faults": 2},
		 "uid": 1000, "inode": 4712}]})");

	EXPECT_EQ(Json::parse(sockets_as_json(samples(), holders, {})), expected);
	EXPECT_EQ(Json::parse(sockets_as_json({}, {}, {})), Json::parse(R"({"sockets": []})"));
}

TEST(SocketsAsJson, NamesProcessesInValidUtf8)
{
	const Json sockets = Json::parse(
		sockets_as_json(samples(), holders, {.extended = false, .processes = true}));

	EXPECT_EQ(sockets["sockets"][0]["processes"], Json::array());
	EXPECT_EQ(sockets["sockets"][1]["processes"],
		  Json::parse(R"([{"name": "nginx", "pid": 10, "fd": 3},
				  {"name": "evil\u001b[2J\ufffd", "pid": 11, "fd": 4}])"));
}

std::vector<Device> devices()
{
	return {
		{"iwarp0",
		 "iwarp",
		 "provider",
		 {"hold", "model"},
		 4404,
		 65536,
		 1024,
		 {{"markers", "absent"},
		  {"crc", "hardware"},
		  {"demux", "hardware"},
		  {"coalesce", "software"}},
		 {"credit", "rdma"},
		 {"sync"},
		 {"hold", "protection"}},
		{"rxe0", "roce", "verbs", {}, 0, 0, 0, {{"crc", ""}}, {"credit"}, {}, {}},
	};
}

TEST(Devices, AreShownByWhatIsDoneWhere)
{
	EXPECT_EQ(devices_as_text(devices()),
		  "Device  Transport  Engines      Zcopy  Lacks            Interface  Flags       "
		  "Segment   Full  Wake  Hardware   Software\n"
		  "iwarp0  iwarp      credit,rdma  sync   hold,protection  provider   hold,model  "
		  "   4404  65536  1024  crc,demux  coalesce\n"
		  "rxe0    roce       credit       -      -                verbs      -           "
		  "      -      -     -  -          -\n");
}

TEST(Devices, AreWrittenWithEveryField)
{
	EXPECT_EQ(Json::parse(devices_as_json(devices())), Json::parse(R"({"devices": [
		{"device": "iwarp0", "transport": "iwarp",
		 "engines": ["credit", "rdma"], "zcopy": ["sync"], "lacks": ["hold", "protection"],
		 "provider": {"flags": ["hold", "model"], "segment": 4404, "tx_full": 65536,
		  "tx_wake": 1024, "functions": {"markers": "absent", "crc": "hardware",
		  "demux": "hardware", "coalesce": "software"}}},
		{"device": "rxe0", "transport": "roce",
		 "engines": ["credit"], "zcopy": [], "lacks": [], "provider": null}]})"));
	EXPECT_EQ(Json::parse(devices_as_json({})), Json::parse(R"({"devices": []})"));
}

TEST(Counters, AreShownAsTheyCome)
{
	const std::vector<Counter> counters = {{"ZebraOpens", 3}, {"Active", -12345}};

	EXPECT_EQ(counters_as_text(counters), "Counter      Value\n"
					      "ZebraOpens       3\n"
					      "Active      -12345\n");
	EXPECT_EQ(counters_as_json(counters), "{\n  \"statistics\": {\n    \"ZebraOpens\": 3,\n"
					      "    \"Active\": -12345\n  }\n}\n");
	EXPECT_EQ(Json::parse(counters_as_json({})), Json::parse(R"({"statistics": {}})"));
}

TEST(FindHolders, FindsThisProcess)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat status {
	};

	ASSERT_GE(fd, 0);
	ASSERT_EQ(fstat(fd, &status), 0);
	const auto found = find_holders("/proc").at(status.st_ino);
	close(fd);

	ASSERT_EQ(found.size(), 1U);
	EXPECT_EQ(found[0].pid, getpid());
	EXPECT_EQ(found[0].fd, fd);
	EXPECT_EQ(found[0].name, "output_test");
}

TEST(FindHolders, PassesOverWhatIsNoSocket)
{
	const child::Directory proc;
	const auto process = proc.path() / "77";

	std::filesystem::create_directories(process / "fd");
	std::filesystem::create_directories(proc.path() / "78"); // ended, or not ours: no fd
	std::filesystem::create_directories(proc.path() / "self" / "fd");
	proc.create_file("77/comm", "a name\n");
	std::filesystem::create_symlink("socket:[5]", process / "fd" / "3");
	std::filesystem::create_symlink("socket:[5x]", process / "fd" / "4");
	std::filesystem::create_symlink("pipe:[6]", process / "fd" / "5");
	std::filesystem::create_symlink("/dev/null", process / "fd" / "6");
	std::filesystem::create_symlink("socket:[7]", proc.path() / "self" / "fd" / "3");
	proc.create_file("77/fd/7", "no link");
	const Holders found = find_holders(proc.path());

	ASSERT_EQ(found.size(), 1U);
	ASSERT_EQ(found.at(5).size(), 1U);
	EXPECT_EQ(found.at(5)[0].name, "a name");
	EXPECT_EQ(found.at(5)[0].pid, 77);
	EXPECT_EQ(found.at(5)[0].fd, 3);
	EXPECT_TRUE(find_holders(proc.path() / "nonexistent").empty());
}

} // namespace
