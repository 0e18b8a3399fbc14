// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Fuzzer of everything that reads what the peer sent.
 *
 * The first byte of the input says what the rest is: a message on a
 * connection, or the private data of REQ, REP or REJ.  What is accepted must
 * survive encoding; a message even to the byte.
 */
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

extern "C" {
#include "wire/wire.h"
}

namespace
{

/** Memory of exactly this size, so that the sanitizer sees every overrun. */
using Bytes = std::vector<u8>;

void require(bool condition)
{
	if (!condition)
		std::abort();
}

u32 size(const Bytes &bytes)
{
	return static_cast<u32>(bytes.size());
}

void fuzz_message(const Bytes &input)
{
	if (input.size() < SDP_BSDH_LEN)
		return;
	const Bytes bsdh(input.begin(), input.begin() + SDP_BSDH_LEN);
	const Bytes body(input.begin() + SDP_BSDH_LEN, input.end());
	sdp_msg msg;

	if (sdp_msg_parse(bsdh.data(), body.data(), size(body), &msg))
		return;
	require(msg.payload_off + msg.payload_len == body.size());
	const u32 header = SDP_BSDH_LEN + msg.payload_off;
	Bytes out(header);
	require(sdp_msg_encode(&msg, out.data(), header) == header);
	require(std::equal(out.begin(), out.end(), input.begin()));
}

bool same(const sdp_hello &a, const sdp_hello &b)
{
	return a.bufs == b.bufs && a.version == b.version && a.ip_version == b.ip_version &&
	       a.cap == b.cap && a.max_adverts == b.max_adverts &&
	       a.des_remote_rcv_size == b.des_remote_rcv_size &&
	       a.local_rcv_size == b.local_rcv_size && a.src_port == b.src_port &&
	       a.has_ext == b.has_ext && a.ext_features == b.ext_features && a.token == b.token;
}

void fuzz_hello(const Bytes &input)
{
	sdp_hello hello, again;

	if (sdp_hello_parse(input.data(), size(input), &hello))
		return;
	Bytes out(SDP_HELLO_TOKEN_LEN);
	out.resize(sdp_hello_encode(&hello, out.data(), SDP_HELLO_TOKEN_LEN));
	require(sdp_hello_parse(out.data(), size(out), &again) == 0);
	require(same(hello, again));
}

bool same(const sdp_hello_ack &a, const sdp_hello_ack &b)
{
	return a.bufs == b.bufs && a.version == b.version && a.cap == b.cap &&
	       a.max_adverts == b.max_adverts && a.act_rcv_size == b.act_rcv_size &&
	       a.has_ext == b.has_ext && a.ext_features == b.ext_features;
}

void fuzz_hello_ack(const Bytes &input)
{
	sdp_hello_ack ack, again;

	if (sdp_hello_ack_parse(input.data(), size(input), &ack))
		return;
	Bytes out(SDP_HELLO_ACK_LEN);
	require(sdp_hello_ack_encode(&ack, out.data(), SDP_HELLO_ACK_LEN) == SDP_HELLO_ACK_LEN);
	require(sdp_hello_ack_parse(out.data(), size(out), &again) == 0);
	require(same(ack, again));
}

void fuzz_reject(const Bytes &input)
{
	const sdp_reject_reason reason = sdp_reject_parse(input.data(), size(input));
	Bytes out(SDP_REJECT_LEN);

	require(reason >= SDP_REJECT_NONE && reason <= SDP_REJECT_PROTOCOL);
	require(sdp_reject_encode(reason, out.data(), SDP_REJECT_LEN) == SDP_REJECT_LEN);
	require(sdp_reject_parse(out.data(), size(out)) == reason);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	if (length == 0)
		return 0;
	const Bytes input(data + 1, data + length);

	switch (data[0]) {
	case 'm':
		fuzz_message(input);
		break;
	case 'q':
		fuzz_hello(input);
		break;
	case 'p':
		fuzz_hello_ack(input);
		break;
	case 'j':
		fuzz_reject(input);
		break;
	default:
		return -1;
	}
	return 0;
}
