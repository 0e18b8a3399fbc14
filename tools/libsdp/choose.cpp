// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "choose.h"

#include "config.h"
#include "log.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <linux/sdp.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace libsdp
{
namespace
{

constinit std::atomic<bool> refusal_noted{false};

int option_of(Transport transport) noexcept
{
	switch (transport) {
	case Transport::tcp:
		return SDP_FALLBACK_ONLY;
	case Transport::sdp:
		return SDP_FALLBACK_OFF;
	default:
		return SDP_FALLBACK_ON;
	}
}

// False on everything but SDP sockets that may still be told.
bool tell_kernel(int fd, Transport transport) noexcept
{
	const int errno_before = errno;
	const int value = option_of(transport);
	const bool told = setsockopt(fd, SOL_SDP, SDP_TCP_FALLBACK, &value, sizeof(value)) == 0;

	errno = errno_before;
	return told;
}

void log_decision(const Config &config, unsigned level, const char *call, const Endpoint &endpoint,
		  const Decision &decision) noexcept
{
	Message message;

	if (level < config.log.min_level)
		return;
	message << call << " " << text_of(endpoint).get() << ": " << name_of(decision.transport);
	if (decision.line != 0)
		message << ", by line " << decision.line;
	else
		message << ", since no rule matches";
	write_log(config.log, level, message);
}

// The kernel copies the set of signals before it finds that there is no such way
// to use it: a call without effect that programs are allowed even where little is.
bool is_word_readable(std::uintptr_t address) noexcept
{
	constexpr std::size_t size = _NSIG / 8;
	const int errno_before = errno;
	// To the kernel a set at no address is none, and nothing to copy.
	if ((address & ~(size - 1)) == 0)
		return false;
	const bool readable =
		syscall(SYS_rt_sigprocmask, -1, address & ~(size - 1), nullptr, size) == 0 ||
		errno != EFAULT;

	errno = errno_before;
	return readable;
}

// Of an address that is not there the kernel says EFAULT, and shall go on to.
std::optional<Endpoint> readable_endpoint(const sockaddr *address, socklen_t length) noexcept
{
	const auto first = reinterpret_cast<std::uintptr_t>(address);

	// None is longer than a page.
	if (length == 0 || length > sizeof(sockaddr_storage) || !is_word_readable(first) ||
	    !is_word_readable(first + length - 1))
		return std::nullopt;
	return endpoint_of(address, length);
}

void choose(int fd, unsigned level, const char *call, Role role, const Endpoint &endpoint) noexcept
{
	const Config &config = configuration();
	const Decision decision = decide(config.rules, role, endpoint);

	if (tell_kernel(fd, decision.transport))
		log_decision(config, level, call, endpoint, decision);
}

// Not by strerror(), which allocates and translates: this is a constant of the C library.
void describe(Message &message, int error) noexcept
{
	const char *text = strerrordesc_np(error);

	// A filter may refuse with numbers that are no error's.
	if (text != nullptr)
		message << text;
	else
		message << "error " << static_cast<unsigned>(error);
}

} // namespace

bool nothing_to_convert() noexcept
{
	return configuration().always == Transport::tcp;
}

void choose_for_new(int fd) noexcept
{
	const Config &config = configuration();

	if (config.has_rules)
		tell_kernel(fd, config.always.value_or(Transport::both));
}

void note_refusal(int error) noexcept
{
	const Config &config = configuration();
	Message message;

	// One line is enough for all programs that come of one sdp-run.
	if (config.told && config.log.destination == LogSettings::Destination::standard_error)
		return;
	if (config.log.min_level > level::warning || refusal_noted.exchange(true))
		return;
	message << "no SDP sockets here (";
	describe(message, error);
	message << "), all connections use TCP";
	write_log(config.log, level::warning, message);
}

// Whoever asks for a port is a server, by all experience; if not, connect()
// decides anew. Without one, both are kept possible.
void choose_for_bind(int fd, const sockaddr *address, socklen_t length) noexcept
{
	if (!configuration().has_rules)
		return;

	const std::optional<Endpoint> endpoint = readable_endpoint(address, length);

	if (!endpoint)
		return;
	if (endpoint->port == 0)
		choose_for_new(fd);
	else
		choose(fd, level::detail, "bind", Role::server, *endpoint);
}

void choose_for_listen(int fd) noexcept
{
	const int errno_before = errno;
	sockaddr_storage address = {};
	socklen_t length = sizeof(address);

	if (!configuration().has_rules)
		return;
	if (getsockname(fd, reinterpret_cast<sockaddr *>(&address), &length) == 0) {
		const auto endpoint =
			endpoint_of(reinterpret_cast<const sockaddr *>(&address), length);

		if (endpoint)
			choose(fd, level::summary, "listen", Role::server, *endpoint);
	}
	errno = errno_before;
}

void choose_for_connect(int fd, const sockaddr *address, socklen_t length) noexcept
{
	if (!configuration().has_rules)
		return;

	const std::optional<Endpoint> endpoint = readable_endpoint(address, length);

	if (endpoint)
		choose(fd, level::summary, "connect", Role::client, *endpoint);
}

} // namespace libsdp
