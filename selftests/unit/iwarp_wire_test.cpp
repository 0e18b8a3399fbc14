// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Headers of DDP and RDMAP, TERMINATE and MPA's frames: reference vectors
 * written by hand from the standards' layout, both ways, and everything that
 * has to be refused, with the error that has to be said.
 */
#include <gtest/gtest.h>

#include "iwarp_model.h"

namespace
{

/** A header as text, and what it means. */
struct Vector {
	const char *name;
	const char *bytes;
	iwarp_hdr hdr;
};

iwarp_hdr tagged_hdr(u8 opcode, bool last, u16 payload_len, u32 stag, u64 to)
{
	iwarp_hdr hdr = {};

	hdr.opcode = opcode;
	hdr.last = last;
	hdr.payload_len = payload_len;
	hdr.stag = stag;
	hdr.to = to;
	return hdr;
}

iwarp_hdr untagged_hdr(u8 opcode, bool last, u16 payload_len, u32 stag, u32 qn, u32 msn, u32 mo)
{
	iwarp_hdr hdr = {};

	hdr.opcode = opcode;
	hdr.last = last;
	hdr.payload_len = payload_len;
	hdr.stag = stag;
	hdr.qn = qn;
	hdr.msn = msn;
	hdr.mo = mo;
	return hdr;
}

const std::vector<Vector> vectors = {
	{"Write", "0018 c1 40 deadbeef 0123456789abcdef",
	 tagged_hdr(IWARP_WRITE, true, 10, 0xdeadbeef, 0x0123456789abcdef)},
	{"WriteMore", "040e 81 40 00000001 fffffffffffffbff",
	 tagged_hdr(IWARP_WRITE, false, 1024, 1, 0xfffffffffffffbff)},
	{"WriteEmpty", "000e c1 40 00000001 0000000000000000",
	 tagged_hdr(IWARP_WRITE, true, 0, 1, 0)},
	{"ReadRequest", "002e 41 41 00000000 00000001 00000007 00000000",
	 untagged_hdr(IWARP_READ_REQ, true, 28, 0, 1, 7, 0)},
	{"ReadResponse", "000f c1 42 00000100 0000000000001000",
	 tagged_hdr(IWARP_READ_RESP, true, 1, 0x100, 0x1000)},
	{"Send", "0014 41 43 00000000 00000000 00000001 00000000",
	 untagged_hdr(IWARP_SEND, true, 2, 0, 0, 1, 0)},
	{"SendMore", "0013 01 43 00000000 00000000 ffffffff fffffffe",
	 untagged_hdr(IWARP_SEND, false, 1, 0, 0, 0xffffffff, 0xfffffffe)},
	{"SendInvalidate", "0012 41 44 cafe0001 00000000 00000002 00000000",
	 untagged_hdr(IWARP_SEND_INV, true, 0, 0xcafe0001, 0, 2, 0)},
	{"SendSolicited", "0012 41 45 00000000 00000000 00000002 00000000",
	 untagged_hdr(IWARP_SEND_SE, true, 0, 0, 0, 2, 0)},
	{"SendSolicitedInvalidate", "0012 41 46 cafe0001 00000000 00000002 00000000",
	 untagged_hdr(IWARP_SEND_SE_INV, true, 0, 0xcafe0001, 0, 2, 0)},
	{"Terminate", "0016 41 47 00000000 00000002 00000001 00000000",
	 untagged_hdr(IWARP_TERMINATE, true, 4, 0, 2, 1, 0)},
	{"Immediate", "001a 41 48 00000000 00000000 00000003 00000000",
	 untagged_hdr(IWARP_IMMEDIATE, true, 8, 0, 0, 3, 0)},
	{"ImmediateSolicited", "001a 41 49 00000000 00000000 00000003 00000000",
	 untagged_hdr(IWARP_IMMEDIATE_SE, true, 8, 0, 0, 3, 0)},
	{"AtomicRequest", "0046 41 4a 00000000 00000001 00000003 00000000",
	 untagged_hdr(IWARP_ATOMIC_REQ, true, 52, 0, 1, 3, 0)},
	{"AtomicResponse", "001e 41 4b 00000000 00000003 00000001 00000000",
	 untagged_hdr(IWARP_ATOMIC_RESP, true, 12, 0, 3, 1, 0)},
};

void expect_same(const iwarp_hdr &got, const iwarp_hdr &want)
{
	EXPECT_EQ(got.opcode, want.opcode);
	EXPECT_EQ(got.last, want.last);
	EXPECT_EQ(got.payload_len, want.payload_len);
	EXPECT_EQ(got.stag, want.stag);
	if (iwarp_opcode_tagged(want.opcode)) {
		EXPECT_EQ(got.to, want.to);
		return;
	}
	EXPECT_EQ(got.qn, want.qn);
	EXPECT_EQ(got.msn, want.msn);
	EXPECT_EQ(got.mo, want.mo);
}

TEST(Header, VectorsAreUnderstood)
{
	for (const Vector &vector : vectors) {
		SCOPED_TRACE(vector.name);
		const Bytes bytes = hex(vector.bytes);
		iwarp_hdr hdr;

		EXPECT_EQ(iwarp_hdr_peek_len(truncated(bytes, 4).data()), bytes.size());
		EXPECT_EQ(iwarp_hdr_parse(bytes.data(), &hdr), IWARP_OK);
		expect_same(hdr, vector.hdr);
	}
}

TEST(Header, VectorsAreWritten)
{
	for (const Vector &vector : vectors) {
		SCOPED_TRACE(vector.name);
		Bytes bytes(IWARP_HDR_MAX);

		bytes.resize(iwarp_hdr_encode(&vector.hdr, bytes.data()));
		EXPECT_EQ(bytes, hex(vector.bytes));
	}
}

TEST(Header, LengthsAreThoseOfTheStandard)
{
	EXPECT_EQ(iwarp_fpdu_len(0), 8U);
	EXPECT_EQ(iwarp_fpdu_len(1), 8U);
	EXPECT_EQ(iwarp_fpdu_len(2), 8U);
	EXPECT_EQ(iwarp_fpdu_len(3), 12U);
	EXPECT_EQ(iwarp_fpdu_len(18), 24U);
	EXPECT_EQ(iwarp_pad_len(14), 0U);
	EXPECT_EQ(iwarp_pad_len(15), 3U);
	EXPECT_EQ(iwarp_pad_len(17), 1U);
}

TEST(Header, KindsOfMessages)
{
	const std::vector<u8> receive = {IWARP_SEND,	    IWARP_SEND_INV,  IWARP_SEND_SE,
					 IWARP_SEND_SE_INV, IWARP_IMMEDIATE, IWARP_IMMEDIATE_SE};
	const std::vector<u8> solicited = {IWARP_SEND_SE, IWARP_SEND_SE_INV, IWARP_IMMEDIATE_SE};
	const std::vector<u8> data = {IWARP_WRITE,    IWARP_READ_RESP, IWARP_SEND,
				      IWARP_SEND_INV, IWARP_SEND_SE,   IWARP_SEND_SE_INV};
	const auto has = [](const std::vector<u8> &kinds, u8 opcode) {
		return std::find(kinds.begin(), kinds.end(), opcode) != kinds.end();
	};

	for (u8 opcode = IWARP_WRITE; opcode <= IWARP_ATOMIC_RESP; opcode++) {
		EXPECT_EQ(iwarp_opcode_receives(opcode), has(receive, opcode)) << int{opcode};
		EXPECT_EQ(iwarp_opcode_solicited(opcode), has(solicited, opcode)) << int{opcode};
		EXPECT_EQ(iwarp_opcode_control(opcode), !has(data, opcode)) << int{opcode};
	}
}

iwarp_error refusal(const char *text)
{
	const Bytes bytes = hex(text);
	iwarp_hdr hdr;

	return iwarp_hdr_parse(bytes.data(), &hdr);
}

TEST(Header, WrongVersionsAreRefused)
{
	EXPECT_EQ(refusal("0018 c0 40 deadbeef 0123456789abcdef"), IWARP_E_TAGGED_VERSION);
	EXPECT_EQ(refusal("0018 c2 40 deadbeef 0123456789abcdef"), IWARP_E_TAGGED_VERSION);
	EXPECT_EQ(refusal("0014 43 43 00000000 00000000 00000001 00000000"),
		  IWARP_E_UNTAGGED_VERSION);
	EXPECT_EQ(refusal("0018 c1 00 deadbeef 0123456789abcdef"), IWARP_E_OP_VERSION);
	EXPECT_EQ(refusal("0014 41 83 00000000 00000000 00000001 00000000"), IWARP_E_OP_VERSION);
}

TEST(Header, ReservedBitsAreIgnored)
{
	EXPECT_EQ(refusal("0018 fd 70 deadbeef 0123456789abcdef"), IWARP_OK);
	EXPECT_EQ(refusal("0014 7d 73 ffffffff 00000000 00000001 00000000"), IWARP_OK);
}

TEST(Header, UnexpectedOpcodesAreRefused)
{
	for (const char *opcode : {"4c", "4d", "4e", "4f"})
		EXPECT_EQ(refusal((std::string("0014 41") + opcode +
				   "00000000 00000000 00000001 00000000")
					  .c_str()),
			  IWARP_E_OP_OPCODE)
			<< opcode;
	// A send with a tagged header, and a write with an untagged one.
	EXPECT_EQ(refusal("0018 c1 43 deadbeef 0123456789abcdef"), IWARP_E_OP_OPCODE);
	EXPECT_EQ(refusal("0014 41 40 00000000 00000000 00000001 00000000"), IWARP_E_OP_OPCODE);
	// A send on the queue of requests to read.
	EXPECT_EQ(refusal("0014 41 43 00000000 00000001 00000001 00000000"), IWARP_E_OP_OPCODE);
}

TEST(Header, UnknownQueuesAreRefused)
{
	EXPECT_EQ(refusal("0014 41 43 00000000 00000004 00000001 00000000"), IWARP_E_UNTAGGED_QN);
	EXPECT_EQ(refusal("0014 41 43 00000000 ffffffff 00000001 00000000"), IWARP_E_UNTAGGED_QN);
}

TEST(Header, SegmentsWithoutAWholeHeaderAreRefused)
{
	EXPECT_EQ(refusal("000d c1 40 deadbeef 0123456789abcdef"), IWARP_E_DDP_LOCAL);
	EXPECT_EQ(refusal("0000 c1 40 deadbeef 0123456789abcdef"), IWARP_E_DDP_LOCAL);
	EXPECT_EQ(refusal("0011 41 43 00000000 00000000 00000001 00000000"), IWARP_E_DDP_LOCAL);
}

TEST(Header, OffsetsDoNotWrap)
{
	EXPECT_EQ(refusal("000f c1 40 deadbeef ffffffffffffffff"), IWARP_E_TAGGED_WRAP);
	EXPECT_EQ(refusal("0013 41 43 00000000 00000000 00000001 ffffffff"), IWARP_E_UNTAGGED_MO);
}

TEST(Header, ControlMessagesAreWholeAndOfTheRightLength)
{
	EXPECT_EQ(refusal("002d 41 41 00000000 00000001 00000007 00000000"), IWARP_E_DDP_LOCAL);
	EXPECT_EQ(refusal("002f 41 41 00000000 00000001 00000007 00000000"), IWARP_E_UNTAGGED_LONG);
	EXPECT_EQ(refusal("002e 41 41 00000000 00000001 00000007 00000004"), IWARP_E_UNTAGGED_MO);
	EXPECT_EQ(refusal("002e 01 41 00000000 00000001 00000007 00000000"), IWARP_E_DDP_LOCAL);
	EXPECT_EQ(refusal("0015 41 47 00000000 00000002 00000001 00000000"), IWARP_E_DDP_LOCAL);
	EXPECT_EQ(refusal("0047 41 47 00000000 00000002 00000001 00000000"), IWARP_E_UNTAGGED_LONG);
	EXPECT_EQ(refusal("0019 41 48 00000000 00000000 00000003 00000000"), IWARP_E_DDP_LOCAL);
	EXPECT_EQ(refusal("0045 41 4a 00000000 00000001 00000003 00000000"), IWARP_E_DDP_LOCAL);
	EXPECT_EQ(refusal("001f 41 4b 00000000 00000003 00000001 00000000"), IWARP_E_UNTAGGED_LONG);
}

TEST(Errors, LayersTypesAndCodes)
{
	EXPECT_EQ(iwarp_error_layer(IWARP_E_UNTAGGED_NOBUF), 1);
	EXPECT_EQ(iwarp_error_type(IWARP_E_UNTAGGED_NOBUF), 2);
	EXPECT_EQ(iwarp_error_code(IWARP_E_UNTAGGED_NOBUF), 2);
	EXPECT_EQ(iwarp_error_layer(IWARP_E_MPA_CRC), 2);
	EXPECT_EQ(iwarp_error_type(IWARP_E_MPA_CRC), 0);
	EXPECT_EQ(iwarp_error_code(IWARP_E_PROT_OTHER), 0xff);
	EXPECT_NE(IWARP_E_RDMAP_LOCAL, IWARP_OK);
}

TEST(ReadRequest, VectorBothWays)
{
	const Bytes bytes = hex("00000100 0000000000002000 00010000 00000200 0000000000003000");
	iwarp_read_req req;
	Bytes out(IWARP_READ_REQ_LEN);

	EXPECT_EQ(iwarp_read_req_parse(bytes.data(), &req), IWARP_OK);
	EXPECT_EQ(req.sink_stag, 0x100U);
	EXPECT_EQ(req.sink_to, 0x2000U);
	EXPECT_EQ(req.len, 0x10000U);
	EXPECT_EQ(req.src_stag, 0x200U);
	EXPECT_EQ(req.src_to, 0x3000U);
	iwarp_read_req_encode(&req, out.data());
	EXPECT_EQ(out, bytes);
}

TEST(ReadRequest, RangesDoNotWrap)
{
	iwarp_read_req req;

	EXPECT_EQ(
		iwarp_read_req_parse(
			hex("00000100 0000000000002000 00010000 00000200 ffffffffffff0001").data(),
			&req),
		IWARP_E_PROT_WRAP);
	EXPECT_EQ(
		iwarp_read_req_parse(
			hex("00000100 ffffffffffff0001 00010000 00000200 0000000000000000").data(),
			&req),
		IWARP_E_PROT_WRAP);
	EXPECT_EQ(
		iwarp_read_req_parse(
			hex("00000100 ffffffffffffffff 00000000 00000200 ffffffffffffffff").data(),
			&req),
		IWARP_OK);
}

TEST(Immediate, VectorBothWays)
{
	const Bytes bytes = hex("0123456789abcdef");
	Bytes out(IWARP_IMMEDIATE_LEN);

	EXPECT_EQ(iwarp_immediate_parse(bytes.data()), 0x0123456789abcdefU);
	iwarp_immediate_encode(0x0123456789abcdef, out.data());
	EXPECT_EQ(out, bytes);
}

} // namespace
