// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Two ends of a connection that advertise memory and read it, joined by a
 * lossless, ordered fabric.
 */
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "flow/credit.h"
#include "zcopy/sinkavail.h"
#include "zcopy/state.h"
}

/** Every byte is a function of its stream and of its place there. */
inline u8 zcopy_byte(int side, u64 pos)
{
	return static_cast<u8>((pos * 0x9e3779b97f4a7c15ULL >> 32) + side * 101);
}

/** A message on its way. */
struct ZcopyMessage {
	sdp_msg msg;
	std::vector<u8> payload;
};

/** Memory that the peer may read: stream positions serve as addresses. */
struct ZcopyMemory {
	u64 begin;
	u64 end;
};

/** What a device is reading. */
struct ZcopyRead {
	u64 at;
	u32 key;
	u32 len;
};

/** One end, with what the model knows apart from the state machines. */
struct ZcopySide {
	sdp_credit credit;
	sdp_zsource source;
	sdp_zsink sink;
	/** Bytes that the program has to send, and up to where they have left. */
	u64 written;
	u64 sent;
	/** Where the oldest byte stands that is advertised and not read. */
	u64 base;
	u32 done;
	/** Of the next bytes, how many are to be advertised in one go; 0 = copy. */
	u32 advert;
	u32 inlined;
	/** What the peer may read now, by its key. */
	std::map<u32, ZcopyMemory> memory;
	u32 key;
	/** The reads that the device is at, which it ends in that order. */
	std::deque<ZcopyRead> reads;
	/** Bytes of the other's stream that have arrived. */
	u64 received;
	/** Receive buffers with payload that the program has not read. */
	u32 unread;
	u64 adverts;
	u64 refusals;
	u64 cancels;
	u64 voided;
	u64 read_bytes;
	size_t most_reads;
	std::deque<ZcopyMessage> wire;
};

/**
 * The model does what the module does: nothing is sent behind what is
 * advertised, what is refused is sent by copy, and answers wait for credits.
 */
class ZcopyLink
{
public:
	ZcopyLink(std::array<u32, 2> buffers, u32 adverts, u32 start)
	{
		for (int i = 0; i < 2; i++) {
			ZcopySide &side = sides_.at(i);

			sdp_credit_init(&side.credit, buffers.at(i), buffers.at(1 - i));
			side.credit.tx_mseq = side.credit.tx_acked = side.credit.rx_mseq = start;
			sdp_zsource_init(&side.source, adverts);
			sdp_zsink_init(&side.sink, adverts);
			side.source.done = side.done = start;
			side.key = start;
		}
	}

	[[nodiscard]] const ZcopySide &side(int i) const
	{
		return sides_.at(i);
	}

	[[nodiscard]] bool idle() const
	{
		return sides_[0].wire.empty() && sides_[1].wire.empty();
	}

	/** Side @p i has @p len bytes more to send. */
	void write(int i, u32 len)
	{
		sides_.at(i).written += len;
		push(i);
	}

	/** Side @p i's next message with payload is to be SrcAvail, or Data. */
	void choose(int i, u32 advert, u32 inlined)
	{
		sides_.at(i).advert = advert;
		sides_.at(i).inlined = inlined;
		push(i);
	}

	/** The program of side @p i waits no longer, and will copy. */
	void cancel(int i)
	{
		sides_.at(i).advert = 0;
		sdp_zsource_cancel(&sides_.at(i).source);
		push(i);
	}

	/** The program of side @p i takes what is in its buffers. */
	void take(int i, u32 buffers)
	{
		ZcopySide &side = sides_.at(i);
		const u32 count = std::min(buffers, side.unread);

		side.unread -= count;
		sdp_credit_posted(&side.credit, count);
		push(i);
	}

	/**
	 * The program of side @p i reads, at most so much, behind what it is
	 * reading; its device is slow.
	 */
	void read_begin(int i, u32 len)
	{
		ZcopySide &side = sides_.at(i);
		const u32 most = sdp_zsink_readable(&side.sink);

		len = std::min(len, most);
		if (!len)
			return;
		const sdp_zadvert from = sdp_zsink_read(&side.sink, len);
		side.reads.push_back({from.vaddr, from.rkey, len});
		side.most_reads = std::max(side.most_reads, side.reads.size());
	}

	/** The first of what the device of side @p i reads is there. */
	void read_end(int i)
	{
		ZcopySide &side = sides_.at(i);
		const ZcopySide &peer = sides_.at(1 - i);

		if (side.reads.empty())
			return;
		const ZcopyRead read = side.reads.front();
		side.reads.pop_front();
		// Until this moment the memory has to stay what it is.
		const auto from = peer.memory.find(read.key);
		ASSERT_NE(from, peer.memory.end()) << "read of memory that was released";
		ASSERT_GE(read.at, from->second.begin);
		ASSERT_LE(read.at + read.len, from->second.end);
		ASSERT_EQ(read.at, side.received) << "read out of order";
		side.received += read.len;
		side.read_bytes += read.len;
		sdp_zsink_read_done(&side.sink, read.len);
		push(i);
	}

	/** All that the device of side @p i reads is there. */
	void read_all(int i)
	{
		while (!sides_.at(i).reads.empty() && !testing::Test::HasFatalFailure())
			read_end(i);
	}

	/** The program of side @p i cannot use what is advertised. */
	void refuse(int i)
	{
		sdp_zsink_refuse(&sides_.at(i).sink);
		push(i);
	}

	/** Side @p i processes the oldest message for it. */
	void deliver(int i)
	{
		ZcopySide &side = sides_.at(i);
		const ZcopyMessage message = sides_.at(1 - i).wire.front();
		const sdp_msg &msg = message.msg;

		sides_.at(1 - i).wire.pop_front();
		ASSERT_EQ(sdp_credit_receive(&side.credit, &msg.bsdh, 1), 0);
		sdp_zsink_heard(&side.sink, msg.bsdh.mseq_ack);
		dispatch(i, message);
		if (message.payload.empty())
			sdp_credit_posted(&side.credit, 1);
		else
			side.unread++;
		push(i);
	}

private:
	void dispatch(int i, const ZcopyMessage &message)
	{
		ZcopySide &side = sides_.at(i);
		const sdp_msg &msg = message.msg;
		int ret;

		switch (msg.bsdh.mid) {
		case SDP_MID_DATA:
			ASSERT_TRUE(message.payload.empty() || !sdp_zsink_busy(&side.sink))
				<< "data overtakes what is advertised";
			append(i, message.payload);
			break;
		case SDP_MID_SRCAVAIL:
			ret = sdp_zsink_advertised(&side.sink, &msg);
			ASSERT_GE(ret, 0);
			side.voided += !ret;
			append(i, message.payload);
			break;
		case SDP_MID_SRCAVAILCANCEL:
			sdp_zsink_refuse(&side.sink);
			break;
		case SDP_MID_RDMARDCOMPL:
			ASSERT_EQ(sdp_zsource_read(&side.source, msg.bsdh.mseq_ack, msg.rdma_len),
				  0);
			settle(i);
			break;
		case SDP_MID_SENDSM:
			ASSERT_EQ(sdp_zsource_refused(&side.source, msg.bsdh.mseq_ack), 0);
			side.refusals++;
			settle(i);
			break;
		default:
			FAIL() << "no such message";
		}
	}

	void append(int i, const std::vector<u8> &payload)
	{
		ZcopySide &side = sides_.at(i);

		for (const u8 byte : payload) {
			ASSERT_EQ(byte, zcopy_byte(1 - i, side.received))
				<< "byte " << side.received << " lost, repeated or reordered";
			side.received++;
		}
	}

	/** Releases what the peer need not read any more, as the module does. */
	void settle(int i)
	{
		ZcopySide &side = sides_.at(i);
		const sdp_zsource &source = side.source;

		side.base += source.done - side.done;
		side.done = source.done;
		ASSERT_LE(side.base, side.sent) << "more was read than was advertised";
		for (auto at = side.memory.begin(); at != side.memory.end();)
			at = at->second.end <= side.base || !sdp_zsource_busy(&source)
				     ? side.memory.erase(at)
				     : std::next(at);
		if (!sdp_zsource_busy(&source))
			side.sent = side.base;
	}

	std::vector<u8> bytes(int i, u64 from, u32 len)
	{
		std::vector<u8> payload(len);

		for (u32 n = 0; n < len; n++)
			payload[n] = zcopy_byte(i, from + n);
		return payload;
	}

	u32 transmit(int i, sdp_msg msg, std::vector<u8> payload)
	{
		ZcopySide &side = sides_.at(i);

		sdp_credit_transmit(&side.credit, &msg.bsdh, 1);
		msg.payload_len = static_cast<u32>(payload.size());
		side.wire.push_back({msg, std::move(payload)});
		return msg.bsdh.mseq;
	}

	u32 control(int i, sdp_mid mid, u32 len)
	{
		sdp_msg msg = {};

		msg.bsdh.mid = mid;
		msg.rdma_len = len;
		return transmit(i, msg, {});
	}

	void advertise(int i)
	{
		ZcopySide &side = sides_.at(i);
		const bool first = !sdp_zsource_busy(&side.source);
		const auto left = static_cast<u32>(side.written - side.sent);
		const u32 len = std::min(side.advert, left);
		const u32 inlined = first ? std::min(side.inlined, len - 1) : 0;
		sdp_msg msg = {};

		if (!sdp_zsource_may_advertise(&side.source))
			return;
		if (first)
			side.base = side.sent + inlined;
		msg.bsdh.mid = SDP_MID_SRCAVAIL;
		msg.srcah = {len, ++side.key, side.sent};
		side.memory[side.key] = {side.sent + inlined, side.sent + len};
		const u32 mseq = transmit(i, msg, bytes(i, side.sent, inlined));
		sdp_zsource_advertise(&side.source, mseq, len - inlined);
		side.sent += len;
		side.adverts++;
		side.advert = 0;
	}

	void push_data(int i)
	{
		ZcopySide &side = sides_.at(i);
		const auto left = static_cast<u32>(side.written - side.sent);

		if (!left || !sdp_credit_may_send(&side.credit, SDP_MID_DATA, left))
			return;
		if (side.advert) {
			advertise(i);
		} else if (!sdp_zsource_busy(&side.source)) {
			const u32 len = std::min(left, 7U);
			sdp_msg msg = {};

			msg.bsdh.mid = SDP_MID_DATA;
			transmit(i, msg, bytes(i, side.sent, len));
			side.sent += len;
			side.base = side.sent;
		}
	}

	/** Whether a message without payload may be sent. */
	[[nodiscard]] bool may_tell(int i) const
	{
		const sdp_sinkadvert none = {};

		return sdp_zcopy_may_send(&sides_.at(i).source, &none, &sides_.at(i).credit,
					  SDP_MID_SENDSM, 0);
	}

	void push(int i)
	{
		ZcopySide &side = sides_.at(i);
		sdp_mid due;

		while ((due = sdp_zsink_due(&side.sink)) != SDP_MID_DATA && may_tell(i))
			sdp_zsink_told(&side.sink, due, control(i, due, side.sink.unreported));
		if (side.source.cancel_due) {
			ASSERT_TRUE(sdp_credit_may_send(&side.credit, SDP_MID_SRCAVAILCANCEL, 0))
				<< "no credits are left to cancel with";
			control(i, SDP_MID_SRCAVAILCANCEL, 0);
			sdp_zsource_cancel_sent(&side.source);
			side.cancels++;
		}
		push_data(i);
		if ((sdp_credit_want_update(&side.credit) ||
		     sdp_zsource_want_answer(&side.source, &side.credit)) &&
		    may_tell(i))
			control(i, SDP_MID_DATA, 0);
	}

	std::array<ZcopySide, 2> sides_ = {};
};
