// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "table.h"

#include "../common/number.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace sdpstat
{
namespace
{

constexpr std::array<const char *, 12> state_names = {
	"", // there is no state 0
	"ESTABLISHED",
	"SYN_SENT",
	"SYN_RECV",
	"FIN_WAIT1",
	"FIN_WAIT2",
	"TIME_WAIT",
	"CLOSE",
	"CLOSE_WAIT",
	"LAST_ACK",
	"LISTEN",
	"CLOSING",
};

/** The words of one line, taken from left to right. */
class Words
{
public:
	Words(std::string_view line, std::size_t number) : rest_(line), line_(number)
	{
	}

	[[nodiscard]] std::size_t line() const
	{
		return line_;
	}

	[[noreturn]] void reject(std::string_view column, std::string_view expected,
				 std::string_view found) const
	{
		throw FormatError(
			line_, fmt::format("{}: expected {}, found {}", column, expected,
					   found.empty() ? "nothing" : fmt::format("'{}'", found)));
	}

	std::string_view next()
	{
		constexpr std::string_view blanks = " \t\r";

		rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size()));
		const std::string_view word = rest_.substr(0, rest_.find_first_of(blanks));

		rest_.remove_prefix(word.size());
		return word;
	}

	template <typename Number> Number number(std::string_view column)
	{
		const std::string_view word = next();
		const auto value = sdp::parse_number<Number>(word);

		if (!value)
			reject(column, "a number", word);
		return *value;
	}

	/** Two numbers with a colon between them. */
	std::pair<std::uint32_t, std::uint32_t> pair(std::string_view column, int base)
	{
		const std::string_view word = next();
		const std::size_t colon = std::min(word.find(':'), word.size());
		const auto first = sdp::parse_number<std::uint32_t>(word.substr(0, colon), base);
		const auto second = sdp::parse_number<std::uint32_t>(
			word.substr(std::min(colon + 1, word.size())), base);

		if (!first || !second)
			reject(column,
			       base == 16 ? "two hexadecimal numbers as A:B" : "two numbers as A:B",
			       word);
		return {*first, *second};
	}

	/** Numbers with colons between them. */
	template <std::size_t N> std::array<std::uint64_t, N> numbers(std::string_view column)
	{
		const std::string_view word = next();
		std::array<std::uint64_t, N> values = {};
		std::string_view rest = word;

		for (std::uint64_t &value : values) {
			const std::size_t colon = std::min(rest.find(':'), rest.size());
			const auto number = sdp::parse_number<std::uint64_t>(rest.substr(0, colon));

			if (!number)
				reject(column, fmt::format("{} numbers as A:B", N), word);
			value = *number;
			rest.remove_prefix(std::min(colon + 1, rest.size()));
		}
		return values;
	}

	Endpoint endpoint(std::string_view column)
	{
		const std::string_view word = next();
		const auto value = parse_endpoint(word);

		if (!value)
			reject(column, "ADDRESS:PORT in hexadecimal", word);
		return *value;
	}

	State state()
	{
		const std::string_view word = next();
		const auto value = sdp::parse_number<std::uint8_t>(word, 16);

		if (!value || *value == 0)
			reject("state", "the hexadecimal number of a state", word);
		return static_cast<State>(*value);
	}

	/** A name, empty where the table has "-" for none. */
	std::string name(std::string_view column)
	{
		const std::string_view word = next();

		if (word.empty())
			reject(column, "a name or '-'", word);
		return word == "-" ? std::string() : std::string(word);
	}

private:
	std::string_view rest_;
	std::size_t line_;
};

void check_header(Words &words, std::string_view expected)
{
	const std::string_view first = words.next();

	if (first != expected)
		words.reject("header", fmt::format("column names, the first being '{}'", expected),
			     first);
}

Flow parse_flow(Words &words)
{
	Flow flow;

	std::tie(flow.ring, flow.ring_used) = words.pair("ring", 10);
	flow.peer_ring = words.number<std::uint32_t>("peer_ring");
	flow.stalls = words.number<std::uint64_t>("stalls");
	flow.coalesced = words.number<std::uint64_t>("coalesced");
	const auto flushes = words.numbers<4>("flushes");

	flow.flushes = {flushes[0], flushes[1], flushes[2], flushes[3]};
	return flow;
}

Zcopy parse_zcopy(Words &words)
{
	Zcopy zcopy;

	zcopy.mode = words.name("zcopy");
	const auto bytes = words.numbers<5>("zcopy_bytes");
	const auto misses = words.numbers<4>("zcopy_misses");

	zcopy.sent = bytes[0];
	zcopy.sent_zcopy = bytes[1];
	zcopy.sent_async = bytes[2];
	zcopy.received = bytes[3];
	zcopy.received_zcopy = bytes[4];
	zcopy.refusals = misses[0];
	zcopy.cancels = misses[1];
	zcopy.guard_refusals = misses[2];
	zcopy.guard_faults = misses[3];
	return zcopy;
}

/* Older modules do not have it. */
std::string parse_later(Words &words)
{
	const std::string_view word = words.next();

	return std::string(word == "-" ? std::string_view() : word);
}

Socket parse_row(Words words)
{
	Socket socket;
	const std::string_view slot = words.next();

	if (!slot.ends_with(':'))
		words.reject("sl", "the number of the row and a colon", slot);
	socket.local = words.endpoint("local_address");
	socket.peer = words.endpoint("rem_address");
	socket.uid = words.number<std::uint32_t>("uid");
	socket.inode = words.number<std::uint64_t>("inode");
	std::tie(socket.rx_queue, socket.tx_queue) = words.pair("rx_queue:tx_queue", 16);
	socket.state = words.state();
	std::tie(socket.tx_credits, socket.rx_credits) = words.pair("credits", 10);
	socket.flow = words.name("flow");
	socket.device = words.name("dev");
	socket.flow_state = parse_flow(words);
	socket.zcopy = parse_zcopy(words);
	socket.flow_state.ring_why = parse_later(words);
	socket.queue_pair = sdp::parse_number<std::uint32_t>(parse_later(words)).value_or(0);
	socket.flow_state.why = parse_later(words);
	return socket;
}

Counter parse_counter(Words words)
{
	Counter counter;

	counter.name = words.next();
	if (counter.name.empty())
		words.reject("name", "a name and a number", {});
	counter.value = words.number<std::int64_t>(counter.name);
	return counter;
}

// Every module has the first ones, in whatever order.
std::vector<std::string> parse_headings(Words header)
{
	std::vector<std::string> names;

	check_header(header, "device");
	for (std::string_view name = header.next(); !name.empty(); name = header.next())
		names.emplace_back(name);
	for (const char *first :
	     {"transport", "interface", "flags", "segment", "tx_full", "tx_wake"})
		if (std::find(names.begin(), names.end(), first) == names.end())
			throw FormatError(header.line(),
					  fmt::format("header: there is no column '{}'", first));
	return names;
}

std::vector<std::string> parse_list(std::string_view word)
{
	std::vector<std::string> list;

	while (!word.empty()) {
		const std::size_t comma = std::min(word.find(','), word.size());

		list.emplace_back(word.substr(0, comma));
		word.remove_prefix(std::min(comma + 1, word.size()));
	}
	return list;
}

void parse_column(Device &device, const std::string &heading, Words &words)
{
	if (heading == "transport")
		device.transport = words.name(heading);
	else if (heading == "interface")
		device.interface = words.name(heading);
	else if (heading == "flags")
		device.flags = parse_list(words.name(heading));
	else if (heading == "segment")
		device.segment = words.number<std::uint32_t>(heading);
	else if (heading == "tx_full")
		device.tx_full = words.number<std::uint32_t>(heading);
	else if (heading == "tx_wake")
		device.tx_wake = words.number<std::uint32_t>(heading);
	else if (heading == "engines")
		device.engines = parse_list(words.name(heading));
	else if (heading == "zcopy")
		device.zcopy = parse_list(words.name(heading));
	else if (heading == "lacks")
		device.lacks = parse_list(words.name(heading));
	else
		device.functions.push_back({heading, words.name(heading)});
}

Device parse_device(Words words, const std::vector<std::string> &headings)
{
	Device device;

	device.name = words.name("device");
	for (const std::string &heading : headings)
		parse_column(device, heading, words);
	return device;
}

} // namespace

std::string state_name(State state)
{
	const auto number = static_cast<std::size_t>(state);

	if (number > 0 && number < state_names.size())
		return state_names.at(number);
	return fmt::format("{:#x}", number);
}

FormatError::FormatError(std::size_t line, const std::string &problem)
	: std::runtime_error(fmt::format("line {}: {}", line, problem))
{
}

std::vector<Socket> parse_sockets(std::istream &input)
{
	std::vector<Socket> sockets;
	std::string line;
	std::size_t number = 1;

	std::getline(input, line);
	Words header(line, number);

	check_header(header, "sl");
	while (std::getline(input, line))
		sockets.push_back(parse_row({line, ++number}));
	return sockets;
}

std::vector<Counter> parse_counters(std::istream &input)
{
	std::vector<Counter> counters;
	std::string line;
	std::size_t number = 0;

	while (std::getline(input, line))
		counters.push_back(parse_counter({line, ++number}));
	return counters;
}

std::vector<Device> parse_devices(std::istream &input)
{
	std::vector<Device> devices;
	std::string line;
	std::size_t number = 1;

	std::getline(input, line);
	const std::vector<std::string> headings = parse_headings({line, number});

	while (std::getline(input, line))
		devices.push_back(parse_device({line, ++number}, headings));
	return devices;
}

} // namespace sdpstat
