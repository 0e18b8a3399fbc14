// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "fabric.h"

#include "../common/descriptor.h"
#include "../common/number.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace libsdp
{
namespace
{

namespace fs = std::filesystem;

constexpr const char *zero_gid = "0000:0000:0000:0000:0000:0000:0000:0000";

// "4: ACTIVE", "5: LinkUp"
std::string behind_colon(const std::string &text)
{
	const std::size_t colon = text.find(": ");

	return colon == std::string::npos ? text : text.substr(colon + 2);
}

std::vector<Gid> read_gids(const fs::path &port)
{
	std::vector<Gid> gids;

	for (const std::string &index : names_in(port / "gids")) {
		std::string text = first_line(port / "gids" / index);

		if (text.empty() || text == zero_gid)
			continue;
		gids.push_back({.index = sdp::parse_number<unsigned>(index).value_or(0),
				.text = std::move(text),
				.netdev = first_line(port / "gid_attrs/ndevs" / index),
				.type = first_line(port / "gid_attrs/types" / index)});
	}
	std::sort(gids.begin(), gids.end(),
		  [](const Gid &a, const Gid &b) { return a.index < b.index; });
	return gids;
}

/** An address as the kernel takes it. */
struct SocketAddress {
	sockaddr_storage storage = {};
	socklen_t length = 0;

	sockaddr *get()
	{
		return reinterpret_cast<sockaddr *>(&storage);
	}
};

constexpr std::uint16_t discard_port = 9;

SocketAddress socket_address(const Address &address)
{
	SocketAddress result;

	if (address.is_v4()) {
		sockaddr_in v4 = {};

		v4.sin_family = AF_INET;
		v4.sin_port = htons(discard_port);
		std::memcpy(&v4.sin_addr, address.bytes.data() + 12, sizeof(v4.sin_addr));
		std::memcpy(&result.storage, &v4, result.length = sizeof(v4));
	} else {
		sockaddr_in6 v6 = {};

		v6.sin6_family = AF_INET6;
		v6.sin6_port = htons(discard_port);
		std::memcpy(&v6.sin6_addr, address.bytes.data(), sizeof(v6.sin6_addr));
		std::memcpy(&result.storage, &v6, result.length = sizeof(v6));
	}
	return result;
}

// The interface that has an address; empty if this host has it not.
std::string netdev_with(const Address &address)
{
	for (const OwnAddress &own : own_addresses())
		if (own.address.bytes == address.bytes)
			return own.netdev;
	return {};
}

std::string gid_text(std::span<const std::uint8_t, 16> bytes)
{
	std::string text;

	for (std::size_t i = 0; i < bytes.size(); i += 2)
		text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", bytes[i], bytes[i + 1]);
	return text;
}

// InfiniBand's interfaces have the GID in their address, iWARP's devices the
// interface's address in their GID.
std::string gid_of_hardware_address(const std::string &text)
{
	constexpr std::size_t length_infiniband = 20;
	std::vector<std::uint8_t> address;
	std::array<std::uint8_t, 16> gid{};

	for (std::size_t at = 0; at < text.size(); at += 3)
		address.push_back(
			sdp::parse_number<std::uint8_t>(std::string_view(text).substr(at, 2), 16)
				.value_or(0));
	const std::size_t skip = address.size() == length_infiniband ? 4 : 0;
	const std::size_t length =
		std::min(address.size() - std::min(skip, address.size()), gid.size());

	std::copy_n(address.begin() + static_cast<std::ptrdiff_t>(skip), length, gid.begin());
	return gid_text(gid);
}

// The interface lo has no address of its own: iWARP's devices on it put one where
// only those that are longer than Ethernet's would have some.
bool is_of_lo(const std::string &gid)
{
	return gid.starts_with("0000:0000:0000:") && !gid.starts_with("0000:0000:0000:0000:") &&
	       gid.ends_with(":0000:0000");
}

bool belongs(const Gid &gid, const std::string &netdev)
{
	return gid.netdev.empty() || gid.netdev == netdev;
}

} // namespace

// Tables of GIDs have a thousand files.
std::string first_line(const fs::path &file)
{
	const sdp::Descriptor fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
	std::array<char, 1024> buffer{};
	const ssize_t length = fd ? read(fd.get(), buffer.data(), buffer.size()) : 0;
	const std::string_view text(buffer.data(),
				    length > 0 ? static_cast<std::size_t>(length) : 0);

	return std::string(text.substr(0, text.find('\n')));
}

std::vector<std::string> names_in(const fs::path &directory)
{
	std::vector<std::string> names;
	std::error_code error;

	for (fs::directory_iterator it(directory, error), end; !error && it != end;
	     it.increment(error))
		names.push_back(it->path().filename());
	std::sort(names.begin(), names.end());
	return names;
}

std::vector<Port> read_ports(const fs::path &sys)
{
	std::vector<Port> ports;

	for (const std::string &device : names_in(sys))
		for (const std::string &number : names_in(sys / device / "ports")) {
			const fs::path port = sys / device / "ports" / number;

			ports.push_back(
				{.device = device,
				 .number = sdp::parse_number<unsigned>(number).value_or(0),
				 .state = behind_colon(first_line(port / "state")),
				 .phys_state = behind_colon(first_line(port / "phys_state")),
				 .link_layer = first_line(port / "link_layer"),
				 .gids = read_gids(port)});
		}
	return ports;
}

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
		const auto own = endpoint_of(entry->ifa_addr,
					     v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));

		if (own)
			addresses.push_back({entry->ifa_name, own->address});
	}
	return addresses;
}

// connect() of a datagram socket sends nothing, and chooses route and address.
Route route_to(const Address &address)
{
	SocketAddress peer = socket_address(address);
	SocketAddress own;
	Route route;
	const sdp::Descriptor fd(socket(peer.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));

	own.length = sizeof(own.storage);
	if (!fd || connect(fd.get(), peer.get(), peer.length) != 0 ||
	    getsockname(fd.get(), own.get(), &own.length) != 0) {
		route.error = errno;
		return route;
	}
	if (const auto source = endpoint_of(own.get(), own.length))
		route.source = source->address;
	route.local = !netdev_with(address).empty();
	route.netdev = netdev_with(route.source);
	return route;
}

bool is_unspecified(const Address &address)
{
	const std::size_t from = address.is_v4() ? 12 : 0;

	return std::all_of(address.bytes.begin() + static_cast<std::ptrdiff_t>(from),
			   address.bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

std::optional<Carrier> carrier_by(const Port &port, const Route &route, const fs::path &sys_net)
{
	const std::string by_address = gid_text(route.source.bytes);
	const std::string by_hardware =
		gid_of_hardware_address(first_line(sys_net / route.netdev / "address"));
	std::optional<Carrier> without_gid;

	for (const Gid &gid : port.gids) {
		if (!belongs(gid, route.netdev))
			continue;
		if (gid.text == by_address || gid.text == by_hardware ||
		    (by_hardware == zero_gid && is_of_lo(gid.text)))
			return Carrier{.port = &port, .gid = &gid};
		if (!gid.netdev.empty())
			without_gid = Carrier{.port = &port};
	}
	return without_gid;
}

std::vector<Carrier> find_carriers(const std::vector<Port> &ports, const Route &route,
				   const fs::path &sys_net)
{
	std::vector<Carrier> with_gid;
	std::vector<Carrier> without_gid;

	for (const Port &port : ports)
		if (const auto carrier = carrier_by(port, route, sys_net))
			(carrier->gid != nullptr ? with_gid : without_gid).push_back(*carrier);
	return with_gid.empty() ? without_gid : with_gid;
}

std::string text_of(const Address &address)
{
	const std::string with_port = text_of(Endpoint{.address = address, .port = 0}).get();
	const std::string bare = with_port.substr(0, with_port.rfind(':'));

	return bare.starts_with('[') ? bare.substr(1, bare.size() - 2) : bare;
}

} // namespace libsdp
