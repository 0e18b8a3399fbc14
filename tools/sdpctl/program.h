// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What a program would use for a peer, and why.
 */
#ifndef SDPCTL_PROGRAM_H
#define SDPCTL_PROGRAM_H

#include "check.h"
#include "peer.h"
#include "why.h"

#include <string>

namespace sdpctl
{

/**
 * "rules", and for each address of the peer "connect ADDRESS:PORT", and "listen ADDRESS:PORT" of
 * one of this host, as sdp-run --why says. None of them is wrong: it may all be meant so.
 */
[[nodiscard]] Report check_program(const std::string &program, const Peer &peer);

/** The same of rules that were read, and of addresses that were found. */
[[nodiscard]] Report check_decisions(const libsdp::WhyQuestion &question);

} // namespace sdpctl

#endif // SDPCTL_PROGRAM_H
