// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Messages in the connection manager's private data: Hello, HelloAck and the
 * reason for a rejection.
 */
#include <cerrno>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "bytes.h"

extern "C" {
#include "wire/wire.h"
}

namespace
{

// 16 buffers of 32784 bytes, from port 0x1f90, over IPv4, one advertisement.
const Bytes hello_base = hex("00 00 0010 00000020 00000000 00000000"
			     "22 41 00 01 00008010 00004010 1f90 0000");
const Bytes hello_ext = hex("00 00 0010 00000028 00000000 00000000"
			    "22 41 00 01 00008010 00004010 1f90 0000"
			    "53445058 01 08 0007");

const Bytes ack_base = hex("01 00 0040 000000c4 00000000 00000000"
			   "22 01 00 02 00008010");
const Bytes ack_ext = hex("53445058 01 08 0003");

Bytes padded(Bytes bytes, size_t length)
{
	bytes.resize(length, 0);
	return bytes;
}

int parse_hello(const Bytes &bytes, sdp_hello *hello)
{
	return sdp_hello_parse(bytes.data(), static_cast<u32>(bytes.size()), hello);
}

int parse_hello(const Bytes &bytes)
{
	sdp_hello hello;

	return parse_hello(bytes, &hello);
}

int parse_ack(const Bytes &bytes, sdp_hello_ack *ack)
{
	return sdp_hello_ack_parse(bytes.data(), static_cast<u32>(bytes.size()), ack);
}

int parse_ack(const Bytes &bytes)
{
	sdp_hello_ack ack;

	return parse_ack(bytes, &ack);
}

sdp_reject_reason parse_reject(const Bytes &bytes)
{
	return sdp_reject_parse(bytes.data(), static_cast<u32>(bytes.size()));
}

sdp_hello sample_hello(bool ext)
{
	return {16,    0x22,
		4,     SDP_CAP_INVALIDATE,
		1,     32784,
		16400, 8080,
		ext,   static_cast<u16>(ext ? 7 : 0),
		0};
}

sdp_hello_ack sample_ack(bool ext)
{
	return {64, 0x22, SDP_CAP_INVALIDATE, 2, 32784, ext, static_cast<u16>(ext ? 3 : 0)};
}

Bytes encode(const sdp_hello &hello)
{
	// Stale memory must not leak to the peer.
	Bytes out(SDP_REQ_PRIVATE_LEN, 0xa5);

	out.resize(sdp_hello_encode(&hello, out.data(), SDP_REQ_PRIVATE_LEN));
	return out;
}

Bytes encode(const sdp_hello_ack &ack)
{
	Bytes out(SDP_REP_PRIVATE_LEN, 0xa5);

	out.resize(sdp_hello_ack_encode(&ack, out.data(), SDP_REP_PRIVATE_LEN));
	return out;
}

void expect_equal(const sdp_hello &got, const sdp_hello &want)
{
	EXPECT_EQ(got.bufs, want.bufs);
	EXPECT_EQ(got.version, want.version);
	EXPECT_EQ(got.ip_version, want.ip_version);
	EXPECT_EQ(got.cap, want.cap);
	EXPECT_EQ(got.max_adverts, want.max_adverts);
	EXPECT_EQ(got.des_remote_rcv_size, want.des_remote_rcv_size);
	EXPECT_EQ(got.local_rcv_size, want.local_rcv_size);
	EXPECT_EQ(got.src_port, want.src_port);
	EXPECT_EQ(got.has_ext, want.has_ext);
	EXPECT_EQ(got.ext_features, want.ext_features);
	EXPECT_EQ(got.token, want.token);
}

void expect_equal(const sdp_hello_ack &got, const sdp_hello_ack &want)
{
	EXPECT_EQ(got.bufs, want.bufs);
	EXPECT_EQ(got.version, want.version);
	EXPECT_EQ(got.cap, want.cap);
	EXPECT_EQ(got.max_adverts, want.max_adverts);
	EXPECT_EQ(got.act_rcv_size, want.act_rcv_size);
	EXPECT_EQ(got.has_ext, want.has_ext);
	EXPECT_EQ(got.ext_features, want.ext_features);
}

TEST(Hello, EncodesAsWritten)
{
	EXPECT_EQ(encode(sample_hello(false)), hello_base);
	EXPECT_EQ(encode(sample_hello(true)), hello_ext);
	EXPECT_EQ(hello_ext.size(), SDP_HELLO_LEN);
}

// A block of 16 bytes; one of 15 has no room for a token.
TEST(Hello, HasATokenIfTheBlockHasRoom)
{
	const Bytes block = with(with(hello_ext, 7, 48), 37, 16) + hex("01234567 89abcdef");
	sdp_hello hello = sample_hello(true);

	hello.token = 0x0123456789abcdef;
	EXPECT_EQ(encode(hello), block);
	EXPECT_EQ(block.size(), SDP_HELLO_TOKEN_LEN);
	for (const size_t length : {48, 56, 92}) {
		sdp_hello got;
		ASSERT_EQ(parse_hello(padded(block, length), &got), 0) << length;
		expect_equal(got, hello);
	}
	sdp_hello got;
	ASSERT_EQ(parse_hello(with(block, 37, 15), &got), 0);
	EXPECT_EQ(got.token, 0);
	for (size_t length = 40; length < block.size(); length++)
		EXPECT_EQ(parse_hello(truncated(block, length)), -EPROTO) << length;
	// Without the block there is no place for it.
	hello.has_ext = false;
	hello.ext_features = 0;
	EXPECT_EQ(encode(hello), hello_base);
	for (u32 size = 0; size < SDP_HELLO_TOKEN_LEN; size++) {
		Bytes out(size);
		hello.has_ext = true;
		EXPECT_EQ(sdp_hello_encode(&hello, out.data(), size), 0);
	}
}

TEST(Hello, EncodesOnlyWhereItFits)
{
	const sdp_hello hello = sample_hello(true);

	for (u32 size = 0; size <= SDP_HELLO_LEN; size++) {
		Bytes out(size);
		EXPECT_EQ(sdp_hello_encode(&hello, out.data(), size),
			  size < SDP_HELLO_LEN ? 0 : SDP_HELLO_LEN);
	}
}

// The connection manager hands over 56 bytes, whatever was sent.
TEST(Hello, ParsesWithAndWithoutPadding)
{
	for (const size_t length : {SDP_HELLO_LEN, SDP_REQ_PRIVATE_LEN, 92, 196}) {
		sdp_hello hello;
		ASSERT_EQ(parse_hello(padded(hello_base, length), &hello), 0) << length;
		expect_equal(hello, sample_hello(false));
		ASSERT_EQ(parse_hello(padded(hello_ext, length), &hello), 0) << length;
		expect_equal(hello, sample_hello(true));
	}
	EXPECT_EQ(parse_hello(hello_base), 0);
}

TEST(Hello, ParsesIpv6)
{
	sdp_hello hello;

	ASSERT_EQ(parse_hello(with(hello_ext, 17, 0x63), &hello), 0);
	EXPECT_EQ(hello.ip_version, 6);
	EXPECT_EQ(hello.cap, SDP_CAP_INVALIDATE | SDP_CAP_EXT_MAXADVERTS);
	EXPECT_EQ(encode(hello), with(hello_ext, 17, 0x63));
}

TEST(Hello, RefusesEveryTruncation)
{
	for (size_t length = 0; length < hello_base.size(); length++)
		EXPECT_EQ(parse_hello(truncated(hello_base, length)), -EPROTO) << length;
	for (size_t length = 0; length < hello_ext.size(); length++)
		EXPECT_EQ(parse_hello(truncated(hello_ext, length)), -EPROTO) << length;
}

// The standard's Hello has 92 bytes, of which the first 56 may be all we see.
TEST(Hello, StandardPeerHasNoExtension)
{
	const Bytes full = with(hello_base, 7, 92) +
			   hex("00000000 00000000 00000000 0a000001"
			       "00000000 00000000 00000000 0a000002") +
			   Bytes(28);
	sdp_hello hello;

	for (const size_t length : {92, 56, 32}) {
		ASSERT_EQ(parse_hello(truncated(full, length), &hello), 0) << length;
		expect_equal(hello, sample_hello(false));
	}
	// Even if an address looks like our magic.
	ASSERT_EQ(parse_hello(with(hello_ext, 7, 92), &hello), 0);
	EXPECT_FALSE(hello.has_ext);
}

TEST(Hello, ForeignBytesAreNoExtension)
{
	sdp_hello hello;

	for (const size_t offset : {32, 33, 34, 35}) {
		ASSERT_EQ(parse_hello(with(hello_ext, offset, 0xee), &hello), 0);
		EXPECT_FALSE(hello.has_ext);
		EXPECT_EQ(hello.ext_features, 0);
	}
	// The magic in the padding does not count either.
	ASSERT_EQ(parse_hello(with(hello_ext, 7, 32), &hello), 0);
	EXPECT_FALSE(hello.has_ext);
	for (u8 length = 33; length < 40; length++) {
		ASSERT_EQ(parse_hello(with(hello_ext, 7, length), &hello), 0);
		EXPECT_FALSE(hello.has_ext);
	}
}

TEST(Hello, LaterExtensionsAreUnderstood)
{
	const Bytes later = with(hello_ext, 7, 56) + Bytes(16, 0x77);
	sdp_hello hello;

	ASSERT_EQ(parse_hello(with(with(later, 36, 2), 37, 24), &hello), 0);
	EXPECT_TRUE(hello.has_ext);
	EXPECT_EQ(hello.ext_features, 7);
	EXPECT_EQ(hello.token, 0x7777777777777777);
}

TEST(Hello, RefusesMalformedExtension)
{
	EXPECT_EQ(parse_hello(with(hello_ext, 36, 0)), -EPROTO);
	EXPECT_EQ(parse_hello(with(hello_ext, 37, 7)), -EPROTO);
	EXPECT_EQ(parse_hello(with(hello_ext, 37, 9)), -EPROTO);
	EXPECT_EQ(parse_hello(with(hello_ext, 37, 0xff)), -EPROTO);
}

TEST(Hello, RefusesBadFields)
{
	const struct {
		const char *what;
		size_t offset;
		u8 value;
	} bad[] = {
		{"HelloAck", 0, 1},
		{"Data", 0, 0xff},
		{"flags", 1, 2},
		{"two buffers", 3, 2},
		{"length 31", 7, 31},
		{"length 41 of 40", 7, 41},
		{"length 2^24", 4, 1},
		{"mseq", 11, 1},
		{"mseq_ack", 15, 1},
		{"IPv0", 17, 0x01},
		{"IPv5", 17, 0x51},
		{"IPv7", 17, 0x71},
		{"no adverts", 19, 0},
		{"huge remote buffers", 20, 0x41},
		{"tiny remote buffers", 22, 0},
		{"huge local buffers", 24, 0xff},
		{"tiny local buffers", 26, 0},
	};

	for (const auto &b : bad)
		EXPECT_EQ(parse_hello(with(hello_ext, b.offset, b.value)), -EPROTO) << b.what;
}

TEST(Hello, BuffersAndSizesAtTheirLimits)
{
	EXPECT_EQ(parse_hello(with(hello_ext, 3, 3)), 0);
	EXPECT_EQ(parse_hello(with(with(hello_ext, 2, 0xff), 3, 0xff)), 0);
	for (const size_t at : {20, 24}) {
		const auto sized = [at](std::string_view size) {
			Bytes bytes = hello_ext;
			const Bytes value = hex(size);
			std::copy(value.begin(), value.end(),
				  bytes.begin() + static_cast<std::ptrdiff_t>(at));
			return parse_hello(bytes);
		};
		EXPECT_EQ(sized("0000040f"), -EPROTO);
		EXPECT_EQ(sized("00000410"), 0);
		EXPECT_EQ(sized("40000000"), 0);
		EXPECT_EQ(sized("40000001"), -EPROTO);
	}
}

TEST(Hello, ForeignVersionIsToldApart)
{
	EXPECT_EQ(parse_hello(with(hello_ext, 16, 0x11)), -EPROTONOSUPPORT);
	EXPECT_EQ(parse_hello(with(hello_ext, 16, 0x32)), -EPROTONOSUPPORT);
	EXPECT_EQ(parse_hello(with(hello_ext, 16, 0x20)), 0);
	EXPECT_EQ(parse_ack(padded(ack_base, 196)), 0);
	EXPECT_EQ(parse_ack(padded(with(ack_base, 16, 0x11), 196)), -EPROTONOSUPPORT);
}

TEST(HelloAck, EncodesAsWritten)
{
	EXPECT_EQ(encode(sample_ack(false)), padded(ack_base, 196));
	EXPECT_EQ(encode(sample_ack(true)), padded(ack_base + ack_ext, 196));
}

TEST(HelloAck, EncodesOnlyWhereItFits)
{
	const sdp_hello_ack ack = sample_ack(true);

	for (u32 size = 0; size <= SDP_HELLO_ACK_LEN; size++) {
		Bytes out(size);
		EXPECT_EQ(sdp_hello_ack_encode(&ack, out.data(), size),
			  size < SDP_HELLO_ACK_LEN ? 0 : SDP_HELLO_ACK_LEN);
	}
}

TEST(HelloAck, Parses)
{
	sdp_hello_ack ack;

	ASSERT_EQ(parse_ack(padded(ack_base, 196), &ack), 0);
	expect_equal(ack, sample_ack(false));
	ASSERT_EQ(parse_ack(padded(ack_base + ack_ext, 196), &ack), 0);
	expect_equal(ack, sample_ack(true));
	ASSERT_EQ(parse_ack(padded(ack_base + ack_ext, 200), &ack), 0);
	expect_equal(ack, sample_ack(true));
}

TEST(HelloAck, RefusesEveryTruncation)
{
	const Bytes whole = padded(ack_base + ack_ext, 196);

	for (size_t length = 0; length < whole.size(); length++)
		EXPECT_EQ(parse_ack(truncated(whole, length)), -EPROTO) << length;
}

TEST(HelloAck, RefusesBadFields)
{
	const Bytes whole = padded(ack_base + ack_ext, 196);
	const struct {
		const char *what;
		size_t offset;
		u8 value;
	} bad[] = {
		{"Hello", 0, 0},
		{"Data", 0, 0xff},
		{"flags", 1, 4},
		{"two buffers", 3, 2},
		{"length 195", 7, 195},
		{"length 197", 7, 197},
		{"length 2^24", 4, 1},
		{"mseq", 11, 1},
		{"mseq_ack", 15, 1},
		{"tiny buffers", 22, 0},
		{"huge buffers", 20, 0x41},
		{"block version", 28, 0},
		{"block too short", 29, 7},
		{"block too long", 29, 173},
	};

	for (const auto &b : bad)
		EXPECT_EQ(parse_ack(with(whole, b.offset, b.value)), -EPROTO) << b.what;
	EXPECT_EQ(parse_ack(with(whole, 29, 172)), 0);
}

TEST(HelloAck, ForeignBytesAreNoExtension)
{
	sdp_hello_ack ack;

	ASSERT_EQ(parse_ack(with(padded(ack_base + ack_ext, 196), 24, 0), &ack), 0);
	EXPECT_FALSE(ack.has_ext);
	EXPECT_EQ(ack.ext_features, 0);
}

TEST(Reject, EveryReasonBothWays)
{
	for (int reason = SDP_REJECT_NONE; reason <= SDP_REJECT_PROTOCOL; reason++) {
		const auto want = static_cast<sdp_reject_reason>(reason);
		Bytes out(SDP_REJECT_LEN);

		ASSERT_EQ(sdp_reject_encode(want, out.data(), SDP_REJECT_LEN), SDP_REJECT_LEN);
		EXPECT_EQ(out, with(hex("53445058 01 08 0000"), 7, static_cast<u8>(reason)));
		EXPECT_EQ(parse_reject(out), want);
		// REJ has 148 bytes of private data.
		EXPECT_EQ(parse_reject(padded(out, 148)), want);
	}
}

TEST(Reject, EncodesOnlyWhereItFits)
{
	Bytes out(SDP_REJECT_LEN - 1);

	EXPECT_EQ(sdp_reject_encode(SDP_REJECT_BACKLOG, out.data(), SDP_REJECT_LEN - 1), 0U);
}

TEST(Reject, WhatIsNotOursSaysNothing)
{
	const Bytes backlog = hex("53445058 01 08 0001");

	ASSERT_EQ(parse_reject(backlog), SDP_REJECT_BACKLOG);
	EXPECT_EQ(sdp_reject_parse(nullptr, 0), SDP_REJECT_NONE);
	for (size_t length = 0; length < backlog.size(); length++)
		EXPECT_EQ(parse_reject(truncated(backlog, length)), SDP_REJECT_NONE) << length;
	EXPECT_EQ(parse_reject(Bytes(148)), SDP_REJECT_NONE);
	EXPECT_EQ(parse_reject(with(backlog, 0, 0x54)), SDP_REJECT_NONE);
	EXPECT_EQ(parse_reject(with(backlog, 4, 0)), SDP_REJECT_NONE);
	EXPECT_EQ(parse_reject(with(backlog, 5, 9)), SDP_REJECT_NONE);
	EXPECT_EQ(parse_reject(with(backlog, 6, 1)), SDP_REJECT_NONE);
	EXPECT_EQ(parse_reject(with(backlog, 7, 5)), SDP_REJECT_NONE);
}

/** Damages @p whole at random, many times, and gives each result to @p check. */
void mutate(const Bytes &whole, const std::function<void(const Bytes &)> &check)
{
	std::mt19937 random(13);

	for (int round = 0; round < 50000; round++) {
		Bytes mutant = whole;
		for (u32 n = random() % 3 + 1; n > 0; n--)
			mutant[random() % mutant.size()] = static_cast<u8>(random());
		check(mutant);
	}
}

TEST(Mutation, HelloIsRefusedOrSurvivesARoundTrip)
{
	mutate(padded(hello_ext, SDP_REQ_PRIVATE_LEN), [](const Bytes &mutant) {
		sdp_hello hello, again;

		if (parse_hello(mutant, &hello))
			return;
		ASSERT_EQ(parse_hello(encode(hello), &again), 0);
		expect_equal(again, hello);
	});
}

TEST(Mutation, HelloAckIsRefusedOrSurvivesARoundTrip)
{
	mutate(padded(ack_base + ack_ext, 196), [](const Bytes &mutant) {
		sdp_hello_ack ack, again;

		if (parse_ack(mutant, &ack))
			return;
		ASSERT_EQ(parse_ack(encode(ack), &again), 0);
		expect_equal(again, ack);
	});
}

} // namespace
