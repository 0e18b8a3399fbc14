// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "settings.h"

#include "../common/descriptor.h"
#include "fabric.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace sdpctl
{
namespace
{

namespace fs = std::filesystem;

// The kernel takes a value from one write alone.
int write_value(const fs::path &file, const std::string &value)
{
	const std::string line = value + "\n";
	const sdp::Descriptor fd(open(file.c_str(), O_WRONLY | O_CLOEXEC));

	if (!fd || write(fd.get(), line.data(), line.size()) < 0)
		return errno;
	return 0;
}

} // namespace

Settings read_settings(const fs::path &directory)
{
	Settings settings;

	for (const std::string &name : libsdp::names_in(directory)) {
		std::string value = libsdp::first_line(directory / name);

		std::replace(value.begin(), value.end(), '\t', ' ');
		settings[name] = value;
	}
	return settings;
}

void make_changes(const fs::path &directory, const std::vector<Change> &changes)
{
	for (std::size_t i = 0; i < changes.size(); i++) {
		const Change &change = changes[i];
		const int error = write_value(directory / change.name, change.after);

		if (error == 0)
			continue;
		throw ChangeError(fmt::format(
			"net.sdp.{} = {}: {}{}{}", change.name, change.after, std::strerror(error),
			error == EACCES || error == EPERM ? ": only root may set it" : "",
			undo_changes(directory, std::span(changes).first(i))));
	}
}

std::string undo_changes(const fs::path &directory, std::span<const Change> made)
{
	std::string left;

	std::for_each(made.rbegin(), made.rend(), [&](const Change &change) {
		if (const int error = write_value(directory / change.name, change.before))
			left += fmt::format("; net.sdp.{} stays {}: {}", change.name, change.after,
					    std::strerror(error));
	});
	return left.empty() ? "; nothing is changed" : left;
}

} // namespace sdpctl
