// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "config.h"

#include "log.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace libsdp
{

const char *const default_config_file = SDP_CONFIG_FILE;

namespace
{

constexpr std::size_t longest_file = std::size_t{1} << 20;

// Without a file, and until there is a configuration, nothing is decided here.
constinit const Config undecided{};
constinit std::atomic<const Config *> current{nullptr};

static_assert(std::atomic<const Config *>::is_always_lock_free,
	      "a signal handler may interrupt a thread that uses the pointer");

// Memory that malloc() does not know: the program may have its own, which may
// not be ready when the first socket is opened.
void *allocate(std::size_t size) noexcept
{
	void *memory =
		mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? nullptr : memory;
}

/** A file's text, or the errno that says why there is none. */
struct Text {
	std::string_view text;
	int error = 0;
};

ssize_t read_all(int fd, char *buffer, std::size_t size) noexcept
{
	std::size_t done = 0;

	while (done < size) {
		const ssize_t count = read(fd, buffer + done, size - done);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -1;
		if (count == 0)
			break;
		done += static_cast<std::size_t>(count);
	}
	return static_cast<ssize_t>(done);
}

Text read_open_file(int fd) noexcept
{
	struct stat status = {};

	if (fstat(fd, &status) != 0)
		return {.text = {}, .error = errno};
	if (!S_ISREG(status.st_mode))
		return {.text = {}, .error = EINVAL};
	const auto size = static_cast<std::size_t>(status.st_size);

	if (size > longest_file)
		return {.text = {}, .error = EFBIG};
	char *buffer = static_cast<char *>(allocate(size + 1));

	if (buffer == nullptr)
		return {.text = {}, .error = ENOMEM};
	const ssize_t length = read_all(fd, buffer, size);

	if (length < 0) {
		const int error = errno;

		munmap(buffer, size + 1);
		return {.text = {}, .error = error};
	}
	return {.text = {buffer, static_cast<std::size_t>(length)}, .error = 0};
}

Text read_file(const char *path) noexcept
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return {.text = {}, .error = errno};
	const Text result = read_open_file(fd);

	close(fd);
	return result;
}

void report(const LogSettings &log, const char *path, const ParseError &error) noexcept
{
	Message message;

	message << path << ":" << error.line << ":" << error.column << ": expected "
		<< error.expected << ", found ";
	if (error.found.empty())
		message << "nothing";
	else
		message << "'" << error.found << "'";
	write_log(log, level::error, message);
}

// A rule behind the error might have been preceded by the one that is wrong, so
// that it does not count either.
void parse(std::string_view text, const char *path, Rule *rules, Config &config) noexcept
{
	Parser parser(text);
	Parser::Step step;
	std::size_t count = 0;
	bool any = false;

	while ((step = parser.next()) == Parser::Step::rule) {
		any = true;
		if (fits_program(parser.rule().program, program_invocation_short_name))
			rules[count++] = parser.rule();
	}
	config.log = parser.log();
	config.rules = {rules, count};
	// A file that only says what to log leaves the decision to the kernel.
	config.has_rules = any || step == Parser::Step::error;
	if (step == Parser::Step::error)
		report(config.log, path, parser.error());
}

void note_unreadable(const char *path, int error, Config &config) noexcept
{
	Message message;

	message << "cannot read " << path << ": error " << static_cast<unsigned>(error);
	write_log(config.log, level::error, message);
	config.has_rules = true;
}

// What fails here leaves all sockets with "both", which always connects.
void load(const char *path, bool required, Config &config) noexcept
{
	const Text file = read_file(path);

	if (file.error == ENOENT && !required)
		return;
	if (file.error != 0) {
		note_unreadable(path, file.error, config);
		return;
	}
	const auto lines =
		static_cast<std::size_t>(std::count(file.text.begin(), file.text.end(), '\n')) + 1;
	auto *rules = static_cast<Rule *>(allocate(lines * sizeof(Rule)));

	if (rules == nullptr)
		note_unreadable(path, ENOMEM, config);
	else
		parse(file.text, path, rules, config);
	if (config.has_rules)
		config.always = always(config.rules);
}

Config *read_configuration() noexcept
{
	void *memory = allocate(sizeof(Config));

	if (memory == nullptr)
		return nullptr;
	auto *config = std::construct_at(static_cast<Config *>(memory));

	config->told = secure_getenv("LIBSDP_TOLD") != nullptr;
	// Who may not be told by the user what to do is not.
	if (secure_getenv("SIMPLE_LIBSDP") != nullptr || secure_getenv("ALWAYS_USE_SDP") != nullptr)
		return config;
	const char *named = secure_getenv("LIBSDP_CONFIG_FILE");

	load(named != nullptr ? named : default_config_file, named != nullptr, *config);
	return config;
}

// Threads that get here at the same time read the same file; one of them wins,
// and what the others have read is left where it is.
const Config &read_once() noexcept
{
	const Config *expected = nullptr;
	const int errno_before = errno;
	const Config *mine = read_configuration();

	errno = errno_before;
	if (mine == nullptr)
		mine = &undecided;
	if (!current.compare_exchange_strong(expected, mine, std::memory_order_acq_rel))
		return *expected;
	return *mine;
}

[[gnu::constructor]] void read_early() noexcept
{
	if (current.load(std::memory_order_relaxed) == nullptr)
		read_once();
}

} // namespace

const Config &configuration() noexcept
{
	const Config *config = current.load(std::memory_order_acquire);

	if (config != nullptr)
		return *config;
	// In the program's preinit array libc knows neither the program's name nor
	// its environment.
	if (*program_invocation_short_name == '\0')
		return undecided;
	return read_once();
}

} // namespace libsdp
