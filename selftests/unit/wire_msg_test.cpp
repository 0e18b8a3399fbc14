// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Messages on a connection: reference vectors written by hand from the
 * standard's layout, both ways, and everything that has to be refused.
 */
#include <cerrno>
#include <random>

#include <gtest/gtest.h>

#include "bytes.h"

extern "C" {
#include "wire/wire.h"
}

namespace
{

/** A message as text: what the standard puts where. */
struct Vector {
	const char *name;
	const char *bsdh;
	const char *ext;
	const char *payload;
	sdp_msg msg;

	[[nodiscard]] Bytes body() const
	{
		return hex(ext) + hex(payload);
	}
};

// Sequence number 0x01020304, acknowledging 0x0a0b0c0d, 0x1122 buffers.
sdp_msg message(sdp_mid mid, u8 flags, u32 len)
{
	sdp_msg msg = {};

	msg.bsdh = {static_cast<u8>(mid), flags, 0x1122, len, 0x01020304, 0x0a0b0c0d};
	return msg;
}

template <typename Fill> sdp_msg message(sdp_mid mid, u8 flags, u32 len, Fill fill)
{
	sdp_msg msg = message(mid, flags, len);

	fill(msg);
	return msg;
}

const std::vector<Vector> vectors = {
	{"DisConn", "02 00 1122 00000010 01020304 0a0b0c0d", "", "",
	 message(SDP_MID_DISCONN, 0, 16)},
	{"AbortConn", "03 00 1122 00000010 01020304 0a0b0c0d", "", "",
	 message(SDP_MID_ABORTCONN, 0, 16)},
	{"SendSm", "04 00 1122 00000010 01020304 0a0b0c0d", "", "", message(SDP_MID_SENDSM, 0, 16)},
	{"RdmaWrCompl", "05 00 1122 00000014 01020304 0a0b0c0d", "00012345", "",
	 message(SDP_MID_RDMAWRCOMPL, 0, 20, [](sdp_msg &m) { m.rdma_len = 0x12345; })},
	{"RdmaRdCompl", "06 00 1122 00000014 01020304 0a0b0c0d", "fffffffe", "",
	 message(SDP_MID_RDMARDCOMPL, 0, 20, [](sdp_msg &m) { m.rdma_len = 0xfffffffe; })},
	{"ModeChangeCombined", "07 00 1122 00000014 01020304 0a0b0c0d", "10 000000", "",
	 message(SDP_MID_MODECHANGE, 0, 20,
		 [](sdp_msg &m) {
			 m.mch = {SDP_MODE_COMBINED, false};
		 })},
	{"ModeChangePipelinedHalf", "07 00 1122 00000014 01020304 0a0b0c0d", "a0 000000", "",
	 message(SDP_MID_MODECHANGE, 0, 20,
		 [](sdp_msg &m) {
			 m.mch = {SDP_MODE_PIPELINED, true};
		 })},
	{"SrcAvailCancel", "08 00 1122 00000010 01020304 0a0b0c0d", "", "",
	 message(SDP_MID_SRCAVAILCANCEL, 0, 16)},
	{"SinkAvailCancel", "09 00 1122 00000010 01020304 0a0b0c0d", "", "",
	 message(SDP_MID_SINKAVAILCANCEL, 0, 16)},
	{"SinkCancelAck", "0a 00 1122 00000010 01020304 0a0b0c0d", "", "",
	 message(SDP_MID_SINKCANCELACK, 0, 16)},
	{"ChRcvBuf", "0b 00 1122 00000014 01020304 0a0b0c0d", "00008010", "",
	 message(SDP_MID_CHRCVBUF, 0, 20, [](sdp_msg &m) { m.rcv_size = 32784; })},
	{"ChRcvBufAck", "0c 00 1122 00000014 01020304 0a0b0c0d", "00000410", "",
	 message(SDP_MID_CHRCVBUFACK, 0, 20, [](sdp_msg &m) { m.rcv_size = 1040; })},
	{"SuspComm", "0d 00 1122 00000018 01020304 0a0b0c0d", "00000000 013f1f90", "",
	 message(SDP_MID_SUSPCOMM, 0, 24, [](sdp_msg &m) { m.service_id = 0x013f1f90; })},
	{"SuspCommAck", "0e 00 1122 00000010 01020304 0a0b0c0d", "", "",
	 message(SDP_MID_SUSPCOMMACK, 0, 16)},
	{"RingAvail", "80 02 1122 00000024 01020304 0a0b0c0d",
	 "00040000 00008000 deadbeef 0000007f 12345678", "",
	 message(SDP_MID_RINGAVAIL, SDP_OOB_PEND, 36,
		 [](sdp_msg &m) {
			 m.ravah = {0x40000, 0x8000, 0xdeadbeef, 0x7f12345678};
		 })},
	{"RingSpace", "81 00 1122 00000014 01020304 0a0b0c0d", "fffffffe", "",
	 message(SDP_MID_RINGSPACE, 0, 20, [](sdp_msg &m) { m.ring_tail = 0xfffffffe; })},
	{"RingData", "82 02 1122 00000014 01020304 0a0b0c0d", "00008000", "",
	 message(SDP_MID_RINGDATA, SDP_OOB_PEND, 20, [](sdp_msg &m) { m.ring_len = 0x8000; })},
	{"RingDataUrgent", "82 01 1122 00000014 01020304 0a0b0c0d", "00000001", "",
	 message(SDP_MID_RINGDATA, SDP_OOB_PRES, 20, [](sdp_msg &m) { m.ring_len = 1; })},
	{"SinkAvail", "fd 00 1122 00000024 01020304 0a0b0c0d",
	 "00010000 deadbeef 0000007f 12345678 00000003", "",
	 message(SDP_MID_SINKAVAIL, 0, 36,
		 [](sdp_msg &m) {
			 m.sinkah = {0x10000, 0xdeadbeef, 0x7f12345678, 3};
		 })},
	{"SinkAvailInline", "fd 04 1122 00000026 01020304 0a0b0c0d",
	 "00010000 deadbeef 0000007f 12345678 00000000", "6869",
	 message(SDP_MID_SINKAVAIL, SDP_REQ_PIPE, 38,
		 [](sdp_msg &m) {
			 m.sinkah = {0x10000, 0xdeadbeef, 0x7f12345678, 0};
			 m.payload_len = 2;
		 })},
	{"SrcAvail", "fe 00 1122 00000020 01020304 0a0b0c0d", "00010000 deadbeef 0000007f 12345678",
	 "",
	 message(SDP_MID_SRCAVAIL, 0, 32,
		 [](sdp_msg &m) {
			 m.srcah = {0x10000, 0xdeadbeef, 0x7f12345678};
		 })},
	{"SrcAvailAllInlineAtTheTop", "fe 00 1122 00000023 01020304 0a0b0c0d",
	 "00000003 00000001 ffffffff fffffffd", "616263",
	 message(SDP_MID_SRCAVAIL, 0, 35,
		 [](sdp_msg &m) {
			 m.srcah = {3, 1, 0xfffffffffffffffd};
			 m.payload_len = 3;
		 })},
	{"Data", "ff 00 1122 00000015 01020304 0a0b0c0d", "", "68656c6c6f",
	 message(SDP_MID_DATA, 0, 21, [](sdp_msg &m) { m.payload_len = 5; })},
	{"DataUrgent", "ff 03 1122 00000011 01020304 0a0b0c0d", "", "21",
	 message(SDP_MID_DATA, SDP_OOB_PRES | SDP_OOB_PEND, 17,
		 [](sdp_msg &m) { m.payload_len = 1; })},
	{"CreditUpdate", "ff 00 1122 00000010 01020304 0a0b0c0d", "", "",
	 message(SDP_MID_DATA, 0, 16)},
	{"CreditUpdateUrgentAhead", "ff 02 1122 00000010 01020304 0a0b0c0d", "", "",
	 message(SDP_MID_DATA, SDP_OOB_PEND, 16)},
};

int parse(const Bytes &bsdh, const Bytes &body, sdp_msg *msg)
{
	return sdp_msg_parse(bsdh.data(), body.data(), static_cast<u32>(body.size()), msg);
}

/** Parses a message given as text and says only whether it is accepted. */
int parse(const char *bsdh, const char *body)
{
	sdp_msg msg;

	return parse(hex(bsdh), hex(body), &msg);
}

Bytes encode(const sdp_msg &msg)
{
	Bytes out(SDP_MSG_HDR_MAX);

	out.resize(sdp_msg_encode(&msg, out.data(), SDP_MSG_HDR_MAX));
	return out;
}

void expect_bsdh(const sdp_bsdh &got, const sdp_bsdh &want)
{
	EXPECT_EQ(got.mid, want.mid);
	EXPECT_EQ(got.flags, want.flags);
	EXPECT_EQ(got.bufs, want.bufs);
	EXPECT_EQ(got.len, want.len);
	EXPECT_EQ(got.mseq, want.mseq);
	EXPECT_EQ(got.mseq_ack, want.mseq_ack);
}

void expect_srcah(const sdp_srcah &got, const sdp_srcah &want)
{
	EXPECT_EQ(got.len, want.len);
	EXPECT_EQ(got.rkey, want.rkey);
	EXPECT_EQ(got.vaddr, want.vaddr);
}

void expect_ravah(const sdp_ravah &got, const sdp_ravah &want)
{
	EXPECT_EQ(got.size, want.size);
	EXPECT_EQ(got.piece, want.piece);
	EXPECT_EQ(got.rkey, want.rkey);
	EXPECT_EQ(got.vaddr, want.vaddr);
}

void expect_sinkah(const sdp_sinkah &got, const sdp_sinkah &want)
{
	EXPECT_EQ(got.size, want.size);
	EXPECT_EQ(got.rkey, want.rkey);
	EXPECT_EQ(got.vaddr, want.vaddr);
	EXPECT_EQ(got.non_disc, want.non_disc);
}

void expect_ext(const sdp_msg &got, const sdp_msg &want)
{
	switch (want.bsdh.mid) {
	case SDP_MID_RDMAWRCOMPL:
	case SDP_MID_RDMARDCOMPL:
		EXPECT_EQ(got.rdma_len, want.rdma_len);
		break;
	case SDP_MID_MODECHANGE:
		EXPECT_EQ(got.mch.mode, want.mch.mode);
		EXPECT_EQ(got.mch.half, want.mch.half);
		break;
	case SDP_MID_CHRCVBUF:
	case SDP_MID_CHRCVBUFACK:
		EXPECT_EQ(got.rcv_size, want.rcv_size);
		break;
	case SDP_MID_SUSPCOMM:
		EXPECT_EQ(got.service_id, want.service_id);
		break;
	case SDP_MID_RINGAVAIL:
		expect_ravah(got.ravah, want.ravah);
		break;
	case SDP_MID_RINGSPACE:
		EXPECT_EQ(got.ring_tail, want.ring_tail);
		break;
	case SDP_MID_RINGDATA:
		EXPECT_EQ(got.ring_len, want.ring_len);
		break;
	case SDP_MID_SINKAVAIL:
		expect_sinkah(got.sinkah, want.sinkah);
		break;
	case SDP_MID_SRCAVAIL:
		expect_srcah(got.srcah, want.srcah);
		break;
	default:
		break;
	}
}

class WireMessage : public testing::TestWithParam<Vector>
{
};

TEST_P(WireMessage, Parses)
{
	const Vector &v = GetParam();
	const Bytes body = v.body();
	sdp_msg msg;

	ASSERT_EQ(parse(hex(v.bsdh), body, &msg), 0);
	expect_bsdh(msg.bsdh, v.msg.bsdh);
	expect_ext(msg, v.msg);
	EXPECT_EQ(msg.payload_len, v.msg.payload_len);
	EXPECT_EQ(msg.payload_off, hex(v.ext).size());
	const Bytes payload(body.begin() + msg.payload_off, body.end());
	EXPECT_EQ(payload, hex(v.payload));
}

TEST_P(WireMessage, Encodes)
{
	sdp_msg msg = GetParam().msg;

	// The length is the encoder's to compute.
	msg.bsdh.len = 0xffffffff;
	EXPECT_EQ(encode(msg), hex(GetParam().bsdh) + hex(GetParam().ext));
}

TEST_P(WireMessage, EncodesOnlyWhereItFits)
{
	const u32 need = static_cast<u32>((hex(GetParam().bsdh) + hex(GetParam().ext)).size());

	for (u32 size = 0; size <= need; size++) {
		Bytes out(size);
		EXPECT_EQ(sdp_msg_encode(&GetParam().msg, out.data(), size),
			  size < need ? 0 : need);
	}
}

// The base header's length no longer agrees with what was received.
TEST_P(WireMessage, RefusesEveryTruncation)
{
	const Bytes body = GetParam().body();
	sdp_msg msg;

	for (size_t length = 0; length < body.size(); length++)
		EXPECT_EQ(parse(hex(GetParam().bsdh), truncated(body, length), &msg), -EPROTO)
			<< length;
}

// Truncated, and the length says so: the extended header must be whole.
TEST_P(WireMessage, RefusesShortExtendedHeader)
{
	const Bytes ext = hex(GetParam().ext);
	sdp_msg msg;

	for (size_t length = 0; length < ext.size(); length++) {
		const Bytes bsdh = with(hex(GetParam().bsdh), 7, static_cast<u8>(16 + length));
		EXPECT_EQ(parse(bsdh, truncated(ext, length), &msg), -EPROTO) << length;
	}
}

TEST_P(WireMessage, RefusesTrailingBytes)
{
	const Bytes body = GetParam().body() + hex("00");
	sdp_msg msg;

	EXPECT_EQ(parse(hex(GetParam().bsdh), body, &msg), -EPROTO);
}

TEST_P(WireMessage, TakesPayloadOnlyWhereAllowed)
{
	const Vector &v = GetParam();
	const Bytes bsdh = with(hex(v.bsdh), 7, static_cast<u8>(v.msg.bsdh.len + 1));
	const bool full =
		v.msg.bsdh.mid == SDP_MID_SRCAVAIL && v.msg.payload_len == v.msg.srcah.len;
	const bool allowed = v.msg.bsdh.mid >= SDP_MID_SINKAVAIL && !full;
	sdp_msg msg;

	EXPECT_EQ(parse(bsdh, v.body() + hex("78"), &msg), allowed ? 0 : -EPROTO);
}

TEST_P(WireMessage, RefusesReservedFlags)
{
	sdp_msg msg;

	for (int bit = 3; bit < 8; bit++) {
		const Bytes bsdh = with(hex(GetParam().bsdh), 1, static_cast<u8>(1 << bit));
		EXPECT_EQ(parse(bsdh, GetParam().body(), &msg), -EPROTO) << bit;
	}
}

TEST_P(WireMessage, TakesOnlyItsOwnFlags)
{
	const Vector &v = GetParam();
	const bool data = v.msg.bsdh.mid == SDP_MID_DATA;
	const bool ring_data = v.msg.bsdh.mid == SDP_MID_RINGDATA;
	const bool stream = v.msg.bsdh.mid >= SDP_MID_SINKAVAIL;
	sdp_msg msg;

	EXPECT_EQ(parse(with(hex(v.bsdh), 1, SDP_OOB_PEND), v.body(), &msg), 0);
	EXPECT_EQ(parse(with(hex(v.bsdh), 1, SDP_REQ_PIPE), v.body(), &msg), stream ? 0 : -EPROTO);
	EXPECT_EQ(parse(with(hex(v.bsdh), 1, SDP_OOB_PRES), v.body(), &msg),
		  (data && v.msg.payload_len) || ring_data ? 0 : -EPROTO);
}

// What is accepted after random damage still means the bytes that it is.
TEST_P(WireMessage, MutationsAreRefusedOrMeanWhatTheySay)
{
	std::mt19937 random(4);
	const Bytes whole = hex(GetParam().bsdh) + GetParam().body();

	for (int round = 0; round < 20000; round++) {
		Bytes mutant = whole;
		for (u32 n = random() % 3 + 1; n > 0; n--)
			mutant[random() % mutant.size()] = static_cast<u8>(random());
		const Bytes bsdh = truncated(mutant, SDP_BSDH_LEN);
		const Bytes body(mutant.begin() + SDP_BSDH_LEN, mutant.end());
		sdp_msg msg;

		const int err = parse(bsdh, body, &msg);
		if (err) {
			ASSERT_EQ(err, -EPROTO);
			continue;
		}
		ASSERT_EQ(msg.payload_off + msg.payload_len, body.size());
		ASSERT_EQ(encode(msg), truncated(mutant, SDP_BSDH_LEN + msg.payload_off));
	}
}

INSTANTIATE_TEST_SUITE_P(Standard, WireMessage, testing::ValuesIn(vectors),
			 [](const auto &info) { return std::string(info.param.name); });

TEST(WireRefuses, EveryUnknownMid)
{
	const Bytes data = hex("ff 00 1122 00000010 01020304 0a0b0c0d");
	sdp_msg msg;

	for (int mid = 0x0f; mid <= 0xfc; mid++) {
		if (mid >= SDP_MID_RINGAVAIL && mid <= SDP_MID_RINGDATA)
			continue;
		EXPECT_EQ(parse(with(data, 0, static_cast<u8>(mid)), {}, &msg), -EPROTO) << mid;
		msg = message(static_cast<sdp_mid>(mid), 0, 16);
		EXPECT_TRUE(encode(msg).empty()) << mid;
	}
}

TEST(WireRefuses, HelloOnAConnection)
{
	EXPECT_EQ(parse("00 00 1122 00000010 01020304 0a0b0c0d", ""), -EPROTO);
	EXPECT_EQ(parse("01 00 1122 00000010 01020304 0a0b0c0d", ""), -EPROTO);
	EXPECT_TRUE(encode(message(SDP_MID_HELLO, 0, 16)).empty());
	EXPECT_TRUE(encode(message(SDP_MID_HELLOACK, 0, 16)).empty());
}

TEST(WireRefuses, WrongLength)
{
	EXPECT_EQ(parse("ff 00 1122 00000000 01020304 0a0b0c0d", ""), -EPROTO);
	EXPECT_EQ(parse("ff 00 1122 0000000f 01020304 0a0b0c0d", ""), -EPROTO);
	EXPECT_EQ(parse("ff 00 1122 00000011 01020304 0a0b0c0d", ""), -EPROTO);
	EXPECT_EQ(parse("ff 00 1122 ffffffff 01020304 0a0b0c0d", "61"), -EPROTO);
}

// 16 + 0xfffffff4 is 4 modulo 2^32; nothing of the body may be touched.
TEST(WireRefuses, LengthThatWraps)
{
	const Bytes bsdh = hex("ff 00 1122 00000004 01020304 0a0b0c0d");
	sdp_msg msg;

	EXPECT_EQ(sdp_msg_parse(bsdh.data(), nullptr, 0xfffffff4, &msg), -EPROTO);
}

TEST(WireRefuses, MessageLongerThanAnyBuffer)
{
	sdp_msg msg;

	EXPECT_EQ(sdp_msg_parse(hex("ff 00 1122 40000000 01020304 0a0b0c0d").data(), nullptr,
				0x3ffffff0, &msg),
		  0);
	EXPECT_EQ(sdp_msg_parse(hex("ff 00 1122 40000001 01020304 0a0b0c0d").data(), nullptr,
				0x3ffffff1, &msg),
		  -EPROTO);
}

TEST(WireRefuses, EmptyUrgentData)
{
	EXPECT_EQ(parse("ff 01 1122 00000010 01020304 0a0b0c0d", ""), -EPROTO);
	EXPECT_EQ(parse("ff 03 1122 00000010 01020304 0a0b0c0d", ""), -EPROTO);
}

TEST(WireRefuses, EmptyOrWrappingSrcAvail)
{
	const char *bsdh = "fe 00 1122 00000020 01020304 0a0b0c0d";

	EXPECT_EQ(parse(bsdh, "00000000 00000001 00000000 00001000"), -EPROTO);
	EXPECT_EQ(parse(bsdh, "00000001 00000001 ffffffff ffffffff"), 0);
	EXPECT_EQ(parse(bsdh, "00000002 00000001 ffffffff ffffffff"), -EPROTO);
	EXPECT_EQ(parse(bsdh, "ffffffff 00000001 ffffffff 00000001"), 0);
	EXPECT_EQ(parse(bsdh, "ffffffff 00000001 ffffffff 00000002"), -EPROTO);
}

TEST(WireRefuses, SrcAvailWithMoreInlineThanAdvertised)
{
	const char *bsdh = "fe 00 1122 00000022 01020304 0a0b0c0d";

	EXPECT_EQ(parse(bsdh, "00000002 00000001 00000000 00001000 6161"), 0);
	EXPECT_EQ(parse(bsdh, "00000001 00000001 00000000 00001000 6161"), -EPROTO);
}

TEST(WireRefuses, EmptyOrWrappingSinkAvail)
{
	const char *bsdh = "fd 00 1122 00000024 01020304 0a0b0c0d";

	EXPECT_EQ(parse(bsdh, "00000000 00000001 00000000 00001000 00000000"), -EPROTO);
	EXPECT_EQ(parse(bsdh, "00000001 00000001 ffffffff ffffffff 00000000"), 0);
	EXPECT_EQ(parse(bsdh, "00000002 00000001 ffffffff ffffffff 00000000"), -EPROTO);
}

TEST(WireRefuses, RdmaOfNothing)
{
	EXPECT_EQ(parse("05 00 1122 00000014 01020304 0a0b0c0d", "00000000"), -EPROTO);
	EXPECT_EQ(parse("06 00 1122 00000014 01020304 0a0b0c0d", "00000000"), -EPROTO);
	EXPECT_EQ(parse("82 00 1122 00000014 01020304 0a0b0c0d", "00000000"), -EPROTO);
}

TEST(WireRefuses, RingDataWithPayloadOrWithoutLength)
{
	EXPECT_EQ(parse("82 00 1122 00000015 01020304 0a0b0c0d", "00000001 61"), -EPROTO);
	EXPECT_EQ(parse("82 00 1122 00000010 01020304 0a0b0c0d", ""), -EPROTO);
	EXPECT_EQ(parse("82 04 1122 00000014 01020304 0a0b0c0d", "00000001"), -EPROTO);
}

TEST(WireRefuses, UnknownModeAndReservedBits)
{
	const char *bsdh = "07 00 1122 00000014 01020304 0a0b0c0d";

	EXPECT_EQ(parse(bsdh, "00 000000"), 0);
	EXPECT_EQ(parse(bsdh, "80 000000"), 0);
	for (const char *body : {"30 000000", "70 000000", "f0 000000", "01 000000", "08 000000",
				 "00 800000", "00 000100", "00 000001"})
		EXPECT_EQ(parse(bsdh, body), -EPROTO) << body;
}

TEST(WireRefuses, BufferSizesOutOfRange)
{
	for (const char *bsdh :
	     {"0b 00 1122 00000014 01020304 0a0b0c0d", "0c 00 1122 00000014 01020304 0a0b0c0d"}) {
		EXPECT_EQ(parse(bsdh, "00000410"), 0);
		EXPECT_EQ(parse(bsdh, "40000000"), 0);
		for (const char *size :
		     {"00000000", "00000010", "0000040f", "40000001", "ffffffff"})
			EXPECT_EQ(parse(bsdh, size), -EPROTO) << size;
	}
}

TEST(WireBsdh, EncodesEveryFieldInItsPlace)
{
	const sdp_bsdh bsdh = {0xff, 0x05, 0xa1b2, 0x00c0ffee, 0xfffffffe, 0x80000001};
	Bytes out(SDP_BSDH_LEN);

	sdp_bsdh_encode(&bsdh, out.data());
	EXPECT_EQ(out, hex("ff 05 a1b2 00c0ffee fffffffe 80000001"));
}

} // namespace
