// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Which connections move data now, and what they wait for.
 */
#ifndef SDPCTL_TOP_H
#define SDPCTL_TOP_H

#include "../sdpstat/processes.h"
#include "../sdpstat/rounds.h"
#include "../sdpstat/table.h"

#include <optional>
#include <string>
#include <vector>

namespace sdpctl
{

/** What is asked for. */
struct TopOptions {
	sdpstat::Rounds rounds;
	std::optional<std::string> proc; ///< where recorded tables are, instead of the kernel
};

/** Put those that move the most bytes first, and last those of which no rate is known. */
void sort_by_rate(std::vector<sdpstat::Socket> &sockets);

/** The share of the bytes that moved without a copy; none if none moved. */
[[nodiscard]] std::optional<double> zcopy_share(const sdpstat::Socket &socket);

/**
 * What holds a connection up: "reader", the program here has not read what has come; "peer",
 * which has no room for what is to be sent; "device", which has not delivered it yet. None of
 * them: it waits for its programs, or by rdma for either of the last two.
 */
[[nodiscard]] std::vector<std::string> waits_of(const sdpstat::Socket &socket);

/** A number of bytes or events in at most six characters: "9999", "10.0K", "1.5M". */
[[nodiscard]] std::string short_number(double number);

/** A line for each connection, in the order that they have. */
[[nodiscard]] std::string top_as_text(const std::vector<sdpstat::Socket> &sockets,
				      const sdpstat::Holders &holders);

/** {"connections": [...]} on one line; "rate" is null where none is known. */
[[nodiscard]] std::string top_as_json(const std::vector<sdpstat::Socket> &sockets,
				      const sdpstat::Holders &holders);

/**
 * Show them until interrupted. The first report comes after an interval, with rates.
 *
 * @throws sdpstat::ModuleAbsent
 * @throws std::exception
 */
void show_top(const TopOptions &options);

} // namespace sdpctl

#endif // SDPCTL_TOP_H
