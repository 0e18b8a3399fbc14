// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Random messages over a TCP that cuts, reorders, repeats and forgets: each is
 * delivered once and in order, every byte is where it belongs, and no byte of
 * what was placed early is placed twice.
 */
#include <array>
#include <map>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "iwarp_receiver.h"
#include "seed.h"

namespace
{

/** What a run is like. */
struct Setting {
	u32 interval;
	bool crc;
	u32 start;
	u32 mss;
	/** How far segments overtake each other. */
	u32 window;
	/** How many placed FPDUs are remembered. */
	u32 slots;
	/** TCP forgets what it did not acknowledge, now and then. */
	bool forgets;
};

/** Every segment of DDP has a piece of this memory for itself. */
constexpr u32 memory_size = 1 << 18;

/** The receiving end: TCP's queues, and both ways through the framing. */
class Receiver
{
public:
	Receiver(const Setting &setting, std::mt19937 &random)
		: setting_(setting), random_(random), memory(memory_size), writes(memory_size),
		  slots_(setting.slots)
	{
		iwarp_placed_init(&placed_, slots_.data(), setting.slots);
		iwarp_rx_init(&in_order_.rx, &in_order_ops, setting.interval, setting.crc,
			      setting.start);
		iwarp_rx_init(&early_.rx, &early_ops, setting.interval, setting.crc, 0);
		in_order_.owner = early_.owner = this;
	}

	Receiver(const Receiver &) = delete;
	Receiver &operator=(const Receiver &) = delete;

	/** A segment of TCP arrives; offsets count from the beginning. */
	void arrive(u32 at, const Bytes &bytes)
	{
		const u32 end = at + size(bytes);

		if (end <= next_)
			return;
		queue_.resize(std::max<size_t>(queue_.size(), end));
		there_.resize(queue_.size());
		std::copy(bytes.begin(), bytes.end(), queue_.begin() + at);
		std::fill(there_.begin() + at, there_.begin() + end, true);
		if (at <= next_)
			in_order();
		else
			out_of_order(at);
	}

	/** TCP throws away all that is ahead of a hole. */
	void forget()
	{
		std::fill(there_.begin() + next_, there_.end(), false);
	}

	[[nodiscard]] u32 next() const
	{
		return next_;
	}

	[[nodiscard]] iwarp_error error() const
	{
		return in_order_.rx.error;
	}

private:
	struct Self {
		iwarp_rx rx;
		Receiver *owner;
	};

	const Setting setting_;
	std::mt19937 &random_;

public:
	Bytes memory;
	/** How often each byte was written. */
	std::vector<u8> writes;
	/** Addresses of segments in the order in which they were delivered. */
	std::vector<u64> delivered;
	/** Bytes that were placed early, and of these, what was not placed again. */
	u64 early = 0;
	u64 skipped = 0;

private:
	// As many bytes as there are, in pieces of any length.
	void in_order()
	{
		u32 end = next_;

		while (end < there_.size() && there_[end])
			end++;
		while (next_ < end && error() == IWARP_OK) {
			const u32 piece = std::min<u32>(end - next_, 1 + random_() % 3000);
			const IwarpMemory memory_piece(slice(next_, next_ + piece));

			const u32 taken =
				iwarp_rx_feed(&in_order_.rx, memory_piece.source(), 0, piece);
			if (error() != IWARP_OK)
				return;
			if (taken != piece)
				std::abort();
			next_ += piece;
		}
	}

	// The run of bytes that a segment has become a part of.
	void out_of_order(u32 at)
	{
		u32 from = at, to = at;

		while (from > next_ && there_[from - 1])
			from--;
		while (to < there_.size() && there_[to])
			to++;
		const IwarpMemory run(slice(from, to));
		u32 begin;
		if (iwarp_sync(run.source(), early_.rx.interval, setting_.start + from, to - from,
			       &begin))
			iwarp_rx_early(&early_.rx, &placed_, run.source(), setting_.start + from,
				       to - from, begin, to - from);
	}

	[[nodiscard]] Bytes slice(u32 from, u32 to) const
	{
		return {queue_.begin() + from, queue_.begin() + to};
	}

	static Receiver *owner(iwarp_rx *rx)
	{
		return reinterpret_cast<Self *>(rx)->owner;
	}

	static u32 begin_in_order(iwarp_rx *rx)
	{
		Receiver *self = owner(rx);

		if (iwarp_placed_take(&self->placed_, rx->start, rx->end - rx->start, rx->fpdu,
				      iwarp_hdr_len(rx->hdr.opcode), rx->hdr.to)) {
			self->skipped += rx->hdr.payload_len;
			return IWARP_RX_SKIP;
		}
		return IWARP_RX_GO;
	}

	static u32 begin_early(iwarp_rx *rx)
	{
		return iwarp_placed_full(&owner(rx)->placed_) ? IWARP_RX_SKIP : IWARP_RX_GO;
	}

	static iwarp_error place(iwarp_rx *rx, const iwarp_source *src, u32 off, u32 len, u32 at)
	{
		Receiver *self = owner(rx);
		const u64 to = rx->hdr.to + at;

		if (to > memory_size || len > memory_size - to)
			return IWARP_E_TAGGED_BOUNDS;
		src->copy(src, off, self->memory.data() + to, len);
		for (u32 i = 0; i < len; i++)
			self->writes[to + i]++;
		return IWARP_OK;
	}

	static iwarp_error end_in_order(iwarp_rx *rx)
	{
		owner(rx)->delivered.push_back(rx->hdr.to);
		return IWARP_OK;
	}

	static iwarp_error end_early(iwarp_rx *rx)
	{
		Receiver *self = owner(rx);

		if (rx->skip)
			return IWARP_OK;
		if (!iwarp_placed_add(&self->placed_, rx->start, rx->end - rx->start, rx->fpdu,
				      iwarp_hdr_len(rx->hdr.opcode), rx->hdr.to))
			std::abort();
		self->early += rx->hdr.payload_len;
		return IWARP_OK;
	}

	static constexpr iwarp_rx_ops in_order_ops = {begin_in_order, place, end_in_order};
	static constexpr iwarp_rx_ops early_ops = {begin_early, place, end_early};

	Self in_order_ = {}, early_ = {};
	std::vector<iwarp_place> slots_;
	iwarp_placed placed_ = {};
	Bytes queue_;
	std::vector<bool> there_;
	u32 next_ = 0;
};

class Property : public testing::TestWithParam<Setting>
{
protected:
	Property() : random(seed()), wire(GetParam().interval, GetParam().crc, GetParam().start)
	{
		u32 address = 0;

		while (address < memory_size - 3000) {
			const u32 length = random() % 8 == 0 ? 0 : random() % 2600;
			Bytes payload(length);
			std::generate(payload.begin(), payload.end(),
				      [this] { return static_cast<u8>(random()); });
			std::copy(payload.begin(), payload.end(), want.begin() + address);
			addresses.push_back(address);
			begins.push_back(
				wire.append(tagged(IWARP_WRITE, 1, address, std::move(payload))));
			address += length + random() % 3;
		}
		cut();
	}

	/** Cuts the stream into segments of TCP. */
	void cut()
	{
		for (u32 at = 0; at < wire.bytes().size();) {
			const u32 length = std::min<u32>(size(wire.bytes()) - at,
							 random() % 4 == 0 ? 1 + random() % 100
									   : GetParam().mss);
			pieces.emplace_back(at, length);
			at += length;
		}
	}

	/** Lets a segment arrive. */
	void deliver(Receiver &receiver, size_t i, const Bytes &stream)
	{
		const auto [at, length] = pieces[i];

		receiver.arrive(at, Bytes(stream.begin() + at, stream.begin() + at + length));
	}

	/** All segments, out of order within the window, with repetitions. */
	void run(Receiver &receiver, const Bytes &stream)
	{
		std::vector<size_t> pending;

		for (size_t i = 0; i < pieces.size() || !pending.empty();) {
			while (i < pieces.size() && pending.size() < GetParam().window)
				pending.push_back(i++);
			const size_t pick = random() % pending.size();
			deliver(receiver, pending[pick], stream);
			if (random() % 16 == 0)
				deliver(receiver, pending[pick], stream);
			pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(pick));
			if (GetParam().forgets && random() % 64 == 0)
				receiver.forget();
		}
		// What was forgotten is sent again.
		for (size_t i = 0; i < pieces.size() && receiver.error() == IWARP_OK; i++)
			deliver(receiver, i, stream);
	}

	std::mt19937 random;
	IwarpWire wire;
	Bytes want = Bytes(memory_size);
	std::vector<u64> addresses;
	std::vector<size_t> begins;
	std::vector<std::pair<u32, u32>> pieces;
};

INSTANTIATE_TEST_SUITE_P(Some, Property,
			 testing::Values(Setting{512, true, 0, 1448, 1, 64, false},
					 Setting{512, true, 0, 1448, 40, 64, false},
					 Setting{512, false, 0xfffe0000, 1448, 40, 256, false},
					 Setting{512, true, 0xfffe0000, 1448, 40, 8, true},
					 Setting{512, true, 0x7fff0000, 4448, 100, 256, true},
					 Setting{16, true, 4, 536, 200, 512, false},
					 Setting{1024, true, 0, 8948, 20, 64, false},
					 Setting{0, true, 0xfffe0000, 1448, 40, 64, false},
					 Setting{0, false, 0, 1448, 40, 0, false}));

TEST_P(Property, EverySegmentIsDeliveredOnceAndInOrder)
{
	Receiver receiver(GetParam(), random);

	run(receiver, wire.bytes());
	EXPECT_EQ(receiver.error(), IWARP_OK);
	EXPECT_EQ(receiver.next(), wire.bytes().size());
	EXPECT_EQ(receiver.delivered, addresses);
	EXPECT_TRUE(receiver.memory == want);
	// What was placed early is not placed again, although it may be placed
	// early once more if there was no room to remember it.
	EXPECT_EQ(receiver.skipped, receiver.early);
	EXPECT_LE(*std::max_element(receiver.writes.begin(), receiver.writes.end()), 1);
	const bool may_be_early = GetParam().interval != 0 && GetParam().window > 1;
	EXPECT_EQ(receiver.early > 0, may_be_early && GetParam().slots > 0);
}

// Early or not, damage ends the stream where it is.
TEST_P(Property, DamageIsNeverDelivered)
{
	if (!GetParam().crc)
		return;
	for (int round = 0; round < 4; round++) {
		Receiver receiver(GetParam(), random);
		const u32 at = random() % size(wire.bytes());
		const auto bad = static_cast<u8>(wire.bytes()[at] ^ 1U << random() % 8);
		const auto whole = static_cast<size_t>(
			std::upper_bound(begins.begin(), begins.end(), at) - begins.begin() - 1);

		run(receiver, with(wire.bytes(), at, bad));
		EXPECT_LE(receiver.delivered.size(), whole) << at;
		EXPECT_TRUE(std::equal(receiver.delivered.begin(), receiver.delivered.end(),
				       addresses.begin()));
		EXPECT_EQ(receiver.delivered.size(), whole) << at;
	}
}

// The peer sends something else in place of what was placed early.
TEST(Repetition, WithAnotherHeaderIsPlacedAgain)
{
	const Setting setting = {512, true, 0, 1448, 1, 8, true};
	std::mt19937 random(seed());
	IwarpWire first(512, true), second(512, true);
	const Bytes hole(600, 1);

	first.append(tagged(IWARP_WRITE, 1, 0, hole));
	second.append(tagged(IWARP_WRITE, 1, 0, hole));
	const auto begin =
		static_cast<u32>(first.append(tagged(IWARP_WRITE, 1, 4096, Bytes(800, 2))));
	second.append(tagged(IWARP_WRITE, 1, 8192, Bytes(800, 3)));
	Receiver receiver(setting, random);
	const auto from = [begin](const IwarpWire &wire) {
		return Bytes(wire.bytes().begin() + begin, wire.bytes().end());
	};

	receiver.arrive(begin, from(first));
	EXPECT_EQ(receiver.early, 800U);
	receiver.forget();
	receiver.arrive(0, truncated(first.bytes(), begin));
	receiver.arrive(begin, from(second));
	EXPECT_EQ(receiver.skipped, 0U);
	EXPECT_EQ(receiver.delivered, (std::vector<u64>{0, 8192}));
	EXPECT_EQ(Bytes(receiver.memory.begin() + 8192, receiver.memory.begin() + 8992),
		  Bytes(800, 3));
}

} // namespace
