// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Two credit engines joined by a lossless, ordered fabric.
 */
#pragma once

#include <array>
#include <deque>

#include <gtest/gtest.h>

extern "C" {
#include "flow/credit.h"
}

/** A message on its way. */
struct Message {
	sdp_bsdh bsdh;
	bool payload;
};

/** One end of the connection. */
struct Side {
	sdp_credit credit;
	/** Receive buffers that the device holds, counted apart from the engine. */
	u32 posted;
	/** Buffers with data that the program has not read. */
	u32 unread;
	/** What this side sent and the other has not processed. */
	std::deque<Message> wire;
	/** It sent DisConn, behind which only updates may follow. */
	bool ended;
	/** Empty messages sent only to return credits. */
	u64 updates;
};

/**
 * The model does what the module does: a buffer without payload is posted
 * again at once, one with payload when the program has read it, and after every
 * event an update is sent if one is due and allowed.
 *
 * A message takes a buffer of the receiving device the moment it is sent, the
 * worst case: if none is there the device would answer "receiver not ready".
 */
class CreditLink
{
public:
	/**
	 * @param buffers receive buffers of either side
	 * @param first sequence number of both Hellos, zero on a real connection
	 */
	explicit CreditLink(std::array<u32, 2> buffers, u32 first = 0)
	{
		for (int i = 0; i < 2; i++) {
			sdp_credit_init(&sides_[i].credit, buffers[i], buffers[1 - i]);
			sides_[i].credit.tx_mseq = first;
			sides_[i].credit.tx_acked = first;
			sides_[i].credit.rx_mseq = first;
			sides_[i].posted = buffers[i];
		}
	}

	[[nodiscard]] const Side &side(int i) const
	{
		return sides_.at(i);
	}

	/** Messages that side @p i would process. */
	[[nodiscard]] const std::deque<Message> &to(int i) const
	{
		return sides_.at(1 - i).wire;
	}

	[[nodiscard]] bool idle() const
	{
		return sides_[0].wire.empty() && sides_[1].wire.empty();
	}

	[[nodiscard]] bool may_send_data(int i) const
	{
		return may_send(i, SDP_MID_DATA, 1);
	}
	[[nodiscard]] bool may_send_control(int i) const
	{
		return may_send(i, SDP_MID_SENDSM, 0);
	}
	[[nodiscard]] bool may_end(int i) const
	{
		return may_send(i, SDP_MID_DISCONN, 0);
	}

	void send_data(int i)
	{
		send(i, SDP_MID_DATA, true);
	}
	void send_control(int i)
	{
		send(i, SDP_MID_SENDSM, false);
	}

	void end(int i)
	{
		send(i, SDP_MID_DISCONN, false);
		sides_[i].ended = true;
	}

	/**
	 * Side @p i processes the oldest message for it.
	 * @param answer it has data that waits for credits, which goes first
	 */
	void deliver(int i, bool answer = false)
	{
		Side &to = sides_[i];
		const Message message = sides_[1 - i].wire.front();

		sides_[1 - i].wire.pop_front();
		ASSERT_EQ(sdp_credit_receive(&to.credit, &message.bsdh, 1), 0);
		if (message.payload)
			to.unread++;
		else
			post(to, 1);
		if (answer && may_send_data(i))
			send_data(i);
		update(i);
	}

	/**
	 * Nobody reads on side @p i: what is unread is moved together into two
	 * buffers, the first of which is half read, and a peer that waits is told.
	 */
	void pack(int i)
	{
		Side &side = sides_[i];

		if (side.unread > 2) {
			post(side, side.unread - 2);
			side.unread = 2;
		}
		if (sdp_credit_want_relief(&side.credit) && may_send(i, SDP_MID_DATA, 0)) {
			side.updates++;
			send(i, SDP_MID_DATA, false);
		}
	}

	/** The program on side @p i reads the data of @p n buffers. */
	void read(int i, u32 n)
	{
		sides_[i].unread -= n;
		post(sides_[i], n);
		update(i);
	}

private:
	[[nodiscard]] bool may_send(int i, sdp_mid mid, u32 payload_len) const
	{
		return !sides_[i].ended && sdp_credit_may_send(&sides_[i].credit, mid, payload_len);
	}

	static void post(Side &side, u32 n)
	{
		side.posted += n;
		sdp_credit_posted(&side.credit, n);
	}

	void send(int i, sdp_mid mid, bool payload)
	{
		sdp_bsdh bsdh = {};

		ASSERT_GT(sides_[1 - i].posted, 0U) << "receiver not ready";
		sides_[1 - i].posted--;
		bsdh.mid = static_cast<u8>(mid);
		sdp_credit_transmit(&sides_[i].credit, &bsdh, 1);
		sides_[i].wire.push_back({bsdh, payload});
	}

	void update(int i)
	{
		const sdp_credit *credit = &sides_[i].credit;

		if (!sdp_credit_want_update(credit) ||
		    !sdp_credit_may_send(credit, SDP_MID_DATA, 0))
			return;
		sides_[i].updates++;
		send(i, SDP_MID_DATA, false);
	}

	std::array<Side, 2> sides_ = {};
};

/**
 * Delivers all that is on its way, with programs that neither read nor write.
 * @return messages delivered; more than @p limit means that the two sides send
 * updates for ever
 */
inline u32 settle(CreditLink &link, u32 limit)
{
	u32 delivered = 0;

	for (; !link.idle() && delivered <= limit; delivered++)
		link.deliver(link.to(0).empty() ? 1 : 0);
	return delivered;
}

/**
 * Checks that nobody can be left waiting once all messages are delivered:
 * each side can end its stream though no program reads, and can send data once
 * the other program has read everything, though its own reads nothing.
 */
inline void expect_no_starvation(const CreditLink &settled, u32 limit)
{
	for (int i = 0; i < 2; i++) {
		CreditLink link = settled;

		if (settled.side(i).ended)
			continue;
		ASSERT_TRUE(link.may_end(i)) << "side " << i << " cannot end its stream";
		link.read(1 - i, link.side(1 - i).unread);
		ASSERT_LE(settle(link, limit), limit) << "updates without end";
		ASSERT_TRUE(link.may_send_data(i)) << "side " << i << " waits for ever";
	}
}
