// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Checks of one peer: connections to it, by SDP and by TCP.
 */
#ifndef SDPCTL_PEER_H
#define SDPCTL_PEER_H

#include "check.h"
#include "endpoint.h"
#include "fabric.h"

#include <string>
#include <vector>

#include <netdb.h>

namespace sdpctl
{

/** HOST:PORT, an address of IPv6 in brackets. @throws std::runtime_error if it is none. */
struct Peer {
	explicit Peer(const std::string &text);

	std::string host;
	std::string port;
};

/** All that the host's name stands for, in the order in which programs try them; none if nothing.
 */
[[nodiscard]] std::vector<libsdp::Endpoint> endpoints_of(const Peer &peer);

/** Which way to a link-local address leads its interface decides, and an Address has none. */
[[nodiscard]] bool is_link_local(const libsdp::Address &address);

/** "peer", "route", "sdp", "tcp", and if only TCP connects "fallback". */
[[nodiscard]] Report check_peer(const Places &places, const std::vector<libsdp::Port> &ports,
				const Peer &peer);

/**
 * The same of addresses that getaddrinfo(3) has found: of the first that connects by SDP, else
 * by TCP, else of the last.
 */
[[nodiscard]] Report check_addresses(const Places &places, const std::vector<libsdp::Port> &ports,
				     const addrinfo &first);

/** What a failed connect() by SDP means; empty if strerror(3) says all. */
[[nodiscard]] std::string meaning_of(int error);

} // namespace sdpctl

#endif // SDPCTL_PEER_H
