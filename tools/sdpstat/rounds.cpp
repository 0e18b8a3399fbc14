// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "rounds.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <system_error>

#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace sdpstat
{
namespace
{

std::string for_screen(const std::string &text)
{
	winsize size{};

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 2 || size.ws_col == 0)
		return text;
	// The cursor stays in the last line, which is empty.
	return clipped(text, size.ws_row - 1U, size.ws_col);
}

std::string for_output(const Rounds &rounds, const std::string &text)
{
	if (rounds.json)
		return text;
	return isatty(STDOUT_FILENO) != 0 ? "\x1b[H\x1b[2J" + for_screen(text) : text + "\n";
}

[[noreturn]] void fail(const char *what)
{
	throw std::system_error(errno, std::generic_category(), what);
}

} // namespace

Pauses::Pauses()
{
	sigemptyset(&signals_);
	sigaddset(&signals_, SIGINT);
	sigaddset(&signals_, SIGTERM);
	pending_ = sdp::Descriptor(signalfd(-1, &signals_, SFD_CLOEXEC));
	if (!pending_)
		fail("signalfd");
	pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

// What a signal should end has ended.
Pauses::~Pauses()
{
	const timespec now = {};

	while (sigtimedwait(&signals_, nullptr, &now) >= 0)
		continue;
	pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Pauses::pause(std::chrono::duration<double> time) const
{
	using std::chrono::nanoseconds;
	const auto end =
		std::chrono::steady_clock::now() + std::chrono::duration_cast<nanoseconds>(time);

	for (;;) {
		const nanoseconds left =
			std::max(nanoseconds::zero(), end - std::chrono::steady_clock::now());
		const timespec timeout = {.tv_sec = left.count() / std::nano::den,
					  .tv_nsec = left.count() % std::nano::den};

		if (sigtimedwait(&signals_, nullptr, &timeout) >= 0)
			return false;
		if (errno != EINTR)
			return true;
	}
}

// False: there is none, and a signal has come.
bool Pauses::wait_for_room() const
{
	std::array<pollfd, 2> fds = {pollfd{STDOUT_FILENO, POLLOUT, 0},
				     pollfd{pending_.get(), POLLIN, 0}};

	while (poll(fds.data(), fds.size(), -1) < 0)
		if (errno != EINTR)
			fail("poll");
	return fds[0].revents != 0;
}

bool Pauses::print(std::string_view text) const
{
	while (!text.empty()) {
		if (!wait_for_room())
			return false;
		// A pipe that has room takes so much at once.
		const ssize_t written = write(STDOUT_FILENO, text.data(),
					      std::min<std::size_t>(text.size(), PIPE_BUF));

		if (written >= 0)
			text.remove_prefix(static_cast<std::size_t>(written));
		else if (errno != EINTR && errno != EAGAIN)
			fail("standard output");
	}
	return true;
}

void show_rounds(const Rounds &rounds, const Pauses &pauses,
		 const std::function<std::string()> &report)
{
	for (std::uint64_t round = 1;; round++) {
		if (!pauses.print(for_output(rounds, report())) || round == rounds.count ||
		    !pauses.pause(rounds.interval))
			return;
	}
}

std::string clipped(std::string_view text, std::size_t lines, std::size_t columns)
{
	std::string result;

	for (; lines > 0 && !text.empty(); lines--) {
		const std::string_view line = text.substr(0, text.find('\n'));

		result.append(line.substr(0, columns)).append("\n");
		text.remove_prefix(std::min(line.size() + 1, text.size()));
	}
	return result;
}

} // namespace sdpstat
