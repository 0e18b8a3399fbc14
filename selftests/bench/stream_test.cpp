// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Both ends of the tool, over a pair of local sockets: every test runs to its
 * end, and a wrong byte is found.
 */
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "client.h"
#include "pattern.h"
#include "protocol.h"
#include "server.h"
#include "socket.h"

using namespace sdpbench;

namespace
{

// The name alone is GoogleTest's in a test.
using Kind = sdpbench::Test;

/** A server for one client with some connections, in a thread of its own. */
class Served
{
public:
	explicit Served(std::size_t connections = 1)
		: listener_(Family::tcp, Address("127.0.0.1", 0))
	{
		server_ = std::thread([this] { serve_client(listener_); });
		while (streams_.size() < connections)
			streams_.push_back(
				connect(Family::tcp, Address("127.0.0.1", listener_.port())));
	}
	Served(const Served &) = delete;
	Served &operator=(const Served &) = delete;
	Served(Served &&) = delete;
	Served &operator=(Served &&) = delete;
	~Served()
	{
		streams_.clear();
		server_.join();
	}

	std::vector<Stream> &streams()
	{
		return streams_;
	}

private:
	Listener listener_;
	std::thread server_;
	std::vector<Stream> streams_;
};

Plan plan(Kind test, std::uint64_t burst, std::chrono::microseconds computation = {})
{
	return {.test = test,
		.nodelay = true,
		.message = 1000,
		.total = 30500,
		.burst = burst,
		.computation = computation,
		.repeat = 2};
}

} // namespace

TEST(stream, bandwidth)
{
	Served served;
	const std::vector<Pass> passes = run_plan(served.streams(), plan(Kind::bandwidth, 1));

	ASSERT_EQ(passes.size(), 2U);
	EXPECT_TRUE(passes[0].one_way.empty());
}

TEST(stream, every_round_trip_is_timed)
{
	Served served;
	const std::vector<Pass> passes = run_plan(served.streams(), plan(Kind::latency, 1));

	ASSERT_EQ(passes.size(), 2U);
	EXPECT_EQ(passes[1].one_way.size(), 31U);
	EXPECT_GT(passes[1].seconds, 0);
}

TEST(stream, computation_takes_its_time)
{
	Served served;
	const std::vector<Pass> passes = run_plan(
		served.streams(), plan(Kind::progress, 10, std::chrono::microseconds(3000)));

	ASSERT_EQ(passes.size(), 2U);
	EXPECT_EQ(passes[0].one_way.size(), 4U);
	// Not less than what one end computes after each of four bursts.
	EXPECT_GE(passes[0].seconds, 4 * 0.003);
}

TEST(stream, the_client_computes_after_each_message)
{
	Served served;
	const std::vector<Pass> passes = run_plan(
		served.streams(), plan(Kind::bandwidth, 1, std::chrono::microseconds(1000)));

	// 31 messages, less what the server's answer is taken to need.
	ASSERT_EQ(passes.size(), 2U);
	EXPECT_GE(passes[0].seconds, 30 * 0.001);
}

TEST(stream, uneven_computation_is_the_same_on_average)
{
	const std::chrono::microseconds average(1000);
	const Request even{Kind::bandwidth, false, true, 1, 1, 1, average};
	Request uneven = even;
	uneven.uneven = true;
	std::vector<std::chrono::microseconds> times(1000);
	std::generate(times.begin(), times.end(), [&] { return next_computation(uneven); });
	const auto [least, most] = std::minmax_element(times.begin(), times.end());

	EXPECT_EQ(next_computation(even), average);
	EXPECT_LT(*least, average / 10);
	EXPECT_GT(*most, average * 19 / 10);
	EXPECT_LE(*most, average * 2);
	EXPECT_NEAR(
		std::accumulate(times.begin(), times.end(), std::chrono::microseconds(0)).count(),
		1000.0 * 1000, 50.0 * 1000);
}

// The bytes of the first pass are checked, so that none may be sent from memory
// that was overwritten since.
TEST(stream, memory_is_overwritten_after_each_burst)
{
	for (const std::uint64_t window : {1U, 7U}) {
		Served served;

		EXPECT_EQ(run_plan(served.streams(), plan(Kind::touch, window)).size(), 2U);
	}
}

TEST(stream, several_connections_at_once)
{
	Served served(3);
	const std::vector<Pass> passes = run_plan(served.streams(), plan(Kind::bandwidth, 1));

	ASSERT_EQ(passes.size(), 2U);
	EXPECT_GT(passes[1].seconds, 0);
}

TEST(stream, several_connections_in_turn)
{
	Served served(3);
	const std::vector<Pass> passes = run_plan(served.streams(), plan(Kind::hotspot, 1));

	// Those of all clients.
	ASSERT_EQ(passes.size(), 2U);
	EXPECT_EQ(passes[0].one_way.size(), 3 * 31U);
	EXPECT_TRUE(std::is_sorted(passes[0].one_way.begin(), passes[0].one_way.end()));
}

TEST(stream, what_is_not_read_yet_is_seen)
{
	Listener listener(Family::tcp, Address("127.0.0.1", 0));
	Stream client = connect(Family::tcp, Address("127.0.0.1", listener.port()));
	Stream server = listener.accept();
	std::vector<std::byte> data(700);

	EXPECT_EQ(server.unread(), 0U);
	client.send(data);
	const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
	while (server.unread() < 700 && std::chrono::steady_clock::now() < deadline)
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
	EXPECT_EQ(server.unread(), 700U);
	server.receive(std::span(data).first(300));
	EXPECT_EQ(server.unread(), 400U);
}

TEST(stream, fill)
{
	Served served;
	const std::vector<Pass> passes =
		run_plan(served.streams(), plan(Kind::fill, 1, std::chrono::microseconds(5000)));

	// The client is done long before the server, which reads 1000 bytes at a time.
	ASSERT_EQ(passes.size(), 2U);
	EXPECT_GT(passes[0].unread, 8000U);
	EXPECT_LT(passes[0].unread, 23500U);
}

TEST(stream, the_server_says_where_a_byte_was_wrong)
{
	Served served;
	std::vector<std::byte> data(1000);

	Stream &stream = served.streams().front();
	const Request request{Kind::bandwidth, true, true, data.size(), data.size(), 1, {}};
	Greeting{1, false}.send(stream);
	request.send(stream);
	fill(data, client_stream, 0);
	data[517] ^= std::byte{1};
	stream.send(data);
	EXPECT_EQ(Verdict::receive(stream).wrong, 517U);
}

TEST(stream, what_is_no_request_is_refused)
{
	Listener listener(Family::tcp, Address("127.0.0.1", 0));
	Stream client = connect(Family::tcp, Address("127.0.0.1", listener.port()));
	Stream server = listener.accept();
	const std::array<std::byte, 7 * sizeof(std::uint64_t)> garbage{};

	client.send(garbage);
	EXPECT_THROW((void)Request::receive(server), std::runtime_error);
	client.send(std::span(garbage).first(3 * sizeof(std::uint64_t)));
	EXPECT_THROW((void)Greeting::receive(server), std::runtime_error);
	Greeting{1000000000, false}.send(client);
	EXPECT_THROW((void)Greeting::receive(server), std::runtime_error);
	const Request endless{Kind::progress, false, true, 1, 1, 0, {}};
	endless.send(client);
	EXPECT_THROW((void)Request::receive(server), std::runtime_error);
}
