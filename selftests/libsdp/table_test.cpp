// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdpstat: the kernel's tables, well formed and not.
 */
#include "table.h"

#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace
{

using namespace sdpstat;

const std::string header = "  sl  local_address rem_address        uid inode   rx_queue tx_queue "
			   "state credits flow dev ring peer_ring stalls coalesced flushes "
			   "zcopy zcopy_bytes zcopy_misses";

std::vector<Socket> parse(const std::string &rows)
{
	std::istringstream input(header + "\n" + rows);

	return parse_sockets(input);
}

std::string problem_with(const std::string &table)
{
	std::istringstream input(table);

	try {
		(void)parse_sockets(input);
	} catch (const FormatError &error) {
		return error.what();
	}
	return "none";
}

TEST(ParseSockets, ReadsAConnection)
{
	const auto sockets = parse("   0: 0100007F:1F90 020200C0:C822  1000 4712\t"
				   "00010000:00000011 1 62:64 nic rxe0 262144:1000 65536 3 4 "
				   "5:6:7:18446744073709551615 async 100:90:80:70:60 "
				   "11:12:13:18446744073709551614 full 17\n");
	const Socket &socket = sockets.at(0);

	EXPECT_EQ(sockets.size(), 1U);
	EXPECT_EQ(socket.local.text(), "127.0.0.1:8080");
	EXPECT_EQ(socket.peer.text(), "192.0.2.2:51234");
	EXPECT_EQ(socket.uid, 1000U);
	EXPECT_EQ(socket.inode, 4712U);
	EXPECT_EQ(socket.rx_queue, 0x10000U);
	EXPECT_EQ(socket.tx_queue, 0x11U);
	EXPECT_EQ(socket.state, State::established);
	EXPECT_EQ(socket.tx_credits, 62U);
	EXPECT_EQ(socket.rx_credits, 64U);
	EXPECT_EQ(socket.flow, "nic");
	EXPECT_EQ(socket.device, "rxe0");
	EXPECT_EQ(socket.queue_pair, 17U);
	EXPECT_EQ(socket.flow_state.ring, 262144U);
	EXPECT_EQ(socket.flow_state.ring_used, 1000U);
	EXPECT_EQ(socket.flow_state.peer_ring, 65536U);
	EXPECT_EQ(socket.flow_state.stalls, 3U);
	EXPECT_EQ(socket.flow_state.coalesced, 4U);
	EXPECT_EQ(socket.flow_state.flushes.call, 5U);
	EXPECT_EQ(socket.flow_state.flushes.interrupt, 6U);
	EXPECT_EQ(socket.flow_state.flushes.timer, 7U);
	EXPECT_EQ(socket.flow_state.flushes.pause, 18446744073709551615U);
	EXPECT_EQ(socket.zcopy.mode, "async");
	EXPECT_EQ(socket.zcopy.sent, 100U);
	EXPECT_EQ(socket.zcopy.sent_zcopy, 90U);
	EXPECT_EQ(socket.zcopy.sent_async, 80U);
	EXPECT_EQ(socket.zcopy.received, 70U);
	EXPECT_EQ(socket.zcopy.received_zcopy, 60U);
	EXPECT_EQ(socket.zcopy.refusals, 11U);
	EXPECT_EQ(socket.zcopy.cancels, 12U);
	EXPECT_EQ(socket.zcopy.guard_refusals, 13U);
	EXPECT_EQ(socket.zcopy.guard_faults, 18446744073709551614U);
}

TEST(ParseSockets, ReadsAnIpv6Listener)
{
	const auto sockets =
		parse("  12: 00000000000000000000000000000000:1F90 "
		      "00000000000000000000000000000000:0000     0 99\t"
		      "00000002:00000080 A 0:0 - - 0:0 0 0 0 0:0:0:0 - 0:0:0:0:0 0:0:0:0\n");
	const Socket &socket = sockets.at(0);

	EXPECT_EQ(socket.local.text(), "[::]:8080");
	EXPECT_EQ(socket.peer.text(), "[::]:*");
	EXPECT_EQ(socket.state, State::listen);
	EXPECT_EQ(socket.rx_queue, 2U);
	EXPECT_EQ(socket.tx_queue, 128U);
	EXPECT_EQ(socket.flow, "");
	EXPECT_EQ(socket.device, "");
	EXPECT_EQ(socket.zcopy.mode, "");
}

const std::string row = "   0: 0100007F:1F90 020200C0:C822 0 7\t00000000:00000000 1 1:2 nic rxe1 "
			"0:0 0 0 0 0:0:0:0 off 0:0:0:0:0 0:0:0:0";

TEST(ParseSockets, IgnoresPaddingAndColumnsItDoesNotKnow)
{
	for (const std::string &end : {std::string("\n"), std::string(),
				       std::string(40, ' ') + "\n", std::string(" - 17 more\n")}) {
		const auto sockets = parse(row + end);

		ASSERT_EQ(sockets.size(), 1U);
		EXPECT_EQ(sockets[0].inode, 7U);
		EXPECT_EQ(sockets[0].flow, "nic");
		EXPECT_EQ(sockets[0].device, "rxe1");
	}
}

TEST(ParseSockets, ReadsTheWidestValues)
{
	const auto sockets =
		parse("10000: FFFFFFFF:FFFF FFFFFFFF:FFFF 4294967295 18446744073709551615\t"
		      "FFFFFFFF:FFFFFFFF B 4294967295:4294967295 c d "
		      "4294967295:0 0 0 0 0:0:0:0 e 0:0:0:0:0 0:0:0:0\n");

	EXPECT_EQ(sockets.at(0).uid, 4294967295U);
	EXPECT_EQ(sockets.at(0).inode, 18446744073709551615U);
	EXPECT_EQ(sockets.at(0).rx_queue, 4294967295U);
	EXPECT_EQ(sockets.at(0).state, State::closing);
}

TEST(ParseSockets, KeepsTheOrderOfManyRows)
{
	std::string rows;

	for (int i = 0; i < 1000; i++)
		rows += std::to_string(i) + ": 0100007F:1F90 020200C0:C822 0 " + std::to_string(i) +
			"\t00000000:00000000 1 0:0 - - 0:0 0 0 0 0:0:0:0 - 0:0:0:0:0 0:0:0:0\n";
	const auto sockets = parse(rows);

	ASSERT_EQ(sockets.size(), 1000U);
	for (std::size_t i = 0; i < sockets.size(); i++)
		EXPECT_EQ(sockets[i].inode, i);
}

TEST(ParseSockets, TakesAnEmptyTable)
{
	EXPECT_TRUE(parse("").empty());
}

TEST(ParseSockets, NamesLineAndColumnOfWhatIsWrong)
{
	const std::string good = header + "\n" + row + "\n";
	const std::pair<std::string, std::string> cases[] = {
		{"", "line 1: header: expected column names, the first being 'sl', found nothing"},
		{"<html>\n",
		 "line 1: header: expected column names, the first being 'sl', found '<html>'"},
		{good + "\n",
		 "line 3: sl: expected the number of the row and a colon, found nothing"},
		{good + "1 x", "line 3: sl: expected the number of the row and a colon, found '1'"},
		{good + "1: zz:1",
		 "line 3: local_address: expected ADDRESS:PORT in hexadecimal, found 'zz:1'"},
		{good + "1: 0100007F:1F90",
		 "line 3: rem_address: expected ADDRESS:PORT in hexadecimal, found nothing"},
		{good + "1: 0100007F:1F90 0100007F:1F90 -1",
		 "line 3: uid: expected a number, found '-1'"},
		{good + "1: 0100007F:1F90 0100007F:1F90 0 0x1",
		 "line 3: inode: expected a number, found '0x1'"},
		{good + "1: 0100007F:1F90 0100007F:1F90 0 1 0",
		 "line 3: rx_queue:tx_queue: expected two hexadecimal numbers as A:B, found '0'"},
		{good + "1: 0100007F:1F90 0100007F:1F90 0 1 0:100000000",
		 "line 3: rx_queue:tx_queue: expected two hexadecimal numbers as A:B, found "
		 "'0:100000000'"},
		{good + "1: 0100007F:1F90 0100007F:1F90 0 1 0:0 0",
		 "line 3: state: expected the hexadecimal number of a state, found '0'"},
		{good + "1: 0100007F:1F90 0100007F:1F90 0 1 0:0 1 5",
		 "line 3: credits: expected two numbers as A:B, found '5'"},
		{good + "1: 0100007F:1F90 0100007F:1F90 0 1 0:0 1 A:B",
		 "line 3: credits: expected two numbers as A:B, found 'A:B'"},
		{good + "1: 0100007F:1F90 0100007F:1F90 0 1 0:0 1 5:5",
		 "line 3: flow: expected a name or '-', found nothing"},
		{good + "1: 0100007F:1F90 0100007F:1F90 0 1 0:0 1 5:5 nic",
		 "line 3: dev: expected a name or '-', found nothing"},
		{good + "1: 0100007F:1F90 0100007F:1F90 0 1 0:0 1 5:5 nic rxe0 7",
		 "line 3: ring: expected two numbers as A:B, found '7'"},
		{good + "1: 0100007F:1F90 0100007F:1F90 0 1 0:0 1 5:5 nic rxe0 7:7 0 0 0 1:2:3",
		 "line 3: flushes: expected 4 numbers as A:B, found '1:2:3'"},
		{good + "1: 0100007F:1F90 0100007F:1F90 0 1 0:0 1 5:5 nic rxe0 7:7 0 0 0 1:2:3:4",
		 "line 3: zcopy: expected a name or '-', found nothing"},
		{good + "1: 0100007F:1F90 0100007F:1F90 0 1 0:0 1 5:5 nic rxe0 7:7 0 0 0 1:2:3:4 "
			"off 1:2:3:4",
		 "line 3: zcopy_bytes: expected 5 numbers as A:B, found '1:2:3:4'"},
		{good + "1: 0100007F:1F90 0100007F:1F90 0 1 0:0 1 5:5 nic rxe0 7:7 0 0 0 1:2:3:4 "
			"off 1:2:3:4:5 x",
		 "line 3: zcopy_misses: expected 4 numbers as A:B, found 'x'"},
	};

	for (const auto &[table, problem] : cases)
		EXPECT_EQ(problem_with(table), problem);
	EXPECT_EQ(problem_with(good), "none");
}

TEST(StateName, IsThatOfTcp)
{
	const std::vector<std::string> names = {
		"ESTABLISHED", "SYN_SENT",   "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2", "TIME_WAIT",
		"CLOSE",       "CLOSE_WAIT", "LAST_ACK", "LISTEN",    "CLOSING"};

	for (std::size_t i = 0; i < names.size(); i++)
		EXPECT_EQ(state_name(static_cast<State>(i + 1)), names[i]);
	EXPECT_EQ(state_name(static_cast<State>(12)), "0xc");
	EXPECT_EQ(state_name(static_cast<State>(255)), "0xff");
}

const std::string device_header =
	"device transport interface flags segment tx_full tx_wake crc later\n";

TEST(ParseDevices, ReadsFunctionsByTheirHeadings)
{
	std::istringstream input(device_header +
				 "iwarp0 iwarp provider hold,model 4404 65536 4294967295 hardware "
				 "absent\nrxe0 roce verbs - 0 0 0 - -\n");
	const auto devices = parse_devices(input);

	ASSERT_EQ(devices.size(), 2U);
	EXPECT_EQ(devices[0].name, "iwarp0");
	EXPECT_EQ(devices[0].transport, "iwarp");
	EXPECT_EQ(devices[0].interface, "provider");
	EXPECT_EQ(devices[0].flags, (std::vector<std::string>{"hold", "model"}));
	EXPECT_EQ(devices[0].segment, 4404U);
	EXPECT_EQ(devices[0].tx_full, 65536U);
	EXPECT_EQ(devices[0].tx_wake, 4294967295U);
	ASSERT_EQ(devices[0].functions.size(), 2U);
	EXPECT_EQ(devices[0].functions[0].name, "crc");
	EXPECT_EQ(devices[0].functions[0].where, "hardware");
	EXPECT_EQ(devices[0].functions[1].name, "later");
	EXPECT_EQ(devices[0].functions[1].where, "absent");
	EXPECT_EQ(devices[1].interface, "verbs");
	EXPECT_TRUE(devices[1].flags.empty());
	EXPECT_EQ(devices[1].functions.at(0).where, "");
	EXPECT_TRUE(devices[1].engines.empty());
}

TEST(ParseDevices, ReadsWhatIsPossibleWhereverItIs)
{
	std::istringstream input(
		"device engines crc lacks transport zcopy interface flags segment tx_full tx_wake\n"
		"siw0 credit,rdma - hold,protection iwarp sync verbs - 0 0 0\n"
		"old0 credit absent registration,reads roce - provider hold 1 2 3\n");
	const auto devices = parse_devices(input);

	ASSERT_EQ(devices.size(), 2U);
	EXPECT_EQ(devices[0].engines, (std::vector<std::string>{"credit", "rdma"}));
	EXPECT_EQ(devices[0].zcopy, (std::vector<std::string>{"sync"}));
	EXPECT_EQ(devices[0].lacks, (std::vector<std::string>{"hold", "protection"}));
	EXPECT_EQ(devices[0].transport, "iwarp");
	ASSERT_EQ(devices[0].functions.size(), 1U);
	EXPECT_EQ(devices[0].functions[0].name, "crc");
	EXPECT_TRUE(devices[1].zcopy.empty());
	EXPECT_EQ(devices[1].lacks, (std::vector<std::string>{"registration", "reads"}));
}

TEST(ParseDevices, NamesLineAndColumnOfWhatIsWrong)
{
	const std::pair<std::string, std::string> cases[] = {
		{"sl\n",
		 "line 1: header: expected column names, the first being 'device', found 'sl'"},
		{"device transport interface flags segment tx_full\n",
		 "line 1: header: there is no column 'tx_wake'"},
		{device_header + "a b c d x", "line 2: segment: expected a number, found 'x'"},
		{device_header + "a b c d 1 2 3 absent",
		 "line 2: later: expected a name or '-', found nothing"},
		{device_header, "none"},
	};

	for (const auto &[table, problem] : cases) {
		std::istringstream input(table);
		std::string found = "none";

		try {
			(void)parse_devices(input);
		} catch (const FormatError &error) {
			found = error.what();
		}
		EXPECT_EQ(found, problem);
	}
}

TEST(ParseCounters, TakesAnyNameInOrder)
{
	std::istringstream input("ActiveOpens 3\nPassiveOpens\t0\nNoSuchThing 9223372036854775807\n"
				 "CurrEstab -1   \n");
	const auto counters = parse_counters(input);
	const std::vector<std::pair<std::string, std::int64_t>> expected = {
		{"ActiveOpens", 3},
		{"PassiveOpens", 0},
		{"NoSuchThing", 9223372036854775807},
		{"CurrEstab", -1}};

	ASSERT_EQ(counters.size(), expected.size());
	for (std::size_t i = 0; i < expected.size(); i++) {
		EXPECT_EQ(counters[i].name, expected[i].first);
		EXPECT_EQ(counters[i].value, expected[i].second);
	}
}

TEST(ParseCounters, NamesTheLineThatIsWrong)
{
	const std::pair<std::string, std::string> cases[] = {
		{"A 1\nB\n", "line 2: B: expected a number, found nothing"},
		{"A 1\n\n", "line 2: name: expected a name and a number, found nothing"},
		{"A many\n", "line 1: A: expected a number, found 'many'"},
		{"A 9223372036854775808\n",
		 "line 1: A: expected a number, found '9223372036854775808'"},
	};

	for (const auto &[table, problem] : cases) {
		std::istringstream input(table);

		try {
			(void)parse_counters(input);
			ADD_FAILURE() << "accepted: " << table;
		} catch (const FormatError &error) {
			EXPECT_EQ(error.what(), problem);
		}
	}
}

} // namespace
