// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * One end of an RDMA connection, with memory for messages of one size.
 */
#ifndef IWARPBENCH_RDMA_H
#define IWARPBENCH_RDMA_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rdma/rdma_cma.h>

namespace iwarpbench
{

struct DestroyEndpoint {
	void operator()(rdma_cm_id *id) const
	{
		rdma_destroy_ep(id);
	}
};

using Endpoint = std::unique_ptr<rdma_cm_id, DestroyEndpoint>;

struct DeregisterMemory {
	void operator()(ibv_mr *region) const
	{
		ibv_dereg_mr(region);
	}
};

/** Where to listen, or where to connect to, and from where. */
struct Addresses {
	std::string server;
	std::string client;
	std::string port;
};

/** How many requests an end may have at a time. */
struct Depth {
	std::uint32_t send;
	std::uint32_t receive;
};

/** A connected end, or one that is about to be. Failures are std::system_error. */
class End
{
public:
	/** Has @p buffers messages of @p size bytes to send, and room for one that arrives. */
	End(Endpoint id, std::size_t size, std::size_t buffers);

	[[nodiscard]] rdma_cm_id *id() const
	{
		return id_.get();
	}
	/** The message to send for the @p number th time. */
	[[nodiscard]] std::span<std::byte> outgoing(std::uint64_t number);
	[[nodiscard]] std::span<std::byte> incoming();
	/** @return the device's name. */
	[[nodiscard]] std::string device() const;

	void post_receive();
	void post_send(std::uint64_t number);
	/** Wait for a message. */
	void await_receive();
	/** Wait for what was sent to be complete. */
	void await_send();
	/** Take what is complete. @return how many sends that is. */
	[[nodiscard]] unsigned reap_sends();

private:
	Endpoint id_;
	std::size_t size_;
	std::size_t buffers_;
	std::vector<std::byte> memory_;
	std::unique_ptr<ibv_mr, DeregisterMemory> region_;
};

/** @return what listens at the server's address. */
[[nodiscard]] Endpoint listen(const Addresses &addresses, const Depth &depth);
/** @return the next that wants to connect. */
[[nodiscard]] Endpoint next_request(const Endpoint &listener);
/** @return an end that is not connected yet. */
[[nodiscard]] Endpoint prepare(const Addresses &addresses, const Depth &depth);
void accept(const End &end);
void connect(const End &end);

} // namespace iwarpbench

#endif // IWARPBENCH_RDMA_H
