// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "source.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace sdpstat
{
namespace
{

namespace fs = std::filesystem;

constexpr const char *own_tables = "/proc/net";

// The tables vanish with the module, while their directory is always there.
std::ifstream open_table(const fs::path &path)
{
	errno = 0;
	std::ifstream input(path);
	const int error = errno;

	if (input.is_open())
		return input;
	if (error == ENOENT && fs::is_directory(path.parent_path()))
		throw ModuleAbsent(fmt::format(
			"there is no {}: the kernel module 'sdp' is not loaded (try: modprobe sdp)",
			path.native()));
	throw std::system_error(error, std::generic_category(), path.native());
}

template <typename Parse> auto read_table(const fs::path &path, Parse parse)
{
	std::ifstream input = open_table(path);

	try {
		auto rows = parse(input);

		if (input.bad())
			throw std::runtime_error("error while reading");
		return rows;
	} catch (const std::runtime_error &error) {
		throw std::runtime_error(fmt::format("{}: {}", path.native(), error.what()));
	}
}

fs::path table_in(const std::optional<std::string> &proc, const char *name)
{
	return fs::path(proc.value_or(own_tables)) / name;
}

} // namespace

std::vector<Socket> read_sockets(const std::optional<std::string> &proc, const Question &question)
{
	if (proc)
		return read_table(table_in(proc, "sdp"), parse_sockets);
	// To look must not load the module: nobody asks the kernel for sockets that cannot be.
	open_table(table_in(proc, "sdp"));
	try {
		return fetch_sockets(question);
	} catch (const std::system_error &error) {
		if (error.code() != std::errc::no_such_file_or_directory)
			throw;
		throw std::runtime_error("the kernel module 'sdp' does not list its sockets by "
					 "netlink: it is older than sdpstat (try: --proc "
					 "/proc/net)");
	}
}

std::vector<Counter> read_counters(const std::optional<std::string> &proc)
{
	return read_table(table_in(proc, "sdpstats"), parse_counters);
}

std::vector<Device> read_devices(const std::optional<std::string> &proc)
{
	return read_table(table_in(proc, "sdp_devices"), parse_devices);
}

} // namespace sdpstat
