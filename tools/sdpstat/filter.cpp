// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "filter.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace sdpstat
{
namespace
{

constexpr std::array<std::pair<std::string_view, States>, 21> names = {{
	{"established", bit(State::established)},
	{"synsent", bit(State::syn_sent)},
	{"synrecv", bit(State::syn_recv)},
	{"finwait1", bit(State::fin_wait1)},
	{"finwait2", bit(State::fin_wait2)},
	{"timewait", bit(State::time_wait)},
	{"close", bit(State::close)},
	{"closed", bit(State::close)},
	{"unconnected", bit(State::close)},
	{"closewait", bit(State::close_wait)},
	{"lastack", bit(State::last_ack)},
	{"listen", bit(State::listen)},
	{"listening", bit(State::listen)},
	{"closing", bit(State::closing)},
	{"all", all_states},
	{"connected", connected_states},
	{"synchronized", connected_states & ~bit(State::syn_sent)},
	{"bucket", bit(State::syn_recv) | bit(State::time_wait)},
	{"big", all_states & ~(bit(State::syn_recv) | bit(State::time_wait))},
	{"estab", bit(State::established)},
	{"unconn", bit(State::close)},
}};

// FIN_WAIT1, fin-wait-1 and FinWait1 are the same.
std::string plain(std::string_view name)
{
	std::string result;

	for (const char letter : name)
		if (letter != '-' && letter != '_')
			result +=
				static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
	return result;
}

// What TCP carries has a reason behind it: "tcp" stands for all of them.
bool is_engine(const std::string &flow, const std::string &wanted)
{
	return flow == wanted || flow.starts_with(wanted + ":");
}

bool is_holder(const Holder &holder, const std::string &wanted)
{
	return holder.name == wanted || std::to_string(holder.pid) == wanted;
}

bool has_holder(const std::vector<Holder> &holders, const std::vector<std::string> &wanted)
{
	return std::any_of(holders.begin(), holders.end(), [&](const Holder &holder) {
		return std::any_of(wanted.begin(), wanted.end(),
				   [&](const std::string &one) { return is_holder(holder, one); });
	});
}

} // namespace

std::optional<States> parse_states(std::string_view name)
{
	const std::string wanted = plain(name);
	const auto *const found = std::find_if(names.begin(), names.end(), [&](const auto &entry) {
		return entry.first == wanted;
	});

	if (found == names.end())
		return std::nullopt;
	return found->second;
}

bool Filter::accepts(const Socket &socket, const Holders &holders) const
{
	if ((bit(socket.state) & states) == 0)
		return false;
	if (port && socket.local.port != *port && socket.peer.port != *port)
		return false;
	if (address && !socket.local.is_in(*address) && !socket.peer.is_in(*address))
		return false;
	if (!engines.empty() && std::none_of(engines.begin(), engines.end(), [&](const auto &one) {
		    return is_engine(socket.flow, one);
	    }))
		return false;
	return processes.empty() || has_holder(holders_of(socket.inode, holders), processes);
}

} // namespace sdpstat
