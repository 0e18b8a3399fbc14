// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Both ends of a measurement, each in a thread of its own.
 */
#ifndef IWARPBENCH_RUN_H
#define IWARPBENCH_RUN_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "rdma.h"

namespace iwarpbench
{

enum class Test {
	/** The client sends, the server says when it has all. */
	bandwidth,
	/** Each message comes back as one of the same size. */
	latency,
	/** Units of work go through a pipeline of filters. */
	iso,
};

struct Plan {
	Test test;
	std::size_t size;		       /**< bytes of a message */
	std::uint64_t count;		       /**< messages, or round trips */
	std::size_t buffers;		       /**< from which messages are sent in turn */
	std::chrono::microseconds computation; /**< before each message */
};

/** What the devices of both ends say of themselves. */
struct Counters {
	double engine_busy;   /**< seconds, of the model of the sender's engine */
	double engine_cpu;    /**< seconds of processors in an engine's place */
	double tx_host_bytes; /**< copied by the sending host */
	double rx_host_bytes; /**< and by the receiving one */
	double ooo_bytes;     /**< received out of order */
	double early_bytes;   /**< of these, placed early */
};

struct Outcome {
	double seconds;
	double busy;			  /**< seconds of processors */
	std::optional<Counters> counters; /**< siw has none */
};

/** Content is checked in a pass that is not timed. */
[[nodiscard]] Outcome measure(const Addresses &addresses, const Plan &plan);

} // namespace iwarpbench

#endif // IWARPBENCH_RUN_H
