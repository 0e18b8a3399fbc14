// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Fuzzer of everything in iwarp.ko that reads what the peer sent.
 *
 * The first byte of the input says what the rest is: a header, a TERMINATE, a
 * frame of MPA, or a stream, which is received in order and in pieces, or
 * searched for whole FPDUs.  Nothing outside of the input may be read; what is
 * accepted survives encoding, or keeps the promises of wire/framing.h.
 */
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "iwarp_crc32c.h"

extern "C" {
#include "wire/framing.h"
#include "wire/order.h"
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

void check_hdr(const iwarp_hdr &hdr)
{
	if (iwarp_opcode_control(hdr.opcode))
		require(hdr.last && hdr.mo == 0 && hdr.payload_len <= IWARP_CONTROL_MAX);
	if (iwarp_opcode_tagged(hdr.opcode))
		require(hdr.to + hdr.payload_len >= hdr.to);
	else
		require(hdr.qn < IWARP_QN_COUNT && hdr.mo + hdr.payload_len >= hdr.mo);
}

void fuzz_header(const Bytes &input)
{
	iwarp_hdr hdr, again;

	if (input.size() < IWARP_CTRL_LEN || input.size() < iwarp_hdr_peek_len(input.data()))
		return;
	const Bytes bytes(input.begin(), input.begin() + iwarp_hdr_peek_len(input.data()));
	if (iwarp_hdr_parse(bytes.data(), &hdr) != IWARP_OK)
		return;
	check_hdr(hdr);
	Bytes out(IWARP_HDR_MAX);
	require(iwarp_hdr_encode(&hdr, out.data()) == bytes.size());
	require(iwarp_hdr_parse(out.data(), &again) == IWARP_OK);
	require(std::memcmp(&hdr, &again, sizeof(hdr)) == 0);
}

void fuzz_terminate(const Bytes &input)
{
	iwarp_terminate term;

	if (input.size() < IWARP_TERMINATE_MIN || input.size() > IWARP_TERMINATE_MAX)
		return;
	require(iwarp_terminate_parse(input.data(), size(input), &term) != IWARP_OK);
	Bytes out(IWARP_TERMINATE_MAX);
	const u32 length =
		iwarp_terminate_encode(term.error, input.data(), size(input), out.data());
	require(length >= IWARP_TERMINATE_MIN && length <= IWARP_TERMINATE_MAX);
	iwarp_terminate again;
	require(iwarp_terminate_parse(out.data(), length, &again) == term.error);
}

void fuzz_mpa(const Bytes &input, bool reply)
{
	iwarp_mpa mpa;
	const u8 *priv;
	u32 pd_len;

	if (input.size() < IWARP_MPA_HDR_LEN)
		return;
	const Bytes hdr(input.begin(), input.begin() + IWARP_MPA_HDR_LEN);
	const Bytes rest(input.begin() + IWARP_MPA_HDR_LEN, input.end());
	if (iwarp_mpa_parse(hdr.data(), reply, &mpa, &pd_len) != IWARP_OK)
		return;
	require(pd_len <= IWARP_MPA_PD_MAX);
	if (pd_len > rest.size())
		return;
	const Bytes pd(rest.begin(), rest.begin() + pd_len);
	if (iwarp_mpa_parse_pd(pd.data(), pd_len, &mpa, &priv) != IWARP_OK)
		return;
	require(priv + mpa.priv_len == pd.data() + pd.size());
	Bytes out(IWARP_MPA_FRAME_MAX);
	require(iwarp_mpa_encode(&mpa, priv, out.data(), size(out)) == IWARP_MPA_HDR_LEN + pd_len);
	require(std::equal(pd.begin(), pd.end(), out.begin() + IWARP_MPA_HDR_LEN));
}

/** A piece of the stream. */
struct Memory {
	iwarp_source source = {};
	Bytes bytes;

	explicit Memory(Bytes b) : bytes(std::move(b))
	{
		source.copy = copy;
		source.crc = crc;
		source.ctx = this;
		// All kinds of sources, and the same input always has the same.
		if ((bytes.size() & 4) != 0)
			source.linear = bytes.data();
		else if ((bytes.size() & 8) != 0)
			source.contiguous = at;
	}

	static const u8 *at(const iwarp_source *src, u32 off, u32 len)
	{
		const auto *self = static_cast<const Memory *>(src->ctx);

		require(off <= self->bytes.size() && len <= self->bytes.size() - off);
		return self->bytes.data() + off;
	}

	static void copy(const iwarp_source *src, u32 off, void *to, u32 len)
	{
		std::memcpy(to, at(src, off, len), len);
	}

	static u32 crc(const iwarp_source *src, u32 off, u32 len, u32 crc)
	{
		return crc32c(crc, at(src, off, len), len);
	}
};

/** Receives a stream, and checks that its segments are complete. */
struct Receiver {
	iwarp_rx rx;
	iwarp_stream stream;
	u32 got;
	u32 delivered;

	static Receiver *self(iwarp_rx *rx)
	{
		return reinterpret_cast<Receiver *>(rx);
	}

	static u32 begin(iwarp_rx *rx)
	{
		check_hdr(rx->hdr);
		self(rx)->got = 0;
		if (iwarp_opcode_tagged(rx->hdr.opcode))
			return rx->hdr.stag == 0 ? IWARP_RX_SKIP : IWARP_RX_GO;
		return iwarp_in_check(&self(rx)->stream, &rx->hdr);
	}

	static iwarp_error data(iwarp_rx *rx, const iwarp_source *src, u32 off, u32 len, u32 at)
	{
		Bytes to(len);

		require(len > 0 && at == self(rx)->got);
		require(at + len <= rx->hdr.payload_len && !rx->skip);
		src->copy(src, off, to.data(), len);
		self(rx)->got += len;
		return IWARP_OK;
	}

	static iwarp_error end(iwarp_rx *rx)
	{
		if (!rx->skip && !iwarp_opcode_control(rx->hdr.opcode))
			require(self(rx)->got == rx->hdr.payload_len);
		require(rx->pos == rx->end);
		if (!iwarp_opcode_tagged(rx->hdr.opcode))
			iwarp_in_advance(&self(rx)->stream, &rx->hdr);
		self(rx)->delivered++;
		return IWARP_OK;
	}
};

constexpr iwarp_rx_ops ops = {Receiver::begin, Receiver::data, Receiver::end};

/** How a stream is received: markers, checksums, position, length of pieces. */
struct Config {
	u32 interval;
	bool crc;
	u32 pos;
	u32 piece;
};

Config config(const Bytes &input)
{
	static constexpr std::array<u32, 4> intervals = {0, 16, 64, 512};
	const u32 pos = (input[1] & 0x80) != 0 ? 0xffffff00 : 0;

	return {intervals.at(input[0] & 3), (input[0] & 4) != 0, pos + (input[1] & 0x7fU) * 4,
		1U + input[2]};
}

u32 receive(const Bytes &stream, const Config &how, u32 piece, iwarp_error *error)
{
	Receiver receiver = {};
	u32 at = 0;

	iwarp_rx_init(&receiver.rx, &ops, how.interval, how.crc, how.pos);
	iwarp_stream_init(&receiver.stream, 1, 1);
	while (at < stream.size()) {
		const u32 length = std::min(piece, size(stream) - at);
		const Memory memory(Bytes(stream.begin() + at, stream.begin() + at + length));
		const u32 taken = iwarp_rx_feed(&receiver.rx, &memory.source, 0, length);

		require(taken == length || (taken < length && receiver.rx.error != IWARP_OK));
		if (receiver.rx.error != IWARP_OK)
			break;
		at += taken;
	}
	*error = receiver.rx.error;
	return receiver.delivered;
}

// However it is cut, as much is delivered, and it ends well or not.
void fuzz_stream(const Bytes &input)
{
	iwarp_error once, cut;

	if (input.size() < 3)
		return;
	const Config how = config(input);
	const Bytes stream(input.begin() + 3, input.end());
	const u32 delivered = receive(stream, how, size(stream), &once);

	require(receive(stream, how, how.piece, &cut) == delivered);
	require((once == IWARP_OK) == (cut == IWARP_OK));
}

void fuzz_early(const Bytes &input)
{
	std::array<iwarp_place, 4> slots;
	iwarp_placed placed;
	Receiver receiver = {};

	if (input.size() < 3)
		return;
	const Config how = config(input);
	const Memory memory(Bytes(input.begin() + 3, input.end()));
	iwarp_placed_init(&placed, slots.data(), slots.size());
	iwarp_placed_add(&placed, how.pos + how.piece * 4, how.piece * 4, input.data(), 3, 0);
	iwarp_rx_init(&receiver.rx, &ops, how.interval, how.crc, 0);
	iwarp_stream_init(&receiver.stream, 1, 1);
	u32 begin;
	if (iwarp_sync(&memory.source, how.interval, how.pos, size(memory.bytes), &begin))
		iwarp_rx_early(&receiver.rx, &placed, &memory.source, how.pos, size(memory.bytes),
			       begin, how.piece * 64);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	if (length == 0)
		return 0;
	const Bytes input(data + 1, data + length);

	switch (data[0]) {
	case 'h':
		fuzz_header(input);
		break;
	case 't':
		fuzz_terminate(input);
		break;
	case 'q':
	case 'p':
		fuzz_mpa(input, data[0] == 'p');
		break;
	case 's':
		fuzz_stream(input);
		break;
	case 'e':
		fuzz_early(input);
		break;
	default:
		return -1;
	}
	return 0;
}
