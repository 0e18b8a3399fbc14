// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Figures for monitoring, in the text format of Prometheus (version 0.0.4).
 */
#ifndef SDPSTAT_PROMETHEUS_H
#define SDPSTAT_PROMETHEUS_H

#include "table.h"

#include <string>
#include <string_view>
#include <vector>

namespace sdpstat
{

/** The name of a counter's metric: "CreditStalls" becomes "sdp_credit_stalls". */
[[nodiscard]] std::string metric_name(std::string_view counter);

/** A label's value, in quotation marks, with what would end it escaped. */
[[nodiscard]] std::string label_value(std::string_view value);

/** Counters, sockets by state, and connections by what carries them. */
[[nodiscard]] std::string as_prometheus(const std::vector<Counter> &counters,
					const std::vector<Socket> &sockets);

} // namespace sdpstat

#endif // SDPSTAT_PROMETHEUS_H
