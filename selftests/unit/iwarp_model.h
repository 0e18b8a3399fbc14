/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/**
 * @file
 * A sender that puts FPDUs together byte by byte, without the code under test (but
 * gap_copy(), which is there to try it), and a source of bytes that the address
 * sanitizer watches.
 */
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "bytes.h"
#include "iwarp_crc32c.h"

extern "C" {
#include "wire/framing.h"
#include "wire/marker.h"
#include "wire/wire.h"
}

inline u32 size(const Bytes &bytes)
{
	return static_cast<u32>(bytes.size());
}

/** Bytes of an FPDU with the markers between them, as the provider's sender cuts them. */
inline Bytes gap_copy(iwarp_gap &gap, const Bytes &from)
{
	Bytes out;
	u8 marker[IWARP_MARKER_LEN];

	for (u32 at = 0; at < size(from);) {
		out.insert(out.end(), marker, marker + iwarp_gap_marker(&gap, marker));
		const u32 piece = std::min(size(from) - at, iwarp_gap_room(&gap));
		out.insert(out.end(), from.begin() + at, from.begin() + at + piece);
		iwarp_gap_advance(&gap, piece);
		at += piece;
	}
	return out;
}

/** A segment as it is to be sent: header and payload. */
struct IwarpSegment {
	iwarp_hdr hdr;
	Bytes payload;
};

/** Header and payload, ULPDU_Length first. */
inline Bytes encode(const IwarpSegment &segment)
{
	Bytes bytes(IWARP_HDR_MAX);
	iwarp_hdr hdr = segment.hdr;

	hdr.payload_len = static_cast<u16>(segment.payload.size());
	bytes.resize(iwarp_hdr_encode(&hdr, bytes.data()));
	return bytes + segment.payload;
}

/** One direction of a connection. */
class IwarpWire
{
public:
	IwarpWire(u32 interval, bool crc, u32 pos = 0) : interval_(interval), crc_(crc), pos_(pos)
	{
	}

	/**
	 * Appends an FPDU.
	 *
	 * @return where it begins in bytes()
	 */
	size_t append(const Bytes &ulpdu)
	{
		const size_t begin = bytes_.size();
		Bytes body = ulpdu;

		begin_pos_ = pos_;
		while (body.size() % 4 != 0)
			body.push_back(0);
		for (const u8 byte : body)
			put(byte);
		/* The marker before the checksum is covered by it. */
		put_marker();
		const u32 crc =
			crc_ ? ~crc32c(0xffffffff, bytes_.data() + begin, bytes_.size() - begin)
			     : 0;
		for (int i = 0; i < 4; i++)
			put(static_cast<u8>(crc >> 8 * i));
		return begin;
	}

	size_t append(const IwarpSegment &segment)
	{
		return append(encode(segment));
	}

	[[nodiscard]] const Bytes &bytes() const
	{
		return bytes_;
	}

	[[nodiscard]] u32 pos() const
	{
		return pos_;
	}

private:
	void put_marker()
	{
		if (interval_ == 0 || pos_ % interval_ != 0)
			return;
		const bool first = pos_ == begin_pos_;
		const bool begun_by_one = begin_pos_ % interval_ == 0;
		const u32 back = first ? 0 : pos_ - begin_pos_ - (begun_by_one ? 4 : 0);
		for (const u32 byte : {0U, 0U, back >> 8, back & 0xff})
			bytes_.push_back(static_cast<u8>(byte));
		pos_ += 4;
	}

	void put(u8 byte)
	{
		put_marker();
		bytes_.push_back(byte);
		pos_++;
	}

	u32 interval_;
	bool crc_;
	u32 pos_;
	u32 begin_pos_ = 0;
	Bytes bytes_;
};

/** Bytes in memory of exactly their size; whoever reads others aborts. */
class IwarpMemory
{
public:
	explicit IwarpMemory(Bytes bytes) : bytes_(std::move(bytes))
	{
		source_.copy = copy;
		source_.crc = crc;
		source_.ctx = this;
		// All kinds of sources, and the same bytes always have the same.
		if ((bytes_.size() & 4) != 0)
			source_.linear = bytes_.data();
		else if ((bytes_.size() & 8) != 0)
			source_.contiguous = at;
	}

	IwarpMemory(const IwarpMemory &) = delete;
	IwarpMemory &operator=(const IwarpMemory &) = delete;

	[[nodiscard]] const iwarp_source *source() const
	{
		return &source_;
	}

	[[nodiscard]] u32 length() const
	{
		return size(bytes_);
	}

private:
	static const u8 *at(const iwarp_source *src, u32 off, u32 len)
	{
		const auto *self = static_cast<const IwarpMemory *>(src->ctx);

		if (off > self->bytes_.size() || len > self->bytes_.size() - off)
			std::abort();
		return self->bytes_.data() + off;
	}

	static void copy(const iwarp_source *src, u32 off, void *to, u32 len)
	{
		std::memcpy(to, at(src, off, len), len);
	}

	static u32 crc(const iwarp_source *src, u32 off, u32 len, u32 crc)
	{
		return crc32c(crc, at(src, off, len), len);
	}

	Bytes bytes_;
	iwarp_source source_ = {};
};

/** Copies payload out of a source. */
inline void read(const iwarp_source *src, u32 off, u8 *to, u32 len)
{
	src->copy(src, off, to, len);
}

/** A tagged segment. */
inline IwarpSegment tagged(iwarp_opcode opcode, u32 stag, u64 to, Bytes payload, bool last = true)
{
	IwarpSegment segment = {};

	segment.hdr.opcode = opcode;
	segment.hdr.last = last;
	segment.hdr.stag = stag;
	segment.hdr.to = to;
	segment.hdr.payload_len = static_cast<u16>(payload.size());
	segment.payload = std::move(payload);
	return segment;
}

/** An untagged segment. */
inline IwarpSegment untagged(iwarp_opcode opcode, u32 qn, u32 msn, u32 mo, Bytes payload,
			     bool last = true)
{
	IwarpSegment segment = {};

	segment.hdr.opcode = opcode;
	segment.hdr.last = last;
	segment.hdr.qn = qn;
	segment.hdr.msn = msn;
	segment.hdr.mo = mo;
	segment.hdr.payload_len = static_cast<u16>(payload.size());
	segment.payload = std::move(payload);
	return segment;
}
