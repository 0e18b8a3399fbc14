// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "log.h"
#include "output.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

namespace libsdp
{
namespace
{

constexpr std::size_t longest_path = 1024;

// By system call: libc's functions are cancellation points, which socket() and
// bind() must not become; and its socket() leads back into this library.
int open_at(int directory, const char *path, int flags) noexcept
{
	return static_cast<int>(syscall(SYS_openat, directory, path, flags, 0600));
}

/** A path that is put together on the stack. */
class Path
{
public:
	Path &operator<<(std::string_view text) noexcept
	{
		const std::size_t length = std::min(text.size(), sizeof(text_) - 1 - length_);

		fits_ = fits_ && length == text.size();
		std::memcpy(text_ + length_, text.data(), length);
		length_ += length;
		return *this;
	}

	/** Empty if it was too long: nothing can be opened by that. */
	[[nodiscard]] const char *get() const noexcept
	{
		return fits_ ? text_ : "";
	}

private:
	char text_[longest_path] = {};
	std::size_t length_ = 0;
	bool fits_ = true;
};

// The descriptors of this file live for one message only.
class Temporary
{
public:
	explicit Temporary(int fd) noexcept : fd_(fd)
	{
	}
	~Temporary()
	{
		if (fd_ >= 0)
			syscall(SYS_close, fd_);
	}
	Temporary(const Temporary &) = delete;
	Temporary &operator=(const Temporary &) = delete;
	Temporary(Temporary &&) = delete;
	Temporary &operator=(Temporary &&) = delete;

	[[nodiscard]] int get() const noexcept
	{
		return fd_;
	}

private:
	int fd_;
};

constexpr int log_flags =
	O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;

// Others can write to /tmp: a directory that is not ours alone is not used.
int open_in_own_directory(const char *path) noexcept
{
	struct stat status = {};

	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return -1;
	const Temporary directory(
		open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));

	if (fstat(directory.get(), &status) != 0 || status.st_uid != geteuid() ||
	    (status.st_mode & 077) != 0)
		return -1;
	return open_at(directory.get(), "log", log_flags);
}

// As ever: root's file is in /var/log, and everybody else's in a directory of
// its own, which is in /tmp unless the name says another place.
int open_file(std::string_view name) noexcept
{
	const std::size_t slash = name.rfind('/');
	const bool has_place = slash != std::string_view::npos;
	const std::size_t base = has_place ? slash + 1 : 0;
	const uid_t user = geteuid();
	Message number;
	Path path;

	if (user == 0) {
		path << "/var/log/" << std::string_view{name.data() + base, name.size() - base};
		return open_at(AT_FDCWD, path.get(), log_flags);
	}
	number << user;
	path << (has_place ? "" : "/tmp/") << name << "." << number.text();
	return open_in_own_directory(path.get());
}

void send_to_syslog(std::string_view line) noexcept
{
	const Temporary logger(static_cast<int>(
		syscall(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
	sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = "/dev/log"};

	syscall(SYS_sendto, logger.get(), line.data(), line.size(), MSG_NOSIGNAL, &to, sizeof(to));
}

void write_line(const LogSettings &settings, std::string_view line) noexcept
{
	if (settings.destination == LogSettings::Destination::file) {
		const Temporary file(open_file(settings.file));

		write_at_once(file.get(), line);
	} else if (has_standard_error()) {
		write_at_once(STDERR_FILENO, line);
	}
}

unsigned syslog_priority(unsigned message_level) noexcept
{
	const unsigned severity = message_level >= level::error	    ? LOG_ERR
				  : message_level >= level::warning ? LOG_WARNING
								    : LOG_INFO;

	return LOG_USER | severity;
}

std::string_view program_name() noexcept
{
	return program_invocation_short_name;
}

} // namespace

Message &Message::operator<<(std::string_view text) noexcept
{
	for (const char c : text) {
		// The end of the line has its place as well.
		if (length_ + 1 >= text_.size())
			break;
		text_[length_++] = (c >= ' ' && c <= '~') || c == '\n' ? c : '?';
	}
	return *this;
}

Message &Message::operator<<(unsigned number) noexcept
{
	char digits[10];
	std::size_t begin = sizeof(digits);

	do
		digits[--begin] = static_cast<char>('0' + number % 10);
	while ((number /= 10) != 0);
	return *this << std::string_view{digits + begin, sizeof(digits) - begin};
}

void write_log(const LogSettings &settings, unsigned level, const Message &message) noexcept
{
	const int errno_before = errno;
	Message line;

	if (level < settings.min_level)
		return;
	if (settings.destination == LogSettings::Destination::syslog) {
		line << "<" << syslog_priority(level) << ">libsdp["
		     << static_cast<unsigned>(getpid()) << "]: " << program_name() << ": "
		     << message.text();
		send_to_syslog(line.text());
	} else {
		line << "libsdp: " << program_name() << "[" << static_cast<unsigned>(getpid())
		     << "]: " << message.text() << "\n";
		write_line(settings, line.text());
	}
	errno = errno_before;
}

} // namespace libsdp
