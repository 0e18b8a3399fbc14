// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Every state that two credit engines with few buffers can reach, in every
 * order of events: no receiver is ever unready, nobody waits for ever, and an
 * idle connection falls silent.
 */
#include <functional>
#include <iostream>
#include <queue>
#include <string>
#include <unordered_set>

#include "credit_link.h"

namespace
{

/** More messages than this without data are updates without end. */
constexpr u32 settle_limit = 64;

void append(std::string &key, u32 value)
{
	key += static_cast<char>(value);
}

/** A state without its absolute sequence numbers, so that states repeat. */
std::string key_of(const CreditLink &link)
{
	std::string key;

	for (int i = 0; i < 2; i++) {
		const Side &side = link.side(i);
		append(key, side.credit.tx_mseq - side.credit.tx_acked);
		append(key, side.credit.tx_bufs);
		append(key, side.credit.rx_posted);
		append(key, side.credit.rx_advertised);
		append(key, side.posted);
		append(key, side.unread);
		append(key, side.ended);
		append(key, static_cast<u32>(side.wire.size()));
		for (const Message &message : side.wire) {
			append(key, link.side(1 - i).credit.tx_mseq - message.bsdh.mseq_ack);
			append(key, message.bsdh.bufs);
			append(key, message.payload);
		}
	}
	return key;
}

using Visit = std::function<void(const CreditLink &)>;

/** Calls @p visit with every state that one event leads to. */
void for_each_successor(const CreditLink &link, const Visit &visit)
{
	const auto step = [&](auto &&event) {
		CreditLink next = link;
		event(next);
		visit(next);
	};

	for (int i = 0; i < 2; i++) {
		if (link.may_send_data(i))
			step([i](CreditLink &next) { next.send_data(i); });
		if (link.may_send_control(i))
			step([i](CreditLink &next) { next.send_control(i); });
		if (link.may_end(i))
			step([i](CreditLink &next) { next.end(i); });
		if (link.side(i).unread > 0)
			step([i](CreditLink &next) { next.read(i, 1); });
		if (link.to(i).empty())
			continue;
		step([i](CreditLink &next) { next.deliver(i, false); });
		step([i](CreditLink &next) { next.deliver(i, true); });
	}
}

void check(const CreditLink &link)
{
	CreditLink silent = link;

	ASSERT_LE(settle(silent, settle_limit), settle_limit) << "updates without end";
	// Whatever else it settles into is a state of its own.
	if (link.idle())
		expect_no_starvation(link, settle_limit);
}

class CreditExhaustive : public testing::TestWithParam<std::array<u32, 2>>
{
};

TEST_P(CreditExhaustive, EveryState)
{
	std::unordered_set<std::string> seen;
	std::queue<CreditLink> todo;
	const Visit visit = [&](const CreditLink &link) {
		if (seen.insert(key_of(link)).second)
			todo.push(link);
	};

	for (visit(CreditLink(GetParam())); !todo.empty(); todo.pop()) {
		check(todo.front());
		for_each_successor(todo.front(), visit);
		if (HasFailure())
			break;
	}
	std::cout << seen.size() << " states" << std::endl;
}

INSTANTIATE_TEST_SUITE_P(Buffers, CreditExhaustive,
			 testing::Values(std::array<u32, 2>{4, 4}, std::array<u32, 2>{3, 4}),
			 [](const auto &info) {
				 return std::to_string(info.param[0]) + "x" +
					std::to_string(info.param[1]);
			 });

// Why SDP_CREDIT_BUFS_MIN is four: with three on both sides there is no peace.
TEST(CreditMinimum, ThreeOnBothSidesNeverFallSilent)
{
	CreditLink link({3, 3});

	link.send_data(0);
	link.deliver(1);
	link.read(1, 1);
	EXPECT_GT(settle(link, settle_limit), settle_limit);
}

} // namespace
