// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * A pipeline in the manner of iso-surface rendering: four filters, each of which
 * computes on a unit of work and passes it on while it computes on the next.
 */
#ifndef IWARPBENCH_ISO_H
#define IWARPBENCH_ISO_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rdma.h"

namespace iwarpbench
{

/** A connection between two filters. */
struct Link {
	std::unique_ptr<End> from;
	std::unique_ptr<End> to;
};

class Pipeline
{
public:
	/** Its filters are on both devices in turn. It takes @p units units of @p size bytes. */
	Pipeline(const Addresses &addresses, std::size_t size, std::uint64_t units);

	/** All filters, until @p units units are through. Wrong content is an error. */
	void run(std::uint64_t units);

	/** @return the device of the first filter. */
	[[nodiscard]] std::string sender() const
	{
		return links_.front().from->device();
	}
	/** @return the device of the second. */
	[[nodiscard]] std::string receiver() const
	{
		return links_.front().to->device();
	}

private:
	std::vector<Link> links_;
};

} // namespace iwarpbench

#endif // IWARPBENCH_ISO_H
