// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Two ends of a connection whose data goes into rings, joined by a lossless,
 * ordered fabric.
 */
#pragma once

#include <array>
#include <deque>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "flow/credit.h"
#include "flow/nic.h"
#include "flow/rdma.h"
#include "stream/rcvbuf.h"
}

enum class Engine {
	rdma,
	nic
};

/** A message on its way: immediate data, or a control message with a header. */
struct FlowMessage {
	u32 len;
	u32 imm;
	sdp_bsdh bsdh;
	u32 tail;
	u64 read;
};

/** One end, with what the model knows apart from the engine. */
struct FlowSide {
	sdp_credit credit;
	sdp_outring out;
	sdp_inring in;
	sdp_burst burst;
	/** The receive ring's memory, and for each byte whether it is unread. */
	std::vector<u8> memory;
	std::vector<bool> unread;
	/** Receive buffers that the device holds; of these, those without a window. */
	u32 posted;
	u32 spare;
	/** Bytes that the program has written; those up to sent have left. */
	u64 written;
	u64 sent;
	/** Bytes of the other's stream received, and read. */
	u64 received;
	u64 read;
	/** Of what was sent, how much the other has said that it read. */
	u64 freed;
	u64 messages;
	u64 held;
	u64 updates;
	std::deque<FlowMessage> wire;
};

/** Every byte is a function of its stream and of its place there. */
inline u8 flow_byte(int side, u64 pos)
{
	return static_cast<u8>((pos * 0x9e3779b97f4a7c15ULL >> 32) + side * 101);
}

/**
 * The model does what the module does: data leaves as far as credits and the
 * engine allow, a burst is held back, an update is sent when one is due, and
 * receive buffers are posted as the engine says.
 *
 * A piece lands in the ring, and takes a receive buffer, the moment it is sent:
 * the earliest that a device could do it, and so the hardest for the invariants.
 */
class FlowLink
{
public:
	FlowLink(Engine engine, std::array<u32, 2> sizes, u32 wish, u32 share) : engine_(engine)
	{
		for (int i = 0; i < 2; i++) {
			FlowSide &side = sides_.at(i);
			const u32 size = sizes.at(i);

			sdp_inring_init(&side.in, size, sdp_nic_window(size, wish));
			side.burst.share = share;
			side.memory.resize(size);
			side.unread.resize(size);
			// The buffers of a connection that has no ring yet.
			side.posted = first;
		}
		for (int i = 0; i < 2; i++) {
			FlowSide &side = sides_.at(i);
			const FlowSide &peer = sides_.at(1 - i);

			sdp_credit_init(&side.credit, first, first);
			sdp_credit_resize(&side.credit, buffers(side.in));
			EXPECT_EQ(sdp_outring_init(&side.out, peer.in.size, peer.in.piece), 0);
		}
		for (FlowSide &side : sides_)
			repost(side);
	}

	/** Starts positions shortly before they wrap. */
	void start_at(u32 pos)
	{
		for (FlowSide &side : sides_) {
			side.out.sent = side.out.freed = pos;
			side.in.head = side.in.tail = side.in.told = pos;
			side.credit.tx_mseq = side.credit.tx_acked = side.credit.rx_mseq = pos;
		}
		base_ = pos;
	}

	/** Whether updates are so seldom that the time between them is long. */
	void set_late(bool late)
	{
		late_ = late;
	}

	/** A waiting peer is told of half of a ring, and of nothing less. */
	void tell_halves()
	{
		for (FlowSide &side : sides_)
			side.in.least = side.in.size / 2;
	}

	[[nodiscard]] const FlowSide &side(int i) const
	{
		return sides_.at(i);
	}

	[[nodiscard]] bool idle() const
	{
		return sides_[0].wire.empty() && sides_[1].wire.empty();
	}

	/** The program of side @p i writes @p len bytes. */
	void write(int i, u32 len)
	{
		FlowSide &side = sides_[i];

		const bool waits = side.written > side.sent;

		if (waits)
			sdp_burst_joined(&side.burst);
		side.written += len;
		// What has only joined what waits, and would not leave in a call, waits with it.
		if (!waits || engine_ != Engine::nic || side.written - side.sent >= side.out.most)
			push(i);
	}

	/** The program of side @p i reads up to @p len bytes. */
	void read(int i, u32 len)
	{
		FlowSide &side = sides_[i];

		for (; len && side.read < side.received; len--, side.read++) {
			const u32 at = place(side.in, side.read);

			ASSERT_EQ(side.memory[at], flow_byte(1 - i, side.read))
				<< "byte " << side.read << " lost, repeated or reordered";
			side.unread[at] = false;
			sdp_inring_read(&side.in, 1);
		}
		ASSERT_EQ(sdp_inring_used(&side.in), side.received - side.read);
		repost(side);
		push(i);
	}

	/** Side @p i processes the oldest message for it. */
	void deliver(int i)
	{
		FlowSide &side = sides_[i];
		const FlowMessage message = sides_[1 - i].wire.front();
		sdp_msg msg = {};

		sides_[1 - i].wire.pop_front();
		const u32 n = windows(side.in.piece, message.len);

		if (message.len)
			sdp_imm_parse(message.imm, message.len, side.credit.rx_mseq + n - 1,
				      side.credit.tx_acked, &msg);
		else
			msg.bsdh = message.bsdh;
		ASSERT_EQ(msg.bsdh.mseq, message.bsdh.mseq);
		ASSERT_EQ(msg.bsdh.mseq_ack, message.bsdh.mseq_ack);
		ASSERT_EQ(sdp_credit_receive(&side.credit, &msg.bsdh, n), 0);
		side.spare += n - 1;
		if (message.len) {
			ASSERT_EQ(sdp_inring_receive(&side.in, message.len), 0);
			side.received += message.len;
			sdp_burst_end(&side.burst);
		} else {
			ASSERT_EQ(sdp_outring_free(&side.out, message.tail), 0);
			side.freed = message.read;
		}
		repost(side);
		push(i);
	}

	/** Delivers all messages, with programs that do nothing. */
	void settle()
	{
		u32 delivered = 0;

		while (!idle() && !testing::Test::HasFatalFailure()) {
			ASSERT_LT(delivered++, 100000U) << "updates without end";
			deliver(side(1).wire.empty() ? 1 : 0);
		}
	}

	/** What side @p i holds back has waited for company. */
	void timer(int i)
	{
		FlowSide &side = sides_[i];

		if (!side.burst.running)
			return;
		sdp_burst_expired(&side.burst, side.written > side.sent);
		push(i);
	}

	/** Whether side @p i has something to send and the peer room for it. */
	[[nodiscard]] bool must_progress(int i) const
	{
		const FlowSide &side = sides_[i];
		const FlowSide &peer = sides_[1 - i];

		return side.written > side.sent && peer.in.size - (side.sent - peer.read) > 0;
	}

private:
	[[nodiscard]] u32 place(const sdp_inring &in, u64 pos) const
	{
		return static_cast<u32>(base_ + pos) & (in.size - 1);
	}

	[[nodiscard]] u32 buffers(const sdp_inring &in) const
	{
		return engine_ == Engine::nic ? sdp_nic_buffers(&in) : sdp_rdma_buffers(&in);
	}

	[[nodiscard]] u32 fit(const FlowSide &side, u32 len) const
	{
		return engine_ == Engine::nic ? sdp_nic_fit(&side.out, &side.credit, len)
					      : sdp_rdma_fit(&side.out, &side.credit, len);
	}

	[[nodiscard]] u32 windows(u32 piece, u32 len) const
	{
		return engine_ == Engine::nic && len ? sdp_nic_windows(piece, len) : 1;
	}

	[[nodiscard]] bool want_update(const FlowSide &side) const
	{
		const sdp_update update = engine_ == Engine::nic
						  ? sdp_nic_want_update(&side.credit, &side.in)
						  : sdp_rdma_want_update(&side.credit, &side.in);

		return update == SDP_UPDATE_NOW || (late_ && update == SDP_UPDATE_SELDOM);
	}

	void repost(FlowSide &side)
	{
		while (side.credit.rx_posted < buffers(side.in)) {
			sdp_credit_posted(&side.credit, 1);
			if (side.spare)
				side.spare--;
			else
				side.posted++;
			ASSERT_LE(side.credit.rx_posted, side.credit.rx_total);
		}
	}

	/** What the device of the other side does at once. */
	void place_bytes(int i, u32 len)
	{
		FlowSide &side = sides_[i];
		FlowSide &peer = sides_[1 - i];

		ASSERT_LE(sdp_outring_offset(&side.out) + len, peer.in.size) << "beyond the ring";
		ASSERT_LE(len, peer.in.size / SDP_RING_MESSAGES) << "too large a share of the ring";
		for (u32 n = 0; n < len; n++) {
			const u32 at = sdp_outring_offset(&side.out) + n;

			ASSERT_EQ(at, place(peer.in, side.sent + n));
			ASSERT_FALSE(peer.unread[at]) << "overwrites what nobody has read";
			peer.unread[at] = true;
			peer.memory[at] = flow_byte(i, side.sent + n);
		}
	}

	void transmit(int i, u32 len)
	{
		FlowSide &side = sides_[i];
		FlowSide &peer = sides_[1 - i];
		FlowMessage message = {len, 0, {}, 0, 0};

		ASSERT_GT(peer.posted, 0U) << "receiver not ready";
		peer.posted--;
		message.bsdh.mid = SDP_MID_DATA;
		sdp_credit_transmit(&side.credit, &message.bsdh, windows(side.out.piece, len));
		message.imm = sdp_imm_encode(&message.bsdh);
		if (!len || engine_ == Engine::nic)
			message.tail = sdp_inring_tell(&side.in);
		if (!len)
			message.read = side.read;
		side.wire.push_back(message);
	}

	void push_data(int i)
	{
		FlowSide &side = sides_[i];

		while (side.written > side.sent && !testing::Test::HasFatalFailure()) {
			const auto want = static_cast<u32>(
				std::min<u64>(side.written - side.sent, side.out.most));
			const u32 len = fit(side, want);

			if (!sdp_credit_may_send(&side.credit, SDP_MID_DATA, want) || !len)
				return;
			if (want < side.out.most && sdp_burst_hold(&side.burst)) {
				sdp_burst_wait(&side.burst);
				side.held++;
				return;
			}
			if (engine_ == Engine::rdma) {
				ASSERT_LE(side.sent + len - side.freed, side.out.size)
					<< "space that nobody has promised";
			}
			place_bytes(i, len);
			transmit(i, len);
			sdp_outring_write(&side.out, len);
			sdp_burst_sent(&side.burst, len);
			side.sent += len;
			side.messages++;
		}
	}

	void push(int i)
	{
		FlowSide &side = sides_[i];

		push_data(i);
		if (!sdp_credit_want_update(&side.credit) && !want_update(side))
			return;
		if (!sdp_credit_may_send(&side.credit, SDP_MID_RINGSPACE, 0))
			return;
		side.updates++;
		transmit(i, 0);
	}

	static constexpr u32 first = SDP_RCVBUF_FIRST;

	Engine engine_;
	bool late_ = false;
	u32 base_ = 0;
	std::array<FlowSide, 2> sides_ = {};
};
