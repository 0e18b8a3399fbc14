// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdpctl top: what moves, in which order, and what it waits for.
 */
#include "child.h"
#include "top.h"

#include <csignal>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/types.h>

namespace
{

using namespace std::chrono_literals;
using nlohmann::json;
using sdpstat::Rate;
using sdpstat::Socket;
using Names = std::vector<std::string>;

Socket connection(std::uint64_t inode, std::optional<Rate> rate)
{
	Socket socket;

	socket.state = sdpstat::State::established;
	socket.flow = "nic";
	socket.device = "rxe0";
	socket.inode = inode;
	socket.tx_credits = 8;
	socket.rate = rate;
	return socket;
}

TEST(Top, PutsFirstWhatMovesMost)
{
	std::vector<Socket> sockets = {
		connection(1, std::nullopt),
		connection(2, Rate{.in = 5, .out = 5}),
		connection(3, Rate{.in = 0, .out = 11}),
		connection(4, Rate{.in = 0, .out = 0, .stalls = 50}),
		connection(5, Rate{.in = 12, .out = 0}),
		connection(6, Rate{.in = 10, .out = 0}),
	};
	std::vector<std::uint64_t> order;

	sdpctl::sort_by_rate(sockets);
	order.reserve(sockets.size());
	for (const Socket &socket : sockets)
		order.push_back(socket.inode);
	EXPECT_EQ(order, (std::vector<std::uint64_t>{5, 3, 2, 6, 4, 1}));
}

TEST(Top, TellsTheShareWithoutACopy)
{
	EXPECT_DOUBLE_EQ(
		*sdpctl::zcopy_share(connection(1, Rate{.in = 100, .out = 300, .zcopy = 100})),
		0.25);
	EXPECT_DOUBLE_EQ(*sdpctl::zcopy_share(connection(1, Rate{.out = 10, .zcopy = 20})), 1);
	EXPECT_FALSE(sdpctl::zcopy_share(connection(1, Rate{})));
	EXPECT_FALSE(sdpctl::zcopy_share(connection(1, std::nullopt)));
}

TEST(Top, TellsWhatAConnectionWaitsFor)
{
	Socket socket = connection(1, Rate{});

	EXPECT_EQ(sdpctl::waits_of(socket), Names{});
	socket.tx_queue = 1;
	EXPECT_EQ(sdpctl::waits_of(socket), Names{"device"});
	socket.rate = Rate{.stalls = 0.5};
	EXPECT_EQ(sdpctl::waits_of(socket), Names{"peer"});
	socket.rate = Rate{};
	socket.tx_credits = 2;
	EXPECT_EQ(sdpctl::waits_of(socket), Names{"peer"});
	socket.rx_queue = 1;
	EXPECT_EQ(sdpctl::waits_of(socket), (Names{"reader", "peer"}));
	socket.flow = "rdma";
	socket.tx_credits = 8;
	socket.rate = Rate{.stalls = 0.5};
	EXPECT_EQ(sdpctl::waits_of(socket), (Names{"reader", "peer"}));
	// The stall may last.
	socket.rate = Rate{};
	EXPECT_EQ(sdpctl::waits_of(socket), Names{"reader"});
	socket.rate.reset();
	EXPECT_EQ(sdpctl::waits_of(socket), Names{"reader"});
	socket.flow = "tcp:refused";
	EXPECT_EQ(sdpctl::waits_of(socket), (Names{"reader", "device"}));
}

TEST(Top, WritesNumbersShort)
{
	const std::pair<double, const char *> cases[] = {
		{0, "0"},	    {0.4, "0"},	      {9999, "9999"},  {9999.6, "10.0K"},
		{123456, "123.5K"}, {999960, "1.0M"}, {2.5e9, "2.5G"}, {7e15, "7000.0T"},
	};

	for (const auto &[number, text] : cases)
		EXPECT_EQ(sdpctl::short_number(number), text) << number;
}

TEST(Top, WritesATable)
{
	const sdpstat::Holders holders = {{7, {{"ng\x1binx", 191, 3}}}};

	EXPECT_EQ(sdpctl::top_as_text({}, {}),
		  "No SDP connection is open in this network namespace.\n");
	EXPECT_EQ(sdpctl::top_as_text(
			  {connection(7, Rate{12345, 10, 12355, 2}), connection(8, std::nullopt)},
			  holders),
		  "Connections: 2, of which 1 move data: 12.3KB/s in, 10B/s out, 2 stalls/s\n"
		  "\n"
		  " In/s  Out/s  Zcopy  Stalls/s  Waits For  Flow  Process               "
		  "Local Address:Port  Peer Address:Port  Device\n"
		  "12.3K     10   100%         2  -          nic   ng?inx(pid=191,fd=3)  "
		  "0.0.0.0:*           0.0.0.0:*          rxe0\n"
		  "    -      -      -         -  -          nic   -                     "
		  "0.0.0.0:*           0.0.0.0:*          rxe0\n");
}

TEST(Top, WritesJson)
{
	const sdpstat::Holders holders = {{7, {{"nginx", 191, 3}}}};
	const std::string text =
		sdpctl::top_as_json({connection(7, Rate{100, 300, 100, 2})}, holders);

	EXPECT_EQ(text.find('\n'), text.size() - 1);
	EXPECT_EQ(json::parse(text), json::parse(R"({"connections": [{
		"processes": [{"name": "nginx", "pid": 191, "fd": 3}], "state": "ESTABLISHED",
		"local": {"address": "0.0.0.0", "port": 0},
		"peer": {"address": "0.0.0.0", "port": 0},
		"flow": "nic", "device": "rxe0", "recv_queue": 0, "send_queue": 0,
		"waits_for": [],
		"rate": {"in": 100.0, "out": 300.0, "zcopy_share": 0.25, "stalls": 2.0}}]})"));
	EXPECT_EQ(json::parse(sdpctl::top_as_json({connection(7, std::nullopt)},
						  {}))["connections"][0]["rate"],
		  nullptr);
	EXPECT_EQ(sdpctl::top_as_json({}, {}), "{\"connections\":[]}\n");
}

TEST(Rounds, FitTheScreen)
{
	EXPECT_EQ(sdpstat::clipped("one\ntwo\nthree\n", 2, 80), "one\ntwo\n");
	EXPECT_EQ(sdpstat::clipped("one\n\nthree", 5, 3), "one\n\nthr\n");
	EXPECT_EQ(sdpstat::clipped("", 5, 3), "");
}

TEST(Rounds, EndAPauseBySignal)
{
	const sdpstat::Pauses pauses;

	EXPECT_TRUE(pauses.pause(1ms));
	raise(SIGINT);
	EXPECT_FALSE(pauses.pause(1h));
	raise(SIGTERM);
	EXPECT_FALSE(pauses.pause(1h));
}

// The program, on tables that do not change.
class TopProgram : public testing::Test
{
protected:
	[[nodiscard]] child::Outcome top(std::vector<std::string> options) const
	{
		options.insert(options.begin(), {SDPCTL, "top", "--proc", proc_.path()});
		return child::run(options);
	}

	void table(const std::string &row) const
	{
		proc_.create_file(
			"sdp",
			"  sl  local_address rem_address uid inode rx_queue tx_queue state\n" +
				row);
	}

	child::Directory proc_;
};

constexpr const char *listener = "   0: 0100007F:1F90 00000000:0000 0 4711\t00000002:00000080 A "
				 "0:0 - - 0:0 0 0 0 0:0:0:0 - 0:0:0:0:0 0:0:0:0\n";
constexpr const char *busy = "   1: 0100007F:1F90 020200C0:C822 0 4712\t00010000:00000000 1 "
			     "62:64 nic rxe0 65536:17 4096 1 2 3:4:5:6 sync 9:8:7:6:5 1:2:3:4\n";

TEST_F(TopProgram, LooksAsOftenAsIsAskedFor)
{
	table(std::string(listener) + busy);
	const auto text = top({"--watch", "0.1", "--rounds", "2"});
	const std::string round = "Connections: 1, of which 0 move data: 0B/s in, 0B/s out, "
				  "0 stalls/s\n\n"
				  "In/s  Out/s  Zcopy  Stalls/s  Waits For  Flow  Process  "
				  "Local Address:Port  Peer Address:Port  Device\n"
				  "   0      0      -         0  reader     nic   -        "
				  "127.0.0.1:8080      192.0.2.2:51234    rxe0\n\n";

	EXPECT_EQ(text.status, 0) << text.errors;
	EXPECT_EQ(text.output, round + round);
	const auto objects = top({"--watch", "0.1", "--rounds", "2", "--json"});
	const std::size_t end = objects.output.find('\n');

	EXPECT_EQ(objects.output.substr(0, end), objects.output.substr(end + 1, end));
	EXPECT_EQ(objects.output.size(), 2 * (end + 1));
	EXPECT_EQ(json::parse(objects.output.substr(0, end))["connections"][0]["peer"]["port"],
		  51234);
}

TEST_F(TopProgram, EndsCleanlyBySignal)
{
	table(busy);
	for (const char *signal : {"INT", "TERM"}) {
		const auto outcome = child::run(
			{"sh", "-c",
			 R"(rm -f "$1/out"; "$0" top --proc "$1" --json --watch 0.1 > "$1/out" & pid=$!
			 until [ -s "$1/out" ]; do sleep 0.05; done
			 kill -s "$2" $pid; wait $pid)",
			 SDPCTL, proc_.path(), signal});

		EXPECT_EQ(outcome.status, 0) << signal << outcome.errors;
		EXPECT_EQ(outcome.errors, "");
		EXPECT_TRUE(child::content_of(proc_.path() / "out").ends_with("}\n"));
	}
}

// There is more than a pipe holds.
TEST_F(TopProgram, EndsBySignalThoughNobodyReads)
{
	std::string rows;

	for (int i = 0; i < 2000; i++)
		rows += busy;
	table(rows);
	for (const char *signal : {"INT", "TERM"}) {
		const auto outcome =
			child::run({"bash", "-c",
				    R"(rm -f "$1/pipe"; mkfifo "$1/pipe"; exec 3<> "$1/pipe"
			 "$0" top --proc "$1" --json --watch 0.1 > "$1/pipe" & pid=$!
			 head -c 1 <&3 > /dev/null; kill -s "$2" $pid
			 for ((i = 0; i < 200; i++)); do
				kill -0 $pid 2> /dev/null || break; sleep 0.1
			 done
			 kill -s KILL $pid 2> /dev/null; wait $pid)",
				    SDPCTL, proc_.path(), signal});

		EXPECT_EQ(outcome.status, 0) << signal << outcome.errors;
	}
}

// A terminal has as much of a table as there is room for, and all of what is for a program.
TEST_F(TopProgram, FitsTheScreen)
{
	const auto on_screen = [this](const std::string &options) {
		const auto outcome = child::run({"script", "-qec",
						 "stty rows 4 cols 20; '" SDPCTL "' top --proc '" +
							 proc_.path().native() +
							 "' --watch 0.1 --rounds 1" + options,
						 "/dev/null"});

		EXPECT_EQ(outcome.status, 0) << outcome.errors;
		return outcome.output;
	};

	table(busy);
	EXPECT_EQ(on_screen(""),
		  "\x1b[H\x1b[2JConnections: 1, of w\r\n\r\nIn/s  Out/s  Zcopy  \r\n");
	const std::string text = on_screen(" --json");

	EXPECT_TRUE(text.starts_with("{"));
	EXPECT_EQ(json::parse(text)["connections"][0]["peer"]["port"], 51234);
}

TEST_F(TopProgram, SaysThatThereIsNothing)
{
	const auto absent = top({"--rounds", "1"});

	EXPECT_EQ(absent.status, 3);
	EXPECT_EQ(absent.output, "");
	EXPECT_EQ(absent.errors, "sdpctl: there is no " + (proc_.path() / "sdp").native() +
					 ": the kernel module 'sdp' is not loaded (try: modprobe "
					 "sdp)\n");
	table(listener);
	EXPECT_EQ(top({"--watch", "0.1", "--rounds", "1"}).output,
		  "No SDP connection is open in this network namespace.\n\n");
	EXPECT_EQ(top({"--rounds", "0"}).status, 2);
	EXPECT_EQ(top({"--watch", "0"}).status, 2);
}

} // namespace
