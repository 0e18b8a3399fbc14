// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "why.h"

#include "binary.h"
#include "fabric.h"
#include "inspect.h"
#include "kernel.h"

#include "../common/printable.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace libsdp
{
namespace
{

using nlohmann::json;

constexpr const char *sys_infiniband = "/sys/class/infiniband";
constexpr const char *sys_net = "/sys/class/net";

/** What all answers are drawn from. */
struct Host {
	KernelAnswer kernel;
	std::vector<Port> ports;
	std::string obstacle; ///< why the program does not load the library; empty: it does
};

/** One role at one endpoint. */
struct Case {
	Role role = Role::client;
	Endpoint endpoint;
	Route route;
	std::vector<Carrier> carriers;
	Choice choice;
};

/** What comes of it: "tcp", "sdp", "sdp-or-tcp", "sdp-and-tcp" or "error". */
struct Outcome {
	std::string use;
	std::string reason;
};

bool falls_back(const Host &host, const Choice &choice)
{
	if (choice.kernel_decides)
		return host.kernel.tcp_fallback;
	return choice.transport == Transport::both;
}

std::string rule_of(const Choice &choice)
{
	if (choice.kernel_decides)
		return "there are no rules, net.sdp.tcp_fallback decides";
	if (choice.line == 0)
		return fmt::format("{}, since no rule matches", name_of(choice.transport));
	return fmt::format("{}, by line {}: {}", name_of(choice.transport), choice.line,
			   choice.rule);
}

std::string carrier_text(const Carrier &carrier)
{
	std::string text = fmt::format("{} port {} ({})", carrier.port->device,
				       carrier.port->number, carrier.port->state);

	if (carrier.gid != nullptr)
		text += fmt::format(", GID {} {}", carrier.gid->index, carrier.gid->text);
	return text;
}

std::string carriers_text(const std::vector<Carrier> &carriers)
{
	std::string text;

	for (const Carrier &carrier : carriers)
		text += (text.empty() ? "" : ", or ") + carrier_text(carrier);
	if (carriers.size() > 1)
		text += ", whichever was registered first";
	return text;
}

Outcome without_carrier(const Case &item, bool fallback)
{
	const std::string address = text_of(item.route.source);
	const std::string what = item.carriers.empty()
					 ? fmt::format("no RDMA device is on {}", item.route.netdev)
					 : fmt::format("{} on {} has no GID of {}",
						       item.carriers.front().port->device,
						       item.route.netdev, address);

	if (fallback)
		return {"tcp", what};
	return {"error", fmt::format("{}; {}", what,
				     item.role == Role::server ? "bind() gives EADDRNOTAVAIL"
							       : "connect() gives ENETUNREACH")};
}

Outcome with_carrier(const Case &item, bool fallback)
{
	const std::string on = "on " + carriers_text(item.carriers);
	const bool is_down = std::none_of(
		item.carriers.begin(), item.carriers.end(),
		[](const Carrier &carrier) { return carrier.port->state == "ACTIVE"; });
	const std::string down = is_down ? ", a port through which nothing comes" : "";

	if (!fallback)
		return {"sdp", on + down};
	if (item.role == Role::server)
		return {"sdp-and-tcp", on + down};
	return {"sdp-or-tcp", fmt::format("{}{}; TCP if the peer does not answer there", on, down)};
}

Outcome listens_everywhere(const Host &host, bool fallback)
{
	std::string devices;

	for (const Port &port : host.ports)
		devices += (devices.empty() ? "" : ", ") + port.device;
	return {fallback ? "sdp-and-tcp" : "sdp",
		devices.empty() ? "on all RDMA devices, of which there are none"
				: "on all RDMA devices: " + devices};
}

Outcome outcome_of(const Host &host, const Case &item)
{
	const bool fallback = falls_back(host, item.choice);

	if (!item.choice.kernel_decides && item.choice.transport == Transport::tcp)
		return {"tcp", "the rule says so"};
	if (host.kernel.error != 0)
		return {"tcp", fmt::format("this kernel has no SDP sockets ({}); try: modprobe sdp",
					   std::strerror(host.kernel.error))};
	if (!host.obstacle.empty())
		return {"tcp", fmt::format("no library can be preloaded ({}); try: sdp-bpf",
					   host.obstacle)};
	if (item.role == Role::server && is_unspecified(item.endpoint.address))
		return listens_everywhere(host, fallback);
	if (item.route.error != 0)
		return {"error",
			fmt::format("there is no route: {}", std::strerror(item.route.error))};
	if (item.carriers.empty() || item.carriers.front().gid == nullptr)
		return without_carrier(item, fallback);
	return with_carrier(item, fallback);
}

json route_json(const Case &item)
{
	json result = {{"netdev", item.route.netdev}, {"source", text_of(item.route.source)}};

	if (item.route.error != 0)
		return {{"error", std::strerror(item.route.error)}};
	result["device"] = result["port"] = result["state"] = result["gid"] = nullptr;
	// Which of several it is no file tells.
	if (item.carriers.size() != 1)
		return result;
	const Carrier &carrier = item.carriers.front();

	result["device"] = carrier.port->device;
	result["port"] = carrier.port->number;
	result["state"] = carrier.port->state;
	if (carrier.gid != nullptr)
		result["gid"] = {{"index", carrier.gid->index},
				 {"gid", carrier.gid->text},
				 {"type", carrier.gid->type}};
	return result;
}

json case_json(const Host &host, const Case &item)
{
	const Outcome outcome = outcome_of(host, item);
	const Choice &choice = item.choice;
	json result = {{"role", name_of(item.role)},
		       {"rule", nullptr},
		       {"line", nullptr},
		       {"use", choice.kernel_decides ? "sdp" : name_of(choice.transport)},
		       {"by", choice.kernel_decides ? "kernel"
			      : choice.line != 0    ? "rule"
						    : "default"},
		       {"route", route_json(item)},
		       {"outcome", outcome.use},
		       {"reason", outcome.reason},
		       {"words", rule_of(choice)}};

	if (choice.line != 0) {
		result["line"] = choice.line;
		result["rule"] = choice.rule;
	}
	return result;
}

// Nobody listens at an address of another host, or connects to none.
std::vector<Role> roles_at(const Endpoint &endpoint, const Route &route)
{
	if (is_unspecified(endpoint.address))
		return {Role::server};
	if (route.local)
		return {Role::server, Role::client};
	return {Role::client};
}

json endpoint_json(const Host &host, const WhyQuestion &question, const Endpoint &endpoint)
{
	const Route route = route_to(endpoint.address);
	json result = {{"endpoint", text_of(endpoint).get()}, {"decisions", json::array()}};

	for (const Role role : roles_at(endpoint, route)) {
		Case item;

		item.role = role;
		item.endpoint = endpoint;
		item.route = route;
		item.carriers = find_carriers(host.ports, route, sys_net);
		item.choice = choose(question.file.text, question.program, endpoint, role);
		result["decisions"].push_back(case_json(host, item));
	}
	return result;
}

// Null of a program that is not here.
json library_json(const Host &host, const WhyQuestion &question)
{
	const bool loaded = host.obstacle.empty();

	if (!question.program_file)
		return nullptr;
	return {{"file", sdp::printable(*question.program_file)},
		{"loaded", loaded},
		{"error", loaded ? json(nullptr) : json(host.obstacle)}};
}

std::string heading(const json &told)
{
	const json &kernel = told["kernel"];
	const std::string file = told["file"];
	std::string text = told["file_exists"]
				   ? fmt::format("configuration: {}, {} rules\n", file,
						 told["rules"].get<std::size_t>())
				   : fmt::format("configuration: none, there is no {}\n", file);

	if (!told["first_wrong_line"].is_null())
		text += fmt::format(
			"line {} is wrong (see --check): it and what follows do not count\n",
			told["first_wrong_line"].get<unsigned>());
	if (told["only_tcp"])
		text += fmt::format("{}: the rules have nothing but TCP\n",
				    told["program"].get<std::string>());
	if (told["library"].is_object() && !told["library"]["loaded"])
		text += fmt::format("library: cannot be preloaded, {}\n",
				    told["library"]["error"].get<std::string>());
	if (kernel["sdp"])
		return text + fmt::format("kernel: has SDP sockets, net.sdp.tcp_fallback={}\n",
					  kernel["tcp_fallback"].get<bool>() ? 1 : 0);
	return text +
	       fmt::format("kernel: has no SDP sockets ({})\n", kernel["error"].get<std::string>());
}

std::string route_text(const json &route)
{
	if (route.contains("error"))
		return {};
	return fmt::format("  route: {}, from {}\n", route["netdev"].get<std::string>(),
			   route["source"].get<std::string>());
}

std::string decision_text(const json &decision, const std::string &endpoint)
{
	const bool server = decision["role"] == "server";

	return fmt::format(
		"{} {}\n  libsdp: {}\n{}  result: {}, {}\n", server ? "listen at" : "connect to",
		endpoint, decision["words"].get<std::string>(),
		server ? "" : route_text(decision["route"]), decision["outcome"].get<std::string>(),
		decision["reason"].get<std::string>());
}

} // namespace

json answer_to(const WhyQuestion &question)
{
	const Host host = {.kernel = ask_kernel(),
			   .ports = read_ports(sys_infiniband),
			   .obstacle = preload_obstacle(question.program_file.value_or(""))};
	const Summary summary = summary_of(question.file.text, question.program);
	json result = {{"file", sdp::printable(question.file.path)},
		       {"file_exists", question.file.exists},
		       {"rules", summary.rules},
		       {"first_wrong_line", nullptr},
		       {"program", sdp::printable(question.program)},
		       {"only_tcp", summary.only_tcp},
		       {"library", library_json(host, question)},
		       {"kernel", {{"sdp", host.kernel.error == 0}}},
		       {"endpoints", json::array()}};

	if (summary.first_error != 0)
		result["first_wrong_line"] = summary.first_error;
	result["kernel"]["error"] = result["kernel"]["tcp_fallback"] = nullptr;
	if (host.kernel.error != 0)
		result["kernel"]["error"] = std::strerror(host.kernel.error);
	else
		result["kernel"]["tcp_fallback"] = host.kernel.tcp_fallback;
	for (const Endpoint &endpoint : question.endpoints)
		result["endpoints"].push_back(endpoint_json(host, question, endpoint));
	return result;
}

std::string why(const WhyQuestion &question, bool as_json)
{
	json told = answer_to(question);
	std::string text;

	if (!as_json) {
		text = heading(told);
		for (const json &endpoint : told["endpoints"])
			for (const json &decision : endpoint["decisions"])
				text += decision_text(decision, endpoint["endpoint"]);
		return text;
	}
	for (json &endpoint : told["endpoints"])
		for (json &decision : endpoint["decisions"])
			decision.erase("words");
	return told.dump(2) + "\n";
}

} // namespace libsdp
