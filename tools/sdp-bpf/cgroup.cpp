// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "cgroup.h"
#include "../common/descriptor.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace sdpbpf
{

namespace fs = std::filesystem;

namespace
{

[[noreturn]] void throw_errno(const fs::path &path)
{
	throw std::system_error(errno, std::generic_category(), path.native());
}

bool is_group(const fs::path &directory)
{
	struct statfs info {
	};
	std::error_code ignored;

	return fs::is_directory(directory, ignored) && statfs(directory.c_str(), &info) == 0 &&
	       info.f_type == CGROUP2_SUPER_MAGIC;
}

// The line of version 2 has neither number nor controllers: "0::/path".
fs::path own_group()
{
	constexpr std::string_view prefix = "0::/";
	std::ifstream input("/proc/self/cgroup");

	for (std::string line; std::getline(input, line);)
		if (line.starts_with(prefix))
			return hierarchy() / line.substr(prefix.size());
	throw std::runtime_error("this process is in no control group of version 2");
}

std::string path_within(const fs::path &directory, const fs::path &root)
{
	const std::string relative = directory.lexically_relative(root).string();

	return relative == "." ? "/" : "/" + relative;
}

// systemd.slice(5): each dash in the name is one step down; one alone is the root.
fs::path path_of_slice(const std::string &name)
{
	constexpr std::string_view suffix = ".slice";
	fs::path path;

	if (!name.ends_with(suffix) || name.find('/') != std::string::npos)
		return name;
	if (name == "-.slice")
		return path;
	for (std::size_t dash = name.find('-'); dash != std::string::npos;
	     dash = name.find('-', dash + 1))
		path /= name.substr(0, dash).append(suffix);
	return path / name;
}

} // namespace

// A line ends in "... - TYPE SOURCE OPTIONS"; the fifth field is the place.
fs::path hierarchy()
{
	std::ifstream input("/proc/self/mountinfo");

	for (std::string line; std::getline(input, line);) {
		if (line.find(" - cgroup2 ") == std::string::npos)
			continue;
		std::istringstream fields(line);
		std::array<std::string, 5> first;
		for (std::string &field : first)
			fields >> field;
		return first[4];
	}
	throw std::runtime_error("no control groups of version 2 are mounted "
				 "(try: mount -t cgroup2 cgroup2 /sys/fs/cgroup)");
}

fs::path find_group(const std::string &name)
{
	const fs::path root = hierarchy();

	if (is_group(name))
		return fs::canonical(name);
	for (const fs::path &within :
	     {root / fs::path(name).relative_path(), root / path_of_slice(name).relative_path()})
		if (is_group(within))
			return fs::canonical(within);
	throw std::runtime_error(fmt::format("there is no control group '{}'", name));
}

// Kernel file systems make handles of nothing but the number.
GroupId group_id(const fs::path &directory)
{
	alignas(file_handle) std::array<std::byte, sizeof(file_handle) + sizeof(GroupId)> room{};
	auto *handle = reinterpret_cast<file_handle *>(room.data());
	GroupId id = 0;
	int mount = 0;

	handle->handle_bytes = sizeof(id);
	if (name_to_handle_at(AT_FDCWD, directory.c_str(), handle, &mount, 0) != 0)
		throw_errno(directory);
	std::memcpy(&id, room.data() + offsetof(file_handle, f_handle), sizeof(id));
	return id;
}

void require_root()
{
	constexpr GroupId id_of_root = 1;
	const fs::path root = hierarchy();

	if (group_id(root) != id_of_root)
		throw std::runtime_error(fmt::format(
			"{} is not the root of all control groups, and rules for other groups "
			"would not be kept: this is for the host's namespace of control groups",
			root.native()));
}

std::unordered_map<GroupId, std::string> all_groups()
{
	const fs::path root = hierarchy();
	std::unordered_map<GroupId, std::string> groups{{group_id(root), "/"}};
	std::error_code ignored;

	// Groups come and go meanwhile; one that is gone has no number to find.
	for (auto it = fs::recursive_directory_iterator(
		     root, fs::directory_options::skip_permission_denied, ignored);
	     it != fs::end(it); it.increment(ignored)) {
		if (!it->is_directory(ignored))
			continue;
		try {
			groups.emplace(group_id(it->path()), path_within(it->path(), root));
		} catch (const std::system_error &) {
			continue;
		}
	}
	return groups;
}

OwnGroup::OwnGroup() : directory_(own_group() / fmt::format("sdp-bpf-{}", getpid()))
{
	if (!fs::create_directory(directory_))
		throw std::runtime_error(directory_.native() + ": exists already");
}

OwnGroup::~OwnGroup()
{
	rmdir(directory_.c_str());
}

int OwnGroup::enter() const
{
	const fs::path path = directory_ / "cgroup.procs";
	const sdp::Descriptor procs(open(path.c_str(), O_WRONLY | O_CLOEXEC));

	if (!procs || write(procs.get(), "0", 1) != 1)
		return errno;
	return 0;
}

void OwnGroup::wait_until_empty() const
{
	const fs::path path = directory_ / "cgroup.events";
	const sdp::Descriptor events(open(path.c_str(), O_RDONLY | O_CLOEXEC));

	if (!events)
		throw_errno(path);
	for (;;) {
		std::array<char, 256> text{};
		const ssize_t length = pread(events.get(), text.data(), text.size(), 0);
		if (length < 0)
			throw_errno(path);
		const std::string_view said(text.data(), static_cast<std::size_t>(length));
		if (said.find("populated 0") != std::string_view::npos)
			return;
		pollfd change{.fd = events.get(), .events = POLLPRI, .revents = 0};
		if (poll(&change, 1, -1) < 0 && errno != EINTR)
			throw_errno(path);
	}
}

} // namespace sdpbpf
