// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "devices.h"

#include "../common/number.h"
#include "../sdpstat/table.h"
#include "module.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace sdpctl
{
namespace
{

using libsdp::first_line;
using libsdp::OwnAddress;
using libsdp::Port;

std::string name_of_port(const Port &port)
{
	return fmt::format("{}/{}", port.device, port.number);
}

// Nothing if the module's table is not as these tools know it.
std::optional<std::vector<sdpstat::Device>> devices_of_sdp(const Places &places)
{
	std::ifstream table(places.proc / "net/sdp_devices");

	try {
		return table ? sdpstat::parse_devices(table) : std::vector<sdpstat::Device>();
	} catch (const sdpstat::FormatError &) {
		return std::nullopt;
	}
}

/** A port, what it has of this host's addresses, and what it lacks. */
struct Reach {
	const Port *port = nullptr;
	std::set<std::string> netdevs;
	std::vector<std::string> with_gid;
	std::vector<std::string> without_gid;
};

Reach reach_of(const Places &places, const Port &port, const std::vector<OwnAddress> &addresses)
{
	Reach reach;

	reach.port = &port;
	for (const OwnAddress &own : addresses) {
		libsdp::Route route;

		route.netdev = own.netdev;
		route.source = own.address;
		const auto carrier = libsdp::carrier_by(port, route, places.sys / "class/net");

		if (!carrier)
			continue;
		reach.netdevs.insert(own.netdev);
		if (carrier->gid != nullptr)
			reach.with_gid.push_back(fmt::format("{} on {} (GID {})",
							     libsdp::text_of(own.address),
							     own.netdev, carrier->gid->index));
		else
			reach.without_gid.push_back(
				fmt::format("{} on {}", libsdp::text_of(own.address), own.netdev));
	}
	return reach;
}

std::string joined(const std::vector<std::string> &items)
{
	return fmt::format("{}", fmt::join(items, ", "));
}

Check check_presence(const Places &places, const std::vector<Port> &ports)
{
	std::set<std::string> names;
	std::set<std::string> used;
	std::vector<std::string> unused;

	for (const Port &port : ports)
		names.insert(port.device);
	if (names.empty())
		return {"devices", Status::wrong, "this host has no RDMA device",
			"load the adapter's driver; without an adapter: modprobe rdma_rxe; rdma "
			"link "
			"add rxe0 type rxe netdev eth0"};
	const auto table = devices_of_sdp(places);

	if (!table)
		return {"devices", Status::unknown, "cannot read /proc/net/sdp_devices",
			"install the same version of module and tools"};
	for (const sdpstat::Device &device : *table)
		used.insert(device.name);
	std::set_difference(names.begin(), names.end(), used.begin(), used.end(),
			    std::back_inserter(unused));
	if (is_loaded(places) && !unused.empty())
		return {"devices", Status::wrong, "SDP does not use " + joined(unused),
			"the kernel's log says why"};
	return {"devices", Status::ok, fmt::format("{}", fmt::join(names, ", ")), ""};
}

// A port that nothing is plugged into may be meant so, unless it is the last.
Check check_port(const Port &port, const Reach &reach, bool others_are_active)
{
	const std::string name = "port " + name_of_port(port);
	const std::string netdev =
		reach.netdevs.empty() ? std::string("its interface") : *reach.netdevs.begin();

	if (port.state == "ACTIVE")
		return {name, Status::ok, "ACTIVE", ""};
	return {name, others_are_active ? Status::warning : Status::wrong,
		fmt::format("{}, physically {}: nothing comes through", port.state,
			    port.phys_state),
		port.link_layer == "InfiniBand"
			? "look at the cable, and whether a subnet manager runs"
			: fmt::format("ip link set {} up, and look at the cable", netdev)};
}

Check check_gids(const Reach &reach)
{
	const std::string name = "gid " + name_of_port(*reach.port);

	if (!reach.without_gid.empty())
		return {name, Status::wrong,
			fmt::format("the device has no GID of {}", joined(reach.without_gid)),
			"delete the address and add it again; if that does not help, the device"};
	if (reach.with_gid.empty())
		return {name, Status::warning, "no IP address of this host leads to the device",
			"give its interface an address, and set it up: ip addr add, ip link set"};
	return {name, Status::ok, joined(reach.with_gid), ""};
}

Check check_mtu(const Places &places, const Reach &reach, const std::string &netdev)
{
	const std::string name = "mtu " + name_of_port(*reach.port);
	const char *advice = "ip link set mtu 4200, on all hosts and switches, makes 4096 of it";
	const unsigned mtu = netdev_mtu(places, netdev);

	if (mtu == 0)
		return {name, Status::unknown, "cannot see the MTU of " + netdev, ""};
	if (fabric_of(places, *reach.port) != Fabric::roce)
		return {name, Status::ok, fmt::format("{} of {}", mtu, netdev), ""};
	const unsigned roce = roce_mtu(mtu);
	const std::string what =
		fmt::format("{} of {}: packets of RoCE carry up to {} bytes", mtu, netdev, roce);

	if (roce == 0)
		return {name, Status::wrong,
			fmt::format("{} of {} is too small for RoCE", mtu, netdev),
			"ip link set " + netdev + " mtu 1500"};
	return {name, roce < 1024 ? Status::warning : Status::ok, what, roce < 1024 ? advice : ""};
}

} // namespace

Fabric fabric_of(const Places &places, const Port &port)
{
	const auto table = devices_of_sdp(places).value_or(std::vector<sdpstat::Device>());

	if (port.link_layer == "InfiniBand")
		return Fabric::infiniband;
	for (const sdpstat::Device &device : table)
		if (device.name == port.device)
			return device.transport == "iwarp" ? Fabric::iwarp : Fabric::roce;
	return std::any_of(port.gids.begin(), port.gids.end(),
			   [](const libsdp::Gid &gid) { return gid.type.find("RoCE") == 0; })
		       ? Fabric::roce
		       : Fabric::iwarp;
}

// Soft-RoCE's devices name their interface, iwarp.ko's their design; others in software
// are on no bus.
bool is_software(const Places &places, const Port &port)
{
	const std::filesystem::path device = places.sys / "class/infiniband" / port.device;
	std::error_code ignored;
	const std::string real = std::filesystem::canonical(device, ignored);

	return std::filesystem::exists(device / "parent", ignored) ||
	       std::filesystem::exists(device / "design", ignored) ||
	       real.find("/devices/virtual/") != std::string::npos;
}

unsigned netdev_mtu(const Places &places, const std::string &netdev)
{
	const std::string text = first_line(places.sys / "class/net" / netdev / "mtu");

	return sdp::parse_number<unsigned>(text).value_or(0);
}

// As the kernel's iboe_get_mtu(): room for every header that there is.
unsigned roce_mtu(unsigned netdev_mtu)
{
	constexpr unsigned headers = 96;

	for (const unsigned mtu : {4096U, 2048U, 1024U, 512U, 256U})
		if (netdev_mtu >= mtu + headers)
			return mtu;
	return 0;
}

Report check_devices(const Places &places, const std::vector<Port> &ports,
		     const std::vector<OwnAddress> &addresses)
{
	const bool any_active = std::any_of(ports.begin(), ports.end(), [](const Port &port) {
		return port.state == "ACTIVE";
	});
	Report report = {check_presence(places, ports)};

	for (const Port &port : ports) {
		const Reach reach = reach_of(places, port, addresses);

		report.push_back(check_port(port, reach, any_active));
		report.push_back(check_gids(reach));
		for (const std::string &netdev : reach.netdevs)
			report.push_back(check_mtu(places, reach, netdev));
	}
	return report;
}

} // namespace sdpctl
