// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "devices.h"

#include "module.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

namespace sdpctl
{
namespace
{

using libsdp::Carrier;
using libsdp::first_line;
using libsdp::Port;

std::string name_of_port(const Port &port)
{
	return fmt::format("{}/{}", port.device, port.number);
}

// The second column of the device's line in /proc/net/sdp_devices; empty if it has none.
std::string transport_in_table(const Places &places, const std::string &device)
{
	std::ifstream table(places.proc / "net/sdp_devices");
	std::string line;

	while (std::getline(table, line)) {
		std::istringstream words(line);
		std::string name;
		std::string transport;

		if (words >> name >> transport && name == device)
			return transport;
	}
	return {};
}

/** A port, what it has of this host's addresses, and what it lacks. */
struct Reach {
	const Port *port = nullptr;
	std::set<std::string> netdevs;
	std::vector<std::string> with_gid;
	std::vector<std::string> without_gid;
};

Reach reach_of(const Places &places, const std::vector<Port> &ports, const Port &port,
	       const std::vector<OwnAddress> &addresses)
{
	Reach reach;

	reach.port = &port;
	for (const OwnAddress &own : addresses) {
		libsdp::Route route;

		route.netdev = own.netdev;
		route.source = own.address;
		const auto carrier = libsdp::find_carrier(ports, route, places.sys / "class/net");

		if (!carrier || carrier->port != &port)
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
	std::vector<std::string> unused;

	for (const Port &port : ports)
		names.insert(port.device);
	if (names.empty())
		return {"devices", Status::wrong, "this host has no RDMA device",
			"load the adapter's driver; without an adapter: modprobe rdma_rxe; rdma "
			"link "
			"add rxe0 type rxe netdev eth0"};
	std::copy_if(
		names.begin(), names.end(), std::back_inserter(unused),
		[&](const std::string &name) { return transport_in_table(places, name).empty(); });
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
	const std::string text = first_line(places.sys / "class/net" / netdev / "mtu");
	const char *advice = "ip link set mtu 4200, on all hosts and switches, makes 4096 of it";
	unsigned mtu = 0;

	std::from_chars(text.data(), text.data() + text.size(), mtu);
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

std::vector<OwnAddress> own_addresses()
{
	std::vector<OwnAddress> addresses;
	ifaddrs *list = nullptr;

	if (getifaddrs(&list) != 0)
		return addresses;
	const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);

	for (const ifaddrs *entry = list; entry != nullptr; entry = entry->ifa_next) {
		if (entry->ifa_addr == nullptr)
			continue;
		const bool v4 = entry->ifa_addr->sa_family == AF_INET;
		const auto own = libsdp::endpoint_of(entry->ifa_addr, v4 ? sizeof(sockaddr_in)
									 : sizeof(sockaddr_in6));

		if (own)
			addresses.push_back({entry->ifa_name, own->address});
	}
	return addresses;
}

Fabric fabric_of(const Places &places, const Port &port)
{
	const std::string said = transport_in_table(places, port.device);

	if (port.link_layer == "InfiniBand")
		return Fabric::infiniband;
	if (!said.empty())
		return said == "iwarp" ? Fabric::iwarp : Fabric::roce;
	return std::any_of(port.gids.begin(), port.gids.end(),
			   [](const libsdp::Gid &gid) { return gid.type.find("RoCE") == 0; })
		       ? Fabric::roce
		       : Fabric::iwarp;
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
		const Reach reach = reach_of(places, ports, port, addresses);

		report.push_back(check_port(port, reach, any_active));
		report.push_back(check_gids(reach));
		for (const std::string &netdev : reach.netdevs)
			report.push_back(check_mtu(places, reach, netdev));
	}
	return report;
}

} // namespace sdpctl
