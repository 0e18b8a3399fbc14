// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * FPDUs are taken apart however the stream is cut, and anything damaged is
 * never delivered.
 */
#include <gtest/gtest.h>

#include "iwarp_receiver.h"

namespace
{

constexpr u32 interval = IWARP_MARKER_INTERVAL;

Bytes pattern(size_t length, u32 seed)
{
	Bytes bytes(length);

	for (size_t i = 0; i < length; i++)
		bytes[i] = static_cast<u8>((i * 0x9e3779b9U + seed) >> 13);
	return bytes;
}

/** One of everything, with long and empty payloads. */
std::vector<IwarpSegment> one_of_each()
{
	return {
		untagged(IWARP_SEND, 0, 1, 0, hex("6869")),
		tagged(IWARP_WRITE, 0xdeadbeef, 0x1000, pattern(1000, 1), false),
		tagged(IWARP_WRITE, 0xdeadbeef, 0x13e8, pattern(501, 2)),
		untagged(IWARP_READ_REQ, 1, 1, 0, pattern(28, 3)),
		tagged(IWARP_READ_RESP, 0x100, 0, {}),
		untagged(IWARP_SEND_INV, 0, 2, 0, pattern(4096, 4)),
		untagged(IWARP_SEND_SE, 0, 3, 0, {}),
		untagged(IWARP_IMMEDIATE, 0, 4, 0, hex("0123456789abcdef")),
		untagged(IWARP_ATOMIC_REQ, 1, 2, 0, pattern(52, 5)),
		untagged(IWARP_ATOMIC_RESP, 3, 1, 0, pattern(12, 6)),
		untagged(IWARP_SEND_SE_INV, 0, 5, 0, pattern(3, 7)),
		untagged(IWARP_TERMINATE, 2, 1, 0, pattern(4, 8)),
	};
}

void expect_delivered(const std::vector<IwarpDelivered> &got, const std::vector<IwarpSegment> &want)
{
	ASSERT_EQ(got.size(), want.size());
	for (size_t i = 0; i < want.size(); i++) {
		EXPECT_EQ(got[i].hdr.opcode, want[i].hdr.opcode);
		EXPECT_EQ(got[i].hdr.last, want[i].hdr.last);
		EXPECT_EQ(got[i].hdr.stag, want[i].hdr.stag);
		EXPECT_EQ(got[i].hdr.to, want[i].hdr.to);
		EXPECT_EQ(got[i].payload, want[i].payload) << i;
	}
}

// An FPDU written by hand: a marker, the header, "hi", no padding, the checksum.
TEST(Framing, VectorWithAMarker)
{
	const Bytes bytes = hex("00000000 0014 4143 00000000 00000000 00000001 00000000 6869 0000");
	Bytes trailer(4);
	iwarp_crc_encode(crc32c(IWARP_CRC_SEED, bytes.data(), bytes.size()), trailer.data());
	IwarpReceiver receiver(interval, true);

	EXPECT_EQ(receiver.feed(bytes + trailer), 32U);
	ASSERT_EQ(receiver.delivered.size(), 1U);
	EXPECT_EQ(receiver.delivered[0].payload, hex("6869"));
	EXPECT_EQ(receiver.delivered[0].hdr.msn, 1U);
	EXPECT_EQ(receiver.rx()->pos, 32U);
	EXPECT_TRUE(iwarp_rx_idle(receiver.rx()));
}

/** Markers, checksums, and where the stream begins. */
class Framing : public testing::TestWithParam<std::tuple<u32, bool, u32>>
{
protected:
	Framing()
		: distance(std::get<0>(GetParam())), crc(std::get<1>(GetParam())),
		  start(std::get<2>(GetParam())), wire(distance, crc, start),
		  receiver(distance, crc, start)
	{
		for (const IwarpSegment &segment : one_of_each())
			begins.push_back(wire.append(segment));
	}

	u32 distance;
	bool crc;
	u32 start;
	IwarpWire wire;
	std::vector<size_t> begins;
	IwarpReceiver receiver;
};

using Combination = std::tuple<u32, bool, u32>;

INSTANTIATE_TEST_SUITE_P(Some, Framing,
			 testing::Values(Combination(0, false, 0), Combination(0, true, 4),
					 Combination(512, true, 0), Combination(512, false, 508),
					 Combination(512, true, 0xffffff00),
					 Combination(16, true, 4)));

TEST_P(Framing, AtOnce)
{
	EXPECT_EQ(receiver.feed(wire.bytes()), wire.bytes().size());
	EXPECT_EQ(receiver.error(), IWARP_OK);
	expect_delivered(receiver.delivered, one_of_each());
	EXPECT_EQ(receiver.rx()->pos, wire.pos());
}

TEST_P(Framing, ByteByByte)
{
	EXPECT_EQ(receiver.feed_singly(wire.bytes()), wire.bytes().size());
	expect_delivered(receiver.delivered, one_of_each());
}

TEST_P(Framing, InTwoPieces)
{
	const Bytes &bytes = wire.bytes();

	for (size_t cut = 1; cut < 1200; cut += 3) {
		IwarpReceiver again(distance, crc, start);
		const Bytes first = truncated(bytes, cut);

		EXPECT_EQ(again.feed(first), cut);
		EXPECT_EQ(
			again.feed({bytes.begin() + static_cast<std::ptrdiff_t>(cut), bytes.end()}),
			bytes.size() - cut);
		expect_delivered(again.delivered, one_of_each());
	}
}

TEST_P(Framing, WhereFpdusBegin)
{
	receiver.feed(wire.bytes());
	ASSERT_EQ(receiver.delivered.size(), begins.size());
	for (size_t i = 0; i < begins.size(); i++)
		EXPECT_EQ(receiver.delivered[i].pos, start + static_cast<u32>(begins[i]));
}

/** How many FPDUs end at or before a byte. */
size_t before(const std::vector<size_t> &begins, size_t byte)
{
	size_t count = 0;

	while (count + 1 < begins.size() && begins[count + 1] <= byte)
		count++;
	return count;
}

// A damaged FPDU is not delivered, nor is anything behind it.
TEST_P(Framing, DamageIsNeverDelivered)
{
	IwarpWire checked(distance, true, start);
	for (const IwarpSegment &segment : one_of_each())
		checked.append(segment);
	const Bytes &bytes = checked.bytes();

	for (size_t at = 0; at < bytes.size(); at += 5) {
		IwarpReceiver again(distance, true, start);

		again.feed(with(bytes, at, bytes[at] ^ 0x10));
		EXPECT_EQ(again.delivered.size(), before(begins, at)) << at;
	}
	for (size_t at = 0; at < bytes.size(); at += 997) {
		IwarpReceiver again(distance, true, start);

		again.feed_singly(with(bytes, at, bytes[at] ^ 0x10));
		EXPECT_EQ(again.delivered.size(), before(begins, at)) << at;
	}
}

TEST_P(Framing, ChecksumsAreIgnoredIfTheyAreOff)
{
	Bytes bytes = wire.bytes();

	for (size_t i = 0; i < begins.size(); i++) {
		const size_t end = i + 1 < begins.size() ? begins[i + 1] : bytes.size();
		bytes.at(end - 1) ^= 1;
	}
	receiver.feed(bytes);
	EXPECT_EQ(receiver.delivered.size(), crc ? 0 : begins.size());
	EXPECT_EQ(receiver.error(), crc ? IWARP_E_MPA_CRC : IWARP_OK);
}

TEST_P(Framing, HoldTakesNoMoreUntilItIsLifted)
{
	bool hold = true;
	const auto some = [&hold](const iwarp_rx &rx) -> u32 {
		return hold && rx.hdr.opcode == IWARP_SEND_INV ? IWARP_RX_HOLD : IWARP_RX_GO;
	};
	receiver.verdict = some;
	const u32 taken = receiver.feed(wire.bytes());
	const Bytes rest(wire.bytes().begin() + taken, wire.bytes().end());

	EXPECT_LT(taken, wire.bytes().size());
	EXPECT_EQ(receiver.delivered.size(), 5U);
	EXPECT_EQ(receiver.error(), IWARP_OK);
	const u32 asked = receiver.begins;
	EXPECT_EQ(receiver.feed(rest), 0U);
	EXPECT_EQ(receiver.begins, asked + 1);
	hold = false;
	EXPECT_EQ(receiver.feed(rest), rest.size());
	expect_delivered(receiver.delivered, one_of_each());
}

TEST_P(Framing, SkippedPayloadIsNotPlaced)
{
	receiver.verdict = [](const iwarp_rx &rx) -> u32 {
		return rx.hdr.opcode == IWARP_WRITE ? IWARP_RX_SKIP : IWARP_RX_GO;
	};
	receiver.feed(wire.bytes());
	ASSERT_EQ(receiver.delivered.size(), begins.size());
	EXPECT_TRUE(receiver.delivered[1].skipped);
	EXPECT_TRUE(receiver.delivered[1].payload.empty());
	EXPECT_FALSE(receiver.delivered[5].skipped);
	EXPECT_EQ(receiver.delivered[5].payload, one_of_each()[5].payload);
}

TEST_P(Framing, WhatTheOwnerRefusesEndsTheStream)
{
	receiver.verdict = [](const iwarp_rx &rx) -> u32 {
		return rx.hdr.opcode == IWARP_WRITE ? IWARP_E_TAGGED_STAG : IWARP_OK;
	};
	receiver.feed(wire.bytes());
	EXPECT_EQ(receiver.error(), IWARP_E_TAGGED_STAG);
	EXPECT_EQ(receiver.delivered.size(), 1U);
	EXPECT_EQ(receiver.feed(wire.bytes()), 0U);
	EXPECT_EQ(receiver.delivered.size(), 1U);

	IwarpReceiver another(distance, crc, start);
	another.data_error = IWARP_E_TAGGED_BOUNDS;
	another.feed(wire.bytes());
	EXPECT_EQ(another.error(), IWARP_E_TAGGED_BOUNDS);
	EXPECT_TRUE(another.delivered.empty());
}

TEST(FramingErrors, AMarkerThatPointsElsewhere)
{
	for (const bool crc : {false, true})
		for (const bool singly : {false, true}) {
			IwarpWire wire(interval, false);
			wire.append(tagged(IWARP_WRITE, 1, 0, pattern(1000, 1)));
			Bytes bytes = with(wire.bytes(), 515, 0xf8);
			Bytes sum(4);
			iwarp_crc_encode(crc32c(IWARP_CRC_SEED, bytes.data(), bytes.size() - 4),
					 sum.data());
			std::copy(sum.begin(), sum.end(), bytes.end() - 4);

			IwarpReceiver receiver(interval, crc);
			if (singly)
				receiver.feed_singly(bytes);
			else
				receiver.feed(bytes);
			EXPECT_EQ(receiver.error(), IWARP_E_MPA_MARKER);
			EXPECT_TRUE(receiver.delivered.empty());
			EXPECT_EQ(receiver.datas == 0, !singly);
		}
}

TEST(FramingErrors, AWrongChecksumIsFoundBeforeAnythingIsPlaced)
{
	IwarpWire wire(interval, true);
	wire.append(tagged(IWARP_WRITE, 1, 0, pattern(1000, 1)));
	IwarpReceiver receiver(interval, true);

	receiver.feed(with(wire.bytes(), 700, wire.bytes()[700] ^ 0x80));
	EXPECT_EQ(receiver.error(), IWARP_E_MPA_CRC);
	EXPECT_EQ(receiver.datas, 0U);
}

TEST(FramingErrors, AWrongHeaderIsToldFromADamagedOne)
{
	IwarpWire wire(interval, true), damaged(interval, true);
	const IwarpSegment segment = tagged(IWARP_WRITE, 1, 0, pattern(100, 1));
	Bytes ulpdu = encode(segment);
	damaged.append(ulpdu);
	ulpdu[3] = 0x4c;
	wire.append(ulpdu);

	IwarpReceiver receiver(interval, true), another(interval, true);
	receiver.feed(wire.bytes());
	EXPECT_EQ(receiver.error(), IWARP_E_OP_OPCODE);
	another.feed(with(damaged.bytes(), 7, 0x4c));
	EXPECT_EQ(another.error(), IWARP_E_MPA_CRC);
}

TEST(FramingErrors, AnFpduTooShortForItsHeader)
{
	for (const char *length : {"0000", "0001", "0011"}) {
		IwarpReceiver receiver(interval, false);

		receiver.feed(hex("00000000") + hex(length) +
			      hex("4143 00000000 00000000 00000001 00000000 00000000 00000000"));
		EXPECT_EQ(receiver.error(), IWARP_E_DDP_LOCAL);
		EXPECT_EQ(receiver.begins, 0U);
	}
}

TEST(FramingErrors, ALongFpduWithoutMarkers)
{
	IwarpWire wire(IWARP_NO_MARKERS, true);
	const IwarpSegment segment = tagged(IWARP_WRITE, 1, 0, pattern(65535 - 14, 9));
	wire.append(segment);
	IwarpReceiver receiver(IWARP_NO_MARKERS, true);

	receiver.feed(wire.bytes());
	expect_delivered(receiver.delivered, {segment});
}

// Of 64 KiB not every marker can point back: what is longer than may be sent
// is refused where this shows.
TEST(FramingErrors, AnFpduTooLongForItsMarkers)
{
	IwarpWire longest(interval, true), longer(interval, true);
	const IwarpSegment fits = tagged(IWARP_WRITE, 1, 0, pattern(IWARP_MULPDU_MAX - 14, 9));
	longest.append(fits);
	longer.append(tagged(IWARP_WRITE, 1, 0, pattern(65535 - 14, 9)));

	IwarpReceiver receiver(interval, true), another(interval, true);
	receiver.feed(longest.bytes());
	expect_delivered(receiver.delivered, {fits});
	another.feed(longer.bytes());
	EXPECT_EQ(another.error(), IWARP_E_MPA_MARKER);
	EXPECT_TRUE(another.delivered.empty());
}

} // namespace
