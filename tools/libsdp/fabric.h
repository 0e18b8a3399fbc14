// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What this host's RDMA devices are, and which of them leads to an address: as the
 * connection manager chooses, by the route's interface and its address.
 */
#ifndef LIBSDP_FABRIC_H
#define LIBSDP_FABRIC_H

#include "endpoint.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace libsdp
{

struct Gid {
	unsigned index = 0;
	std::string text;   ///< as the kernel writes it, "fe80:0000:..."
	std::string netdev; ///< empty where the kernel tells none
	std::string type;   ///< "RoCE v2" and so on; empty where the kernel tells none
};

/** A port of an RDMA device. */
struct Port {
	std::string device;
	unsigned number = 1;
	std::string state;	///< "ACTIVE", "DOWN" and so on
	std::string phys_state; ///< "LinkUp" and so on
	std::string link_layer; ///< "Ethernet" or "InfiniBand"
	std::vector<Gid> gids;	///< those that are not zero
};

/** Read /sys/class/infiniband, or what stands for it; empty if there is none. */
[[nodiscard]] std::vector<Port> read_ports(const std::filesystem::path &sys);

/** What the kernel's routing says of an address. */
struct Route {
	int error = 0;	    ///< errno, if there is no route
	std::string netdev; ///< of the address that packets leave from
	Address source;
	bool local = false; ///< the address is this host's own
};

[[nodiscard]] Route route_to(const Address &address);

/** Whether it is 0.0.0.0 or ::. */
[[nodiscard]] bool is_unspecified(const Address &address);

/** A port, and the entry of its table by which it has the address. */
struct Carrier {
	const Port *port = nullptr;
	const Gid *gid = nullptr; ///< null: the port is the interface's, without such an entry
};

/**
 * The port that carries what leaves from an interface by an address.
 *
 * @param sys_net /sys/class/net, or what stands for it.
 */
[[nodiscard]] std::optional<Carrier> find_carrier(const std::vector<Port> &ports,
						  const Route &route,
						  const std::filesystem::path &sys_net);

/** "192.0.2.1", "2001:db8::1". */
[[nodiscard]] std::string text_of(const Address &address);

/** The first line of a file, without its end; empty if it cannot be read. */
[[nodiscard]] std::string first_line(const std::filesystem::path &file);

/** The names in a directory, sorted; none if it cannot be read. */
[[nodiscard]] std::vector<std::string> names_in(const std::filesystem::path &directory);

} // namespace libsdp

#endif // LIBSDP_FABRIC_H
