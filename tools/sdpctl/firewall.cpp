// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "firewall.h"

#include "command.h"
#include "devices.h"

#include <algorithm>
#include <exception>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace sdpctl
{
namespace
{

using nlohmann::json;

constexpr unsigned roce_port = 4791;

/** What a rule of nft is about. */
struct Rule {
	std::string protocol; ///< "udp", "tcp", empty: any
	bool has_port = false;
	bool has_roce_port = false;
	bool has_more = false; ///< conditions that are not looked into
	bool drops = false;
	bool accepts = false;
};

// A number, a range, or a set of these.
bool contains_port(const json &right, unsigned port)
{
	if (right.is_number_unsigned())
		return right.get<unsigned>() == port;
	if (right.is_object() && right.contains("range"))
		return right["range"][0].get<unsigned>() <= port &&
		       port <= right["range"][1].get<unsigned>();
	if (right.is_object() && right.contains("set"))
		return std::any_of(right["set"].begin(), right["set"].end(),
				   [port](const json &item) { return contains_port(item, port); });
	return false;
}

bool names_protocol(const json &left)
{
	if (left.contains("meta"))
		return left["meta"].value("key", "") == "l4proto";
	return left.contains("payload") && (left["payload"].value("field", "") == "protocol" ||
					    left["payload"].value("field", "") == "nexthdr");
}

void read_match(const json &match, Rule &rule)
{
	const json &left = match.at("left");
	const json &right = match.at("right");
	const bool equal = match.value("op", "==") == "==" || match.value("op", "") == "in";

	if (equal && names_protocol(left) && right.is_string()) {
		rule.protocol = right;
	} else if (equal && left.contains("payload") &&
		   left["payload"].value("field", "") == "dport") {
		rule.protocol = left["payload"].value("protocol", "");
		rule.has_port = true;
		rule.has_roce_port = contains_port(right, roce_port);
	} else {
		rule.has_more = true;
	}
}

Rule read_rule(const json &expressions)
{
	Rule rule;

	for (const json &expression : expressions) {
		if (expression.contains("match"))
			read_match(expression["match"], rule);
		else if (expression.contains("drop") || expression.contains("reject"))
			rule.drops = true;
		else if (expression.contains("accept"))
			rule.accepts = true;
		else if (!expression.contains("counter") && !expression.contains("log"))
			rule.has_more = true;
	}
	return rule;
}

// Whether it is about all that a device of that kind sends, as far as it says.
bool is_about(const Rule &rule, Wanted wanted)
{
	const bool any = rule.protocol.empty() && !rule.has_port;

	if (wanted.roce &&
	    (any || (rule.protocol == "udp" && (!rule.has_port || rule.has_roce_port))))
		return true;
	return wanted.iwarp && (any || (rule.protocol == "tcp" && !rule.has_port));
}

std::string name_of_chain(const json &item)
{
	return fmt::format("{} {} {}", item.value("family", ""), item.value("table", ""),
			   item.value("chain", item.value("name", "")));
}

bool is_on_the_way(const json &chain)
{
	const std::string hook = chain.value("hook", "");

	return hook == "input" || hook == "output" || hook == "prerouting" ||
	       hook == "postrouting" || hook == "ingress" || hook == "egress";
}

std::string name_of_traffic(Wanted wanted)
{
	const std::string roce = fmt::format("UDP to port {} (RoCE)", roce_port);
	const std::string iwarp = "TCP (iWARP)";

	return wanted.roce && wanted.iwarp ? roce + " or " + iwarp : wanted.roce ? roce : iwarp;
}

// Soft-RoCE's devices name their interface, iwarp.ko's their design; others in software
// are on no bus.
bool is_software(const std::filesystem::path &device)
{
	std::error_code ignored;
	const std::string real = std::filesystem::canonical(device, ignored);

	return std::filesystem::exists(device / "parent", ignored) ||
	       std::filesystem::exists(device / "design", ignored) ||
	       real.find("/devices/virtual/") != std::string::npos;
}

Wanted wanted_by_devices(const Places &places, const std::vector<libsdp::Port> &ports)
{
	Wanted wanted;

	for (const libsdp::Port &port : ports) {
		if (!is_software(places.sys / "class/infiniband" / port.device))
			continue;
		wanted.roce = wanted.roce || fabric_of(places, port) == Fabric::roce;
		wanted.iwarp = wanted.iwarp || fabric_of(places, port) == Fabric::iwarp;
	}
	return wanted;
}

// Of modules that are part of the kernel nothing is in /proc/modules.
bool has_filters(const Places &places)
{
	std::error_code ignored;

	for (const char *module : {"nf_tables", "ip_tables", "ip6_tables"})
		if (std::filesystem::exists(places.sys / "module" / module, ignored))
			return true;
	return false;
}

Check as_check(const Verdict &verdict, Wanted wanted)
{
	const std::string traffic = name_of_traffic(wanted);

	if (!verdict.drops.empty())
		return {"firewall", Status::wrong,
			fmt::format("{} is dropped by: {}", traffic,
				    fmt::join(verdict.drops, "; ")),
			"accept it from hosts that are trusted, before that rule"};
	if (!verdict.closed.empty())
		return {"firewall", Status::warning,
			fmt::format(
				"what they do not accept is dropped by: {}; no rule of theirs is "
				"about {} alone",
				fmt::join(verdict.closed, "; "), traffic),
			"see whether another rule accepts it; if not, accept it from hosts that "
			"are "
			"trusted"};
	return {"firewall", Status::ok, "no rule says that it drops " + traffic, ""};
}

Check judge_tools(Wanted wanted)
{
	const CommandOutcome nft = run_command({"nft", "--json", "list", "ruleset"});
	Verdict verdict;
	bool seen = false;

	if (nft.status == 0) {
		verdict = judge_nft(nft.output, wanted);
		seen = true;
	}
	for (const char *program : {"iptables-legacy-save", "ip6tables-legacy-save"}) {
		const CommandOutcome saved = run_command({program});
		const Verdict more = judge_iptables(saved.output, wanted);

		seen = seen || saved.status == 0;
		verdict.drops.insert(verdict.drops.end(), more.drops.begin(), more.drops.end());
		verdict.closed.insert(verdict.closed.end(), more.closed.begin(), more.closed.end());
	}
	if (!seen)
		return {"firewall", Status::unknown,
			"cannot see the rules of packet filters: there is neither nft nor iptables",
			"install nftables"};
	return as_check(verdict, wanted);
}

} // namespace

Verdict judge_nft(const std::string &text, Wanted wanted)
{
	const json items = json::parse(text).at("nftables");
	std::set<std::string> based;
	std::set<std::string> open;
	Verdict verdict;

	for (const json &item : items)
		if (item.contains("chain") && is_on_the_way(item["chain"]))
			based.insert(name_of_chain(item["chain"]));
	for (const json &item : items) {
		if (!item.contains("rule") || !based.contains(name_of_chain(item["rule"])))
			continue;
		const Rule rule = read_rule(item["rule"].at("expr"));

		if (!is_about(rule, wanted) || rule.has_more)
			continue;
		// What stands behind an acceptance is not asked.
		if (rule.accepts)
			open.insert(name_of_chain(item["rule"]));
		if (rule.drops && !open.contains(name_of_chain(item["rule"])))
			verdict.drops.push_back(fmt::format("{}, rule {}",
							    name_of_chain(item["rule"]),
							    item["rule"].value("handle", 0)));
	}
	for (const json &item : items)
		if (item.contains("chain") && is_on_the_way(item["chain"]) &&
		    item["chain"].value("policy", "") == "drop" &&
		    !open.contains(name_of_chain(item["chain"])))
			verdict.closed.push_back(name_of_chain(item["chain"]));
	return verdict;
}

Verdict judge_iptables(const std::string &text, Wanted wanted)
{
	std::istringstream lines(text);
	std::string line;
	Verdict verdict;
	const auto says = [&line](const char *what) {
		return line.find(what) != std::string::npos;
	};

	while (std::getline(lines, line)) {
		const bool ours = line.starts_with("-A INPUT ") || line.starts_with("-A OUTPUT ");

		if (line.starts_with(":INPUT DROP") || line.starts_with(":OUTPUT DROP"))
			verdict.closed.push_back("iptables " + line.substr(1, line.find(' ') - 1));
		if (ours && wanted.roce && says("-p udp") && says("--dport 4791 ") &&
		    (says("-j DROP") || says("-j REJECT")))
			verdict.drops.push_back("iptables " + line);
	}
	return verdict;
}

Report check_firewall(const Places &places, const std::vector<libsdp::Port> &ports)
{
	const Wanted wanted = wanted_by_devices(places, ports);

	if (!wanted.roce && !wanted.iwarp)
		return {{"firewall", Status::ok,
			 "there is no RDMA device in software, and what adapters send no filter of "
			 "this "
			 "host sees",
			 ""}};
	if (!has_filters(places))
		return {{"firewall", Status::ok, "the kernel has no packet filter loaded", ""}};
	if (geteuid() != 0)
		return {{"firewall", Status::unknown,
			 "cannot see the rules of packet filters: only root may",
			 "run it as root"}};
	try {
		return {judge_tools(wanted)};
	} catch (const std::exception &error) {
		return {{"firewall", Status::unknown,
			 fmt::format("cannot read what nft says: {}", error.what()), ""}};
	}
}

} // namespace sdpctl
