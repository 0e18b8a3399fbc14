// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * How a connection of MPA begins, and how one of RDMAP ends: request, reply and
 * TERMINATE, by reference vectors written by hand, and what is refused.
 */
#include <gtest/gtest.h>

#include "iwarp_model.h"

namespace
{

const Bytes key_request = hex("4d504120494420526571204672616d65");
const Bytes key_reply = hex("4d504120494420526570204672616d65");

Bytes encode(const iwarp_mpa &mpa, const Bytes &priv)
{
	Bytes out(IWARP_MPA_FRAME_MAX);
	iwarp_mpa frame = mpa;

	frame.priv_len = static_cast<u16>(priv.size());
	out.resize(iwarp_mpa_encode(&frame, priv.data(), out.data(), size(out)));
	return out;
}

/** Parses a whole frame; the error, and what it says. */
struct Parsed {
	iwarp_error error;
	iwarp_mpa mpa;
	Bytes priv;
};

Parsed parse(const Bytes &frame, bool reply)
{
	const Bytes hdr = truncated(frame, IWARP_MPA_HDR_LEN);
	const Bytes pd(frame.begin() + IWARP_MPA_HDR_LEN, frame.end());
	Parsed parsed = {};
	const u8 *priv;
	u32 pd_len;

	parsed.error = iwarp_mpa_parse(hdr.data(), reply, &parsed.mpa, &pd_len);
	if (parsed.error != IWARP_OK)
		return parsed;
	EXPECT_EQ(pd_len, pd.size());
	parsed.error = iwarp_mpa_parse_pd(pd.data(), pd_len, &parsed.mpa, &priv);
	if (parsed.error == IWARP_OK)
		parsed.priv = Bytes(priv, priv + parsed.mpa.priv_len);
	return parsed;
}

TEST(Mpa, FirstRevision)
{
	const Bytes frame = key_request + hex("c0 01 0003 616263");
	const Parsed parsed = parse(frame, false);

	EXPECT_EQ(parsed.error, IWARP_OK);
	EXPECT_FALSE(parsed.mpa.reply);
	EXPECT_TRUE(parsed.mpa.markers);
	EXPECT_TRUE(parsed.mpa.crc);
	EXPECT_FALSE(parsed.mpa.enhanced);
	EXPECT_EQ(parsed.mpa.rev, 1);
	EXPECT_EQ(parsed.mpa.ird, IWARP_DEPTH_NO_NEGOTIATION);
	EXPECT_EQ(parsed.mpa.ord, IWARP_DEPTH_NO_NEGOTIATION);
	EXPECT_EQ(parsed.priv, hex("616263"));
	EXPECT_EQ(encode(parsed.mpa, parsed.priv), frame);
}

TEST(Mpa, EnhancedRequest)
{
	const Bytes frame = key_request + hex("50 02 0006 c010 8020 6869");
	const Parsed parsed = parse(frame, false);

	EXPECT_EQ(parsed.error, IWARP_OK);
	EXPECT_FALSE(parsed.mpa.markers);
	EXPECT_TRUE(parsed.mpa.crc);
	EXPECT_TRUE(parsed.mpa.enhanced);
	EXPECT_TRUE(parsed.mpa.peer_to_peer);
	EXPECT_EQ(parsed.mpa.rtr, IWARP_RTR_SEND | IWARP_RTR_WRITE);
	EXPECT_EQ(parsed.mpa.ird, 16);
	EXPECT_EQ(parsed.mpa.ord, 32);
	EXPECT_EQ(parsed.priv, hex("6869"));
	EXPECT_EQ(encode(parsed.mpa, parsed.priv), frame);
}

TEST(Mpa, EnhancedReply)
{
	const Bytes frame = key_reply + hex("90 02 0004 bfff 7fff");
	const Parsed parsed = parse(frame, true);

	EXPECT_EQ(parsed.error, IWARP_OK);
	EXPECT_TRUE(parsed.mpa.reply);
	EXPECT_TRUE(parsed.mpa.markers);
	EXPECT_FALSE(parsed.mpa.reject);
	EXPECT_TRUE(parsed.mpa.peer_to_peer);
	EXPECT_EQ(parsed.mpa.rtr, IWARP_RTR_READ);
	EXPECT_EQ(parsed.mpa.ird, IWARP_DEPTH_NO_NEGOTIATION);
	EXPECT_EQ(parsed.mpa.ord, IWARP_DEPTH_NO_NEGOTIATION);
	EXPECT_TRUE(parsed.priv.empty());
	EXPECT_EQ(encode(parsed.mpa, parsed.priv), frame);
}

TEST(Mpa, RejectCountsInRepliesOnly)
{
	EXPECT_TRUE(parse(key_reply + hex("20 01 0000"), true).mpa.reject);
	EXPECT_FALSE(parse(key_request + hex("20 01 0000"), false).mpa.reject);
}

TEST(Mpa, LongSegments)
{
	const Bytes frame = key_request + hex("58 02 0004 0010 0020");
	const Parsed parsed = parse(frame, false);

	EXPECT_TRUE(parsed.mpa.long_fpdus);
	EXPECT_EQ(encode(parsed.mpa, parsed.priv), frame);
	EXPECT_TRUE(parse(key_reply + hex("08 01 0000"), true).mpa.long_fpdus);
	EXPECT_FALSE(parse(key_reply + hex("f7 01 0000"), true).mpa.long_fpdus);
}

TEST(Mpa, ReservedFlagsAreIgnored)
{
	const Parsed parsed = parse(key_request + hex("07 01 0000"), false);

	EXPECT_EQ(parsed.error, IWARP_OK);
	// It means something from the second revision on.
	EXPECT_FALSE(parse(key_request + hex("10 01 0000"), false).mpa.enhanced);
}

TEST(Mpa, WrongFramesAreRefused)
{
	EXPECT_EQ(parse(key_reply + hex("00 01 0000"), false).error, IWARP_E_MPA_FRAME);
	EXPECT_EQ(parse(key_request + hex("00 01 0000"), true).error, IWARP_E_MPA_FRAME);
	EXPECT_EQ(parse(with(key_request, 15, 'x') + hex("00 01 0000"), false).error,
		  IWARP_E_MPA_FRAME);
	EXPECT_EQ(parse(key_request + hex("00 01 0201"), false).error, IWARP_E_MPA_FRAME);
	EXPECT_EQ(parse(key_request + hex("10 02 0003 000000"), false).error, IWARP_E_MPA_FRAME);
	EXPECT_EQ(parse(key_request + hex("00 01 0200") + Bytes(512), false).error, IWARP_OK);
}

TEST(Mpa, AnUnknownRevisionIsToldFromANonsenseFrame)
{
	Parsed parsed = parse(key_request + hex("00 03 0000"), false);

	EXPECT_EQ(parsed.error, IWARP_E_MPA_FRAME);
	EXPECT_EQ(parsed.mpa.rev, 3);
	parsed = parse(key_reply + hex("00 03 0000"), false);
	EXPECT_EQ(parsed.mpa.rev, 0);
}

TEST(Mpa, TooMuchPrivateDataIsNotWritten)
{
	iwarp_mpa mpa = {};

	mpa.rev = IWARP_MPA_REV_2;
	EXPECT_EQ(encode(mpa, Bytes(512)).size(), 532U);
	EXPECT_TRUE(encode(mpa, Bytes(513)).empty());
	mpa.enhanced = true;
	EXPECT_EQ(encode(mpa, Bytes(508)).size(), 532U);
	EXPECT_TRUE(encode(mpa, Bytes(509)).empty());

	Bytes out(30);
	mpa.priv_len = 6;
	EXPECT_EQ(iwarp_mpa_encode(&mpa, Bytes(6).data(), out.data(), 30), 30U);
	EXPECT_EQ(iwarp_mpa_encode(&mpa, Bytes(6).data(), out.data(), 29), 0U);
}

Bytes terminate(iwarp_error error, const Bytes &fpdu)
{
	Bytes out(IWARP_TERMINATE_MAX);

	out.resize(iwarp_terminate_encode(error, fpdu.data(), size(fpdu), out.data()));
	return out;
}

iwarp_terminate parse_terminate(const Bytes &bytes)
{
	iwarp_terminate term;

	EXPECT_EQ(iwarp_terminate_parse(bytes.data(), size(bytes), &term), term.error);
	return term;
}

const Bytes send_hdr = hex("0014 41 43 00000000 00000000 00000009 00000000");
const Bytes write_hdr = hex("0018 c1 40 deadbeef 0123456789abcdef");
const Bytes read_req = hex("002e 41 41 00000000 00000001 00000007 00000000"
			   "00000100 0000000000002000 00010000 00000200 0000000000003000");

TEST(Terminate, WithoutASegment)
{
	EXPECT_EQ(terminate(IWARP_E_MPA_CRC, {}), hex("20 02 0000"));
	// Its header cannot be trusted, so it is not quoted.
	EXPECT_EQ(terminate(IWARP_E_MPA_CRC, send_hdr), hex("20 02 0000"));
	EXPECT_EQ(terminate(IWARP_E_MPA_MARKER, send_hdr), hex("20 03 0000"));
	EXPECT_EQ(terminate(IWARP_E_UNTAGGED_VERSION, send_hdr), hex("12 06 0000"));
	EXPECT_EQ(terminate(IWARP_E_RDMAP_LOCAL, send_hdr), hex("00 00 0000"));
	EXPECT_EQ(terminate(IWARP_E_UNTAGGED_MO, truncated(send_hdr, 19)), hex("12 04 0000"));
	EXPECT_EQ(terminate(IWARP_E_UNTAGGED_MO, truncated(send_hdr, 3)), hex("12 04 0000"));
}

TEST(Terminate, AboutAnUntaggedSegment)
{
	const Bytes bytes = terminate(IWARP_E_UNTAGGED_NOBUF, send_hdr + hex("6869"));
	const iwarp_terminate term = parse_terminate(bytes);

	EXPECT_EQ(bytes, hex("12 02 c000 0014 4143 00000000 00000000 00000009 00000000"));
	EXPECT_EQ(term.error, IWARP_E_UNTAGGED_NOBUF);
	EXPECT_TRUE(term.has_len && term.has_hdr);
	EXPECT_FALSE(term.has_read);
	EXPECT_EQ(term.seg_len, 20);
	EXPECT_EQ(term.hdr.opcode, IWARP_SEND);
	EXPECT_EQ(term.hdr.msn, 9U);
	EXPECT_EQ(term.hdr.payload_len, 2);
}

TEST(Terminate, AboutATaggedSegment)
{
	const Bytes bytes = terminate(IWARP_E_TAGGED_BOUNDS, write_hdr + Bytes(40));
	const iwarp_terminate term = parse_terminate(bytes);

	EXPECT_EQ(bytes, hex("11 01 c000 0018 c140 deadbeef 0123456789abcdef"));
	EXPECT_EQ(term.error, IWARP_E_TAGGED_BOUNDS);
	EXPECT_EQ(term.hdr.stag, 0xdeadbeef);
	EXPECT_EQ(term.hdr.to, 0x0123456789abcdefU);
}

TEST(Terminate, AboutARequestToRead)
{
	const Bytes bytes = terminate(IWARP_E_PROT_ACCESS, read_req);
	const iwarp_terminate term = parse_terminate(bytes);

	EXPECT_EQ(bytes, hex("01 02 e000") + read_req);
	EXPECT_EQ(bytes.size(), size_t{IWARP_TERMINATE_MAX});
	EXPECT_TRUE(term.has_read);
	EXPECT_EQ(term.read.src_stag, 0x200U);
	EXPECT_EQ(term.read.len, 0x10000U);
	// Without its payload only the header is quoted.
	EXPECT_EQ(terminate(IWARP_E_PROT_ACCESS, truncated(read_req, 47)),
		  hex("01 02 c000") + truncated(read_req, 20));
}

TEST(Terminate, WhatIsCutOffIsNotRead)
{
	const Bytes bytes = terminate(IWARP_E_PROT_ACCESS, read_req);

	for (size_t length = IWARP_TERMINATE_MIN; length < bytes.size(); length++) {
		const iwarp_terminate term = parse_terminate(truncated(bytes, length));

		EXPECT_EQ(term.error, IWARP_E_PROT_ACCESS);
		EXPECT_EQ(term.has_len, length >= 6) << length;
		EXPECT_EQ(term.has_hdr, length >= 24) << length;
		EXPECT_FALSE(term.has_read) << length;
	}
}

TEST(Terminate, UnknownErrorsAreErrors)
{
	const iwarp_terminate term = parse_terminate(hex("ff ff 0000"));

	EXPECT_NE(term.error, IWARP_OK);
	EXPECT_EQ(iwarp_error_layer(term.error), 15);
	EXPECT_EQ(iwarp_error_type(term.error), 15);
	EXPECT_EQ(iwarp_error_code(term.error), 255);
	EXPECT_NE(parse_terminate(hex("00 00 0000")).error, IWARP_OK);
}

} // namespace
