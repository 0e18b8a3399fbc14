// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Fuzzer of the byte ring: whatever is put in, sent and released comes out as it went in.
 */
#include <algorithm>
#include <deque>

#include "ring_memory.h"
#include "schedule.h"

namespace
{

/** A ring beside a queue, which says what the ring has to do. */
class Model
{
public:
	explicit Model(Choice &choice)
		: choice_(choice), size_(64U << choice.pick(0, 4)),
		  chunk_(16U << choice.pick(0, 2)),
		  memory_(choice.pick(0, UINT32_MAX), size_, chunk_)
	{
	}

	void step()
	{
		switch (choice_.pick(0, 3)) {
		case 0:
			put(choice_.pick(0, size_ + 8));
			break;
		case 1:
			send(choice_.pick(0, size_ + 8));
			break;
		case 2:
			release(choice_.pick(0, size_ + 8));
			break;
		default:
			rewind();
		}
		ASSERT_EQ(sdp_ring_used(ring()), unsent_.size() + unreleased_);
		ASSERT_EQ(sdp_ring_unsent(ring()), unsent_.size());
		ASSERT_EQ(sdp_ring_free(ring()), size_ - unsent_.size() - unreleased_);
	}

private:
	sdp_ring *ring()
	{
		return memory_.ring();
	}

	void put(u32 len)
	{
		const u32 pos = ring()->head;
		const bool fits = len <= size_ - unsent_.size() - unreleased_;
		Bytes data(len);

		ASSERT_EQ(sdp_ring_produce(ring(), len), fits);
		if (!fits)
			return;
		std::generate(data.begin(), data.end(), [this] { return next_++; });
		memory_.write(pos, data);
		unsent_.insert(unsent_.end(), data.begin(), data.end());
	}

	void send(u32 len)
	{
		const u32 from = ring()->sent;

		ASSERT_EQ(sdp_ring_consume(ring(), len), len <= unsent_.size());
		if (len > unsent_.size())
			return;
		const auto end = unsent_.begin() + static_cast<std::ptrdiff_t>(len);
		ASSERT_EQ(memory_.read(from, len), Bytes(unsent_.begin(), end));
		unsent_.erase(unsent_.begin(), end);
		unreleased_ += len;
	}

	void release(u32 len)
	{
		ASSERT_EQ(sdp_ring_release(ring(), len), len <= unreleased_);
		if (len <= unreleased_)
			unreleased_ -= len;
	}

	/** Only a ring with nothing in it goes on at its start. */
	void rewind()
	{
		const u32 head = ring()->head;

		sdp_ring_rewind(ring());
		if (!unsent_.empty() || unreleased_ > 0)
			ASSERT_EQ(ring()->head, head);
		else
			ASSERT_EQ(ring()->head % size_, 0U);
	}

	Choice &choice_;
	u32 size_;
	u32 chunk_;
	RingMemory memory_;
	std::deque<u8> unsent_;
	u32 unreleased_ = 0;
	u8 next_ = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	ByteChoice choice(data, length);
	Model model(choice);

	while (!choice.empty() && !testing::Test::HasFatalFailure())
		model.step();
	require_success();
	return 0;
}
