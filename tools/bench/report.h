// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Results for people and for programs.
 */
#ifndef SDPBENCH_REPORT_H
#define SDPBENCH_REPORT_H

#include <string>
#include <vector>

#include "client.h"

namespace sdpbench
{

/** One cell of the table: a plan and what it gave. */
struct Result {
	std::string label; /**< of the transport */
	Plan plan;
	std::vector<Pass> passes;
};

/** @return results of one test, a line each, under a heading. */
[[nodiscard]] std::string as_table(const std::vector<Result> &results);

/**
 * @return an array of objects. Bandwidth and touch: "mbit_per_s" of all
 * connections, the median of "runs". Latency and hotspot: "one_way_us", the median of "runs", each
 * half of a pass's average round trip; "min_us" and "median_us" of the single round trips of all.
 * Progress: "exchange_us", the median of "runs", each the average time of a
 * burst to and fro with the computation. Fill: "unread_bytes", likewise. "busy_us_per_message", if
 * the kernel tells: what the processors of the node spent.
 */
[[nodiscard]] std::string as_json(const std::vector<Result> &results);

} // namespace sdpbench

#endif // SDPBENCH_REPORT_H
