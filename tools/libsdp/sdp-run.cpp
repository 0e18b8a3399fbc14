// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdp-run: start a program with libsdp.so preloaded, or tell what its
 * configuration means.
 */
#include "binary.h"
#include "convert.h"
#include "inspect.h"
#include "kernel.h"
#include "program.h"
#include "rules_file.h"
#include "why.h"

#include "../common/print.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace
{

namespace fs = std::filesystem;

using libsdp::exit_own_failure;

/** Wrong arguments, to be said to the user. */
class UsageError : public std::runtime_error
{
	using std::runtime_error::runtime_error;
};

struct Options {
	bool check = false;
	bool explain = false;
	bool why = false;
	bool quiet = false;
	bool json = false;
	std::optional<std::string> config;
	std::vector<std::string> operands;
};

// Nobody may be there to read it, which is no reason to do anything else: unlike this,
// fmt::print() throws then.
void say(const std::string &message)
{
	std::fputs(fmt::format("sdp-run: {}\n", message).c_str(), stderr);
}

int fail(const std::string &message)
{
	say(message);
	return exit_own_failure;
}

std::uint16_t port_of(std::string_view text)
{
	std::uint16_t port = 0;
	const char *end = text.data() + text.size();
	const auto result = std::from_chars(text.data(), end, port);

	if (result.ec != std::errc() || result.ptr != end)
		throw UsageError(fmt::format("not a port: '{}'", text));
	return port;
}

libsdp::Endpoint endpoint_of(std::string_view address, std::string_view port)
{
	const auto parsed = libsdp::parse_address(address);

	if (!parsed)
		throw UsageError(fmt::format("not an IP address: '{}'", address));
	return {.address = *parsed, .port = port_of(port)};
}

libsdp::Role role_of(std::string_view text)
{
	if (text == "server" || text == "listen")
		return libsdp::Role::server;
	if (text == "client" || text == "connect")
		return libsdp::Role::client;
	throw UsageError(fmt::format("neither 'server' nor 'client': '{}'", text));
}

int check(const Options &options)
{
	libsdp::Question question;

	if (options.operands.size() > 1)
		throw UsageError("--check takes one file");
	question.json = options.json;
	question.file =
		options.operands.empty() ? libsdp::rules_path(options.config) : options.operands[0];
	return libsdp::check(question, libsdp::read_config_file(question.file)) ? EXIT_SUCCESS
										: EXIT_FAILURE;
}

int explain(const Options &options)
{
	const auto &operands = options.operands;
	libsdp::Question question;

	if (operands.size() < 3 || operands.size() > 4)
		throw UsageError("--explain takes PROGRAM ADDRESS PORT and server or client");
	question.json = options.json;
	question.program = fs::path(operands[0]).filename();
	question.endpoint = endpoint_of(operands[1], operands[2]);
	if (operands.size() == 4)
		question.role = role_of(operands[3]);
	const libsdp::RulesFile rules = libsdp::read_rules(options.config);

	question.file = rules.path;
	libsdp::explain(question, rules.text);
	return EXIT_SUCCESS;
}

// An address with a port, as libsdp.conf has them; nothing if it is none.
std::optional<libsdp::Endpoint> endpoint_in(std::string_view text)
{
	const std::size_t colon = text.rfind(':');

	if (colon == std::string_view::npos)
		return std::nullopt;
	std::string_view address = text.substr(0, colon);

	if (address.starts_with('[') && address.ends_with(']'))
		address = address.substr(1, address.size() - 2);
	if (!libsdp::parse_address(address))
		return std::nullopt;
	return endpoint_of(address, text.substr(colon + 1));
}

// What begins like an address is none that libsdp.conf could have.
std::string program_to_explain(const std::vector<std::string> &operands, const std::string &name)
{
	if (name.find_first_of(":[") != std::string::npos)
		throw UsageError(fmt::format("not an IP address with a port: '{}'", name));
	if (&name == &operands.front())
		for (const std::string &operand : operands)
			if (endpoint_in(operand))
				throw UsageError("addresses come before the program");
	return fs::path(name).filename();
}

// What follows the addresses is a program, and what follows that is the program's.
int why(const Options &options)
{
	libsdp::WhyQuestion question;

	question.file = libsdp::read_rules(options.config);
	for (const std::string &operand : options.operands) {
		const auto endpoint = endpoint_in(operand);

		if (!endpoint) {
			question.program = program_to_explain(options.operands, operand);
			question.program_file = libsdp::find_program(operand);
			break;
		}
		question.endpoints.push_back(*endpoint);
	}
	const std::string text = libsdp::why(question, options.json);

	sdp::print(text);
	return EXIT_SUCCESS;
}

bool is_for_tcp_alone(const Options &options)
{
	if (std::getenv("SIMPLE_LIBSDP") != nullptr || std::getenv("ALWAYS_USE_SDP") != nullptr)
		return false;
	try {
		const libsdp::RulesFile rules = libsdp::read_rules(options.config);

		return libsdp::summary_of(rules.text, fs::path(options.operands[0]).filename())
			.only_tcp;
	} catch (const std::system_error &) {
		return false; // the library says what is wrong with the file
	}
}

// Another error is somebody's will: a security module, or a filter.
const char *advice_for(int error)
{
	switch (error) {
	case EPROTONOSUPPORT:
	case ESOCKTNOSUPPORT:
	case EAFNOSUPPORT:
		return " (try: modprobe sdp)";
	default:
		return "";
	}
}

// Once for all that comes of the program: the library does not repeat it. What a
// program that cannot have the library starts may have it.
void warn_of_tcp(const std::string &program)
{
	const int error = libsdp::ask_kernel().error;
	const auto file = libsdp::find_program(program);

	if (!file)
		return;
	if (error != 0 && libsdp::stays_on_tcp(error)) {
		say(fmt::format("no SDP sockets here ({}): {} uses TCP{}", std::strerror(error),
				program, advice_for(error)));
		setenv("LIBSDP_TOLD", "1", 1);
		return;
	}
	const std::string obstacle = libsdp::preload_obstacle(*file);

	if (!obstacle.empty())
		say(fmt::format("no library can be preloaded ({}): {} uses TCP (try: sdp-bpf)",
				obstacle, program));
}

int run_program(const Options &options)
{
	std::string message;

	if (options.operands.empty())
		throw UsageError("which program?");
	if (options.json)
		throw UsageError("--json is for --check, --explain and --why");
	if (options.config &&
	    setenv("LIBSDP_CONFIG_FILE", fs::absolute(*options.config).c_str(), 1) != 0)
		return fail(fmt::format("cannot set LIBSDP_CONFIG_FILE: {}", std::strerror(errno)));
	message = libsdp::preload();
	if (!message.empty())
		return fail(message);
	if (options.quiet || std::getenv("LIBSDP_TOLD") != nullptr)
		setenv("LIBSDP_TOLD", "1", 1);
	else if (!is_for_tcp_alone(options))
		warn_of_tcp(options.operands[0]);
	const int status = libsdp::become(options.operands, message);

	fail(message);
	return status;
}

int act(const Options &options)
{
	if (options.check + options.explain + options.why > 1)
		throw UsageError("--check, --explain and --why are different questions");
	if (options.why)
		return why(options);
	if (options.check)
		return check(options);
	if (options.explain)
		return explain(options);
	return run_program(options);
}

void describe(CLI::App &app, Options &options)
{
	app.name("sdp-run");
	app.set_version_flag("-V,--version", "sdp-run " SDP_VERSION);
	app.add_option("--config", options.config, "use FILE in place of libsdp.conf")
		->type_name("FILE");
	app.add_flag("--check", options.check,
		     "tell what is wrong in libsdp.conf, or in a file: [FILE]");
	app.add_flag("--explain", options.explain,
		     "tell which rule decides: PROGRAM ADDRESS PORT [server|client]");
	app.add_flag("--why", options.why,
		     "tell what comes of it here, and why: [ADDRESS:PORT...] [PROGRAM]");
	app.add_flag("-q,--quiet", options.quiet, "do not tell that the program uses TCP");
	app.add_flag("-j,--json", options.json, "tell it in JSON");
	app.footer("What follows the options is the program with its arguments, after \"--\" even\n"
		   "if its name begins with a dash.");
	app.prefix_command();
	app.failure_message([](const CLI::App *, const CLI::Error &error) {
		return fmt::format("sdp-run: {} (see sdp-run --help)\n", error.what());
	});
}

// CLI11 takes the first argument that it does not know, and all behind it, for the
// program; but behind "--" it insists on knowing them. It wants them in reverse.
void parse(CLI::App &app, Options &options, int argc, char **argv)
{
	const std::vector<std::string> all(argv + std::min(argc, 1), argv + argc);
	const auto mark = std::find(all.begin(), all.end(), "--");
	std::vector<std::string> own(all.begin(), mark);

	std::reverse(own.begin(), own.end());
	app.parse(own);
	options.operands = app.remaining();
	if (!options.operands.empty()) {
		if (options.operands[0].starts_with('-'))
			throw UsageError(fmt::format("unknown option '{}'", options.operands[0]));
		std::copy(mark, all.end(), std::back_inserter(options.operands));
	} else if (mark != all.end()) {
		options.operands.assign(mark + 1, all.end());
	}
}

int run(int argc, char **argv)
{
	Options options;
	CLI::App app(
		"Run a program with its TCP sockets converted to SDP where the kernel offers it\n"
		"and libsdp.conf does not say otherwise; on TCP, as ever, where it does not.");

	describe(app, options);
	try {
		parse(app, options, argc, argv);
	} catch (const CLI::ParseError &outcome) {
		return app.exit(outcome) == 0 ? EXIT_SUCCESS : exit_own_failure;
	}
	return act(options);
}

} // namespace

int main(int argc, char *argv[])
{
	try {
		return run(argc, argv);
	} catch (const UsageError &error) {
		return fail(fmt::format("{} (see sdp-run --help)", error.what()));
	} catch (const std::exception &error) {
		return fail(error.what());
	}
}
