// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Where markers are and what they say, against a sender that counts bytes one
 * by one; and the checksum, by the vectors of RFC 3720.
 */
#include <gtest/gtest.h>

#include "iwarp_model.h"

namespace
{

constexpr u32 interval = IWARP_MARKER_INTERVAL;

u32 crc_of(const Bytes &bytes)
{
	return ~crc32c(IWARP_CRC_SEED, bytes.data(), bytes.size());
}

Bytes count_up(size_t length)
{
	Bytes bytes(length);

	for (size_t i = 0; i < length; i++)
		bytes[i] = static_cast<u8>(i);
	return bytes;
}

// RFC 3720, section B.4; the bytes of each sum are in the order of the wire.
TEST(Crc, PublishedVectors)
{
	const Bytes down = [] {
		Bytes bytes = count_up(32);
		std::reverse(bytes.begin(), bytes.end());
		return bytes;
	}();
	const Bytes read_command = hex("01c00000 00000000 00000000 00000000 14000000 00000400"
				       "00000014 00000018 28000000 00000000 02000000 00000000");
	const std::vector<std::pair<Bytes, Bytes>> vectors = {
		{Bytes(32), hex("aa36918a")},	 {Bytes(32, 0xff), hex("43aba862")},
		{count_up(32), hex("4e79dd46")}, {down, hex("5cdb3f11")},
		{read_command, hex("563a96d9")},
	};

	for (const auto &[bytes, sum] : vectors) {
		Bytes out(IWARP_CRC_LEN);

		iwarp_crc_encode(crc32c(IWARP_CRC_SEED, bytes.data(), bytes.size()), out.data());
		EXPECT_EQ(out, sum);
		EXPECT_TRUE(iwarp_crc_ok(~crc_of(bytes), sum.data()));
		EXPECT_FALSE(iwarp_crc_ok(~crc_of(bytes), with(sum, 0, sum[0] ^ 1).data()));
	}
}

TEST(Marker, IsAtEachMultipleOfTheInterval)
{
	EXPECT_TRUE(iwarp_marker_at(interval, 0));
	EXPECT_FALSE(iwarp_marker_at(interval, 4));
	EXPECT_TRUE(iwarp_marker_at(interval, 512));
	EXPECT_TRUE(iwarp_marker_at(interval, 0xfffffe00));
	EXPECT_EQ(iwarp_marker_dist(interval, 0), 0U);
	EXPECT_EQ(iwarp_marker_dist(interval, 4), 508U);
	EXPECT_EQ(iwarp_marker_dist(interval, 508), 4U);
	EXPECT_EQ(iwarp_marker_dist(interval, 0xfffffffc), 4U);
	EXPECT_FALSE(iwarp_marker_at(IWARP_NO_MARKERS, 0));
}

/** Writes an FPDU in pieces of any kind, with the code under test. */
Bytes gap_copy(u32 distance, u32 pos, const Bytes &body)
{
	iwarp_gap gap;

	iwarp_gap_init(&gap, distance, pos);
	Bytes out = gap_copy(gap, body);
	EXPECT_EQ(gap.pos, pos + size(out));
	return out;
}

// The first FPDU begins with a marker, and one in it counts from ULPDU_Length.
TEST(Marker, FirstTwoOfAStream)
{
	const Bytes out = gap_copy(interval, 0, Bytes(600, 0xaa));

	ASSERT_EQ(out.size(), 608U);
	EXPECT_EQ(truncated(out, 4), hex("00000000"));
	EXPECT_EQ(Bytes(out.begin() + 512, out.begin() + 516), hex("000001fc"));
	EXPECT_EQ(std::count(out.begin(), out.end(), 0xaa), 600);
}

TEST(Marker, InAnFpduThatBeginsBetweenTwo)
{
	const Bytes out = gap_copy(interval, 500, Bytes(1200, 0xaa));

	EXPECT_EQ(Bytes(out.begin() + 12, out.begin() + 16), hex("0000000c"));
	EXPECT_EQ(Bytes(out.begin() + 524, out.begin() + 528), hex("0000020c"));
	EXPECT_EQ(Bytes(out.begin() + 1036, out.begin() + 1040), hex("0000040c"));
	EXPECT_EQ(out.size(), 1212U);
}

// A marker where one FPDU ends and the next begins belongs to the next.
TEST(Marker, BetweenTwoFpdus)
{
	EXPECT_EQ(gap_copy(interval, 500, Bytes(12)).size(), 12U);
	EXPECT_EQ(iwarp_marker_count(interval, 500, 12), 0U);
	EXPECT_EQ(gap_copy(interval, 512, Bytes(8, 0xaa)), hex("00000000 aaaaaaaaaaaaaaaa"));
	EXPECT_EQ(iwarp_marker_head(interval, 512), 516U);
	EXPECT_EQ(iwarp_marker_head(interval, 516), 516U);
}

TEST(Marker, NoneIfNoneAreWanted)
{
	const Bytes body = count_up(3000);

	EXPECT_EQ(gap_copy(IWARP_NO_MARKERS, 0, body), body);
	EXPECT_EQ(iwarp_fpdu_wire_len(IWARP_NO_MARKERS, 0, 1000), 1008U);
}

TEST(Marker, WhatItSaysIsRead)
{
	EXPECT_EQ(iwarp_marker_parse(hex("000001fc").data()), 508U);
	EXPECT_EQ(iwarp_marker_parse(hex("ffff01ff").data()), 508U);
	EXPECT_EQ(iwarp_marker_fpduptr(interval, 0, 0), 0U);
	EXPECT_EQ(iwarp_marker_fpduptr(interval, 0, 512), 508U);
	EXPECT_EQ(iwarp_marker_fpduptr(interval, 500, 512), 12U);
	EXPECT_EQ(iwarp_marker_fpduptr(interval, 0xfffffff0, 0), 16U);
}

TEST(Marker, LengthsAndBytesAreThoseOfTheModel)
{
	for (const u32 distance : {16U, 64U, 512U, 1024U})
		for (const u32 pos : {0U, 4U, 60U, 508U, 1016U, 0xfffffff0U, 0xfffffffcU})
			for (const size_t length : {0U, 1U, 2U, 6U, 14U, 58U, 505U, 1500U, 4000U}) {
				IwarpWire wire(distance, true, pos);
				const Bytes ulpdu = count_up(length + 2);
				// ULPDU_Length is not looked at, only its place is.
				wire.append(ulpdu);
				const Bytes &want = wire.bytes();
				EXPECT_EQ(iwarp_fpdu_wire_len(distance, pos,
							      static_cast<u32>(length)),
					  want.size());
				Bytes body = ulpdu;
				while (body.size() % 4 != 0)
					body.push_back(0);
				Bytes got = gap_copy(distance, pos, body + Bytes(4));
				std::copy(want.end() - 4, want.end(), got.end() - 4);
				EXPECT_EQ(got, want) << distance << ' ' << pos << ' ' << length;
			}
}

TEST(Mulpdu, FormulaOfTheStandard)
{
	// EMSS 1460: 6 + 4 * 3 + 0, and without markers 6 + 0.
	EXPECT_EQ(iwarp_mulpdu(interval, 1460), 1442U);
	EXPECT_EQ(iwarp_mulpdu(IWARP_NO_MARKERS, 1460), 1454U);
	EXPECT_EQ(iwarp_mulpdu(interval, 8961), 8961U - 6 - 72 - 1);
	EXPECT_EQ(iwarp_mulpdu(IWARP_NO_MARKERS, 1463), 1454U);
	EXPECT_EQ(iwarp_mulpdu(interval, 100), IWARP_MULPDU_MIN);
	EXPECT_EQ(iwarp_mulpdu(interval, 0), IWARP_MULPDU_MIN);
	EXPECT_EQ(iwarp_mulpdu(interval, 200000), IWARP_MULPDU_MAX);
}

TEST(Mulpdu, FitsWhereverTheFpduBegins)
{
	for (const u32 emss : {536U, 1220U, 1448U, 1460U, 4448U, 8948U, 16344U})
		for (u32 pos = 0; pos < interval; pos += 4)
			EXPECT_LE(iwarp_fpdu_wire_len(interval, pos, iwarp_mulpdu(interval, emss)),
				  emss);
}

// The longest that is sent is one whose last marker can still point back.
TEST(Mulpdu, LongestUlpduHasItsMarkers)
{
	for (u32 pos = 0; pos < interval; pos += 4) {
		const u32 end = pos + iwarp_fpdu_wire_len(interval, pos, IWARP_MULPDU_MAX);
		const u32 last = (end - 1) & ~(interval - 1);

		EXPECT_LE(iwarp_marker_fpduptr(interval, pos, last), 0xfffcU);
	}
}

TEST(UlpduFit, IsTheLongestThatFits)
{
	for (const u32 distance : {0U, 16U, 512U})
		for (u32 pos = 0; pos < 1024; pos += 36)
			for (u32 room = 0; room < 1600; room += 3) {
				const u32 fit = iwarp_ulpdu_fit(distance, pos, room);

				EXPECT_TRUE(fit == 0 ||
					    iwarp_fpdu_wire_len(distance, pos, fit) <= room);
				EXPECT_GT(iwarp_fpdu_wire_len(distance, pos, fit + 1), room)
					<< distance << ' ' << pos << ' ' << room;
			}
	EXPECT_EQ(iwarp_ulpdu_fit(interval, 0, 1000000), IWARP_MULPDU_MAX);
}

} // namespace
