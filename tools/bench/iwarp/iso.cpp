// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "iso.h"

#include <future>
#include <stdexcept>
#include <string>
#include <utility>

#include "../pattern.h"

namespace iwarpbench
{

namespace
{

constexpr std::size_t filters = 4;
/** Units of a filter under way at a time. */
constexpr std::uint64_t window = 16;
constexpr std::uint32_t spare = 16;
constexpr std::uint64_t stream = 1;

/** The links of a pipeline have ports of their own, and go to and fro between the devices. */
Addresses addresses_of(Addresses addresses, std::size_t link)
{
	if (link % 2 != 0)
		std::swap(addresses.server, addresses.client);
	addresses.port = std::to_string(std::stoul(addresses.port) + 1 + link);
	return addresses;
}

Link make_link(const Addresses &addresses, std::size_t size, std::uint64_t units)
{
	const auto receives = static_cast<std::uint32_t>(units) + spare;
	const Endpoint listener = listen(addresses, {.send = spare, .receive = receives});
	Link link;

	link.from = std::make_unique<End>(
		prepare(addresses, {.send = window + spare, .receive = spare}), size, 1);
	auto acceptor = std::async(std::launch::async, [&] {
		auto end = std::make_unique<End>(next_request(listener), size, 1);
		for (std::uint64_t i = 0; i < units; i++)
			end->post_receive();
		accept(*end);
		return end;
	});

	sdpbench::fill(link.from->outgoing(0), stream, 0);
	connect(*link.from);
	link.to = acceptor.get();
	return link;
}

/** Some instructions for each byte, as a filter has. */
void compute(std::span<const std::byte> unit)
{
	constexpr std::uint32_t prime = 16777619;
	std::uint32_t hash = 2166136261;
	volatile std::uint32_t result = 0;

	for (const std::byte value : unit)
		hash = (hash ^ std::to_integer<std::uint32_t>(value)) * prime;
	result = hash;
	(void)result;
}

/** One filter: the first has no input, the last no output. */
void filter(End *input, End *output, std::uint64_t units)
{
	std::uint64_t under_way = 0;

	for (std::uint64_t i = 0; i < units; i++) {
		if (input != nullptr)
			input->await_receive();
		compute(input != nullptr ? input->incoming() : output->outgoing(0));
		if (output == nullptr)
			continue;
		under_way -= output->reap_sends();
		for (; under_way >= window; under_way--)
			output->await_send();
		output->post_send(0);
		under_way++;
	}
	for (; under_way > 0; under_way--)
		output->await_send();
}

} // namespace

Pipeline::Pipeline(const Addresses &addresses, std::size_t size, std::uint64_t units)
{
	for (std::size_t i = 0; i + 1 < filters; i++)
		links_.push_back(make_link(addresses_of(addresses, i), size, units));
}

void Pipeline::run(std::uint64_t units)
{
	std::vector<std::future<void>> running;

	for (std::size_t i = 0; i < filters; i++) {
		End *input = i > 0 ? links_[i - 1].to.get() : nullptr;
		End *output = i + 1 < filters ? links_[i].from.get() : nullptr;
		running.push_back(
			std::async(std::launch::async, [=] { filter(input, output, units); }));
	}
	for (auto &one : running)
		one.get();
	for (Link &link : links_)
		if (sdpbench::find_wrong(link.to->incoming(), stream, 0))
			throw std::runtime_error("wrong content");
}

} // namespace iwarpbench
