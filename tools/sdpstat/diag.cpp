// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "diag.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <system_error>
#include <type_traits>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <libmnl/libmnl.h>
#include <linux/sdp.h>
#include <linux/sdp_diag.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

namespace sdpstat
{
namespace
{

/** As much of a structure as there is; it may be an older or a newer one. */
template <typename Structure> Structure structure(const void *from, std::size_t length)
{
	static_assert(std::is_trivially_copyable_v<Structure>);
	Structure result{};

	std::memcpy(&result, from, std::min(length, sizeof(result)));
	return result;
}

template <typename Structure> Structure structure(const nlattr &attribute)
{
	return structure<Structure>(mnl_attr_get_payload(&attribute),
				    mnl_attr_get_payload_len(&attribute));
}

std::string text(const nlattr &attribute)
{
	const std::string_view bytes(static_cast<const char *>(mnl_attr_get_payload(&attribute)),
				     mnl_attr_get_payload_len(&attribute));

	if (bytes.find('\0') == std::string_view::npos)
		throw AnswerError("a name that does not end");
	return std::string(bytes.substr(0, bytes.find('\0')));
}

Endpoint endpoint(std::uint8_t family, const __be32 *words, __be16 port)
{
	Endpoint end;

	end.port = ntohs(port);
	if (family == AF_INET) {
		end.address = sdp::address_of_v4(words);
	} else if (family == AF_INET6) {
		end.family = Family::inet6;
		end.address = sdp::address_of_v6(words);
	} else {
		throw AnswerError(fmt::format("an address of unknown family {}", family));
	}
	return end;
}

Socket head(const sdp_diag_msg &message)
{
	Socket socket;

	if (message.sdiag_family != AF_SDP)
		throw AnswerError(fmt::format("a socket of family {}", message.sdiag_family));
	if (message.sdm_state == 0)
		throw AnswerError("a socket without a state");
	socket.local = endpoint(message.sdm_addr_family, message.sdm_src, message.sdm_sport);
	socket.peer = endpoint(message.sdm_addr_family, message.sdm_dst, message.sdm_dport);
	socket.uid = message.sdm_uid;
	socket.inode = message.sdm_ino;
	socket.rx_queue = message.sdm_rqueue;
	socket.tx_queue = message.sdm_wqueue;
	socket.state = static_cast<State>(message.sdm_state);
	socket.cookie =
		static_cast<std::uint64_t>(message.sdm_cookie[1]) << 32 | message.sdm_cookie[0];
	return socket;
}

std::string ring_reason(std::uint32_t reason)
{
	constexpr std::array<const char *, 4> names = {"", "short", "full", "longer"};

	return reason < names.size() ? names.at(reason) : std::to_string(reason);
}

std::string zcopy_mode(std::uint32_t mode)
{
	constexpr std::array<const char *, 3> names = {"off", "sync", "async"};

	return mode < names.size() ? names.at(mode) : std::to_string(mode);
}

std::string flow_reason(std::uint32_t reason)
{
	constexpr std::array<const char *, 3> names = {"", "device", "peer"};

	return reason < names.size() ? names.at(reason) : std::to_string(reason);
}

// Not the reason, which has an attribute of its own.
void set_flow(Flow &flow, const sdp_diag_ring &ring)
{
	flow.ring = ring.size;
	flow.ring_used = ring.used;
	flow.ring_why = ring_reason(ring.reason);
	flow.peer_ring = ring.peer_size;
	flow.stalls = ring.stalls;
	flow.coalesced = ring.coalesced;
	flow.flushes = {ring.flushes[SDP_FLUSH_CALL], ring.flushes[SDP_FLUSH_INTERRUPT],
			ring.flushes[SDP_FLUSH_TIMER], ring.flushes[SDP_FLUSH_PAUSE]};
}

Zcopy zcopy(const sdp_diag_zcopy &from)
{
	Zcopy zcopy;

	if (from.connected != 0)
		zcopy.mode = zcopy_mode(from.mode);
	zcopy.sent = from.sent;
	zcopy.sent_zcopy = from.sent_zcopy;
	zcopy.sent_async = from.sent_async;
	zcopy.received = from.received;
	zcopy.received_zcopy = from.received_zcopy;
	zcopy.refusals = from.refusals;
	zcopy.cancels = from.cancels;
	zcopy.guard_refusals = from.guard_refusals;
	zcopy.guard_faults = from.guard_faults;
	return zcopy;
}

Memory memory(const std::array<std::uint32_t, SK_MEMINFO_VARS> &words)
{
	return {
		words[SK_MEMINFO_RMEM_ALLOC], words[SK_MEMINFO_RCVBUF],
		words[SK_MEMINFO_WMEM_ALLOC], words[SK_MEMINFO_SNDBUF],
		words[SK_MEMINFO_FWD_ALLOC],  words[SK_MEMINFO_WMEM_QUEUED],
		words[SK_MEMINFO_OPTMEM],     words[SK_MEMINFO_BACKLOG],
		words[SK_MEMINFO_DROPS],
	};
}

Timeouts timeouts(const sdp_diag_timeouts &from)
{
	return {from.keepalive != 0, from.keepidle,	from.keepintvl,
		from.keepcnt,	     from.user_timeout, from.linger2};
}

void set_credits(Socket &socket, const sdp_diag_credits &credits)
{
	socket.tx_credits = credits.tx;
	socket.rx_credits = credits.rx;
}

void set_attribute(Socket &socket, const nlattr &attribute)
{
	switch (mnl_attr_get_type(&attribute)) {
	case SDP_DIAG_FLOW:
		socket.flow = text(attribute);
		break;
	case SDP_DIAG_DEVICE:
		socket.device = text(attribute);
		break;
	case SDP_DIAG_CREDITS:
		set_credits(socket, structure<sdp_diag_credits>(attribute));
		break;
	case SDP_DIAG_RING:
		set_flow(socket.flow_state, structure<sdp_diag_ring>(attribute));
		break;
	case SDP_DIAG_ZCOPY:
		socket.zcopy = zcopy(structure<sdp_diag_zcopy>(attribute));
		break;
	case SDP_DIAG_SKMEMINFO:
		socket.memory =
			memory(structure<std::array<std::uint32_t, SK_MEMINFO_VARS>>(attribute));
		break;
	case SDP_DIAG_TIMEOUTS:
		socket.timeouts = timeouts(structure<sdp_diag_timeouts>(attribute));
		break;
	case SDP_DIAG_QPN:
		socket.queue_pair = structure<std::uint32_t>(attribute);
		break;
	case SDP_DIAG_FLOW_WHY:
		socket.flow_state.why = flow_reason(structure<std::uint32_t>(attribute));
		break;
	default:
		break;
	}
}

Socket parse_socket(const nlmsghdr &message)
{
	const char *const end = reinterpret_cast<const char *>(&message) + message.nlmsg_len;

	if (mnl_nlmsg_get_payload_len(&message) < sizeof(sdp_diag_msg))
		throw AnswerError("a message that is too short");
	Socket socket = head(
		structure<sdp_diag_msg>(mnl_nlmsg_get_payload(&message), sizeof(sdp_diag_msg)));
	const auto *attribute = static_cast<const nlattr *>(
		mnl_nlmsg_get_payload_offset(&message, sizeof(sdp_diag_msg)));

	for (std::ptrdiff_t rest; (rest = end - reinterpret_cast<const char *>(attribute)) > 0;
	     attribute = mnl_attr_next(attribute)) {
		if (!mnl_attr_ok(attribute, static_cast<int>(rest)))
			throw AnswerError("an attribute that its message has no room for");
		set_attribute(socket, *attribute);
	}
	return socket;
}

/** Of an error, or the end of an answer; 0 if there is none. */
int error_of(const nlmsghdr &message)
{
	if (mnl_nlmsg_get_payload_len(&message) < sizeof(int))
		return message.nlmsg_type == NLMSG_ERROR ? EPROTO : 0;
	const int value = structure<int>(mnl_nlmsg_get_payload(&message), sizeof(int));

	return value == std::numeric_limits<int>::min() ? EPROTO : -value;
}

struct CloseSocket {
	void operator()(mnl_socket *socket) const
	{
		mnl_socket_close(socket);
	}
};

using NetlinkSocket = std::unique_ptr<mnl_socket, CloseSocket>;

[[noreturn]] void fail(const char *what)
{
	throw std::system_error(errno, std::generic_category(), what);
}

NetlinkSocket open_netlink()
{
	NetlinkSocket socket(mnl_socket_open2(NETLINK_SOCK_DIAG, SOCK_CLOEXEC));

	if (!socket || mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0)
		fail("netlink");
	return socket;
}

constexpr std::uint32_t bit(sdp_diag_attr attribute)
{
	return 1U << (attribute - 1);
}

std::uint32_t shown(const Question &question)
{
	return bit(SDP_DIAG_FLOW) | bit(SDP_DIAG_DEVICE) | bit(SDP_DIAG_CREDITS) |
	       bit(SDP_DIAG_QPN) |
	       (question.flow ? bit(SDP_DIAG_RING) | bit(SDP_DIAG_FLOW_WHY) : 0) |
	       (question.zcopy ? bit(SDP_DIAG_ZCOPY) : 0) |
	       (question.memory ? bit(SDP_DIAG_SKMEMINFO) : 0) |
	       (question.timeouts ? bit(SDP_DIAG_TIMEOUTS) : 0);
}

void send_question(mnl_socket &socket, std::uint32_t sequence, const Question &question)
{
	alignas(nlmsghdr) std::array<std::byte, 64> buffer{};
	nlmsghdr *const message = mnl_nlmsg_put_header(buffer.data());
	sdp_diag_req request{};

	message->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	message->nlmsg_seq = sequence;
	request.sdiag_family = AF_SDP;
	request.sdr_states = question.states;
	request.sdr_show = shown(question);
	std::memcpy(mnl_nlmsg_put_extra_header(message, sizeof(request)), &request,
		    sizeof(request));
	if (mnl_socket_sendto(&socket, message, message->nlmsg_len) < 0)
		fail("netlink: send");
}

} // namespace

bool Answer::add(std::span<const std::byte> part)
{
	const auto *message = reinterpret_cast<const nlmsghdr *>(part.data());

	for (int rest = static_cast<int>(part.size()); rest > 0;
	     message = mnl_nlmsg_next(message, &rest)) {
		// Older libraries take the length for a signed number.
		if (!mnl_nlmsg_ok(message, rest) ||
		    message->nlmsg_len > static_cast<std::uint32_t>(rest))
			throw AnswerError("a message that was cut off");
		if (message->nlmsg_seq != sequence_)
			continue;
		if (message->nlmsg_type == NLMSG_ERROR || message->nlmsg_type == NLMSG_DONE) {
			if (const int error = error_of(*message); error > 0)
				throw std::system_error(error, std::generic_category(), "netlink");
			return true;
		}
		if (message->nlmsg_type == SOCK_DIAG_BY_FAMILY)
			sockets_.push_back(parse_socket(*message));
	}
	return false;
}

std::vector<Socket> fetch_sockets(const Question &question)
{
	constexpr std::uint32_t sequence = 1;
	constexpr std::size_t part_size = 32768; // the kernel makes none longer
	const NetlinkSocket socket = open_netlink();
	std::vector<std::byte> part(part_size);
	Answer answer(sequence);
	bool last = false;

	send_question(*socket, sequence, question);
	while (!last) {
		const ssize_t length = mnl_socket_recvfrom(socket.get(), part.data(), part.size());

		if (length < 0)
			fail("netlink: receive");
		if (length == 0)
			throw AnswerError("an answer without an end");
		last = answer.add(std::span(part).first(static_cast<std::size_t>(length)));
	}
	return answer.take();
}

} // namespace sdpstat
