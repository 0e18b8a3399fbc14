// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdpstat: what netlink says of sockets, and what a kernel must not be believed.
 */
#include "diag.h"

#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/sdp.h>
#include <linux/sdp_diag.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

namespace
{

using namespace sdpstat;

constexpr std::uint32_t sequence = 7;

using Bytes = std::vector<std::byte>;

void append(Bytes &bytes, const void *from, std::size_t length)
{
	const auto *const first = static_cast<const std::byte *>(from);

	bytes.insert(bytes.end(), first, first + length);
	bytes.resize(NLMSG_ALIGN(bytes.size()));
}

Bytes attribute(std::uint16_t type, const void *value, std::size_t length)
{
	const nlattr head = {static_cast<std::uint16_t>(NLA_HDRLEN + length), type};
	Bytes bytes;

	append(bytes, &head, sizeof(head));
	append(bytes, value, length);
	return bytes;
}

Bytes name(std::uint16_t type, const std::string &text)
{
	return attribute(type, text.c_str(), text.size() + 1);
}

Bytes message(std::uint16_t type, const Bytes &payload, std::uint32_t number = sequence)
{
	const nlmsghdr head = {static_cast<std::uint32_t>(NLMSG_HDRLEN + payload.size()), type,
			       NLM_F_MULTI, number, 0};
	Bytes bytes;

	append(bytes, &head, sizeof(head));
	append(bytes, payload.data(), payload.size());
	return bytes;
}

sdp_diag_msg plain_socket()
{
	sdp_diag_msg socket{};

	socket.sdiag_family = AF_SDP;
	socket.sdm_state = 1;
	socket.sdm_addr_family = AF_INET;
	socket.sdm_sport = htobe16(8080);
	socket.sdm_dport = htobe16(51234);
	socket.sdm_src[0] = htobe32(0x7f000001);
	socket.sdm_dst[0] = htobe32(0xc0000202);
	socket.sdm_uid = 1000;
	socket.sdm_rqueue = 65536;
	socket.sdm_wqueue = 17;
	socket.sdm_cookie[0] = 5;
	socket.sdm_cookie[1] = 1;
	socket.sdm_ino = 4712;
	return socket;
}

Bytes socket_message(const sdp_diag_msg &socket, const std::vector<Bytes> &attributes = {})
{
	Bytes payload;

	append(payload, &socket, sizeof(socket));
	for (const Bytes &bytes : attributes)
		append(payload, bytes.data(), bytes.size());
	return message(SOCK_DIAG_BY_FAMILY, payload);
}

Bytes done(int error = 0)
{
	Bytes payload;

	append(payload, &error, sizeof(error));
	return message(NLMSG_DONE, payload);
}

Bytes joined(const std::vector<Bytes> &messages)
{
	Bytes bytes;

	for (const Bytes &one : messages)
		append(bytes, one.data(), one.size());
	return bytes;
}

Socket only(const Bytes &bytes)
{
	Answer answer(sequence);

	EXPECT_FALSE(answer.add(bytes));
	const auto sockets = answer.take();

	EXPECT_EQ(sockets.size(), 1U);
	return sockets.at(0);
}

TEST(Answer, HasSockets)
{
	const Socket socket = only(socket_message(plain_socket()));

	EXPECT_EQ(socket.local.text(), "127.0.0.1:8080");
	EXPECT_EQ(socket.peer.text(), "192.0.2.2:51234");
	EXPECT_EQ(socket.state, State::established);
	EXPECT_EQ(socket.uid, 1000U);
	EXPECT_EQ(socket.inode, 4712U);
	EXPECT_EQ(socket.rx_queue, 65536U);
	EXPECT_EQ(socket.tx_queue, 17U);
	EXPECT_EQ(socket.cookie, 0x100000005U);
	EXPECT_EQ(socket.flow, "");
	EXPECT_EQ(socket.device, "");
	EXPECT_FALSE(socket.memory);
	EXPECT_FALSE(socket.timeouts);
}

TEST(Answer, HasIpv6)
{
	sdp_diag_msg socket = plain_socket();

	socket.sdm_addr_family = AF_INET6;
	socket.sdm_src[0] = htobe32(0x20010db8);
	socket.sdm_src[3] = htobe32(1);
	EXPECT_EQ(only(socket_message(socket)).local.text(), "[2001:db8::1]:8080");
}

TEST(Answer, HasAttributes)
{
	const sdp_diag_credits credits = {62, 64};
	const sdp_diag_ring ring = {262144, 1000, 65536, SDP_RING_FULL, 7, 8, {1, 2, 3, 4}};
	const sdp_diag_zcopy zcopy = {1, SDP_ZCOPY_ASYNC, 1000, 900, 800, 700, 600, 5, 4, 3, 2};
	const std::uint32_t memory[SK_MEMINFO_VARS] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	const sdp_diag_timeouts timeouts = {1, 7200, 75, 9, 30000, -1};
	const std::uint32_t queue_pair = 17;
	const std::uint32_t why = SDP_FLOW_REASON_DEVICE;
	const Socket socket = only(socket_message(
		plain_socket(), {name(SDP_DIAG_FLOW, "nic"), name(SDP_DIAG_DEVICE, "rxe0"),
				 attribute(SDP_DIAG_CREDITS, &credits, sizeof(credits)),
				 attribute(SDP_DIAG_RING, &ring, sizeof(ring)),
				 attribute(SDP_DIAG_ZCOPY, &zcopy, sizeof(zcopy)),
				 attribute(SDP_DIAG_SKMEMINFO, memory, sizeof(memory)),
				 attribute(SDP_DIAG_TIMEOUTS, &timeouts, sizeof(timeouts)),
				 attribute(SDP_DIAG_QPN, &queue_pair, sizeof(queue_pair)),
				 attribute(SDP_DIAG_FLOW_WHY, &why, sizeof(why))}));

	EXPECT_EQ(socket.flow, "nic");
	EXPECT_EQ(socket.device, "rxe0");
	EXPECT_EQ(socket.queue_pair, 17U);
	EXPECT_EQ(socket.tx_credits, 62U);
	EXPECT_EQ(socket.rx_credits, 64U);
	EXPECT_EQ(socket.flow_state.why, "device");
	EXPECT_EQ(socket.flow_state.ring, 262144U);
	EXPECT_EQ(socket.flow_state.ring_used, 1000U);
	EXPECT_EQ(socket.flow_state.ring_why, "full");
	EXPECT_EQ(socket.flow_state.flushes.pause, 4U);
	EXPECT_EQ(socket.zcopy.mode, "async");
	EXPECT_EQ(socket.zcopy.received_zcopy, 600U);
	EXPECT_EQ(socket.zcopy.guard_faults, 2U);
	EXPECT_EQ(socket.memory.value().sndbuf, 4U);
	EXPECT_EQ(socket.memory.value().drops, 9U);
	EXPECT_TRUE(socket.timeouts.value().keepalive);
	EXPECT_EQ(socket.timeouts.value().user_timeout, 30000U);
	EXPECT_EQ(socket.timeouts.value().linger2, -1);
}

TEST(Answer, TakesOlderAndNewerStructures)
{
	const std::uint32_t older = 62;
	const std::uint32_t newer[4] = {1, 2, 3, 4};

	EXPECT_EQ(only(socket_message(plain_socket(), {attribute(SDP_DIAG_CREDITS, &older, 4)}))
			  .tx_credits,
		  62U);
	EXPECT_EQ(only(socket_message(plain_socket(), {attribute(SDP_DIAG_CREDITS, newer, 16)}))
			  .rx_credits,
		  2U);
	EXPECT_EQ(only(socket_message(plain_socket(),
				      {attribute(999, newer, 16), name(SDP_DIAG_FLOW, "rdma")}))
			  .flow,
		  "rdma");
}

TEST(Answer, ComesInParts)
{
	const Bytes socket = socket_message(plain_socket());
	Answer answer(sequence);

	EXPECT_FALSE(answer.add(joined({socket, socket})));
	EXPECT_TRUE(answer.add(joined({socket, done(), socket})));
	EXPECT_EQ(answer.take().size(), 3U);
}

TEST(Answer, IgnoresWhatOthersAsked)
{
	Bytes payload;
	const sdp_diag_msg socket = plain_socket();
	Answer answer(sequence);

	append(payload, &socket, sizeof(socket));
	EXPECT_FALSE(answer.add(message(SOCK_DIAG_BY_FAMILY, payload, sequence + 1)));
	EXPECT_TRUE(answer.take().empty());
}

int errno_of(const Bytes &bytes)
{
	Answer answer(sequence);

	try {
		answer.add(bytes);
	} catch (const std::system_error &error) {
		return error.code().value();
	}
	return 0;
}

TEST(Answer, MayBeAnError)
{
	Bytes payload;
	const nlmsgerr error = {-ENOENT, {}};

	append(payload, &error, sizeof(error));
	EXPECT_EQ(errno_of(message(NLMSG_ERROR, payload)), ENOENT);
	EXPECT_EQ(errno_of(message(NLMSG_ERROR, {})), EPROTO);
	EXPECT_EQ(errno_of(done(-EINTR)), EINTR);
	EXPECT_EQ(errno_of(done()), 0);
}

void expect_rejected(const Bytes &bytes)
{
	Answer answer(sequence);

	EXPECT_THROW(answer.add(bytes), AnswerError);
}

TEST(Answer, IsNotBelievedIfItMakesNoSense)
{
	sdp_diag_msg socket = plain_socket();

	socket.sdiag_family = AF_INET;
	expect_rejected(socket_message(socket));
	socket = plain_socket();
	socket.sdm_state = 0;
	expect_rejected(socket_message(socket));
	socket = plain_socket();
	socket.sdm_addr_family = AF_UNIX;
	expect_rejected(socket_message(socket));
	expect_rejected(socket_message(plain_socket(), {attribute(SDP_DIAG_FLOW, "nic", 3)}));
	expect_rejected(socket_message(plain_socket(), {attribute(SDP_DIAG_FLOW, "", 0)}));
}

// Wherever a part ends, and whatever length a message or an attribute claims to have,
// nothing is read beyond it; the sanitizers would tell.
TEST(Answer, MayBeCutOffAnywhere)
{
	const Bytes whole = joined({socket_message(plain_socket(), {name(SDP_DIAG_FLOW, "nic"),
								    name(SDP_DIAG_DEVICE, "x")}),
				    done()});

	for (std::size_t length = 1; length < whole.size(); length++) {
		const Bytes part(whole.begin(),
				 whole.begin() + static_cast<std::ptrdiff_t>(length));
		Answer answer(sequence);

		try {
			EXPECT_FALSE(answer.add(part)) << length;
			// It ends with a message.
			EXPECT_EQ(length, whole.size() - done().size());
		} catch (const AnswerError &) {
		}
	}
}

// Some libraries take it for a signed number, which is smaller than what is there.
TEST(Answer, HasNoMessageOfTwoGigabytes)
{
	Bytes message = socket_message(plain_socket(), {});
	const std::uint32_t length = 0x80000000U + static_cast<std::uint32_t>(message.size());
	const std::uint32_t other = sequence + 1;
	Answer answer(sequence);

	std::memcpy(message.data() + offsetof(nlmsghdr, nlmsg_len), &length, sizeof(length));
	std::memcpy(message.data() + offsetof(nlmsghdr, nlmsg_seq), &other, sizeof(other));
	EXPECT_THROW(answer.add(message), AnswerError);
}

TEST(Answer, MayHaveAnyBits)
{
	const Bytes whole = joined({socket_message(plain_socket(), {name(SDP_DIAG_FLOW, "nic"),
								    name(SDP_DIAG_DEVICE, "x")}),
				    done()});
	std::size_t refused = 0;

	for (std::size_t at = 0; at < whole.size(); at++) {
		for (const unsigned char bits : {0x00, 0x01, 0x02, 0x40, 0x80, 0xff}) {
			Bytes garbled = whole;
			Answer answer(sequence);

			garbled[at] = std::byte{bits};
			try {
				answer.add(garbled);
			} catch (const std::runtime_error &) {
				refused++;
			}
		}
	}
	EXPECT_GT(refused, 10U);
}

} // namespace
