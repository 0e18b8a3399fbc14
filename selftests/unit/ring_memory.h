// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * A byte ring with its memory.
 */
#pragma once

#include <vector>

#include "bytes.h"

extern "C" {
#include "stream/ring.h"
}

/** A ring whose positions start at @p start rather than at zero. */
inline sdp_ring ring_at(u32 start, u32 size, u32 chunk)
{
	sdp_ring ring;

	sdp_ring_init(&ring, size, chunk);
	ring.head = ring.sent = ring.tail = start;
	return ring;
}

/** A ring with its memory, written and read piece by piece. */
class RingMemory
{
public:
	RingMemory(u32 start, u32 size, u32 chunk)
		: ring_(ring_at(start, size, chunk)), chunks_(size / chunk, Bytes(chunk))
	{
	}

	sdp_ring *ring()
	{
		return &ring_;
	}

	void write(u32 pos, const Bytes &data)
	{
		for_each_byte(pos, static_cast<u32>(data.size()),
			      [&](u8 &at, u32 i) { at = data[i]; });
	}

	Bytes read(u32 pos, u32 length)
	{
		Bytes data(length);
		for_each_byte(pos, length, [&](u8 &at, u32 i) { data[i] = at; });
		return data;
	}

private:
	template <typename Visit> void for_each_byte(u32 pos, u32 length, Visit visit)
	{
		for (u32 done = 0; done < length;) {
			const u32 at = pos + done;
			const u32 part = sdp_ring_contig(&ring_, at, length - done);
			Bytes &chunk = chunks_.at(sdp_ring_chunk(&ring_, at));
			for (u32 i = 0; i < part; i++)
				visit(chunk.at(sdp_ring_offset(&ring_, at) + i), done + i);
			done += part;
		}
	}

	sdp_ring ring_;
	std::vector<Bytes> chunks_;
};
