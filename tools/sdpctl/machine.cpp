// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "machine.h"

#include "devices.h"
#include "module.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace sdpctl
{
namespace
{

using libsdp::Port;

DeviceKind kind_of(const Places &places, const Port &port)
{
	std::error_code ignored;

	if (!is_software(places, port))
		return DeviceKind::adapter;
	if (fabric_of(places, port) == Fabric::roce)
		return DeviceKind::soft_roce;
	return std::filesystem::exists(places.sys / "class/infiniband" / port.device / "design",
				       ignored)
		       ? DeviceKind::iwarp
		       : DeviceKind::other;
}

unsigned packet_of(const Places &places, const Port &port)
{
	if (fabric_of(places, port) != Fabric::roce)
		return 0;
	for (const libsdp::Gid &gid : port.gids)
		if (!gid.netdev.empty())
			return roce_mtu(netdev_mtu(places, gid.netdev));
	return 0;
}

std::uint64_t memory_of(const Places &places)
{
	std::ifstream input(places.proc / "meminfo");
	std::string word;
	std::uint64_t kib = 0;

	while (input >> word)
		if (word == "MemTotal:" && input >> kib)
			break;
	return kib * 1024;
}

// One with several ports has one entry, and one that nothing goes through has none.
std::vector<MeasuredDevice> devices_in_use(const Places &places, const std::vector<Port> &ports)
{
	std::vector<MeasuredDevice> devices;

	for (const Port &port : ports) {
		const bool is_known = std::any_of(
			devices.begin(), devices.end(),
			[&](const MeasuredDevice &device) { return device.name == port.device; });

		if (port.state == "ACTIVE" && !is_known)
			devices.push_back(
				{port.device, kind_of(places, port), packet_of(places, port)});
	}
	return devices;
}

std::pair<unsigned, unsigned> version_of(const std::string &release)
{
	std::istringstream input(release);
	unsigned major = 0;
	unsigned minor = 0;
	char dot = 0;

	input >> major >> dot >> minor;
	return {major, minor};
}

} // namespace

DeviceKind Machine::kind() const
{
	DeviceKind kind = DeviceKind::none;

	for (const MeasuredDevice &device : devices)
		kind = std::max(kind, device.kind);
	return kind;
}

bool Machine::has_threaded_soft_roce() const
{
	return kind() == DeviceKind::soft_roce && version_of(release) >= std::pair(6U, 4U);
}

Machine look_at_machine(const Places &places, const std::vector<Port> &ports)
{
	Machine machine;

	machine.release = kernel_release(places);
	machine.processors = static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
	machine.memory = memory_of(places);
	machine.page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
	machine.devices = devices_in_use(places, ports);
	return machine;
}

const char *name_of(DeviceKind kind)
{
	switch (kind) {
	case DeviceKind::adapter:
		return "an adapter";
	case DeviceKind::soft_roce:
		return "Soft-RoCE";
	case DeviceKind::iwarp:
		return "iwarp.ko";
	case DeviceKind::other:
		return "iWARP in software";
	default:
		return "none";
	}
}

} // namespace sdpctl
