// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "processes.h"

#include "../common/number.h"

#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

namespace sdpstat
{
namespace
{

namespace fs = std::filesystem;

// A directory that vanishes or may not be read counts as empty.
template <typename Visit> void for_each_number(const fs::path &directory, Visit visit)
{
	std::error_code error;

	for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
	     entry.increment(error)) {
		const auto number = sdp::parse_number<int>(entry->path().filename().native());

		if (number)
			visit(*number, entry->path());
	}
}

// The target of a descriptor's link reads "socket:[INODE]".
std::optional<std::uint64_t> socket_inode(const fs::path &link)
{
	constexpr std::string_view prefix = "socket:[";
	std::error_code error;
	const std::string target = fs::read_symlink(link, error).native();

	if (error || !target.starts_with(prefix) || !target.ends_with(']'))
		return std::nullopt;
	return sdp::parse_number<std::uint64_t>(
		std::string_view(target).substr(prefix.size(), target.size() - prefix.size() - 1));
}

std::string process_name(const fs::path &process)
{
	std::ifstream comm(process / "comm");
	std::string name;

	std::getline(comm, name);
	return name;
}

} // namespace

Holders find_holders(const fs::path &proc)
{
	Holders holders;

	for_each_number(proc, [&](int pid, const fs::path &process) {
		for_each_number(process / "fd", [&](int fd, const fs::path &link) {
			if (const auto inode = socket_inode(link))
				holders[*inode].push_back({process_name(process), pid, fd});
		});
	});
	return holders;
}

const std::vector<Holder> &holders_of(std::uint64_t inode, const Holders &holders)
{
	static const std::vector<Holder> none;
	const auto found = holders.find(inode);

	return found == holders.end() ? none : found->second;
}

} // namespace sdpstat
