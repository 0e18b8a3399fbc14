/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/**
 * @file
 * A receiver that notes what it is called back for.
 */
#pragma once

#include <functional>
#include <vector>

#include "iwarp_model.h"

/** A segment that was delivered. */
struct IwarpDelivered {
	u32 pos;
	iwarp_hdr hdr;
	Bytes payload;
	bool skipped;
};

/** The receiver comes first, so that the callbacks find the rest. */
class IwarpReceiver
{
public:
	IwarpReceiver(u32 interval, bool crc, u32 pos = 0)
	{
		iwarp_rx_init(&self_.rx, &ops, interval, crc, pos);
		self_.owner = this;
	}

	IwarpReceiver(const IwarpReceiver &) = delete;
	IwarpReceiver &operator=(const IwarpReceiver &) = delete;

	/** Feeds bytes from memory of their own. */
	u32 feed(const Bytes &bytes)
	{
		const IwarpMemory memory(bytes);

		return iwarp_rx_feed(rx(), memory.source(), 0, memory.length());
	}

	/** Feeds them one at a time; returns how many were taken. */
	u32 feed_singly(const Bytes &bytes)
	{
		u32 taken = 0;

		for (const u8 byte : bytes)
			taken += feed({byte});
		return taken;
	}

	[[nodiscard]] iwarp_rx *rx()
	{
		return &self_.rx;
	}

	[[nodiscard]] iwarp_error error() const
	{
		return self_.rx.error;
	}

	/** What begin() is to say; %IWARP_RX_GO by default. */
	std::function<u32(const iwarp_rx &)> verdict = [](const iwarp_rx &) -> u32 {
		return IWARP_RX_GO;
	};
	/** What data() is to say. */
	iwarp_error data_error = IWARP_OK;
	std::vector<IwarpDelivered> delivered;
	u32 begins = 0;
	u32 datas = 0;

private:
	struct Self {
		iwarp_rx rx;
		IwarpReceiver *owner;
	};

	static IwarpReceiver *owner(iwarp_rx *rx)
	{
		return reinterpret_cast<Self *>(rx)->owner;
	}

	static u32 begin(iwarp_rx *rx)
	{
		owner(rx)->begins++;
		owner(rx)->payload_.clear();
		return owner(rx)->verdict(*rx);
	}

	static iwarp_error data(iwarp_rx *rx, const iwarp_source *src, u32 off, u32 len, u32 at)
	{
		Bytes &payload = owner(rx)->payload_;

		owner(rx)->datas++;
		if (at != payload.size() || rx->skip || len == 0)
			std::abort();
		payload.resize(at + len);
		// As a whole, or as a scatter list of the smallest elements would have it.
		u32 piece = owner(rx)->datas % 2 != 0 ? 1 : len;

		for (u32 done = 0; done < len; done += piece)
			src->copy(src, off + done, payload.data() + at + done, piece);
		return owner(rx)->data_error;
	}

	static iwarp_error end(iwarp_rx *rx)
	{
		IwarpReceiver *self = owner(rx);

		if (iwarp_opcode_control(rx->hdr.opcode))
			self->payload_ = Bytes(iwarp_rx_control(rx),
					       iwarp_rx_control(rx) + rx->hdr.payload_len);
		self->delivered.push_back({rx->start, rx->hdr, self->payload_, rx->skip});
		return IWARP_OK;
	}

	static constexpr iwarp_rx_ops ops = {begin, data, end};

	Self self_ = {};
	Bytes payload_;
};
