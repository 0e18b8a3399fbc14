// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Sockets as the kernel lists them by netlink (linux/sdp_diag.h).
 */
#ifndef SDPSTAT_DIAG_H
#define SDPSTAT_DIAG_H

#include "table.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace sdpstat
{

/** What to ask for: the fewer, the less it costs. */
struct Question {
	std::uint32_t states = ~0U; ///< a bit for each number of a state
	bool flow = false;	    ///< rings, and what flow control did
	bool zcopy = false;	    ///< bytes, and what went without a copy
	bool memory = false;	    ///< root is told
	bool timeouts = false;	    ///< root is told
};

/** The kernel's answer has not the form that is expected. */
class AnswerError : public std::runtime_error
{
	using std::runtime_error::runtime_error;
};

/** The sockets of one answer, which comes in parts. */
class Answer
{
public:
	explicit Answer(std::uint32_t sequence) : sequence_(sequence)
	{
	}

	/**
	 * Take a part. What messages are longer than known here, and attributes that are
	 * not known, are ignored; what is missing at their ends counts as zero.
	 *
	 * @param part aligned as messages are.
	 * @return whether it was the last.
	 * @throws AnswerError
	 * @throws std::system_error what the kernel answers instead
	 */
	bool add(std::span<const std::byte> part);

	[[nodiscard]] std::vector<Socket> take()
	{
		return std::move(sockets_);
	}

private:
	std::uint32_t sequence_;
	std::vector<Socket> sockets_;
};

/**
 * Ask the kernel for the sockets of this network namespace.
 *
 * @throws AnswerError
 * @throws std::system_error ENOENT if there is nobody who knows
 */
[[nodiscard]] std::vector<Socket> fetch_sockets(const Question &question);

} // namespace sdpstat

#endif // SDPSTAT_DIAG_H
