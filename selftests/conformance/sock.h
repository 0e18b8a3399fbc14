// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * A socket whose calls are written down.
 */
#ifndef CONFORMANCE_SOCK_H
#define CONFORMANCE_SOCK_H

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

namespace conformance
{

class Run;
struct Addr;

/** All that poll() can say about a stream socket. */
inline constexpr short every_event = POLLIN | POLLPRI | POLLOUT | POLLRDHUP | POLLERR | POLLHUP |
				     POLLRDNORM | POLLWRNORM | POLLRDBAND | POLLWRBAND;

/** A file descriptor, the name that the trace gives it, and its calls. */
class Sock
{
public:
	Sock() = default;
	Sock(Run &run, std::string name, int fd) : run_(&run), name_(std::move(name)), fd_(fd)
	{
	}
	Sock(Sock &&other) noexcept
		: run_(other.run_), name_(std::move(other.name_)), fd_(std::exchange(other.fd_, -1))
	{
	}
	Sock &operator=(Sock &&other) noexcept
	{
		std::swap(run_, other.run_);
		std::swap(name_, other.name_);
		std::swap(fd_, other.fd_);
		return *this;
	}
	Sock(const Sock &) = delete;
	Sock &operator=(const Sock &) = delete;
	~Sock();

	[[nodiscard]] int fd() const
	{
		return fd_;
	}
	[[nodiscard]] const std::string &name() const
	{
		return name_;
	}
	/** Give the descriptor away. */
	int release()
	{
		return std::exchange(fd_, -1);
	}

	// ---- calls that are written down ----

	long bind(const Addr &addr);
	long connect(const Addr &addr);
	long listen(int backlog = 5);
	/** The new socket, which has no descriptor if there was none. */
	Sock accept(const char *name = "a", int flags = 0);
	long getsockname();
	long getpeername();
	long send(std::string_view data, int flags = MSG_NOSIGNAL);
	/** The bytes; empty also at the end or after an error. */
	std::string recv(std::size_t length, int flags = 0);
	/** recv() without a buffer, for flags that need none. */
	long discard(std::size_t length, int flags);
	/** Read until LENGTH bytes, the end or an error have come. */
	std::string recv_all(std::size_t length);
	long shutdown(int how);
	long close();
	/** The mask of this moment. */
	short poll(short events = every_event);
	/** The option's value as an int. */
	long get(int level, int option, const char *shown);
	long set(int level, int option, const char *shown, int value);
	/** SO_ERROR. */
	long error();
	long ioctl(unsigned long request, const char *shown);
	/** poll(), SO_ERROR, poll(): what a program finds when it looks again. */
	void look();

	// ---- conditions and settings that must succeed ----

	/** Wait until poll() shows one of these. */
	void await(short events);
	/** Wait until poll() shows nothing of these. */
	void await_none(short events);
	/** Wait until the connection is over in both directions. */
	void await_end();
	/** Wait until this many bytes can be read. */
	void await_bytes(int bytes);
	/** Wait until the peer has acknowledged all that was sent. */
	void await_sent();
	void set_nonblock(bool on = true);
	void set_int(int level, int option, int value);
	void set_timeout(int option, int ms);
	void set_linger(int seconds);
	[[nodiscard]] Addr local() const;
	/** Send until the buffers are full; the number of bytes. */
	std::size_t fill();
	/** Close now with a reset, or without one. */
	void reset();
	void drop();

private:
	Run *run_ = nullptr;
	std::string name_;
	int fd_ = -1;
};

struct Pair {
	Sock c;
	Sock s;
};

// An option with its name: s.get(OPTION(SOL_SOCKET, SO_TYPE))
#define OPTION(level, option) level, option, #option

} // namespace conformance

#endif
