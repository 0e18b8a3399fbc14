// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "program.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

namespace libsdp
{
namespace
{

namespace fs = std::filesystem;

constexpr const char *library_name = "libsdp.so.1";

// Beside this program, as in a build tree; then where "make install" puts it,
// seen from this program and last by its absolute path (no /proc needed).
std::array<fs::path, 3> library_candidates()
{
	std::error_code ignored;
	const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
	const fs::path beside = self.parent_path();

	return {beside / library_name,
		(beside / SDP_LIBRARY_FROM_BIN).lexically_normal() / library_name,
		fs::path(SDP_LIBRARY_DIR) / library_name};
}

std::string find_library()
{
	for (const fs::path &candidate : library_candidates())
		if (candidate.is_absolute() && access(candidate.c_str(), R_OK) == 0)
			return candidate.string();
	return {};
}

// The loader splits LD_PRELOAD at blanks and colons and knows no quoting.
bool fits_preload_list(std::string_view path)
{
	return path.find_first_of(" :") == std::string_view::npos;
}

bool prepend_to_preload(const std::string &library)
{
	const char *present = std::getenv("LD_PRELOAD");
	std::string list = library;

	if (present != nullptr && *present != '\0')
		list.append(":").append(present);
	return setenv("LD_PRELOAD", list.c_str(), 1) == 0;
}

} // namespace

std::string preload()
{
	const std::string library = find_library();

	if (library.empty())
		return fmt::format("{} is neither beside this program nor in {}", library_name,
				   SDP_LIBRARY_DIR);
	if (!fits_preload_list(library))
		return library + ": LD_PRELOAD cannot express a path with a blank or a colon";
	if (!prepend_to_preload(library))
		return fmt::format("cannot set LD_PRELOAD: {}", std::strerror(errno));
	return {};
}

int become(const std::vector<std::string> &command, std::string &message)
{
	std::vector<char *> argv;

	argv.reserve(command.size() + 1);
	for (const std::string &argument : command)
		argv.push_back(const_cast<char *>(argument.c_str()));
	argv.push_back(nullptr);
	execvp(argv[0], argv.data());
	const int error = errno;
	message = fmt::format("{}: {}", command[0], std::strerror(error));
	return error == ENOENT ? exit_not_found : exit_not_executable;
}

} // namespace libsdp
