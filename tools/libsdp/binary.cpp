// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "binary.h"

#include "../common/printable.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include <elf.h>
#include <link.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace libsdp
{
namespace
{

namespace fs = std::filesystem;
using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);

// What the kernel reads of a file to know its kind, and how often a script's
// interpreter may be a script.
constexpr std::size_t head_size = 256;
constexpr int most_scripts = 5;

// Of what is no file nothing: nobody may ever write to a pipe.
std::string head_of(const std::string &file)
{
	std::error_code ignored;
	std::string head(head_size, '\0');

	if (!fs::is_regular_file(file, ignored))
		return {};
	std::ifstream stream(file, std::ios::binary);

	stream.read(head.data(), static_cast<std::streamsize>(head.size()));
	head.resize(static_cast<std::size_t>(stream.gcount()));
	return head;
}

// Nothing if it is no script.
std::optional<std::string> interpreter_of(const std::string &file)
{
	const std::string head = head_of(file);
	const std::size_t begin = head.find_first_not_of(" \t", 2);

	if (!head.starts_with("#!") || begin == std::string::npos)
		return std::nullopt;
	return head.substr(begin,
			   head.find_first_of(std::string_view(" \t\n\0", 4), begin) - begin);
}

std::string without_scripts(std::string file)
{
	for (int i = 0; i < most_scripts; i++) {
		const auto interpreter = interpreter_of(file);

		if (!interpreter)
			break;
		file = *interpreter;
	}
	return file;
}

// Nothing of another class, of which the loader has its own words.
std::optional<Header> header_of(const std::string &file)
{
	constexpr unsigned char own_class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
	const std::string head = head_of(file);
	Header header = {};

	if (head.size() < sizeof(header))
		return std::nullopt;
	std::memcpy(&header, head.data(), sizeof(header));
	if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != own_class || header.e_phentsize != sizeof(Segment))
		return std::nullopt;
	return header;
}

// Without an interpreter, which would load them, there are no libraries. The dynamic loader itself,
// which has none either, is started by name so rarely that it is not told apart.
bool is_static(const std::string &file)
{
	const auto header = header_of(file);

	if (!header)
		return false;
	std::ifstream stream(file, std::ios::binary);
	std::vector<Segment> segments(header->e_phnum);

	stream.seekg(static_cast<std::streamoff>(header->e_phoff));
	return stream.read(reinterpret_cast<char *>(segments.data()),
			   static_cast<std::streamsize>(segments.size() * sizeof(Segment))) &&
	       std::none_of(segments.begin(), segments.end(),
			    [](const Segment &segment) { return segment.p_type == PT_INTERP; });
}

// Mode and capabilities mean nothing there.
bool gives_no_rights(const std::string &file)
{
	struct statvfs system = {};

	return statvfs(file.c_str(), &system) != 0 || (system.f_flag & ST_NOSUID) != 0;
}

// The loader is told so (AT_SECURE) if the process gets what its user has not.
const char *rights_of(const std::string &file)
{
	constexpr mode_t executable_by_group = S_ISGID | S_IXGRP;
	const bool keeps_its_user = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
	struct stat status = {};

	if (gives_no_rights(file) || stat(file.c_str(), &status) != 0)
		return nullptr;
	if (!keeps_its_user && (status.st_mode & S_ISUID) != 0 && status.st_uid != getuid())
		return "is set-user-ID";
	if (!keeps_its_user && (status.st_mode & executable_by_group) == executable_by_group &&
	    status.st_gid != getgid())
		return "is set-group-ID";
	if (getuid() != 0 && getxattr(file.c_str(), "security.capability", nullptr, 0) > 0)
		return "has file capabilities";
	return nullptr;
}

bool is_executable(const fs::path &path)
{
	std::error_code ignored;

	return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

} // namespace

std::optional<std::string> find_program(const std::string &name)
{
	const char *path = std::getenv("PATH");
	// An empty part, which the last may be, is the working directory.
	std::istringstream directories(path != nullptr ? std::string(path) + ":" : "/bin:/usr/bin");
	std::string directory;

	if (name.find('/') != std::string::npos)
		return is_executable(name) ? std::optional(name) : std::nullopt;
	while (std::getline(directories, directory, ':')) {
		const fs::path candidate = fs::path(directory) / name;

		if (is_executable(candidate))
			return candidate.string();
	}
	return std::nullopt;
}

std::string preload_obstacle(const std::string &file)
{
	const std::string binary = without_scripts(file);
	const char *what = is_static(binary) ? "is statically linked" : rights_of(binary);

	return what == nullptr ? std::string() : sdp::printable(binary) + " " + what;
}

} // namespace libsdp
