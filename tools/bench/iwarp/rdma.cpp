// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "rdma.h"

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <rdma/rdma_verbs.h>

namespace iwarpbench
{

namespace
{

void require(int result, const char *what)
{
	if (result < 0)
		throw std::system_error(errno, std::generic_category(), what);
}

void require_success(const ibv_wc &completion, const char *what)
{
	if (completion.status != IBV_WC_SUCCESS)
		throw std::runtime_error(
			fmt::format("{}: {}", what, ibv_wc_status_str(completion.status)));
}

ibv_qp_init_attr queues(const Depth &depth)
{
	ibv_qp_init_attr attributes{};

	attributes.cap = {.max_send_wr = depth.send,
			  .max_recv_wr = depth.receive,
			  .max_send_sge = 1,
			  .max_recv_sge = 1,
			  .max_inline_data = 0};
	attributes.qp_type = IBV_QPT_RC;
	attributes.sq_sig_all = 1;
	return attributes;
}

struct FreeAddress {
	void operator()(rdma_addrinfo *info) const
	{
		rdma_freeaddrinfo(info);
	}
};

std::unique_ptr<rdma_addrinfo, FreeAddress>
resolve(const std::string &host, const std::string &port, int flags, rdma_addrinfo *source)
{
	rdma_addrinfo hints{};
	rdma_addrinfo *found = nullptr;

	hints.ai_flags = flags;
	hints.ai_port_space = RDMA_PS_TCP;
	if (source != nullptr) {
		hints.ai_src_addr = source->ai_src_addr;
		hints.ai_src_len = source->ai_src_len;
	}
	require(rdma_getaddrinfo(host.c_str(), port.empty() ? nullptr : port.c_str(), &hints,
				 &found),
		"rdma_getaddrinfo");
	return std::unique_ptr<rdma_addrinfo, FreeAddress>(found);
}

Endpoint create(rdma_addrinfo *info, const Depth &depth)
{
	ibv_qp_init_attr attributes = queues(depth);
	rdma_cm_id *id = nullptr;

	require(rdma_create_ep(&id, info, nullptr, &attributes), "rdma_create_ep");
	return Endpoint(id);
}

} // namespace

End::End(Endpoint id, std::size_t size, std::size_t buffers)
	: id_(std::move(id)), size_(size), buffers_(buffers), memory_(size * (buffers + 1)),
	  region_(rdma_reg_msgs(id_.get(), memory_.data(), memory_.size()))
{
	if (!region_)
		throw std::system_error(errno, std::generic_category(), "rdma_reg_msgs");
}

std::span<std::byte> End::outgoing(std::uint64_t number)
{
	return std::span(memory_).subspan((1 + number % buffers_) * size_, size_);
}

std::span<std::byte> End::incoming()
{
	return std::span(memory_).first(size_);
}

std::string End::device() const
{
	return ibv_get_device_name(id_->verbs->device);
}

void End::post_receive()
{
	require(rdma_post_recv(id(), nullptr, memory_.data(), size_, region_.get()),
		"rdma_post_recv");
}

void End::post_send(std::uint64_t number)
{
	require(rdma_post_send(id(), nullptr, outgoing(number).data(), size_, region_.get(), 0),
		"rdma_post_send");
}

void End::await_receive()
{
	ibv_wc completion{};

	require(rdma_get_recv_comp(id(), &completion), "rdma_get_recv_comp");
	require_success(completion, "receive");
}

void End::await_send()
{
	ibv_wc completion{};

	require(rdma_get_send_comp(id(), &completion), "rdma_get_send_comp");
	require_success(completion, "send");
}

unsigned End::reap_sends()
{
	ibv_wc completion{};
	unsigned count = 0;

	while (ibv_poll_cq(id_->send_cq, 1, &completion) > 0) {
		require_success(completion, "send");
		count++;
	}
	return count;
}

Endpoint listen(const Addresses &addresses, const Depth &depth)
{
	const auto info = resolve(addresses.server, addresses.port, RAI_PASSIVE, nullptr);
	Endpoint listener = create(info.get(), depth);

	require(rdma_listen(listener.get(), 1), "rdma_listen");
	return listener;
}

Endpoint next_request(const Endpoint &listener)
{
	rdma_cm_id *id = nullptr;

	require(rdma_get_request(listener.get(), &id), "rdma_get_request");
	return Endpoint(id);
}

Endpoint prepare(const Addresses &addresses, const Depth &depth)
{
	const auto source = resolve(addresses.client, "", RAI_PASSIVE, nullptr);
	const auto info = resolve(addresses.server, addresses.port, 0, source.get());

	return create(info.get(), depth);
}

void accept(const End &end)
{
	require(rdma_accept(end.id(), nullptr), "rdma_accept");
}

void connect(const End &end)
{
	require(rdma_connect(end.id(), nullptr), "rdma_connect");
}

} // namespace iwarpbench
