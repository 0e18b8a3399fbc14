// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "output.h"

#include "grid.h"
#include "json.h"
#include "summary.h"

#include <string_view>

#include <fmt/format.h>

namespace sdpstat
{
namespace
{

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
		grid.column("Limited By");
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
	if (columns.memory)
		grid.column("Memory");
	if (columns.timeouts)
		grid.column("Timeouts");
	if (columns.rates) {
		grid.column("In/s", true);
		grid.column("Out/s", true);
	}
	if (columns.extended) {
		grid.column("UID", true);
		grid.column("Inode", true);
		grid.column("QP", true);
	}
	if (columns.processes)
		grid.column("Process");
	return grid;
}

std::vector<std::string> flow_cells(const Flow &flow)
{
	const Flushes &flushes = flow.flushes;

	return {
		or_dash(flow.why),
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

// As ss(8) writes it.
std::string memory_cell(const std::optional<Memory> &memory)
{
	if (!memory)
		return "-";
	return fmt::format("r{},rb{},t{},tb{},f{},w{},o{},bl{},d{}", memory->rmem_alloc,
			   memory->rcvbuf, memory->wmem_alloc, memory->sndbuf, memory->fwd_alloc,
			   memory->wmem_queued, memory->optmem, memory->backlog, memory->drops);
}

std::string timeouts_cell(const std::optional<Timeouts> &timeouts)
{
	if (!timeouts)
		return "-";
	return fmt::format("keepalive:{},user:{}ms,linger2:{}",
			   timeouts->keepalive ? fmt::format("{}s+{}*{}s", timeouts->keepidle,
							     timeouts->keepcnt, timeouts->keepintvl)
					       : "off",
			   timeouts->user_timeout, timeouts->linger2);
}

std::vector<std::string> rate_cells(const std::optional<Rate> &rate)
{
	if (!rate)
		return {"-", "-"};
	return {fmt::format("{:.0f}", rate->in), fmt::format("{:.0f}", rate->out)};
}

Json flow_json(const Flow &flow)
{
	return {
		{"flow_why", name_json(flow.why)},
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

Json memory_json(const std::optional<Memory> &memory)
{
	if (!memory)
		return nullptr;
	return {
		{"rmem_alloc", memory->rmem_alloc}, {"rcvbuf", memory->rcvbuf},
		{"wmem_alloc", memory->wmem_alloc}, {"sndbuf", memory->sndbuf},
		{"fwd_alloc", memory->fwd_alloc},   {"wmem_queued", memory->wmem_queued},
		{"optmem", memory->optmem},	    {"backlog", memory->backlog},
		{"drops", memory->drops},
	};
}

Json timeouts_json(const std::optional<Timeouts> &timeouts)
{
	if (!timeouts)
		return nullptr;
	return {
		{"keepalive", timeouts->keepalive},	  {"keepidle", timeouts->keepidle},
		{"keepintvl", timeouts->keepintvl},	  {"keepcnt", timeouts->keepcnt},
		{"user_timeout", timeouts->user_timeout}, {"linger2", timeouts->linger2},
	};
}

Json rate_json(const std::optional<Rate> &rate)
{
	return rate ? Json{{"in", rate->in}, {"out", rate->out}} : Json(nullptr);
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
		{"queue_pair", socket.queue_pair ? Json(socket.queue_pair) : Json()},
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
		if (columns.memory)
			cells.push_back(memory_cell(socket.memory));
		if (columns.timeouts)
			cells.push_back(timeouts_cell(socket.timeouts));
		if (columns.rates)
			for (std::string &cell : rate_cells(socket.rate))
				cells.push_back(std::move(cell));
		if (columns.extended) {
			cells.push_back(std::to_string(socket.uid));
			cells.push_back(std::to_string(socket.inode));
			cells.push_back(socket.queue_pair ? std::to_string(socket.queue_pair)
							  : "-");
		}
		if (columns.processes)
			cells.push_back(holders_text(holders_of(socket.inode, holders)));
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

		if (columns.memory)
			entry["memory"] = memory_json(socket.memory);
		if (columns.timeouts)
			entry["timeouts"] = timeouts_json(socket.timeouts);
		if (columns.rates)
			entry["rate"] = rate_json(socket.rate);
		if (columns.processes)
			entry["processes"] = holders_json(holders_of(socket.inode, holders));
		list.push_back(std::move(entry));
	}
	return dump({{"sockets", std::move(list)}});
}

std::string summary_as_text(const std::vector<Socket> &sockets)
{
	const Summary summary = summarize(sockets);
	std::string text = fmt::format("Sockets: {}\nBytes to read: {}, to send: {}\n\n",
				       sockets.size(), summary.unread, summary.unsent);
	Grid states;
	Grid carriers;

	states.column("State");
	states.column("Sockets", true);
	for (const auto &[state, count] : summary.states)
		states.row({state_name(state), std::to_string(count)});
	carriers.column("Flow");
	carriers.column("Device");
	carriers.column("Connections", true);
	for (const auto &[carrier, count] : summary.carriers)
		carriers.row({carrier.first, or_dash(carrier.second), std::to_string(count)});
	return text + states.text() + "\n" + carriers.text();
}

std::string summary_as_json(const std::vector<Socket> &sockets)
{
	const Summary summary = summarize(sockets);
	Json states = Json::object();
	Json carriers = Json::array();

	for (const auto &[state, count] : summary.states)
		states[state_name(state)] = count;
	for (const auto &[carrier, count] : summary.carriers)
		carriers.push_back({{"flow", carrier.first},
				    {"device", name_json(carrier.second)},
				    {"connections", count}});
	return dump({{"summary",
		      {{"sockets", sockets.size()},
		       {"unread", summary.unread},
		       {"unsent", summary.unsent},
		       {"states", std::move(states)},
		       {"carriers", std::move(carriers)}}}});
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
	grid.column("Engines");
	grid.column("Zcopy");
	grid.column("Lacks");
	grid.column("Interface");
	grid.column("Flags");
	grid.column("Segment", true);
	grid.column("Full", true);
	grid.column("Wake", true);
	grid.column("Hardware");
	grid.column("Software");
	for (const Device &device : devices)
		grid.row({device.name, device.transport, joined(device.engines),
			  joined(device.zcopy), joined(device.lacks), device.interface,
			  joined(device.flags), number_or_dash(device.segment),
			  number_or_dash(device.tx_full), number_or_dash(device.tx_wake),
			  joined(functions_in(device, "hardware")),
			  joined(functions_in(device, "software"))});
	return grid.text();
}

std::string devices_as_json(const std::vector<Device> &devices)
{
	Json list = Json::array();

	for (const Device &device : devices)
		list.push_back({{"device", device.name},
				{"transport", device.transport},
				{"engines", device.engines},
				{"zcopy", device.zcopy},
				{"lacks", device.lacks},
				{"provider", provider_json(device)}});
	return dump({{"devices", std::move(list)}});
}

} // namespace sdpstat
