// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "output.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sdpstat
{
namespace
{

using Json = nlohmann::ordered_json;

struct Column {
	std::string_view title;
	bool right = false;
};

/** Rows of cells, each column as wide as its widest cell. */
class Grid
{
public:
	void column(std::string_view title, bool right = false)
	{
		columns_.push_back({title, right});
	}

	void row(std::vector<std::string> cells)
	{
		rows_.push_back(std::move(cells));
	}

	[[nodiscard]] std::string text() const
	{
		std::vector<std::string> titles;

		for (const Column &column : columns_)
			titles.emplace_back(column.title);
		std::string result = line(titles);

		for (const auto &cells : rows_)
			result += line(cells);
		return result;
	}

private:
	[[nodiscard]] std::size_t width(std::size_t index) const
	{
		std::size_t widest = columns_[index].title.size();

		for (const auto &cells : rows_)
			widest = std::max(widest, cells[index].size());
		return widest;
	}

	[[nodiscard]] std::string line(const std::vector<std::string> &cells) const
	{
		std::string result;

		for (std::size_t i = 0; i < cells.size(); i++)
			result += columns_[i].right ? fmt::format("{:>{}}  ", cells[i], width(i))
						    : fmt::format("{:<{}}  ", cells[i], width(i));
		result.erase(result.find_last_not_of(' ') + 1);
		return result + "\n";
	}

	std::vector<Column> columns_;
	std::vector<std::vector<std::string>> rows_;
};

const std::vector<Holder> &holders_of(const Socket &socket, const Holders &holders)
{
	static const std::vector<Holder> none;
	const auto found = holders.find(socket.inode);

	return found == holders.end() ? none : found->second;
}

// A program chooses its name, and it must not write to this terminal with it.
std::string harmless(std::string name)
{
	std::replace_if(
		name.begin(), name.end(),
		[](unsigned char byte) { return byte < ' ' || byte == 0x7f; }, '?');
	return name;
}

std::string holders_text(const std::vector<Holder> &holders)
{
	std::string result;

	for (const Holder &holder : holders)
		result += fmt::format("{}{}(pid={},fd={})", result.empty() ? "" : ",",
				      harmless(holder.name), holder.pid, holder.fd);
	return result;
}

std::string or_dash(const std::string &name)
{
	return name.empty() ? "-" : name;
}

Grid socket_grid(Columns columns)
{
	Grid grid;

	grid.column("State");
	grid.column("Recv-Q", true);
	grid.column("Send-Q", true);
	grid.column("Local Address:Port");
	grid.column("Peer Address:Port");
	grid.column("Credits");
	grid.column("Flow");
	grid.column("Device");
	if (columns.flow) {
		grid.column("Ring");
		grid.column("Why");
		grid.column("Peer Ring", true);
		grid.column("Stalls", true);
		grid.column("Coalesced", true);
		grid.column("Flushes");
	}
	if (columns.zcopy) {
		grid.column("Zcopy");
		grid.column("Sent:Zcopy:Async");
		grid.column("Received:Zcopy");
		grid.column("Refused", true);
		grid.column("Cancelled", true);
		grid.column("Unguarded", true);
		grid.column("Faults", true);
	}
	if (columns.extended) {
		grid.column("UID", true);
		grid.column("Inode", true);
	}
	if (columns.processes)
		grid.column("Process");
	return grid;
}

std::vector<std::string> flow_cells(const Flow &flow)
{
	const Flushes &flushes = flow.flushes;

	return {
		fmt::format("{}/{}", flow.ring_used, flow.ring),
		or_dash(flow.ring_why),
		std::to_string(flow.peer_ring),
		std::to_string(flow.stalls),
		std::to_string(flow.coalesced),
		fmt::format("{}:{}:{}:{}", flushes.call, flushes.interrupt, flushes.timer,
			    flushes.pause),
	};
}

std::vector<std::string> zcopy_cells(const Zcopy &zcopy)
{
	return {
		or_dash(zcopy.mode),
		fmt::format("{}:{}:{}", zcopy.sent, zcopy.sent_zcopy, zcopy.sent_async),
		fmt::format("{}:{}", zcopy.received, zcopy.received_zcopy),
		std::to_string(zcopy.refusals),
		std::to_string(zcopy.cancels),
		std::to_string(zcopy.guard_refusals),
		std::to_string(zcopy.guard_faults),
	};
}

Json name_json(const std::string &name)
{
	return name.empty() ? Json(nullptr) : Json(name);
}

Json flow_json(const Flow &flow)
{
	return {
		{"ring", flow.ring},
		{"ring_used", flow.ring_used},
		{"ring_why", name_json(flow.ring_why)},
		{"peer_ring", flow.peer_ring},
		{"stalls", flow.stalls},
		{"coalesced", flow.coalesced},
		{"flushes",
		 {{"call", flow.flushes.call},
		  {"interrupt", flow.flushes.interrupt},
		  {"timer", flow.flushes.timer},
		  {"pause", flow.flushes.pause}}},
	};
}

Json end_json(const Endpoint &end)
{
	return {{"address", end.address_text()}, {"port", end.port}};
}

Json zcopy_json(const Zcopy &zcopy)
{
	return {
		{"mode", name_json(zcopy.mode)},
		{"sent", zcopy.sent},
		{"sent_zcopy", zcopy.sent_zcopy},
		{"sent_async", zcopy.sent_async},
		{"received", zcopy.received},
		{"received_zcopy", zcopy.received_zcopy},
		{"refusals", zcopy.refusals},
		{"cancels", zcopy.cancels},
		{"guard_refusals", zcopy.guard_refusals},
		{"guard_faults", zcopy.guard_faults},
	};
}

Json holders_json(const std::vector<Holder> &holders)
{
	Json result = Json::array();

	for (const Holder &holder : holders)
		result.push_back({{"name", holder.name}, {"pid", holder.pid}, {"fd", holder.fd}});
	return result;
}

Json socket_json(const Socket &socket)
{
	return {
		{"state", state_name(socket.state)},
		{"family", socket.local.family == Family::inet ? "inet" : "inet6"},
		{"local", end_json(socket.local)},
		{"peer", end_json(socket.peer)},
		{"recv_queue", socket.rx_queue},
		{"send_queue", socket.tx_queue},
		{"tx_credits", socket.tx_credits},
		{"rx_credits", socket.rx_credits},
		{"flow", name_json(socket.flow)},
		{"device", name_json(socket.device)},
		{"flow_state", flow_json(socket.flow_state)},
		{"zcopy", zcopy_json(socket.zcopy)},
		{"uid", socket.uid},
		{"inode", socket.inode},
	};
}

std::string joined(const std::vector<std::string> &names)
{
	return or_dash(fmt::format("{}", fmt::join(names, ",")));
}

std::vector<std::string> functions_in(const Device &device, std::string_view where)
{
	std::vector<std::string> names;

	for (const Function &function : device.functions)
		if (function.where == where)
			names.push_back(function.name);
	return names;
}

std::string number_or_dash(std::uint32_t number)
{
	return number == 0 ? "-" : std::to_string(number);
}

Json provider_json(const Device &device)
{
	Json functions = Json::object();

	if (device.interface != "provider")
		return nullptr;
	for (const Function &function : device.functions)
		functions[function.name] = name_json(function.where);
	return {
		{"flags", device.flags},     {"segment", device.segment},
		{"tx_full", device.tx_full}, {"tx_wake", device.tx_wake},
		{"functions", functions},
	};
}

// Names of programs need not be UTF-8, but JSON must be.
std::string dump(const Json &json)
{
	return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

std::string sockets_as_text(const std::vector<Socket> &sockets, const Holders &holders,
			    Columns columns)
{
	Grid grid = socket_grid(columns);

	for (const Socket &socket : sockets) {
		std::vector<std::string> cells = {
			state_name(socket.state),
			std::to_string(socket.rx_queue),
			std::to_string(socket.tx_queue),
			socket.local.text(),
			socket.peer.text(),
			fmt::format("{}:{}", socket.tx_credits, socket.rx_credits),
			or_dash(socket.flow),
			or_dash(socket.device),
		};

		if (columns.flow)
			for (std::string &cell : flow_cells(socket.flow_state))
				cells.push_back(std::move(cell));
		if (columns.zcopy)
			for (std::string &cell : zcopy_cells(socket.zcopy))
				cells.push_back(std::move(cell));
		if (columns.extended) {
			cells.push_back(std::to_string(socket.uid));
			cells.push_back(std::to_string(socket.inode));
		}
		if (columns.processes)
			cells.push_back(holders_text(holders_of(socket, holders)));
		grid.row(std::move(cells));
	}
	return grid.text();
}

std::string sockets_as_json(const std::vector<Socket> &sockets, const Holders &holders,
			    Columns columns)
{
	Json list = Json::array();

	for (const Socket &socket : sockets) {
		Json entry = socket_json(socket);

		if (columns.processes)
			entry["processes"] = holders_json(holders_of(socket, holders));
		list.push_back(std::move(entry));
	}
	return dump({{"sockets", std::move(list)}});
}

std::string counters_as_text(const std::vector<Counter> &counters)
{
	Grid grid;

	grid.column("Counter");
	grid.column("Value", true);
	for (const Counter &counter : counters)
		grid.row({counter.name, std::to_string(counter.value)});
	return grid.text();
}

std::string counters_as_json(const std::vector<Counter> &counters)
{
	Json values = Json::object();

	for (const Counter &counter : counters)
		values[counter.name] = counter.value;
	return dump({{"statistics", std::move(values)}});
}

std::string devices_as_text(const std::vector<Device> &devices)
{
	Grid grid;

	grid.column("Device");
	grid.column("Transport");
	grid.column("Interface");
	grid.column("Flags");
	grid.column("Segment", true);
	grid.column("Full", true);
	grid.column("Wake", true);
	grid.column("Hardware");
	grid.column("Software");
	for (const Device &device : devices)
		grid.row({device.name, device.transport, device.interface, joined(device.flags),
			  number_or_dash(device.segment), number_or_dash(device.tx_full),
			  number_or_dash(device.tx_wake), joined(functions_in(device, "hardware")),
			  joined(functions_in(device, "software"))});
	return grid.text();
}

std::string devices_as_json(const std::vector<Device> &devices)
{
	Json list = Json::array();

	for (const Device &device : devices)
		list.push_back({{"device", device.name},
				{"transport", device.transport},
				{"provider", provider_json(device)}});
	return dump({{"devices", std::move(list)}});
}

} // namespace sdpstat
