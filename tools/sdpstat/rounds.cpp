// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "rounds.h"

#include "../common/print.h"

#include <algorithm>
#include <cerrno>

#include <pthread.h>
#include <sys/ioctl.h>
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

void show(const Rounds &rounds, const std::string &text)
{
	if (isatty(STDOUT_FILENO) != 0)
		sdp::print("\x1b[H\x1b[2J" + for_screen(text));
	else
		sdp::print(rounds.json ? text : text + "\n");
}

} // namespace

Pauses::Pauses()
{
	sigemptyset(&signals_);
	sigaddset(&signals_, SIGINT);
	sigaddset(&signals_, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

Pauses::~Pauses()
{
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

void show_rounds(const Rounds &rounds, const Pauses &pauses,
		 const std::function<std::string()> &report)
{
	for (std::uint64_t round = 1;; round++) {
		show(rounds, report());
		if (round == rounds.count || !pauses.pause(rounds.interval))
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
