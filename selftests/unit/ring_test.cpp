// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The byte ring's arithmetic, at the wrap of positions and under a model.
 */
#include <deque>
#include <random>

#include <gtest/gtest.h>

#include "ring_memory.h"

namespace
{

TEST(Ring, StartsEmpty)
{
	sdp_ring ring;

	sdp_ring_init(&ring, 64, 16);
	EXPECT_EQ(sdp_ring_free(&ring), 64U);
	EXPECT_EQ(sdp_ring_used(&ring), 0U);
	EXPECT_EQ(sdp_ring_unsent(&ring), 0U);
}

TEST(Ring, FillsToTheLastByteAndRefusesMore)
{
	sdp_ring ring = ring_at(0, 64, 16);

	EXPECT_FALSE(sdp_ring_produce(&ring, 65));
	EXPECT_EQ(sdp_ring_free(&ring), 64U);
	EXPECT_TRUE(sdp_ring_produce(&ring, 64));
	EXPECT_EQ(sdp_ring_free(&ring), 0U);
	EXPECT_EQ(sdp_ring_used(&ring), 64U);
	EXPECT_FALSE(sdp_ring_produce(&ring, 1));
	EXPECT_FALSE(sdp_ring_produce(&ring, UINT32_MAX));
	EXPECT_TRUE(sdp_ring_produce(&ring, 0));
}

TEST(Ring, SendsAndReleasesOnlyWhatIsThere)
{
	sdp_ring ring = ring_at(0, 64, 16);

	ASSERT_TRUE(sdp_ring_produce(&ring, 10));
	EXPECT_FALSE(sdp_ring_consume(&ring, 11));
	EXPECT_FALSE(sdp_ring_release(&ring, 1));
	EXPECT_TRUE(sdp_ring_consume(&ring, 4));
	EXPECT_EQ(sdp_ring_unsent(&ring), 6U);
	EXPECT_FALSE(sdp_ring_release(&ring, 5));
	EXPECT_TRUE(sdp_ring_release(&ring, 4));
	EXPECT_EQ(sdp_ring_used(&ring), 6U);
	EXPECT_EQ(sdp_ring_free(&ring), 58U);
	EXPECT_FALSE(sdp_ring_release(&ring, UINT32_MAX));
}

TEST(Ring, PositionsWrap)
{
	sdp_ring ring = ring_at(UINT32_MAX - 5, 64, 16);

	ASSERT_TRUE(sdp_ring_produce(&ring, 64));
	EXPECT_LT(ring.head, ring.tail);
	EXPECT_EQ(sdp_ring_used(&ring), 64U);
	EXPECT_EQ(sdp_ring_free(&ring), 0U);
	EXPECT_FALSE(sdp_ring_produce(&ring, 1));
	ASSERT_TRUE(sdp_ring_consume(&ring, 64));
	ASSERT_TRUE(sdp_ring_release(&ring, 64));
	EXPECT_EQ(sdp_ring_free(&ring), 64U);
}

TEST(Ring, LargestSize)
{
	sdp_ring ring = ring_at(0x7fffffff, 0x80000000, 0x80000000);

	EXPECT_TRUE(sdp_ring_produce(&ring, 0x80000000));
	EXPECT_EQ(sdp_ring_free(&ring), 0U);
	EXPECT_FALSE(sdp_ring_produce(&ring, 1));
	EXPECT_TRUE(sdp_ring_consume(&ring, 0x80000000));
	EXPECT_TRUE(sdp_ring_release(&ring, 0x80000000));
}

TEST(Ring, ChunksAndOffsets)
{
	const sdp_ring ring = ring_at(0, 64, 16);

	EXPECT_EQ(sdp_ring_chunk(&ring, 0), 0U);
	EXPECT_EQ(sdp_ring_chunk(&ring, 15), 0U);
	EXPECT_EQ(sdp_ring_chunk(&ring, 16), 1U);
	EXPECT_EQ(sdp_ring_chunk(&ring, 63), 3U);
	EXPECT_EQ(sdp_ring_chunk(&ring, 64), 0U);
	EXPECT_EQ(sdp_ring_chunk(&ring, UINT32_MAX), 3U);
	EXPECT_EQ(sdp_ring_offset(&ring, 17), 1U);
	EXPECT_EQ(sdp_ring_offset(&ring, UINT32_MAX), 15U);
}

TEST(Ring, ContiguousBytesEndWithTheChunk)
{
	const sdp_ring ring = ring_at(0, 64, 16);

	EXPECT_EQ(sdp_ring_contig(&ring, 0, 5), 5U);
	EXPECT_EQ(sdp_ring_contig(&ring, 0, 100), 16U);
	EXPECT_EQ(sdp_ring_contig(&ring, 15, 100), 1U);
	EXPECT_EQ(sdp_ring_contig(&ring, 60, 100), 4U);
	EXPECT_EQ(sdp_ring_contig(&ring, UINT32_MAX - 3, 100), 4U);
	EXPECT_EQ(sdp_ring_contig(&ring, 7, 0), 0U);
}

// What poll() may see: positions of different moments.
TEST(Ring, TornSnapshotNeverPromisesRoom)
{
	sdp_ring ring = ring_at(100, 64, 16);

	ring.tail = 101;
	EXPECT_EQ(sdp_ring_free(&ring), 0U);
	ring.tail = 0;
	EXPECT_EQ(sdp_ring_free(&ring), 0U);
}

// Every byte comes out as it went in, over several wraps of the positions.
TEST(Ring, BehavesLikeAQueue)
{
	std::mt19937 random(20);
	RingMemory memory(UINT32_MAX - 5000, 256, 32);
	sdp_ring *ring = memory.ring();
	std::deque<u8> unsent;
	u32 outstanding = 0;
	u8 next = 0;

	for (int step = 0; step < 20000; step++) {
		const u32 in = random() % 300;
		Bytes data(in);
		const u32 pos = ring->head;
		const bool fits = in <= 256 - unsent.size() - outstanding;
		ASSERT_EQ(sdp_ring_produce(ring, in), fits);
		if (fits) {
			for (u8 &byte : data)
				byte = next++;
			memory.write(pos, data);
			unsent.insert(unsent.end(), data.begin(), data.end());
		}

		const u32 out = random() % 300;
		const u32 from = ring->sent;
		ASSERT_EQ(sdp_ring_consume(ring, out), out <= unsent.size());
		if (out <= unsent.size()) {
			const auto end = unsent.begin() + static_cast<std::ptrdiff_t>(out);
			ASSERT_EQ(memory.read(from, out), Bytes(unsent.begin(), end));
			unsent.erase(unsent.begin(), end);
			outstanding += out;
		}

		const u32 back = random() % 300;
		ASSERT_EQ(sdp_ring_release(ring, back), back <= outstanding);
		if (back <= outstanding)
			outstanding -= back;
		ASSERT_EQ(sdp_ring_used(ring), unsent.size() + outstanding);
		ASSERT_EQ(sdp_ring_unsent(ring), unsent.size());
	}
}

TEST(Ring, EmptyRingContinuesAtItsStart)
{
	sdp_ring ring;

	sdp_ring_init(&ring, 256, 32);
	sdp_ring_rewind(&ring);
	EXPECT_EQ(ring.head, 0U) << "it is there already";
	for (u32 start = 256; start <= 1024; start += 256) {
		ASSERT_TRUE(sdp_ring_produce(&ring, 40));
		const u32 head = ring.head;
		sdp_ring_rewind(&ring);
		EXPECT_EQ(ring.head, head) << "there is something unsent";
		ASSERT_TRUE(sdp_ring_consume(&ring, 40));
		sdp_ring_rewind(&ring);
		EXPECT_EQ(ring.head, head) << "there is something unreleased";
		ASSERT_TRUE(sdp_ring_release(&ring, 40));
		sdp_ring_rewind(&ring);
		EXPECT_EQ(ring.head, start) << "positions only move forward";
		EXPECT_EQ(ring.sent, start);
		EXPECT_EQ(ring.tail, start);
		EXPECT_EQ(sdp_ring_chunk(&ring, ring.head), 0U);
		EXPECT_EQ(sdp_ring_free(&ring), 256U);
	}
}

TEST(Ring, RewindsAcrossTheWrap)
{
	sdp_ring ring;

	sdp_ring_init(&ring, 256, 32);
	ring.head = ring.sent = ring.tail = UINT32_MAX - 10;
	sdp_ring_rewind(&ring);
	EXPECT_EQ(ring.head, 0U);
	EXPECT_EQ(ring.tail, 0U);
}

} // namespace
