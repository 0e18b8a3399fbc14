// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * FPDUs ahead of a hole: found by their markers wherever the bytes begin and
 * end, and never placed unless they are whole and right.
 */
#include <array>

#include <gtest/gtest.h>

#include "iwarp_receiver.h"

namespace
{

constexpr u32 interval = IWARP_MARKER_INTERVAL;

/** Twenty writes, of such lengths that some have no marker. */
class Early : public testing::Test
{
protected:
	Early() : wire(interval, true, start)
	{
		for (u32 i = 0; i < 20; i++) {
			const size_t length = 30 + i * 377 % 1300;
			const IwarpSegment segment = tagged(IWARP_WRITE, 1, 4096UL * i,
							    Bytes(length, static_cast<u8>(i)));

			begins.push_back(static_cast<u32>(wire.append(segment)));
			segments.push_back(segment);
		}
		begins.push_back(size(wire.bytes()));
		iwarp_placed_init(&placed, slots.data(), static_cast<u32>(slots.size()));
	}

	/** Looks for FPDUs in some bytes of the stream; returns how far it came. */
	u32 look(IwarpReceiver &receiver, const Bytes &stream, u32 from, u32 to)
	{
		const IwarpMemory memory(Bytes(stream.begin() + from, stream.begin() + to));
		u32 at;

		if (!iwarp_sync(memory.source(), receiver.rx()->interval, start + from, to - from,
				&at))
			return from;
		return from + iwarp_rx_early(receiver.rx(), &placed, memory.source(), start + from,
					     to - from, at, 64 * IWARP_EARLY_COST);
	}

	static constexpr u32 start = 0xfffff000;
	IwarpWire wire;
	std::vector<u32> begins;
	std::vector<IwarpSegment> segments;
	std::array<iwarp_place, 64> slots = {};
	iwarp_placed placed = {};
};

// The first FPDU that a marker in the bytes belongs to, found by looking at all.
u32 first_marked(const std::vector<u32> &begins, u32 start, u32 from, u32 to)
{
	for (size_t i = 0; i + 1 < begins.size(); i++)
		for (u32 at = begins[i]; at < begins[i + 1] && at + 4 <= to; at += 4)
			if (begins[i] >= from && (start + at) % interval == 0)
				return static_cast<u32>(i);
	return static_cast<u32>(begins.size()) - 1;
}

TEST_F(Early, WholeFpdusAreTakenWhereverTheBytesBeginAndEnd)
{
	const u32 length = size(wire.bytes());

	for (u32 from = 1; from < length; from += 131)
		for (u32 to = from + 1; to <= length; to += 263) {
			IwarpReceiver receiver(interval, true);
			u32 want = first_marked(begins, start, from, to);
			size_t count = 0;

			const u32 end = look(receiver, wire.bytes(), from, to);
			for (; want + 1 < begins.size() && begins[want + 1] <= to; want++) {
				ASSERT_LT(count, receiver.delivered.size()) << from << ' ' << to;
				EXPECT_EQ(receiver.delivered[count].pos, start + begins[want]);
				EXPECT_EQ(receiver.delivered[count].payload,
					  segments[want].payload);
				count++;
			}
			EXPECT_EQ(receiver.delivered.size(), count) << from << ' ' << to;
			EXPECT_TRUE(end == begins[want] || (count == 0 && end == from)) << end;
		}
}

TEST_F(Early, MarkerAtTheBeginningOfTheBytesAndOfAnFpdu)
{
	IwarpWire one(interval, true);
	one.append(segments[0]);
	const IwarpMemory memory(one.bytes());
	u32 at = 99;

	EXPECT_TRUE(iwarp_sync(memory.source(), interval, 0, memory.length(), &at));
	EXPECT_EQ(at, 0U);
}

// A marker in an FPDU that begins with one points to ULPDU_Length behind that.
TEST_F(Early, SecondMarkerOfAnFpdu)
{
	IwarpWire one(interval, true);
	one.append(tagged(IWARP_WRITE, 1, 0, Bytes(700)));
	const IwarpMemory memory(one.bytes());
	const IwarpMemory cut(Bytes(one.bytes().begin() + 4, one.bytes().end()));
	u32 at = 99;

	EXPECT_TRUE(iwarp_sync(memory.source(), interval, 512, memory.length(), &at));
	EXPECT_EQ(at, 0U);
	EXPECT_FALSE(iwarp_sync(cut.source(), interval, 4, cut.length(), &at));
}

TEST_F(Early, NothingWithoutMarkers)
{
	IwarpReceiver receiver(IWARP_NO_MARKERS, true);

	EXPECT_EQ(look(receiver, wire.bytes(), begins[3], begins[9]), begins[3]);
	EXPECT_TRUE(receiver.delivered.empty());
}

TEST_F(Early, WhatWasPlacedIsPassedOver)
{
	IwarpReceiver receiver(interval, true);
	const Bytes hdr(IWARP_TAGGED_LEN);

	for (const u32 i : {5U, 6U, 8U})
		EXPECT_TRUE(iwarp_placed_add(&placed, start + begins[i], begins[i + 1] - begins[i],
					     hdr.data(), IWARP_TAGGED_LEN, 0));
	look(receiver, wire.bytes(), begins[5], begins[10]);
	ASSERT_EQ(receiver.delivered.size(), 2U);
	EXPECT_EQ(receiver.delivered[0].pos, start + begins[7]);
	EXPECT_EQ(receiver.delivered[1].pos, start + begins[9]);
}

// What is passed over costs nothing of the budget, but each FPDU that is begun
// is looked at to its end.
TEST_F(Early, GoesOnWhereItsBudgetEnded)
{
	IwarpReceiver receiver(interval, true);
	const Bytes hdr(IWARP_TAGGED_LEN);
	const IwarpMemory memory(wire.bytes());
	u32 at = 0;

	EXPECT_TRUE(iwarp_placed_add(&placed, start, begins[1], hdr.data(), IWARP_TAGGED_LEN, 0));
	for (u32 i = 1; i + 1 < begins.size(); i++) {
		at = iwarp_rx_early(receiver.rx(), &placed, memory.source(), start, memory.length(),
				    at, 1);
		EXPECT_EQ(at, begins[i + 1]);
	}
	EXPECT_EQ(receiver.delivered.size(), segments.size() - 1);
	EXPECT_EQ(iwarp_rx_early(receiver.rx(), &placed, memory.source(), start, memory.length(), 0,
				 0),
		  0U);
}

// To parse a header takes its time, however few bytes it stands for.
TEST_F(Early, ShortFpdusTakeMoreOfTheBudgetThanTheirBytes)
{
	IwarpWire tiny(interval, true, start);
	IwarpReceiver receiver(interval, true);

	for (u32 i = 0; i < 200; i++)
		tiny.append(tagged(IWARP_WRITE, 1, i, Bytes()));
	const IwarpMemory memory(tiny.bytes());
	iwarp_rx_early(receiver.rx(), &placed, memory.source(), start, memory.length(), 0,
		       64 * IWARP_EARLY_COST);
	EXPECT_EQ(receiver.delivered.size(), 64U);
}

TEST_F(Early, WhatIsNotWantedIsPassedOver)
{
	IwarpReceiver receiver(interval, true);
	receiver.verdict = [](const iwarp_rx &rx) -> u32 {
		return rx.hdr.to == 4096UL * 6 ? IWARP_RX_SKIP : IWARP_RX_GO;
	};

	EXPECT_EQ(look(receiver, wire.bytes(), begins[5], begins[8]), begins[8]);
	ASSERT_EQ(receiver.delivered.size(), 3U);
	EXPECT_TRUE(receiver.delivered[1].skipped);
	EXPECT_EQ(receiver.delivered[2].payload, segments[7].payload);
}

TEST_F(Early, DamageIsLeftAlone)
{
	for (u32 at = begins[5]; at < begins[8]; at += 7) {
		IwarpReceiver receiver(interval, true);

		look(receiver, with(wire.bytes(), at, wire.bytes()[at] ^ 1), begins[5], begins[12]);
		for (const IwarpDelivered &got : receiver.delivered) {
			const auto i = static_cast<size_t>(got.hdr.to / 4096);
			ASSERT_LT(i, segments.size());
			EXPECT_EQ(got.payload, segments[i].payload) << at;
			EXPECT_EQ(got.pos, start + begins[i]) << at;
		}
	}
}

// Without checksums the markers are the only check, so each has to be right
// before anything is placed.
TEST_F(Early, WithoutChecksumsEveryMarkerHasToAgree)
{
	IwarpWire plain(interval, false);
	plain.append(tagged(IWARP_WRITE, 1, 0, Bytes(40)));
	const auto begin = static_cast<u32>(plain.append(tagged(IWARP_WRITE, 1, 0, Bytes(1500))));
	const Bytes &bytes = plain.bytes();

	for (const u32 marker : {512U, 1024U, 1536U}) {
		IwarpReceiver receiver(interval, false);
		const IwarpMemory memory(with(bytes, marker + 3, bytes[marker + 3] ^ 4));

		iwarp_rx_early(receiver.rx(), &placed, memory.source(), 0, memory.length(), 0,
			       memory.length());
		EXPECT_EQ(receiver.datas, 1U) << marker;
	}
	EXPECT_LT(begin, 512U);
}

// A marker that points to what looks like an FPDU, but ends before the marker.
TEST_F(Early, AMarkerOutsideOfTheFpduItPointsTo)
{
	IwarpWire plain(interval, false, 100);
	plain.append(tagged(IWARP_WRITE, 1, 0, Bytes(40)));
	plain.append(tagged(IWARP_WRITE, 1, 0, Bytes(1500)));
	// It is at 512, and now says that its FPDU begins at 100.
	const Bytes bytes = with(with(plain.bytes(), 412 + 2, 1), 412 + 3, 412 - 256);
	const IwarpMemory memory(Bytes(bytes.begin(), bytes.begin() + 500));
	u32 at;

	EXPECT_FALSE(iwarp_sync(memory.source(), interval, 100, memory.length(), &at));
}

TEST_F(Early, AMarkerThatPointsOutOfTheBytes)
{
	Bytes bytes(1024);
	bytes[508 + 2] = 0xff;
	bytes[508 + 3] = 0xfc;
	const IwarpMemory memory(bytes);
	u32 at;

	EXPECT_FALSE(iwarp_sync(memory.source(), interval, 4, 600, &at));
	for (const u32 length : {0U, 1U, 3U})
		EXPECT_FALSE(iwarp_sync(memory.source(), interval, 0, length, &at));
}

} // namespace
