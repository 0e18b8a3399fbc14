// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "firewall.h"

#include "devices.h"
#include "module.h"

#include <cstdint>
#include <exception>
#include <fstream>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace sdpctl
{
namespace
{

using nlohmann::json;

constexpr unsigned roce_port = 4791;

/** What a rule of nft is about, and what it does. */
struct Rule {
	std::string protocol; ///< "udp", "tcp", empty: any
	bool has_port = false;
	bool has_roce_port = false;
	bool has_more = false; ///< conditions that are not looked into
	bool drops = false;
	bool accepts = false;
	bool has_else = false; ///< a jump, or anything else that may let packets through
};

// A number, a range, or a set of these; nothing where that is not all.
std::optional<bool> contains_port(const json &right, unsigned port)
{
	if (right.is_number_unsigned())
		return right.get<unsigned>() == port;
	if (right.is_object() && right.contains("range") && right["range"][0].is_number() &&
	    right["range"][1].is_number())
		return right["range"][0].get<unsigned>() <= port &&
		       port <= right["range"][1].get<unsigned>();
	if (!right.is_object() || !right.contains("set") || !right["set"].is_array())
		return std::nullopt;
	bool found = false;

	for (const json &item : right["set"]) {
		const auto contained = contains_port(item, port);

		if (!contained)
			return std::nullopt;
		found = found || *contained;
	}
	return found;
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
	const std::string op = match.value("op", "==");
	const bool equal = op == "==" || op == "in";
	const bool is_port =
		equal && left.contains("payload") && left["payload"].value("field", "") == "dport";
	const auto has_roce_port = is_port ? contains_port(right, roce_port) : std::nullopt;

	// "th" is whatever protocol there is.
	if (is_port && left["payload"].value("protocol", "") != "th")
		rule.protocol = left["payload"].value("protocol", "");
	if (equal && names_protocol(left) && right.is_string()) {
		rule.protocol = right;
	} else if (has_roce_port) {
		rule.has_port = true;
		rule.has_roce_port = *has_roce_port;
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
			rule.has_else = true;
	}
	return rule;
}

/** How much a rule is about of what devices of a kind send. */
enum class About : std::uint8_t {
	nothing,
	some, ///< or all of it: it cannot be told
	all
};

About about(const Rule &rule, Fabric fabric)
{
	const bool roce = fabric == Fabric::roce;

	if (!rule.protocol.empty() && rule.protocol != (roce ? "udp" : "tcp"))
		return About::nothing;
	if (roce && rule.has_port && !rule.has_roce_port)
		return About::nothing;
	// Programs choose the ports of iWARP.
	if (rule.has_more || (!roce && rule.has_port))
		return About::some;
	return About::all;
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

/** What a chain has said by its rules so far. */
struct Passage {
	bool decided = false;	 ///< no later rule is asked
	bool may_be_let = false; ///< an earlier rule may have let packets through
};

void ask_rule(const json &item, Fabric fabric, Passage &passage, Verdict &verdict)
{
	const Rule rule = read_rule(item.at("expr"));
	const About what = about(rule, fabric);
	const std::string chain = name_of_chain(item);

	if (passage.decided || what == About::nothing)
		return;
	if (!rule.drops)
		passage.may_be_let = passage.may_be_let || rule.accepts || rule.has_else;
	if (what == About::some || rule.has_else || !(rule.drops || rule.accepts))
		return;
	passage.decided = true;
	if (rule.drops && passage.may_be_let)
		verdict.closed.insert(chain);
	else if (rule.drops)
		verdict.drops.insert(fmt::format("{}, rule {}", chain, item.value("handle", 0)));
}

void judge_for(const json &items, Fabric fabric, Verdict &verdict)
{
	std::map<std::string, Passage> chains;

	for (const json &item : items)
		if (item.contains("chain") && is_on_the_way(item["chain"]))
			chains[name_of_chain(item["chain"])] = {};
	for (const json &item : items) {
		const auto chain = item.contains("rule") ? chains.find(name_of_chain(item["rule"]))
							 : chains.end();

		if (chain != chains.end())
			ask_rule(item["rule"], fabric, chain->second, verdict);
	}
	for (const json &item : items)
		if (item.contains("chain") && item["chain"].value("policy", "") == "drop" &&
		    chains.contains(name_of_chain(item["chain"])) &&
		    !chains[name_of_chain(item["chain"])].decided)
			verdict.closed.insert(name_of_chain(item["chain"]));
}

std::string name_of_traffic(Wanted wanted)
{
	const std::string roce = fmt::format("UDP to port {} (RoCE)", roce_port);
	const std::string iwarp = "TCP (iWARP)";

	return wanted.roce && wanted.iwarp ? roce + " or " + iwarp : wanted.roce ? roce : iwarp;
}

Wanted wanted_by_devices(const Places &places, const std::vector<libsdp::Port> &ports)
{
	Wanted wanted;

	for (const libsdp::Port &port : ports) {
		if (!is_software(places, port))
			continue;
		wanted.roce = wanted.roce || fabric_of(places, port) == Fabric::roce;
		wanted.iwarp = wanted.iwarp || fabric_of(places, port) == Fabric::iwarp;
	}
	return wanted;
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
			fmt::format("what they do not accept is dropped by: {}; no rule of theirs "
				    "accepts {} for certain",
				    fmt::join(verdict.closed, "; "), traffic),
			"see whether a rule accepts it from the hosts that are meant to send it"};
	return {"firewall", Status::ok, "no rule of nft says that it drops " + traffic, ""};
}

} // namespace

// A module says so itself; of what is part of the kernel only its list knows. To ask nft would
// load the module.
bool may_have_nft(const Places &places)
{
	std::ifstream builtin(places.modules / kernel_release(places) / "modules.builtin");
	std::error_code ignored;
	std::string line;

	if (std::filesystem::exists(places.sys / "module/nf_tables", ignored) || !builtin)
		return true;
	while (std::getline(builtin, line))
		if (line.ends_with("/nf_tables.ko"))
			return true;
	return false;
}

Verdict judge_nft(const std::string &text, Wanted wanted)
{
	const json items = json::parse(text).at("nftables");
	Verdict verdict;

	if (wanted.roce)
		judge_for(items, Fabric::roce, verdict);
	if (wanted.iwarp)
		judge_for(items, Fabric::iwarp, verdict);
	return verdict;
}

Check check_of(const CommandOutcome &nft, Wanted wanted)
{
	if (nft.status != 0)
		return {"firewall", Status::unknown,
			"cannot see the rules of packet filters: nft is not there, or fails",
			"install nftables"};
	try {
		return as_check(judge_nft(nft.output, wanted), wanted);
	} catch (const std::exception &error) {
		return {"firewall", Status::unknown,
			fmt::format("cannot read what nft says: {}", error.what()), ""};
	}
}

Report check_firewall(const Places &places, const std::vector<libsdp::Port> &ports)
{
	const Wanted wanted = wanted_by_devices(places, ports);

	if (!wanted.roce && !wanted.iwarp)
		return {{"firewall", Status::ok,
			 "there is no RDMA device in software, and what adapters send no filter of "
			 "this host sees",
			 ""}};
	if (!may_have_nft(places))
		return {{"firewall", Status::ok, "the kernel has no nf_tables loaded", ""}};
	if (geteuid() != 0)
		return {{"firewall", Status::unknown,
			 "cannot see the rules of packet filters: only root may",
			 "run it as root"}};
	return {check_of(run_command({"nft", "--json", "list", "ruleset"}), wanted)};
}

} // namespace sdpctl
