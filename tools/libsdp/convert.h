// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What to convert to SDP, and when to stay on TCP: decisions without side
 * effects, so that they can be tested without a kernel and called from
 * signal handlers.
 */
#ifndef LIBSDP_CONVERT_H
#define LIBSDP_CONVERT_H

namespace libsdp
{

/** The arguments of one socket(2) call. */
struct SocketCall {
	int domain;
	int type;
	int protocol;
};

/**
 * Decide whether a program's socket() call asks for what SDP offers.
 *
 * That is a TCP socket over IPv4 or IPv6: SOCK_STREAM, with SOCK_NONBLOCK and
 * SOCK_CLOEXEC at will, and protocol 0 or IPPROTO_TCP. A type with any other
 * bit set is left to the kernel to judge.
 */
[[nodiscard]] bool wants_tcp_stream(const SocketCall &call) noexcept;

/**
 * The SDP form of a call that wants_tcp_stream() accepted: only the protocol
 * changes. The socket keeps the family, which programs ask for and which
 * decides about the form of addresses and about options.
 */
[[nodiscard]] SocketCall converted(const SocketCall &call) noexcept;

/**
 * Decide what a failed attempt to open an SDP socket means.
 *
 * @param error the errno of the attempt.
 * @return true if the program shall get the TCP socket it asked for: the
 *         protocol is absent, or not for this process (a security module or a
 *         seccomp filter, which may answer with any errno, forbids it).
 *         false if descriptors or memory ran out; TCP would fail as well, and
 *         the program shall see why.
 */
[[nodiscard]] bool stays_on_tcp(int error) noexcept;

} // namespace libsdp

#endif // LIBSDP_CONVERT_H
