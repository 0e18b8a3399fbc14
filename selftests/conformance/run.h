// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * One run of a case: where its sockets come from, and where what they do is
 * written down.
 */
#ifndef CONFORMANCE_RUN_H
#define CONFORMANCE_RUN_H

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "suite.h"
#include "trace.h"

namespace conformance
{

enum class Family {
	tcp,
	sdp
};

/**
 * How socket() is called. With AF_INET6 the addresses of IPv4 are mapped ones; the
 * cases of IPv6 have AF_INET6 sockets at both inet doors. TCP has no family 27 and
 * is AF_INET there.
 */
enum class Door {
	family27,
	inet,
	inet6
};

/** As the command line and the results name it. */
const char *door_name(Door door);

struct Options {
	std::string server[2] = {"10.0.0.2", "fd00::2"}; ///< IPv4, IPv6
	std::string client[2] = {"10.0.0.1", "fd00::1"};
	unsigned scale = 1; ///< deadlines times this
};

/** An address of any family and length, right or wrong. */
struct Addr {
	sockaddr_storage storage{};
	socklen_t length = 0;

	[[nodiscard]] const sockaddr *get() const
	{
		return reinterpret_cast<const sockaddr *>(&storage);
	}
	[[nodiscard]] sockaddr *get()
	{
		return reinterpret_cast<sockaddr *>(&storage);
	}
	[[nodiscard]] std::uint16_t port() const;
	void set_port(std::uint16_t port);
	/** Whether it is an unspecified address, be it mapped. */
	[[nodiscard]] bool any() const;
};

Addr make_addr(const std::string &text, std::uint16_t port = 0);

class Sock;
struct Pair;

/** A run's sockets, addresses and trace. */
class Run
{
public:
	Run(Family family, Door door, bool ipv6, const Options &options, Trace &trace)
		: family_(family), door_(door), ipv6_(ipv6), options_(options), trace_(trace)
	{
	}
	Run(const Run &) = delete;
	Run &operator=(const Run &) = delete;
	~Run() = default;

	// ---- sockets, in a state that has to be reached; not written down ----

	/** What socket() gets as its family. */
	[[nodiscard]] int family() const;
	/** And as its protocol. */
	[[nodiscard]] int protocol() const;
	Sock socket(const char *name = "u", int flags = 0);
	/** Bound to the server's address and a port of the kernel's choice. */
	Sock bound(const char *name = "b");
	Sock listener(int backlog = 5, const char *name = "l");
	/** A blocking socket that has connected to a listener. */
	Sock connect_to(const Sock &listener, const char *name = "c");
	Sock take(const Sock &listener, const char *name = "s");
	/** A connection; its ends are called c and s. */
	Pair pair();
	/** The same with small buffers that do not grow, so that they stay full. */
	Pair narrow_pair();
	/** A listener whose queue is full of one connection that nobody takes. */
	Sock full_listener(Sock &filler);

	// ---- addresses ----

	[[nodiscard]] Addr server(std::uint16_t port = 0) const;
	[[nodiscard]] Addr client(std::uint16_t port = 0) const;
	[[nodiscard]] Addr any(std::uint16_t port = 0) const;
	[[nodiscard]] Addr loopback(std::uint16_t port = 0) const;
	/** Any address of IPv4, in the form that the sockets take. */
	[[nodiscard]] Addr ipv4(const std::string &text, std::uint16_t port = 0) const;
	[[nodiscard]] const std::string &server_ipv4() const
	{
		return options_.server[0];
	}
	/** An address of the server's where nobody listens, nor has listened. */
	Addr dead();

	// ---- what is written down ----

	template <typename... Args> void note(fmt::format_string<Args...> format, Args &&...args)
	{
		trace_.note(fmt::format(format, std::forward<Args>(args)...));
	}
	/** Make a call and write down what it returned, and errno if that was -1. */
	long call(const std::string &what, const std::function<long()> &function);
	/** The same for a call whose result is shown by SHOW instead. */
	long call(const std::string &what, const std::function<long()> &function,
		  const std::function<std::string(long)> &show);
	/** The case cannot go on, and has failed. */
	[[noreturn]] void fail(const std::string &why);
	/** The same with errno, unless the condition holds. */
	void require(bool condition, const std::string &what);
	/** Wait until a condition that must come true does; not written down. */
	void until(const std::string &what, const std::function<bool()> &condition);

	std::string show(const Addr &addr);
	Trace &trace()
	{
		return trace_;
	}
	[[nodiscard]] bool ipv6() const
	{
		return ipv6_;
	}
	[[nodiscard]] unsigned scale() const
	{
		return options_.scale;
	}
	[[nodiscard]] int deadline_ms() const
	{
		return static_cast<int>(20000 * options_.scale);
	}

private:
	[[nodiscard]] std::string show_host(const std::string &host) const;
	std::string show_port(std::uint16_t port);

	Family family_;
	Door door_;
	bool ipv6_;
	const Options &options_;
	Trace &trace_;
	std::vector<std::uint16_t> ports_;
	std::vector<std::uint16_t> bound_;
};

/** -1 and the errno's name, or the number. */
std::string show_result(long result, int error);
/** Short content as it is, long content as a hash. */
std::string show_bytes(std::string_view bytes);
std::string show_poll(unsigned mask);
/** Content that differs at every place, LENGTH bytes from position AT. */
std::string pattern(std::size_t length, std::size_t at = 0);
/** Milliseconds of a clock that only goes forward. */
long now_ms();

/**
 * How long something has lasted that the kernel ends by a timer. Timers count
 * ticks, which come late and all at once in a guest that stood still: then less
 * time may have passed by the exact clock than the timer was set to. The clock
 * of ticks was late as well, and may be so once more at the end: the longer of
 * both times counts.
 */
class Stopwatch
{
public:
	Stopwatch();
	[[nodiscard]] long ms() const;

private:
	long exact_;
	long ticks_;
};

} // namespace conformance

#include "sock.h"
#include "task.h"

#endif
