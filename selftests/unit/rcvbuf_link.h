// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Two connections' ends whose receive buffers grow and shrink, joined by a
 * lossless, ordered fabric.
 */
#pragma once

#include <array>
#include <deque>

#include <gtest/gtest.h>

extern "C" {
#include "flow/credit.h"
#include "stream/rcvbuf.h"
}

/** A message on its way, with the buffer that it will land in. */
struct Parcel {
	sdp_bsdh bsdh;
	u32 len;
	/** ChRcvBuf, ChRcvBufAck: payload size. */
	u32 size;
	u32 buffer;
};

/** One end. */
struct End {
	sdp_credit credit;
	sdp_rcvbuf rb;
	sdp_peerbuf pb;
	/** Sizes of the buffers that the device holds, oldest first. */
	std::deque<u32> device;
	/** Sizes of the buffers with unread data. */
	std::deque<u32> unread;
	/** What this end sent and the other has not processed. */
	std::deque<Parcel> wire;
	u32 limit;
	bool pressure;
	/** Allocations of more than this fail. */
	u32 memory;
	u64 acks;
};

/**
 * Does what the module does. As in CreditLink a message takes the device's
 * oldest buffer the moment it is sent, which is the worst case.
 */
class BufferLink
{
public:
	static constexpr u32 page = 4096;
	static constexpr u32 most = 16 * page;

	BufferLink(u32 max_total, u32 limit)
	{
		for (int i = 0; i < 2; i++) {
			End &end = ends_[i];
			end.limit = limit;
			end.memory = most;
			sdp_rcvbuf_init(&end.rb, page, most, max_total);
			const u32 first = sdp_rcvbuf_first(&end.rb, limit);
			for (u32 n = 0; n < first; n++) {
				sdp_rcvbuf_added(&end.rb, page);
				give(end, page);
			}
		}
		for (int i = 0; i < 2; i++) {
			const u32 theirs = ends_[1 - i].rb.total;
			sdp_credit_init(&ends_[i].credit, ends_[i].rb.total, theirs);
			sdp_peerbuf_init(&ends_[i].pb, page, most);
		}
	}

	[[nodiscard]] const End &end(int i) const
	{
		return ends_.at(i);
	}

	[[nodiscard]] bool idle() const
	{
		return ends_[0].wire.empty() && ends_[1].wire.empty() && !ends_[0].rb.growing &&
		       !ends_[1].rb.growing;
	}

	void set_limit(int i, u32 limit)
	{
		ends_[i].limit = limit;
	}
	void set_pressure(int i, bool pressure)
	{
		ends_[i].pressure = pressure;
	}
	void set_memory(int i, u32 memory)
	{
		ends_[i].memory = memory;
	}

	[[nodiscard]] bool may_send(int i) const
	{
		return sdp_credit_may_send(&ends_[i].credit, SDP_MID_DATA, 1);
	}

	/** The program on side @p i writes @p len bytes; what fits is sent. */
	void write(int i, u32 len)
	{
		End &end = ends_[i];

		sdp_peerbuf_want(&end.pb, len);
		push(i);
		while (len > 0 && may_send(i)) {
			const u32 part = std::min(len, sdp_peerbuf_payload(&end.pb));
			send(i, SDP_MID_DATA, part, 0);
			len -= part;
		}
		push(i);
	}

	/** A message that is in no way special. */
	void control(int i)
	{
		if (sdp_credit_may_send(&ends_[i].credit, SDP_MID_SENDSM, 0))
			send(i, SDP_MID_SENDSM, 0, 0);
	}

	/** Side @p i processes the oldest message for it. */
	void deliver(int i)
	{
		End &end = ends_[i];
		const Parcel parcel = ends_[1 - i].wire.front();

		ends_[1 - i].wire.pop_front();
		ASSERT_EQ(sdp_credit_receive(&end.credit, &parcel.bsdh, 1), 0);
		sdp_rcvbuf_consumed(&end.rb, parcel.buffer);
		act(i, parcel);
		if (end.credit.rx_advertised < SDP_PEER_BUFS_MIN && !end.pressure &&
		    sdp_rcvbuf_more(&end.rb, end.limit) > 0)
			end.rb.growing = true;
		push(i);
	}

	/** The program on side @p i reads what is in @p n buffers. */
	void read(int i, u32 n)
	{
		End &end = ends_[i];

		for (; n > 0; n--) {
			const u32 size = end.unread.front();
			end.unread.pop_front();
			recycle(end, size);
		}
		push(i);
	}

	/** The worker of side @p i runs. */
	void grow(int i)
	{
		End &end = ends_[i];

		if (!end.rb.growing)
			return;
		const u32 size = larger(end);
		if (size > end.rb.size) {
			sdp_rcvbuf_resize(&end.rb, size, end.credit.rx_posted);
			add(end, SDP_CREDIT_BUFS_MIN);
		} else if (!end.pressure && end.rb.size <= end.memory) {
			add(end, sdp_rcvbuf_more(&end.rb, end.limit));
		}
		end.rb.growing = false;
		push(i);
	}

private:
	/** The size that the peer's wish, the limits and memory allow. */
	static u32 larger(const End &end)
	{
		u32 size = sdp_rcvbuf_larger(&end.rb, end.limit);

		if (end.pressure)
			return end.rb.size;
		while (size > end.rb.size && size > end.memory)
			size /= 2;
		return size;
	}

	static void give(End &end, u32 size)
	{
		end.device.push_back(size);
		sdp_rcvbuf_posted(&end.rb, size);
	}

	static void add(End &end, u32 n)
	{
		sdp_credit_added(&end.credit, n);
		for (; n > 0; n--) {
			sdp_rcvbuf_added(&end.rb, end.rb.size);
			give(end, end.rb.size);
		}
	}

	static void repost(End &end, u32 size)
	{
		give(end, size);
		sdp_credit_posted(&end.credit, 1);
	}

	static void recycle(End &end, u32 size)
	{
		if (sdp_rcvbuf_keep(&end.rb, size, end.limit, end.pressure)) {
			repost(end, size);
		} else {
			sdp_rcvbuf_removed(&end.rb, size);
			sdp_credit_removed(&end.credit);
		}
		ASSERT_GE(end.rb.total, u32{SDP_CREDIT_BUFS_MIN});
		ASSERT_LE(end.rb.total, end.rb.max_total + SDP_CREDIT_BUFS_MIN);
	}

	void act(int i, const Parcel &parcel)
	{
		End &end = ends_[i];

		if (parcel.len > 0) {
			end.unread.push_back(parcel.buffer);
			return;
		}
		repost(end, parcel.buffer);
		if (parcel.bsdh.mid == SDP_MID_CHRCVBUF) {
			ASSERT_EQ(sdp_rcvbuf_asked(&end.rb, parcel.size), 0);
			if (larger(end) > end.rb.size)
				end.rb.growing = true;
		} else if (parcel.bsdh.mid == SDP_MID_CHRCVBUFACK) {
			ASSERT_EQ(sdp_peerbuf_acked(&end.pb, parcel.size), 0);
			end.acks++;
		}
	}

	void push(int i)
	{
		End &end = ends_[i];
		const u32 wish = sdp_peerbuf_ask(&end.pb);

		if (sdp_rcvbuf_ack_due(&end.rb) &&
		    sdp_credit_may_send(&end.credit, SDP_MID_CHRCVBUFACK, 0)) {
			send(i, SDP_MID_CHRCVBUFACK, 0, end.rb.size);
			end.rb.wish = 0;
		}
		if (wish > 0 && sdp_credit_may_send(&end.credit, SDP_MID_CHRCVBUF, 0)) {
			send(i, SDP_MID_CHRCVBUF, 0, wish);
			sdp_peerbuf_asked(&end.pb, wish);
		}
		if (sdp_credit_want_update(&end.credit) &&
		    sdp_credit_may_send(&end.credit, SDP_MID_DATA, 0))
			send(i, SDP_MID_DATA, 0, 0);
	}

	void send(int i, sdp_mid mid, u32 len, u32 size)
	{
		End &to = ends_[1 - i];
		sdp_bsdh bsdh = {};

		ASSERT_FALSE(to.device.empty()) << "receiver not ready";
		ASSERT_LE(len, to.device.front()) << "the message is longer than its buffer";
		bsdh.mid = static_cast<u8>(mid);
		sdp_credit_transmit(&ends_[i].credit, &bsdh, 1);
		ends_[i].wire.push_back({bsdh, len, size, to.device.front()});
		to.device.pop_front();
	}

	std::array<End, 2> ends_ = {};
};
