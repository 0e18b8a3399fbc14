// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Segments that wait are given back in order, whole, and none beyond the room.
 */
#include <deque>
#include <random>

#include <gtest/gtest.h>

#include "bytes.h"
#include "iwarp_model.h"
#include "seed.h"

extern "C" {
#include "wire/spill.h"
}

namespace
{

constexpr u32 room = 1024;

/** What a segment was when it was put. */
struct Kept {
	Bytes payload;
	u32 mo;
	u32 written;
	u64 imm;
};

class Spill : public testing::Test
{
protected:
	Spill() : mem(room)
	{
		spill.mem = mem.data();
		spill.size = room;
	}

	/** Puts a segment whose payload arrives in two pieces, if it fits. */
	bool put(const Kept &kept)
	{
		const auto len = static_cast<u32>(kept.payload.size());
		const u32 first = len / 3;

		if (!iwarp_spill_fits(&spill, len))
			return false;
		const IwarpMemory memory(kept.payload);
		iwarp_spill_write(&spill, memory.source(), 0, first, 0);
		iwarp_spill_write(&spill, memory.source(), first, len - first, first);
		iwarp_spilled segment = {};
		segment.hdr.opcode = IWARP_SEND;
		segment.hdr.payload_len = static_cast<u16>(len);
		segment.hdr.mo = kept.mo;
		segment.written = kept.written;
		segment.imm = kept.imm;
		iwarp_spill_put(&spill, &segment);
		return true;
	}

	/** Compares the oldest segment, and drops it. */
	void take(const Kept &kept)
	{
		iwarp_spilled segment = {};
		iwarp_source source = {};

		ASSERT_TRUE(iwarp_spill_first(&spill, &segment, &source));
		EXPECT_EQ(segment.hdr.opcode, IWARP_SEND);
		EXPECT_EQ(segment.hdr.mo, kept.mo);
		EXPECT_EQ(segment.written, kept.written);
		EXPECT_EQ(segment.imm, kept.imm);
		ASSERT_EQ(segment.hdr.payload_len, kept.payload.size());
		Bytes payload(kept.payload.size() + 1);
		const u32 first = segment.hdr.payload_len / 2;
		source.copy(&source, 0, payload.data(), first);
		source.copy(&source, first, payload.data() + first,
			    segment.hdr.payload_len - first);
		payload.pop_back();
		EXPECT_EQ(payload, kept.payload);
		iwarp_spill_drop(&spill);
	}

	Bytes mem;
	iwarp_spill spill = {};
};

TEST_F(Spill, IsEmptyAtFirst)
{
	iwarp_spilled segment = {};
	iwarp_source source = {};

	EXPECT_TRUE(iwarp_spill_empty(&spill));
	EXPECT_FALSE(iwarp_spill_first(&spill, &segment, &source));
}

TEST_F(Spill, TakesOneThatFillsIt)
{
	const Kept most = {Bytes(room - sizeof(iwarp_spilled), 7), 1, 2, 3};

	EXPECT_FALSE(iwarp_spill_fits(&spill, room - sizeof(iwarp_spilled) + 1));
	EXPECT_TRUE(put(most));
	EXPECT_FALSE(iwarp_spill_fits(&spill, 0));
	take(most);
	EXPECT_TRUE(iwarp_spill_empty(&spill));
}

TEST_F(Spill, WhatIsNotPutIsNotThere)
{
	const Kept kept = {Bytes(40, 1), 0, 0, 0};
	const IwarpMemory memory(Bytes(100, 2));

	EXPECT_TRUE(put(kept));
	// One that is damaged is written, and never put.
	iwarp_spill_write(&spill, memory.source(), 0, 100, 0);
	take(kept);
	EXPECT_TRUE(iwarp_spill_empty(&spill));
}

TEST_F(Spill, GivesAllBackInOrder)
{
	std::mt19937_64 random(seed());
	std::deque<Kept> model;

	// Positions wrap in the middle of the run.
	spill.put = spill.get = -4096U;
	for (u32 step = 0; step < 100000; step++) {
		if (random() % 2 == 0) {
			Kept kept = {Bytes(random() % 400), static_cast<u32>(random()),
				     static_cast<u32>(random()), random()};
			for (u8 &byte : kept.payload)
				byte = static_cast<u8>(random());
			if (put(kept))
				model.push_back(kept);
			else
				EXPECT_FALSE(model.empty());
		} else if (!model.empty()) {
			take(model.front());
			model.pop_front();
		}
		ASSERT_EQ(iwarp_spill_empty(&spill), model.empty());
	}
}

} // namespace
