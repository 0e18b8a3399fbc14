// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdp-run: start a program with libsdp.so preloaded.
 */
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include <unistd.h>

namespace
{

namespace fs = std::filesystem;

// The exit codes of env(1), nohup(1) and their kin.
constexpr int exit_own_failure = 125;
constexpr int exit_not_executable = 126;
constexpr int exit_not_found = 127;

constexpr const char *usage =
	"Usage: sdp-run [--] PROGRAM [ARGUMENT...]\n"
	"Run PROGRAM with its TCP sockets converted to AF_SDP where the kernel\n"
	"offers it; on TCP, as ever, where it does not.\n"
	"\n"
	"      --help     show this text\n"
	"      --version  show the version\n";

int fail(const std::string &message)
{
	std::fprintf(stderr, "sdp-run: %s\n", message.c_str());
	return exit_own_failure;
}

// Beside this program, as in a build tree; then where "make install" puts it,
// seen from this program and last by its absolute path (no /proc needed).
std::array<fs::path, 3> library_candidates()
{
	std::error_code ignored;
	const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
	const fs::path beside = self.parent_path();

	return {beside / "libsdp.so",
		(beside / SDP_LIBRARY_FROM_BIN).lexically_normal() / "libsdp.so",
		fs::path(SDP_LIBRARY_DIR) / "libsdp.so"};
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

// argv ends with a null pointer, as main() received it.
int run(char *const *argv)
{
	const std::string library = find_library();

	if (library.empty())
		return fail("libsdp.so is neither beside this program nor in " SDP_LIBRARY_DIR);
	if (!fits_preload_list(library))
		return fail(library + ": LD_PRELOAD cannot express a path with a blank or a colon");
	if (!prepend_to_preload(library))
		return fail(std::string("cannot set LD_PRELOAD: ") + std::strerror(errno));

	execvp(*argv, argv);
	const int error = errno;
	std::fprintf(stderr, "sdp-run: %s: %s\n", *argv, std::strerror(error));
	return error == ENOENT ? exit_not_found : exit_not_executable;
}

} // namespace

int main(int argc, char *argv[])
{
	const std::span arguments(argv, static_cast<std::size_t>(argc));
	std::size_t first = 1;

	if (argc > 1) {
		const std::string_view option = arguments[1];

		if (option == "--help")
			return std::fputs(usage, stdout) < 0 ? exit_own_failure : EXIT_SUCCESS;
		if (option == "--version")
			return std::puts("sdp-run " SDP_VERSION) < 0 ? exit_own_failure
								     : EXIT_SUCCESS;
		if (option == "--")
			first = 2;
		else if (option.starts_with('-'))
			return fail("unknown option '" + std::string(option) +
				    "' (see sdp-run --help)");
	}
	if (first >= arguments.size())
		return fail("which program? (see sdp-run --help)");
	return run(arguments.subspan(first).data());
}
