// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What was placed early is recognized once, and nothing else is taken for it.
 */
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "bytes.h"
#include "seed.h"

extern "C" {
#include "wire/place.h"

int __real_iwarp_hdr_parse(const u8 *data, iwarp_hdr *hdr);
int __wrap_iwarp_hdr_parse(const u8 *data, iwarp_hdr *hdr);
}

namespace
{

u32 parsed;

}

// Every call from another object comes here.
int __wrap_iwarp_hdr_parse(const u8 *data, iwarp_hdr *hdr)
{
	parsed++;
	return __real_iwarp_hdr_parse(data, hdr);
}

namespace
{

class Placed : public testing::Test
{
protected:
	Placed() : slots(8)
	{
		iwarp_placed_init(&placed, slots.data(), 8);
	}

	bool add(u32 pos, u32 len = 100, u64 target = 7, u8 first = 1)
	{
		const Bytes hdr(IWARP_TAGGED_LEN, first);

		return iwarp_placed_add(&placed, pos, len, hdr.data(), IWARP_TAGGED_LEN, target);
	}

	bool take(u32 pos, u32 len = 100, u64 target = 7, u8 first = 1)
	{
		const Bytes hdr(IWARP_TAGGED_LEN, first);

		return iwarp_placed_take(&placed, pos, len, hdr.data(), IWARP_TAGGED_LEN, target);
	}

	std::vector<iwarp_place> slots;
	iwarp_placed placed = {};
};

TEST_F(Placed, IsTakenOnce)
{
	EXPECT_TRUE(add(1000));
	EXPECT_EQ(iwarp_placed_len(&placed, 1000), 100U);
	EXPECT_EQ(iwarp_placed_len(&placed, 996), 0U);
	EXPECT_EQ(iwarp_placed_len(&placed, 1004), 0U);
	EXPECT_FALSE(take(900));
	EXPECT_TRUE(take(1000));
	EXPECT_FALSE(take(1000));
	EXPECT_EQ(placed.count, 0U);
}

TEST_F(Placed, AnythingElseIsNotTakenForIt)
{
	add(1000);
	EXPECT_FALSE(take(1000, 104));
	add(1000);
	EXPECT_FALSE(take(1000, 100, 8));
	add(1000);
	EXPECT_FALSE(take(1000, 100, 7, 2));
	// And once it has come in order, it will not come again.
	EXPECT_EQ(placed.count, 0U);
}

TEST_F(Placed, WhatIsBehindIsForgotten)
{
	for (u32 pos = 1000; pos < 1500; pos += 100)
		EXPECT_TRUE(add(pos));
	EXPECT_TRUE(take(1300));
	EXPECT_EQ(placed.count, 1U);
	EXPECT_TRUE(take(1400));
}

TEST_F(Placed, HasARoomOfItsOwnAndNoMore)
{
	for (u32 i = 0; i < 8; i++)
		EXPECT_TRUE(add(1000 + 100 * i));
	EXPECT_TRUE(iwarp_placed_full(&placed));
	EXPECT_FALSE(add(5000));
	EXPECT_TRUE(take(1000));
	EXPECT_TRUE(add(5000));
	for (u32 i = 1; i < 8; i++)
		EXPECT_TRUE(take(1000 + 100 * i));
	EXPECT_TRUE(take(5000));
}

TEST_F(Placed, IsAddedOnce)
{
	EXPECT_TRUE(add(1000));
	EXPECT_FALSE(add(1000, 60));
	EXPECT_EQ(iwarp_placed_len(&placed, 1000), 100U);
}

// What is placed after it, but comes before it in the stream, and where.
TEST_F(Placed, IsSpoiltByWhatOverwritesIt)
{
	const u32 pos = 0xffffff00;
	struct {
		u8 opcode;
		u32 pos;
		u32 stag;
		u64 to;
		u16 len;
		bool spoilt;
	} const others[] = {
		{IWARP_WRITE, pos - 100, 5, 1000, 100, true},
		{IWARP_WRITE, pos - 100, 5, 901, 100, true},
		{IWARP_WRITE, pos - 100, 5, 1099, 100, true},
		{IWARP_WRITE, pos - 100, 5, 1040, 1, true},
		{IWARP_WRITE, pos - 100, 5, 900, 100, false},
		{IWARP_WRITE, pos - 100, 5, 1100, 100, false},
		{IWARP_WRITE, pos - 100, 6, 1000, 100, false},
		{IWARP_WRITE, pos + 300, 5, 1000, 100, false},
		{IWARP_SEND, pos - 100, 5, 1000, 100, false},
	};

	for (const auto &other : others) {
		iwarp_hdr hdr = {};
		u8 head[IWARP_HDR_MAX];

		hdr.opcode = IWARP_WRITE;
		hdr.stag = 5;
		hdr.to = 1000;
		hdr.payload_len = 100;
		const u32 head_len = iwarp_hdr_encode(&hdr, head);
		EXPECT_TRUE(iwarp_placed_add(&placed, pos, 128, head, head_len, 7));
		hdr.opcode = other.opcode;
		hdr.stag = other.stag;
		hdr.to = other.to;
		hdr.payload_len = other.len;
		iwarp_placed_overwrite(&placed, other.pos, &hdr);
		// It is still passed over when TCP's queue is searched again.
		EXPECT_EQ(iwarp_placed_len(&placed, pos), 128U);
		EXPECT_EQ(iwarp_placed_take(&placed, pos, 128, head, head_len, 7), !other.spoilt)
			<< other.to;
	}
}

// A peer sends the shortest segments before as many others as there is room for.
TEST_F(Placed, ParsesNothingAgain)
{
	iwarp_hdr hdr = {};
	u8 head[IWARP_HDR_MAX];

	hdr.opcode = IWARP_WRITE;
	hdr.stag = 5;
	hdr.payload_len = 100;
	for (u32 pos = 1000; !iwarp_placed_full(&placed); pos += 128) {
		hdr.to = pos;
		const u32 head_len = iwarp_hdr_encode(&hdr, head);
		ASSERT_TRUE(iwarp_placed_add(&placed, pos, 128, head, head_len, 7));
	}
	const u32 before = parsed;
	ASSERT_GT(before, 0U) << "nothing is counted";
	for (u32 pos = 0; pos < 1000; pos++) {
		hdr.payload_len = pos % 2;
		iwarp_placed_overwrite(&placed, pos, &hdr);
	}
	EXPECT_EQ(parsed, before);
}

TEST_F(Placed, NothingIsPlacedWithoutRoom)
{
	iwarp_placed_init(&placed, nullptr, 0);
	EXPECT_TRUE(iwarp_placed_full(&placed));
	EXPECT_FALSE(add(1000));
	EXPECT_FALSE(take(1000));
	EXPECT_EQ(iwarp_placed_len(&placed, 1000), 0U);
}

// Against a map: any order, wrap included.
TEST_F(Placed, RandomOrder)
{
	std::mt19937 random(seed());
	const u32 base = 0U - 5000;

	for (int round = 0; round < 200; round++) {
		std::map<u32, u32> model;
		u32 at = 0;

		iwarp_placed_init(&placed, slots.data(), 8);
		for (int step = 0; step < 100; step++) {
			const u32 pos = at + random() % 30 * 100;
			if (random() % 3 != 0) {
				const bool fits = model.size() < 8 && !model.contains(pos);
				EXPECT_EQ(add(base + pos, pos + 1), fits);
				if (fits)
					model[pos] = pos + 1;
				continue;
			}
			at = pos;
			EXPECT_EQ(take(base + at, at + 1), model.contains(at));
			model.erase(model.begin(), model.upper_bound(at));
			EXPECT_EQ(placed.count, model.size());
		}
	}
}

} // namespace
