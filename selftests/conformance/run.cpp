// SPDX-License-Identifier: GPL-2.0
#include "run.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <stdexcept>

#include <arpa/inet.h>
#include <poll.h>
#include <unistd.h>

namespace conformance
{

namespace
{

constexpr int sdp_family = 27;
constexpr int sdp_protocol = 259;

template <typename Sockaddr> const Sockaddr &as(const Addr &addr)
{
	return reinterpret_cast<const Sockaddr &>(addr.storage);
}

template <typename Sockaddr> Sockaddr &as(Addr &addr)
{
	return reinterpret_cast<Sockaddr &>(addr.storage);
}

std::string host_of(const Addr &addr)
{
	char text[INET6_ADDRSTRLEN] = "?";

	if (addr.storage.ss_family == AF_INET6)
		inet_ntop(AF_INET6, &as<sockaddr_in6>(addr).sin6_addr, text, sizeof(text));
	else
		inet_ntop(AF_INET, &as<sockaddr_in>(addr).sin_addr, text, sizeof(text));
	return text;
}

} // namespace

// ---- addresses ----

std::uint16_t Addr::port() const
{
	return ntohs(storage.ss_family == AF_INET6 ? as<sockaddr_in6>(*this).sin6_port
						   : as<sockaddr_in>(*this).sin_port);
}

bool Addr::any() const
{
	if (storage.ss_family == AF_INET)
		return as<sockaddr_in>(*this).sin_addr.s_addr == 0;
	const in6_addr &ip = as<sockaddr_in6>(*this).sin6_addr;
	return IN6_IS_ADDR_UNSPECIFIED(&ip) || (IN6_IS_ADDR_V4MAPPED(&ip) && !ip.s6_addr32[3]);
}

void Addr::set_port(std::uint16_t port)
{
	if (storage.ss_family == AF_INET6)
		as<sockaddr_in6>(*this).sin6_port = htons(port);
	else
		as<sockaddr_in>(*this).sin_port = htons(port);
}

Addr make_addr(const std::string &text, std::uint16_t port)
{
	Addr addr;

	if (inet_pton(AF_INET, text.c_str(), &as<sockaddr_in>(addr).sin_addr) == 1) {
		addr.storage.ss_family = AF_INET;
		addr.length = sizeof(sockaddr_in);
	} else if (inet_pton(AF_INET6, text.c_str(), &as<sockaddr_in6>(addr).sin6_addr) == 1) {
		addr.storage.ss_family = AF_INET6;
		addr.length = sizeof(sockaddr_in6);
	} else {
		throw std::invalid_argument(text + " is no IPv4 or IPv6 address");
	}
	addr.set_port(port);
	return addr;
}

Addr Run::ipv4(const std::string &text, std::uint16_t port) const
{
	return make_addr(door_ == Door::inet6 ? "::ffff:" + text : text, port);
}

Addr Run::server(std::uint16_t port) const
{
	return ipv6_ ? make_addr(options_.server[1], port) : ipv4(options_.server[0], port);
}

Addr Run::client(std::uint16_t port) const
{
	return ipv6_ ? make_addr(options_.client[1], port) : ipv4(options_.client[0], port);
}

Addr Run::any(std::uint16_t port) const
{
	return make_addr(ipv6_ || door_ == Door::inet6 ? "::" : "0.0.0.0", port);
}

Addr Run::loopback(std::uint16_t port) const
{
	return ipv6_ ? make_addr("::1", port) : ipv4("127.0.0.1", port);
}

Addr Run::dead()
{
	for (;;) {
		const Addr addr = bound().local();

		// A peer that is gone has given its number back, but its socket still names it.
		if (std::count(bound_.begin(), bound_.end(), addr.port()) == 1)
			return addr;
	}
}

// ---- what the trace shows ----

std::string Run::show_host(const std::string &host) const
{
	constexpr std::string_view mapped = "::ffff:";

	for (int i = 0; i < 2; i++) {
		if (host == options_.server[i])
			return "SERVER";
		if (host == options_.client[i])
			return "CLIENT";
	}
	if (host.starts_with(mapped))
		return "::ffff:" + show_host(host.substr(mapped.size()));
	return host;
}

// The kernel chooses ports, so that they are numbered as they come.
std::string Run::show_port(std::uint16_t port)
{
	if (port == 0)
		return "0";
	auto found = std::find(ports_.begin(), ports_.end(), port);
	if (found == ports_.end())
		found = ports_.insert(ports_.end(), port);
	return fmt::format("p{}", found - ports_.begin() + 1);
}

std::string Run::show(const Addr &addr)
{
	const bool v6 = addr.storage.ss_family == AF_INET6;

	if (addr.length < sizeof(sa_family_t))
		return fmt::format("{} bytes", addr.length);
	if (!v6 && addr.storage.ss_family != AF_INET)
		return fmt::format("family {}, {} bytes", addr.storage.ss_family, addr.length);
	std::string text = fmt::format("{} {}:{}", v6 ? "inet6" : "inet", show_host(host_of(addr)),
				       show_port(addr.port()));
	if (addr.length != (v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in)))
		text += fmt::format(", {} bytes", addr.length);
	return text;
}

std::string show_result(long result, int error)
{
	if (result == -1)
		return fmt::format("-1 {}", strerrorname_np(error));
	return fmt::format("{}", result);
}

std::string show_bytes(std::string_view bytes)
{
	std::uint64_t hash = 14695981039346656037ULL;

	if (bytes.size() <= 32)
		return fmt::format("\"{}\"", bytes);
	for (const char c : bytes)
		hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
	return fmt::format("#{:016x}", hash);
}

std::string show_poll(unsigned mask)
{
	static constexpr std::pair<unsigned, const char *> names[] = {
		{POLLIN, "IN"},		{POLLPRI, "PRI"},	{POLLOUT, "OUT"},
		{POLLRDHUP, "RDHUP"},	{POLLERR, "ERR"},	{POLLHUP, "HUP"},
		{POLLNVAL, "NVAL"},	{POLLRDNORM, "RDNORM"}, {POLLWRNORM, "WRNORM"},
		{POLLRDBAND, "RDBAND"}, {POLLWRBAND, "WRBAND"},
	};
	std::string text;

	for (const auto &[bit, name] : names) {
		if (mask & bit)
			text += (text.empty() ? "" : "|") + std::string(name);
	}
	return text.empty() ? "nothing" : text;
}

std::string pattern(std::size_t length, std::size_t at)
{
	std::string text(length, 0);

	for (std::size_t i = 0; i < length; i++) {
		const std::size_t pos = at + i;
		text[i] = static_cast<char>('a' + (pos + pos / 251 + pos / 65521) % 26);
	}
	return text;
}

namespace
{

long clock_ms(clockid_t clock)
{
	timespec now{};

	clock_gettime(clock, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

} // namespace

long now_ms()
{
	return clock_ms(CLOCK_MONOTONIC);
}

Stopwatch::Stopwatch() : exact_(now_ms()), ticks_(clock_ms(CLOCK_MONOTONIC_COARSE))
{
}

long Stopwatch::ms() const
{
	return std::max(now_ms() - exact_, clock_ms(CLOCK_MONOTONIC_COARSE) - ticks_);
}

// ---- calls ----

long Run::call(const std::string &what, const std::function<long()> &function)
{
	return call(what, function, [](long result) { return show_result(result, errno); });
}

// A broken pipe's signal belongs to the call that raised it.
long Run::call(const std::string &what, const std::function<long()> &function,
	       const std::function<std::string(long)> &show)
{
	const int pipes = signals_seen(SIGPIPE);

	trace_.enter(what);
	errno = 0;
	const long result = function();
	const int error = errno;
	trace_.enter({});
	errno = error;
	std::string line = what + " = " + show(result);
	if (signals_seen(SIGPIPE) != pipes)
		line += " SIGPIPE";
	trace_.note(line);
	errno = error;
	return result;
}

void Run::fail(const std::string &why)
{
	trace_.fail(why);
	_exit(1);
}

void Run::require(bool condition, const std::string &what)
{
	if (!condition)
		fail(what + ": " + strerrorname_np(errno));
}

void Run::until(const std::string &what, const std::function<bool()> &condition)
{
	const long end = now_ms() + deadline_ms();

	trace_.enter("waiting until " + what);
	while (!condition()) {
		if (now_ms() > end)
			fail("waited in vain until " + what);
		::poll(nullptr, 0, 1);
	}
	trace_.enter({});
}

const char *door_name(Door door)
{
	static constexpr const char *names[] = {"family27", "inet", "inet6"};

	return names[static_cast<int>(door)];
}

// ---- sockets ----

int Run::family() const
{
	if (family_ == Family::sdp && door_ == Door::family27)
		return sdp_family;
	return ipv6_ || door_ == Door::inet6 ? AF_INET6 : AF_INET;
}

int Run::protocol() const
{
	return family_ == Family::sdp && door_ != Door::family27 ? sdp_protocol : 0;
}

Sock Run::socket(const char *name, int flags)
{
	const int fd = ::socket(family(), SOCK_STREAM | flags, protocol());

	require(fd >= 0, "socket()");
	return {*this, name, fd};
}

Sock Run::bound(const char *name)
{
	Sock sock = socket(name);
	const Addr addr = server();

	require(::bind(sock.fd(), addr.get(), addr.length) == 0, "bind()");
	bound_.push_back(sock.local().port());
	return sock;
}

Sock Run::listener(int backlog, const char *name)
{
	Sock sock = bound(name);

	require(::listen(sock.fd(), backlog) == 0, "listen()");
	return sock;
}

Sock Run::connect_to(const Sock &listener, const char *name)
{
	Sock sock = socket(name);
	const Addr addr = listener.local();

	trace_.enter(std::string("setting up ") + name);
	require(::connect(sock.fd(), addr.get(), addr.length) == 0, "connect()");
	trace_.enter({});
	return sock;
}

Sock Run::take(const Sock &listener, const char *name)
{
	trace_.enter(std::string("setting up ") + name);
	const int fd = ::accept(listener.fd(), nullptr, nullptr);
	trace_.enter({});
	require(fd >= 0, "accept()");
	return {*this, name, fd};
}

Pair Run::pair()
{
	const Sock l = listener(1);
	Sock c = connect_to(l);
	Sock s = take(l);

	return {std::move(c), std::move(s)};
}

Pair Run::narrow_pair()
{
	constexpr int bytes = 64 * 1024;
	Sock l = bound("l");
	Sock c = socket("c");

	l.set_int(SOL_SOCKET, SO_RCVBUF, bytes);
	c.set_int(SOL_SOCKET, SO_SNDBUF, bytes);
	require(::listen(l.fd(), 1) == 0, "listen()");
	const Addr addr = l.local();
	require(::connect(c.fd(), addr.get(), addr.length) == 0, "connect()");
	Sock s = take(l);
	return {std::move(c), std::move(s)};
}

Sock Run::full_listener(Sock &filler)
{
	Sock l = listener(0);

	filler = connect_to(l, "filler");
	l.await(POLLIN);
	return l;
}

} // namespace conformance
