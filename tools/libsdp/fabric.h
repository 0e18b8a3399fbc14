// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What this host's RDMA devices are, and which of them lead to an address: as the
 * connection manager chooses, by the route's interface and its address. Of several the
 * kernel takes the one that was registered first, which no file tells.
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

/** An entry of a port's table of addresses. */
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

/** Ask the kernel for the route; nothing is sent. */
[[nodiscard]] Route route_to(const Address &address);

/** An address of an interface of this host. */
struct OwnAddress {
	std::string netdev;
	Address address;
};

/** All of them; none if the kernel does not tell. */
[[nodiscard]] std::vector<OwnAddress> own_addresses();

/** Whether it is 0.0.0.0 or ::. */
[[nodiscard]] bool is_unspecified(const Address &address);

/** A port, and the entry of its table by which it has the address. */
struct Carrier {
	const Port *port = nullptr;
	const Gid *gid = nullptr; ///< null: the port is the interface's, without such an entry
};

/**
 * Whether a port carries what leaves from an interface by an address.
 *
 * @param sys_net /sys/class/net, or what stands for it.
 * @return nothing if the port is not the interface's.
 */
[[nodiscard]] std::optional<Carrier> carrier_by(const Port &port, const Route &route,
						const std::filesystem::path &sys_net);

/** All ports that do; if none has the address, those of the interface without it. */
[[nodiscard]] std::vector<Carrier> find_carriers(const std::vector<Port> &ports, const Route &route,
						 const std::filesystem::path &sys_net);

/** "192.0.2.1", "2001:db8::1". */
[[nodiscard]] std::string text_of(const Address &address);

/** The first line of a file, without its end; empty if it cannot be read. */
[[nodiscard]] std::string first_line(const std::filesystem::path &file);

/** The names in a directory, sorted; none if it cannot be read. */
[[nodiscard]] std::vector<std::string> names_in(const std::filesystem::path &directory);

} // namespace libsdp

#endif // LIBSDP_FABRIC_H
