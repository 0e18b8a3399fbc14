// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdp-run: start a program with libsdp.so preloaded, or tell what its
 * configuration means.
 */
#include "inspect.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
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
	"Usage: sdp-run [--config FILE] [--] PROGRAM [ARGUMENT...]\n"
	"       sdp-run --check [--json] [FILE]\n"
	"       sdp-run --explain [--config FILE] [--json] PROGRAM ADDRESS PORT [ROLE]\n"
	"Run PROGRAM with its TCP sockets converted to SDP where the kernel offers it\n"
	"and libsdp.conf does not say otherwise; on TCP, as ever, where it does not.\n"
	"\n"
	"      --config FILE  use FILE in place of libsdp.conf\n"
	"      --check        tell what is wrong in libsdp.conf, or in FILE\n"
	"      --explain      tell which rule decides what PROGRAM uses as ROLE, server\n"
	"                     or client, at ADDRESS and PORT; PROGRAM is not run\n"
	"      --json         tell it in JSON\n"
	"      --help         show this text\n"
	"      --version      show the version\n";

/** Wrong arguments, to be said to the user. */
class UsageError : public std::runtime_error
{
	using std::runtime_error::runtime_error;
};

enum class Mode : std::uint8_t {
	run,
	check,
	explain,
	help,
	version
};

struct Options {
	Mode mode = Mode::run;
	bool json = false;
	std::optional<std::string> config;
	std::span<char *> operands;
};

int fail(const std::string &message)
{
	std::fprintf(stderr, "sdp-run: %s\n", message.c_str());
	return exit_own_failure;
}

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

// argv ends with a null pointer, as main() received it.
int run(char *const *argv)
{
	const std::string library = find_library();

	if (library.empty())
		return fail(std::string(library_name) +
			    " is neither beside this program nor in " SDP_LIBRARY_DIR);
	if (!fits_preload_list(library))
		return fail(library + ": LD_PRELOAD cannot express a path with a blank or a colon");
	if (!prepend_to_preload(library))
		return fail(std::string("cannot set LD_PRELOAD: ") + std::strerror(errno));

	execvp(*argv, argv);
	const int error = errno;
	std::fprintf(stderr, "sdp-run: %s: %s\n", *argv, std::strerror(error));
	return error == ENOENT ? exit_not_found : exit_not_executable;
}

std::uint16_t port_of(std::string_view text)
{
	std::uint16_t port = 0;
	const char *end = text.data() + text.size();
	const auto result = std::from_chars(text.data(), end, port);

	if (result.ec != std::errc() || result.ptr != end)
		throw UsageError("not a port: '" + std::string(text) + "'");
	return port;
}

libsdp::Endpoint endpoint_of(std::string_view address, std::string_view port)
{
	const auto parsed = libsdp::parse_address(address);

	if (!parsed)
		throw UsageError("not an IP address: '" + std::string(address) + "'");
	return {.address = *parsed, .port = port_of(port)};
}

libsdp::Role role_of(std::string_view text)
{
	if (text == "server" || text == "listen")
		return libsdp::Role::server;
	if (text == "client" || text == "connect")
		return libsdp::Role::client;
	throw UsageError("neither 'server' nor 'client': '" + std::string(text) + "'");
}

std::string config_file(const Options &options)
{
	const char *named = std::getenv("LIBSDP_CONFIG_FILE");

	if (options.config)
		return *options.config;
	return named != nullptr ? named : SDP_CONFIG_FILE;
}

int check(const Options &options)
{
	libsdp::Question question;

	if (options.operands.size() > 1)
		throw UsageError("--check takes one file");
	question.json = options.json;
	question.file = options.operands.empty() ? config_file(options) : options.operands[0];
	return libsdp::check(question, libsdp::read_config_file(question.file)) ? EXIT_SUCCESS
										: EXIT_FAILURE;
}

// Without a file nothing is wrong: there are no rules then.
std::string text_to_explain(const Options &options, const std::string &file)
{
	const bool is_default = !options.config && std::getenv("LIBSDP_CONFIG_FILE") == nullptr;

	if (is_default && access(file.c_str(), F_OK) != 0)
		return {};
	return libsdp::read_config_file(file);
}

int explain(const Options &options)
{
	const auto operands = options.operands;
	libsdp::Question question;

	if (operands.size() < 3 || operands.size() > 4)
		throw UsageError("--explain takes PROGRAM ADDRESS PORT and server or client");
	question.file = config_file(options);
	question.json = options.json;
	question.program = fs::path(operands[0]).filename();
	question.endpoint = endpoint_of(operands[1], operands[2]);
	if (operands.size() == 4)
		question.role = role_of(operands[3]);
	libsdp::explain(question, text_to_explain(options, question.file));
	return EXIT_SUCCESS;
}

// The value of an option that needs one; it is the next argument.
std::string value_of(std::string_view option, std::span<char *> &rest)
{
	if (rest.empty())
		throw UsageError("what is the value of " + std::string(option) + "?");
	std::string value = rest.front();

	rest = rest.subspan(1);
	return value;
}

Options parse_options(std::span<char *> rest)
{
	Options options;

	while (!rest.empty() && rest.front()[0] == '-') {
		const std::string_view option = rest.front();

		rest = rest.subspan(1);
		if (option == "--")
			break;
		if (option == "--help")
			options.mode = Mode::help;
		else if (option == "--version")
			options.mode = Mode::version;
		else if (option == "--check")
			options.mode = Mode::check;
		else if (option == "--explain")
			options.mode = Mode::explain;
		else if (option == "--json")
			options.json = true;
		else if (option == "--config")
			options.config = value_of(option, rest);
		else
			throw UsageError("unknown option '" + std::string(option) + "'");
	}
	options.operands = rest;
	return options;
}

int run_program(const Options &options)
{
	if (options.operands.empty())
		throw UsageError("which program?");
	if (options.json)
		throw UsageError("--json is for --check and --explain");
	if (options.config &&
	    setenv("LIBSDP_CONFIG_FILE", fs::absolute(*options.config).c_str(), 1) != 0)
		return fail(std::string("cannot set LIBSDP_CONFIG_FILE: ") + std::strerror(errno));
	return run(options.operands.data());
}

int act(const Options &options)
{
	switch (options.mode) {
	case Mode::help:
		return std::fputs(usage, stdout) < 0 ? exit_own_failure : EXIT_SUCCESS;
	case Mode::version:
		return std::puts("sdp-run " SDP_VERSION) < 0 ? exit_own_failure : EXIT_SUCCESS;
	case Mode::check:
		return check(options);
	case Mode::explain:
		return explain(options);
	default:
		return run_program(options);
	}
}

} // namespace

int main(int argc, char *argv[])
{
	try {
		const std::span<char *> arguments(argv, static_cast<std::size_t>(argc));

		return act(parse_options(arguments.subspan(argc > 0 ? 1 : 0)));
	} catch (const UsageError &error) {
		return fail(std::string(error.what()) + " (see sdp-run --help)");
	} catch (const std::exception &error) {
		return fail(error.what());
	}
}
