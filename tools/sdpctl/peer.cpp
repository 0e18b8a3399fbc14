// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "peer.h"

#include "../common/descriptor.h"
#include "fabric.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <linux/sdp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace sdpctl
{
namespace
{

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

std::string carriers_text(const std::vector<libsdp::Carrier> &carriers)
{
	std::string text;

	for (const libsdp::Carrier &carrier : carriers)
		text += fmt::format("{}{} port {}, GID {}", text.empty() ? "" : ", or ",
				    carrier.port->device, carrier.port->number, carrier.gid->index);
	return carriers.size() == 1 ? text : text + ", whichever was registered first";
}

// Longer than any answer takes, and than neighbours are asked for (failures.rst).
constexpr auto patience = std::chrono::seconds(20);

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

AddressList resolve(const Peer &peer, std::string &problem)
{
	addrinfo hints{};
	addrinfo *list = nullptr;

	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = AI_NUMERICSERV;
	const int error = getaddrinfo(peer.host.c_str(), peer.port.c_str(), &hints, &list);

	if (error != 0)
		problem = gai_strerror(error);
	return {list, freeaddrinfo};
}

/** What became of an attempt to connect. */
struct Attempt {
	int error = 0;
	bool no_socket = false; ///< there is not even a socket of that kind
	int reason = SDP_FALLBACK_NONE;
	Milliseconds took{};
};

int wait_for_connection(int fd)
{
	const auto end = Clock::now() + patience;
	pollfd poll_for = {.fd = fd, .events = POLLOUT, .revents = 0};
	int error = 0;
	socklen_t length = sizeof(error);
	int ready = 0;

	do {
		const auto left =
			std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());

		ready = poll(&poll_for, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0);
	} while (ready < 0 && errno == EINTR);
	if (ready == 0)
		return ETIMEDOUT;
	if (ready < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
		return errno;
	return error;
}

Attempt try_to_connect(const addrinfo &to, int protocol, int fallback)
{
	const sdp::Descriptor fd(
		socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
	Attempt attempt;
	socklen_t length = sizeof(attempt.reason);

	attempt.no_socket =
		!fd || (protocol == IPPROTO_SDP && setsockopt(fd.get(), SOL_SDP, SDP_TCP_FALLBACK,
							      &fallback, sizeof(fallback)) != 0);
	if (attempt.no_socket) {
		attempt.error = errno;
		return attempt;
	}
	const auto start = Clock::now();

	if (connect(fd.get(), to.ai_addr, to.ai_addrlen) != 0)
		attempt.error = errno == EINPROGRESS ? wait_for_connection(fd.get()) : errno;
	attempt.took = Clock::now() - start;
	if (protocol != IPPROTO_SDP ||
	    getsockopt(fd.get(), SOL_SDP, SDP_FALLBACK_REASON, &attempt.reason, &length) != 0)
		attempt.reason = SDP_FALLBACK_NONE;
	return attempt;
}

Check check_route(const Places &places, const std::vector<libsdp::Port> &ports,
		  const libsdp::Endpoint &endpoint)
{
	if (is_link_local(endpoint.address))
		return {"route", Status::unknown,
			"which device leads to a link-local address is not looked into", ""};
	const libsdp::Route route = libsdp::route_to(endpoint.address);

	if (route.error != 0)
		return {"route", Status::wrong,
			fmt::format("there is no route to the peer: {}",
				    std::strerror(route.error)),
			"ip route get"};
	const auto carriers = libsdp::find_carriers(ports, route, places.sys / "class/net");
	const std::string from =
		fmt::format("{}, from {}", route.netdev, libsdp::text_of(route.source));

	if (carriers.empty() || carriers.front().gid == nullptr)
		return {"route", Status::wrong,
			fmt::format("the peer is reached by {}, for which no RDMA device has a GID",
				    from),
			"use an address of the peer that is in the network of an RDMA device"};
	return {"route", Status::ok, fmt::format("by {}: {}", from, carriers_text(carriers)), ""};
}

std::string advice_for(const Attempt &sdp, const Attempt &tcp)
{
	if (sdp.no_socket)
		return "modprobe sdp";
	if (sdp.error == ECONNREFUSED && tcp.error == 0)
		return "start the peer's program by sdp-run, or connect with a fallback: rules "
		       "that say "
		       "'both', or net.sdp.tcp_fallback=1";
	if (sdp.error == ECONNREFUSED)
		return "start the peer's program";
	if (tcp.error == 0)
		return "run sdpctl doctor on the peer, too";
	return "see whether the peer is up, and which addresses it has";
}

Check sdp_check(const Attempt &sdp, const Attempt &tcp)
{
	if (sdp.error == 0)
		return {"sdp", Status::ok, fmt::format("connected in {:.1f} ms", sdp.took.count()),
			""};
	if (sdp.no_socket)
		return {"sdp", Status::wrong,
			fmt::format("there are no SDP sockets here: {}", std::strerror(sdp.error)),
			advice_for(sdp, tcp)};
	const std::string meaning = meaning_of(sdp.error);

	return {"sdp", Status::wrong,
		fmt::format("does not connect: {}{}{}", std::strerror(sdp.error),
			    meaning.empty() ? "" : "; ", meaning),
		advice_for(sdp, tcp)};
}

// A server for SDP alone has no TCP, which nobody misses.
Check tcp_check(const Attempt &sdp, const Attempt &tcp)
{
	if (tcp.error == 0)
		return {"tcp", Status::ok, fmt::format("connected in {:.1f} ms", tcp.took.count()),
			""};
	const std::string what = fmt::format("does not connect: {}", std::strerror(tcp.error));

	if (sdp.error == 0 && tcp.error == ECONNREFUSED)
		return {"tcp", Status::ok, what + "; the peer listens for SDP alone", ""};
	return {"tcp", sdp.error == 0 ? Status::warning : Status::wrong, what,
		"a packet filter, or nobody listens there"};
}

const char *words_for(int reason)
{
	switch (reason) {
	case SDP_FALLBACK_NO_DEVICE:
		return "no-device: no RDMA device leads to the address";
	case SDP_FALLBACK_UNREACHABLE:
		return "unreachable: no way to the peer was found";
	case SDP_FALLBACK_REFUSED:
		return "refused: the peer rejected the request";
	case SDP_FALLBACK_TIMEOUT:
		return "timeout: no answer within net.sdp.fallback_timeout";
	case SDP_FALLBACK_RESOURCES:
		return "resources: this host could not set the connection up";
	default:
		return "none";
	}
}

// What a program with a fallback would get; its reason is the kernel's own.
Check fallback_check(const Attempt &attempt)
{
	if (attempt.error != 0)
		return {"fallback", Status::wrong,
			fmt::format("a socket with a fallback does not connect either: {}",
				    std::strerror(attempt.error)),
			""};
	if (attempt.reason == SDP_FALLBACK_NONE)
		return {"fallback", Status::warning,
			"a socket with a fallback has connected by SDP now: the peer has begun to "
			"listen",
			""};
	return {"fallback", Status::warning,
		fmt::format("a socket with a fallback uses TCP, because of {}",
			    words_for(attempt.reason)),
		""};
}

/** An address, and what became of it. */
struct Trial {
	const addrinfo *to = nullptr;
	Attempt sdp;
	Attempt tcp;
};

Report report_of(const Places &places, const std::vector<libsdp::Port> &ports, const Trial &trial)
{
	const auto endpoint = libsdp::endpoint_of(trial.to->ai_addr, trial.to->ai_addrlen);
	Report report = {{"peer", Status::ok, libsdp::text_of(*endpoint).get(), ""},
			 check_route(places, ports, *endpoint),
			 sdp_check(trial.sdp, trial.tcp),
			 tcp_check(trial.sdp, trial.tcp)};

	if (trial.sdp.error != 0 && !trial.sdp.no_socket && trial.tcp.error == 0)
		report.push_back(
			fallback_check(try_to_connect(*trial.to, IPPROTO_SDP, SDP_FALLBACK_ON)));
	return report;
}

} // namespace

Peer::Peer(const std::string &text)
{
	const std::size_t colon = text.rfind(':');

	if (colon == std::string::npos || colon == 0 || colon + 1 == text.size())
		throw std::runtime_error("not HOST:PORT: '" + text + "'");
	host = text.substr(0, colon);
	port = text.substr(colon + 1);
	if (host.starts_with('[') && host.ends_with(']'))
		host = host.substr(1, host.size() - 2);
}

bool is_link_local(const libsdp::Address &address)
{
	return address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
}

std::vector<libsdp::Endpoint> endpoints_of(const Peer &peer)
{
	std::vector<libsdp::Endpoint> endpoints;
	std::string problem;
	const AddressList list = resolve(peer, problem);

	for (const addrinfo *found = list.get(); found != nullptr; found = found->ai_next)
		if (const auto endpoint = libsdp::endpoint_of(found->ai_addr, found->ai_addrlen))
			endpoints.push_back(*endpoint);
	return endpoints;
}

std::string meaning_of(int error)
{
	switch (error) {
	case ECONNREFUSED:
		return "nobody listens for SDP there, or the peer has no memory for it";
	case ENETUNREACH:
	case EADDRNOTAVAIL:
		return "no RDMA device leads to the address";
	case EHOSTUNREACH:
		return "the peer does not answer on the link";
	case ETIMEDOUT:
		return "the peer's RDMA device does not answer: a packet filter, no device, or a "
		       "full queue of connections";
	case ENOBUFS:
	case ENOMEM:
		return "net.sdp.mem is used up, or the device";
	case EPROTO:
		return "the peer broke the protocol";
	default:
		return "";
	}
}

// Programs go on to the next address until one connects; one by SDP says the most.
Report check_addresses(const Places &places, const std::vector<libsdp::Port> &ports,
		       const addrinfo &first)
{
	Trial best;

	for (const addrinfo *to = &first; to != nullptr; to = to->ai_next) {
		const Trial trial = {.to = to,
				     .sdp = try_to_connect(*to, IPPROTO_SDP, SDP_FALLBACK_OFF),
				     .tcp = try_to_connect(*to, IPPROTO_TCP, 0)};

		if (best.to == nullptr || best.tcp.error != 0 || trial.sdp.error == 0)
			best = trial;
		if (best.sdp.error == 0)
			break;
	}
	return report_of(places, ports, best);
}

Report check_peer(const Places &places, const std::vector<libsdp::Port> &ports, const Peer &peer)
{
	std::string problem;
	const AddressList list = resolve(peer, problem);

	if (!list)
		return {{"peer", Status::wrong,
			 fmt::format("{}:{}: {}", peer.host, peer.port, problem),
			 "give an address, and the number of a port"}};
	return check_addresses(places, ports, *list);
}

} // namespace sdpctl
