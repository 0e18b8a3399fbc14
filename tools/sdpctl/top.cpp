// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "top.h"

#include "../sdpstat/filter.h"
#include "../sdpstat/grid.h"
#include "../sdpstat/json.h"
#include "../sdpstat/source.h"
#include "../sdpstat/watch.h"

#include <algorithm>

#include <fmt/format.h>

namespace sdpctl
{
namespace
{

using sdpstat::Json;
using sdpstat::Rate;
using sdpstat::Socket;

// The last two are never for data.
constexpr std::uint32_t credits_for_data = 3;

double moved(const Socket &socket)
{
	return socket.rate ? socket.rate->in + socket.rate->out : -1;
}

std::vector<std::string> rate_cells(const Socket &socket)
{
	const auto share = zcopy_share(socket);

	if (!socket.rate)
		return {"-", "-", "-", "-"};
	return {short_number(socket.rate->in), short_number(socket.rate->out),
		share ? fmt::format("{:.0f}%", 100 * *share) : "-",
		short_number(socket.rate->stalls)};
}

std::vector<std::string> cells_of(const Socket &socket, const sdpstat::Holders &holders)
{
	std::vector<std::string> cells = rate_cells(socket);

	for (const std::string &cell :
	     {fmt::format("{}", fmt::join(waits_of(socket), ",")), socket.flow,
	      sdpstat::holders_text(holders_of(socket.inode, holders)), socket.local.text(),
	      socket.peer.text(), socket.device})
		cells.push_back(sdpstat::or_dash(cell));
	return cells;
}

Json rate_json(const Socket &socket)
{
	const auto share = zcopy_share(socket);

	if (!socket.rate)
		return nullptr;
	return {{"in", socket.rate->in},
		{"out", socket.rate->out},
		{"zcopy_share", share ? Json(*share) : Json(nullptr)},
		{"stalls", socket.rate->stalls}};
}

Json connection_json(const Socket &socket, const sdpstat::Holders &holders)
{
	return {{"processes", sdpstat::holders_json(holders_of(socket.inode, holders))},
		{"state", state_name(socket.state)},
		{"local", sdpstat::end_json(socket.local)},
		{"peer", sdpstat::end_json(socket.peer)},
		{"flow", sdpstat::name_json(socket.flow)},
		{"device", sdpstat::name_json(socket.device)},
		{"recv_queue", socket.rx_queue},
		{"send_queue", socket.tx_queue},
		{"waits_for", waits_of(socket)},
		{"rate", rate_json(socket)}};
}

std::string summary_line(const std::vector<Socket> &sockets)
{
	Rate sum;
	std::size_t busy = 0;

	for (const Socket &socket : sockets) {
		const Rate rate = socket.rate.value_or(Rate());

		sum.in += rate.in;
		sum.out += rate.out;
		sum.stalls += rate.stalls;
		busy += moved(socket) > 0 ? 1 : 0;
	}
	return fmt::format("Connections: {}, of which {} move data: {}B/s in, {}B/s out, "
			   "{} stalls/s\n",
			   sockets.size(), busy, short_number(sum.in), short_number(sum.out),
			   short_number(sum.stalls));
}

std::vector<Socket> look(const TopOptions &options, sdpstat::Watch &watch)
{
	sdpstat::Question question;

	question.states = sdpstat::connected_states;
	question.flow = question.zcopy = true;
	auto sockets = sdpstat::read_sockets(options.proc, question);

	// Recorded tables have all of them.
	std::erase_if(sockets, [](const Socket &socket) {
		return (bit(socket.state) & sdpstat::connected_states) == 0;
	});
	watch.look(sockets, sdpstat::Watch::Clock::now());
	return sockets;
}

std::string next_report(const TopOptions &options, sdpstat::Watch &watch)
{
	auto sockets = look(options, watch);
	const auto holders = sdpstat::find_holders("/proc");

	sort_by_rate(sockets);
	return options.rounds.json ? top_as_json(sockets, holders) : top_as_text(sockets, holders);
}

} // namespace

void sort_by_rate(std::vector<Socket> &sockets)
{
	std::stable_sort(
		sockets.begin(), sockets.end(),
		[](const Socket &one, const Socket &other) { return moved(one) > moved(other); });
}

std::optional<double> zcopy_share(const Socket &socket)
{
	if (moved(socket) <= 0)
		return std::nullopt;
	// What is on its way without a copy may be counted before it has moved.
	return std::min(socket.rate->zcopy / moved(socket), 1.0);
}

std::vector<std::string> waits_of(const Socket &socket)
{
	std::vector<std::string> names;

	if (socket.rx_queue > 0)
		names.emplace_back("reader");
	if (socket.tx_queue > 0) {
		const bool no_room = socket.tx_credits < credits_for_data ||
				     (socket.rate && socket.rate->stalls > 0);
		const bool by_tcp = socket.flow.starts_with("tcp");

		if (no_room && !by_tcp)
			names.emplace_back("peer");
		// Of rdma's room only the beginning of a stall is known.
		else if (socket.flow != "rdma")
			names.emplace_back("device");
	}
	return names;
}

std::string short_number(double number)
{
	const char *unit = "";

	if (number < 9999.5)
		return fmt::format("{:.0f}", number);
	for (const char *next : {"K", "M", "G", "T"}) {
		if (number < 999.95)
			break;
		number /= 1000;
		unit = next;
	}
	return fmt::format("{:.1f}{}", number, unit);
}

std::string top_as_text(const std::vector<Socket> &sockets, const sdpstat::Holders &holders)
{
	sdpstat::Grid grid;

	if (sockets.empty())
		return "No SDP connection is open in this network namespace.\n";
	for (const char *title : {"In/s", "Out/s", "Zcopy", "Stalls/s"})
		grid.column(title, true);
	for (const char *title :
	     {"Waits For", "Flow", "Process", "Local Address:Port", "Peer Address:Port", "Device"})
		grid.column(title);
	for (const Socket &socket : sockets)
		grid.row(cells_of(socket, holders));
	return summary_line(sockets) + "\n" + grid.text();
}

std::string top_as_json(const std::vector<Socket> &sockets, const sdpstat::Holders &holders)
{
	Json list = Json::array();

	for (const Socket &socket : sockets)
		list.push_back(connection_json(socket, holders));
	return sdpstat::dump({{"connections", std::move(list)}}, -1);
}

void show_top(const TopOptions &options)
{
	const sdpstat::Pauses pauses;
	sdpstat::Watch watch;

	look(options, watch);
	if (pauses.pause(options.rounds.interval))
		sdpstat::show_rounds(options.rounds, pauses,
				     [&] { return next_report(options, watch); });
}

} // namespace sdpctl
