// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Checks of RDMA devices, their ports and their addresses.
 */
#ifndef SDPCTL_DEVICES_H
#define SDPCTL_DEVICES_H

#include "check.h"
#include "fabric.h"

#include <string>
#include <vector>

namespace sdpctl
{

/** An address of an interface of this host. */
struct OwnAddress {
	std::string netdev;
	libsdp::Address address;
};

[[nodiscard]] std::vector<OwnAddress> own_addresses();

/** What devices are there for. */
enum class Fabric : std::uint8_t {
	infiniband,
	roce,
	iwarp
};

[[nodiscard]] Fabric fabric_of(const Places &places, const libsdp::Port &port);

/** "devices", and for each port "port NAME/N", "gid NAME/N" and "mtu NAME/N". */
[[nodiscard]] Report check_devices(const Places &places, const std::vector<libsdp::Port> &ports,
				   const std::vector<OwnAddress> &addresses);

/** The bytes that a message of RoCE has at most; 0: none fits. */
[[nodiscard]] unsigned roce_mtu(unsigned netdev_mtu);

} // namespace sdpctl

#endif // SDPCTL_DEVICES_H
