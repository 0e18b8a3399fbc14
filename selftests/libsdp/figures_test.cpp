// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdpstat: which sockets it picks, how fast they are, and figures for monitoring.
 */
#include "filter.h"
#include "output.h"
#include "prometheus.h"
#include "watch.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace
{

using namespace sdpstat;
using namespace std::chrono_literals;

TEST(States, HaveTheNamesOfBothTools)
{
	for (const char *name : {"fin-wait-1", "FIN_WAIT1", "finwait1"})
		EXPECT_EQ(parse_states(name), bit(State::fin_wait1)) << name;
	EXPECT_EQ(parse_states("closed"), parse_states("CLOSE"));
	EXPECT_EQ(parse_states("listening"), bit(State::listen));
	EXPECT_EQ(parse_states("synchronized").value() & bit(State::syn_sent), 0U);
	EXPECT_FALSE(parse_states(""));
	EXPECT_FALSE(parse_states("open"));
	for (auto state = State::established; state <= State::closing;
	     state = static_cast<State>(static_cast<int>(state) + 1))
		EXPECT_EQ(parse_states(state_name(state)), bit(state));
}

Socket connection(const std::string &flow)
{
	Socket socket;

	socket.state = State::established;
	socket.flow = flow;
	socket.inode = 4712;
	socket.cookie = 1;
	return socket;
}

TEST(Filter, FindsEngines)
{
	Filter filter;

	filter.engines = {"tcp", "nic"};
	EXPECT_TRUE(filter.accepts(connection("nic"), {}));
	EXPECT_TRUE(filter.accepts(connection("tcp:refused"), {}));
	EXPECT_TRUE(filter.accepts(connection("tcp"), {}));
	EXPECT_FALSE(filter.accepts(connection("tcpx"), {}));
	EXPECT_FALSE(filter.accepts(connection("credit"), {}));
	EXPECT_FALSE(filter.accepts(connection(""), {}));
}

TEST(Filter, FindsProcesses)
{
	const Holders holders = {{4712, {{"nginx", 10, 3}, {"sshd", 11, 4}}}};
	Filter filter;

	for (const char *one : {"nginx", "11", "sshd"}) {
		filter.processes = {one};
		EXPECT_TRUE(filter.accepts(connection("nic"), holders)) << one;
		EXPECT_FALSE(filter.accepts(connection("nic"), {})) << one;
	}
	for (const char *one : {"ngin", "1", "3"}) {
		filter.processes = {one};
		EXPECT_FALSE(filter.accepts(connection("nic"), holders)) << one;
	}
}

TEST(Watch, TellsBytesASecond)
{
	std::vector<Socket> sockets = {connection("nic"), connection("nic")};
	const Watch::Clock::time_point start{1h};
	Watch watch;

	sockets[1].cookie = 2;
	sockets[0].zcopy.received = 1000;
	watch.look(sockets, start);
	EXPECT_FALSE(sockets[0].rate);
	sockets[0].zcopy.received = 6000;
	sockets[0].zcopy.sent = 500;
	sockets[0].zcopy.received_zcopy = 3000;
	sockets[0].zcopy.sent_zcopy = 200;
	sockets[0].flow_state.stalls = 7;
	sockets.push_back(connection("nic"));
	sockets[2].cookie = 3;
	watch.look(sockets, start + 2s);
	EXPECT_DOUBLE_EQ(sockets[0].rate.value().in, 2500);
	EXPECT_DOUBLE_EQ(sockets[0].rate.value().out, 250);
	EXPECT_DOUBLE_EQ(sockets[0].rate.value().zcopy, 1600);
	EXPECT_DOUBLE_EQ(sockets[0].rate.value().stalls, 3.5);
	EXPECT_DOUBLE_EQ(sockets[1].rate.value().in, 0);
	EXPECT_FALSE(sockets[2].rate);
}

TEST(Watch, TellsNothingOfAnotherConnection)
{
	std::vector<Socket> sockets = {connection("nic")};
	const Watch::Clock::time_point start{1h};
	Watch watch;

	sockets[0].zcopy.received = 1000;
	watch.look(sockets, start);
	sockets[0].zcopy.received = 10;
	watch.look(sockets, start + 1s);
	EXPECT_FALSE(sockets[0].rate);
	watch.look(sockets, start + 1s);
	EXPECT_FALSE(sockets[0].rate);
}

TEST(Watch, TellsNothingOfWhatIsNotCounted)
{
	std::vector<Socket> sockets = {connection("tcp:refused"), connection("nic")};
	const Watch::Clock::time_point start{1h};
	Watch watch;

	sockets[1].cookie = 2;
	sockets[1].state = State::listen;
	watch.look(sockets, start);
	watch.look(sockets, start + 1s);
	EXPECT_FALSE(sockets[0].rate);
	EXPECT_FALSE(sockets[1].rate);
}

TEST(Prometheus, NamesMetrics)
{
	EXPECT_EQ(metric_name("CreditStalls"), "sdp_credit_stalls");
	EXPECT_EQ(metric_name("Sockets"), "sdp_sockets");
	EXPECT_EQ(metric_name("RDMAReads"), "sdp_rdmareads");
	EXPECT_EQ(metric_name("odd-name{x}"), "sdp_odd_name_x_");
}

TEST(Prometheus, EscapesLabels)
{
	EXPECT_EQ(label_value("rxe0"), R"("rxe0")");
	EXPECT_EQ(label_value("a\"b\\c\nd"), R"("a\"b\\c\nd")");
}

TEST(SocketsAsText, ShowMemoryAndTimeouts)
{
	Socket socket = connection("nic");
	const Columns columns = {.memory = true, .timeouts = true};

	socket.memory = Memory{1, 2, 3, 4, 5, 6, 7, 8, 9};
	socket.timeouts = Timeouts{true, 7200, 75, 9, 30000, -1};
	EXPECT_NE(sockets_as_text({socket}, {}, columns)
			  .find("r1,rb2,t3,tb4,f5,w6,o7,bl8,d9  "
				"keepalive:7200s+9*75s,user:30000ms,linger2:-1\n"),
		  std::string::npos);
	EXPECT_NE(sockets_as_text({connection("nic")}, {}, columns).find("-       -\n"),
		  std::string::npos);
}

TEST(SocketsAsJson, HaveMemoryTimeoutsAndRate)
{
	const Columns columns = {.memory = true, .timeouts = true, .rates = true};
	const nlohmann::json memory = {{"rmem_alloc", 1}, {"rcvbuf", 2},    {"wmem_alloc", 3},
				       {"sndbuf", 4},	  {"fwd_alloc", 5}, {"wmem_queued", 6},
				       {"optmem", 7},	  {"backlog", 8},   {"drops", 9}};
	const nlohmann::json timeouts = {{"keepalive", true},	  {"keepidle", 7200},
					 {"keepintvl", 75},	  {"keepcnt", 9},
					 {"user_timeout", 30000}, {"linger2", -1}};
	Socket known = connection("nic");

	known.memory = Memory{1, 2, 3, 4, 5, 6, 7, 8, 9};
	known.timeouts = Timeouts{true, 7200, 75, 9, 30000, -1};
	known.rate = Rate{2500, 250, 0, 0};
	const auto json = nlohmann::json::parse(
		sockets_as_json({known, connection("nic")}, {}, columns))["sockets"];

	EXPECT_EQ(json[0]["memory"], memory);
	EXPECT_EQ(json[0]["timeouts"], timeouts);
	EXPECT_EQ(json[0]["rate"], (nlohmann::json{{"in", 2500.0}, {"out", 250.0}}));
	for (const char *member : {"memory", "timeouts", "rate"})
		EXPECT_EQ(json[1].at(member), nullptr) << member;
}

} // namespace
