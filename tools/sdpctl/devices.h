// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Checks of RDMA devices, their ports and their addresses.
 */
#ifndef SDPCTL_DEVICES_H
#define SDPCTL_DEVICES_H

#include "check.h"
#include "fabric.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sdpctl
{

/** How a port sends. */
enum class Fabric : std::uint8_t {
	infiniband,
	roce,
	iwarp
};

/** By what SDP says of the device; if it does not, by the types of its GIDs. */
[[nodiscard]] Fabric fabric_of(const Places &places, const libsdp::Port &port);

/** Whether there is no adapter: Soft-RoCE, or iWARP in software. */
[[nodiscard]] bool is_software(const Places &places, const libsdp::Port &port);

/** "devices", and for each port "port NAME/N", "gid NAME/N" and "mtu NAME/N". */
[[nodiscard]] Report check_devices(const Places &places, const std::vector<libsdp::Port> &ports,
				   const std::vector<libsdp::OwnAddress> &addresses);

/** The MTU of a network interface; 0: it cannot be seen. */
[[nodiscard]] unsigned netdev_mtu(const Places &places, const std::string &netdev);

/** The bytes that a message of RoCE has at most; 0: none fits. */
[[nodiscard]] unsigned roce_mtu(unsigned netdev_mtu);

} // namespace sdpctl

#endif // SDPCTL_DEVICES_H
