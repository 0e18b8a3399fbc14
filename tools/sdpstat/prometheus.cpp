// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "prometheus.h"
#include "summary.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace sdpstat
{
namespace
{

// What /proc/net/sdpstats has beside counters: what is in use now.
bool is_gauge(std::string_view name)
{
	constexpr std::array<std::string_view, 4> gauges = {"Sockets", "MemPages", "MemPressure",
							    "ZcopyPages"};

	return std::find(gauges.begin(), gauges.end(), name) != gauges.end();
}

bool is_upper(char letter)
{
	return std::isupper(static_cast<unsigned char>(letter)) != 0;
}

std::string head(std::string_view metric, std::string_view help, std::string_view type)
{
	return fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", metric, help, type);
}

std::string counter_lines(const Counter &counter)
{
	const bool gauge = is_gauge(counter.name);
	const std::string metric = metric_name(counter.name) + (gauge ? "" : "_total");

	return head(metric, fmt::format("{} in /proc/net/sdpstats.", counter.name),
		    gauge ? "gauge" : "counter") +
	       fmt::format("{} {}\n", metric, counter.value);
}

std::string state_lines(const Summary &summary)
{
	std::string text = head("sdp_sockets_by_state", "Sockets in each state.", "gauge");

	// Those without sockets as well, so that a figure does not vanish.
	for (auto state = State::established; state <= State::closing;
	     state = static_cast<State>(static_cast<int>(state) + 1)) {
		const auto found = summary.states.find(state);

		text += fmt::format("sdp_sockets_by_state{{state={}}} {}\n",
				    label_value(state_name(state)),
				    found == summary.states.end() ? 0 : found->second);
	}
	return text;
}

std::string carrier_lines(const Summary &summary)
{
	std::string text = head("sdp_connections",
				"Connections by engine of flow control and RDMA device.", "gauge");

	for (const auto &[carrier, count] : summary.carriers)
		text += fmt::format("sdp_connections{{flow={},device={}}} {}\n",
				    label_value(carrier.first), label_value(carrier.second), count);
	return text;
}

std::string queue_lines(const Summary &summary)
{
	return head("sdp_unread_bytes", "Bytes that programs have not read.", "gauge") +
	       fmt::format("sdp_unread_bytes {}\n", summary.unread) +
	       head("sdp_unsent_bytes", "Bytes that peers have not acknowledged.", "gauge") +
	       fmt::format("sdp_unsent_bytes {}\n", summary.unsent);
}

} // namespace

std::string metric_name(std::string_view counter)
{
	std::string name = "sdp";
	char last = 'A';

	for (const char letter : counter) {
		const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0;

		if (name.size() == 3 || (is_upper(letter) && !is_upper(last)))
			name += '_';
		name += plain ? static_cast<char>(std::tolower(static_cast<unsigned char>(letter)))
			      : '_';
		last = letter;
	}
	return name;
}

std::string label_value(std::string_view value)
{
	std::string text = "\"";

	for (const char letter : value) {
		if (letter == '\n') {
			text += "\\n";
			continue;
		}
		if (letter == '\\' || letter == '"')
			text += '\\';
		text += letter;
	}
	return text + '"';
}

std::string as_prometheus(const std::vector<Counter> &counters, const std::vector<Socket> &sockets)
{
	const Summary summary = summarize(sockets);
	std::string text;

	for (const Counter &counter : counters)
		text += counter_lines(counter);
	return text + state_lines(summary) + carrier_lines(summary) + queue_lines(summary);
}

} // namespace sdpstat
