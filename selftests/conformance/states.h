// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * The states that a stream socket can be in, as a program sees them, and how
 * each is reached.
 */
#ifndef CONFORMANCE_STATES_H
#define CONFORMANCE_STATES_H

#include <span>

#include "run.h"

namespace conformance
{

/** What has to live on beside the socket; closed only after the case. */
struct Surroundings {
	Sock listener;
	Sock filler;
	Sock peer;
	Sock target;		    ///< for connect()
	bool answers_reset = false; ///< data that is sent makes the peer reset
};

struct State {
	const char *name; ///< fits behind "recv_", "poll_"
	Sock (*reach)(Run &t, Surroundings &around);
};

std::span<const State> states();

} // namespace conformance

#endif
