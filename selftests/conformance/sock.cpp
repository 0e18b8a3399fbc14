// SPDX-License-Identifier: GPL-2.0
#include "run.h"

#include <cerrno>

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

namespace conformance
{

namespace
{

std::string show_flags(int flags)
{
	static constexpr std::pair<int, const char *> names[] = {
		{MSG_OOB, "OOB"},
		{MSG_PEEK, "PEEK"},
		{MSG_TRUNC, "TRUNC"},
		{MSG_DONTWAIT, "DONTWAIT"},
		{MSG_WAITALL, "WAITALL"},
		{MSG_ERRQUEUE, "ERRQUEUE"},
		{MSG_MORE, "MORE"},
		{MSG_EOR, "EOR"},
		{MSG_DONTROUTE, "DONTROUTE"},
		{MSG_CONFIRM, "CONFIRM"},
		{MSG_CMSG_CLOEXEC, "CLOEXEC"},
	};
	std::string text;

	for (const auto &[bit, name] : names) {
		if (flags & bit)
			text += (text.empty() ? ", " : "|") + std::string(name);
	}
	return text;
}

const char *show_how(int how)
{
	static constexpr const char *names[] = {"RD", "WR", "RDWR"};

	return how >= 0 && how <= 2 ? names[how] : "?";
}

} // namespace

Sock::~Sock()
{
	if (fd_ >= 0)
		::close(fd_);
}

// ---- calls that are written down ----

long Sock::bind(const Addr &addr)
{
	return run_->call(fmt::format("bind({}, {})", name_, run_->show(addr)),
			  [&] { return ::bind(fd_, addr.get(), addr.length); });
}

long Sock::connect(const Addr &addr)
{
	return run_->call(fmt::format("connect({}, {})", name_, run_->show(addr)),
			  [&] { return ::connect(fd_, addr.get(), addr.length); });
}

long Sock::listen(int backlog)
{
	return run_->call(fmt::format("listen({}, {})", name_, backlog),
			  [&] { return ::listen(fd_, backlog); });
}

Sock Sock::accept(const char *name, int flags)
{
	Addr peer;

	peer.length = sizeof(peer.storage);
	const long fd = run_->call(
		fmt::format("accept({})", name_),
		[&] { return ::accept4(fd_, peer.get(), &peer.length, flags); },
		[&](long result) {
			if (result < 0)
				return show_result(result, errno);
			return fmt::format("{} from {}", name, run_->show(peer));
		});
	return {*run_, name, static_cast<int>(fd)};
}

long Sock::getsockname()
{
	Addr addr;

	addr.length = sizeof(addr.storage);
	return run_->call(
		fmt::format("getsockname({})", name_),
		[&] { return ::getsockname(fd_, addr.get(), &addr.length); },
		[&](long result) {
			return result ? show_result(result, errno) : run_->show(addr);
		});
}

long Sock::getpeername()
{
	Addr addr;

	addr.length = sizeof(addr.storage);
	return run_->call(
		fmt::format("getpeername({})", name_),
		[&] { return ::getpeername(fd_, addr.get(), &addr.length); },
		[&](long result) {
			return result ? show_result(result, errno) : run_->show(addr);
		});
}

long Sock::send(std::string_view data, int flags)
{
	const char *sigpipe = flags & MSG_NOSIGNAL ? "" : ", may raise SIGPIPE";

	return run_->call(fmt::format("send({}, {}, {}{}{})", name_, data.size(), show_bytes(data),
				      show_flags(flags), sigpipe),
			  [&] { return ::send(fd_, data.data(), data.size(), flags); });
}

std::string Sock::recv(std::size_t length, int flags)
{
	std::string data(length, 0);
	const long got = run_->call(
		fmt::format("recv({}, {}{})", name_, length, show_flags(flags)),
		[&] { return ::recv(fd_, data.data(), length, flags); },
		[&](long result) {
			if (result <= 0 || static_cast<std::size_t>(result) > length)
				return show_result(result, errno);
			return fmt::format(
				"{} {}", result,
				show_bytes({data.data(), static_cast<std::size_t>(result)}));
		});
	data.resize(got < 0 ? 0 : std::min<std::size_t>(got, length));
	return data;
}

long Sock::discard(std::size_t length, int flags)
{
	return run_->call(fmt::format("discard({}, {}{})", name_, length, show_flags(flags)),
			  [&] { return ::recv(fd_, nullptr, length, flags); });
}

std::string Sock::recv_all(std::size_t length)
{
	std::string data(length, 0);
	std::size_t done = 0;
	std::string end;

	run_->call(
		fmt::format("recv_all({}, {})", name_, length),
		[&] {
			while (done < length && end.empty()) {
				const long got = ::recv(fd_, data.data() + done, length - done, 0);
				if (got <= 0)
					end = got ? strerrorname_np(errno) : "end";
				else
					done += got;
			}
			return static_cast<long>(done);
		},
		[&](long) {
			return fmt::format("{} {} {}", done, show_bytes({data.data(), done}), end);
		});
	data.resize(done);
	return data;
}

long Sock::shutdown(int how)
{
	return run_->call(fmt::format("shutdown({}, {})", name_, show_how(how)),
			  [&] { return ::shutdown(fd_, how); });
}

long Sock::close()
{
	const int fd = release();

	return run_->call(fmt::format("close({})", name_), [&] { return ::close(fd); });
}

short Sock::poll(short events)
{
	pollfd p = {.fd = fd_, .events = events, .revents = 0};
	const std::string asked = events == every_event ? "" : ", " + show_poll(events);

	run_->call(
		fmt::format("poll({}{})", name_, asked), [&] { return ::poll(&p, 1, 0); },
		[&](long result) {
			return result < 0 ? show_result(result, errno)
					  : show_poll(static_cast<unsigned short>(p.revents));
		});
	return p.revents;
}

long Sock::get(int level, int option, const char *shown)
{
	socklen_t length = sizeof(int);
	int value = -1;

	run_->call(
		fmt::format("get({}, {})", name_, shown),
		[&] { return ::getsockopt(fd_, level, option, &value, &length); },
		[&](long result) {
			if (result)
				return show_result(result, errno);
			return length == sizeof(int) ? fmt::format("{}", value)
						     : fmt::format("{} in {} bytes", value, length);
		});
	return value;
}

long Sock::set(int level, int option, const char *shown, int value)
{
	return run_->call(fmt::format("set({}, {}, {})", name_, shown, value),
			  [&] { return ::setsockopt(fd_, level, option, &value, sizeof(value)); });
}

long Sock::error()
{
	socklen_t length = sizeof(int);
	int value = -1;

	run_->call(
		fmt::format("SO_ERROR({})", name_),
		[&] { return ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &value, &length); },
		[&](long result) {
			if (result)
				return show_result(result, errno);
			return std::string(value ? strerrorname_np(value) : "0");
		});
	return value;
}

long Sock::ioctl(unsigned long request, const char *shown)
{
	int value = -1;

	run_->call(
		fmt::format("ioctl({}, {})", name_, shown),
		[&] { return ::ioctl(fd_, request, &value); },
		[&](long result) {
			return result ? show_result(result, errno) : fmt::format("{}", value);
		});
	return value;
}

void Sock::look()
{
	poll();
	error();
	poll();
}

// ---- conditions and settings ----

void Sock::await(short events)
{
	pollfd p = {.fd = fd_, .events = events, .revents = 0};

	run_->trace().enter(fmt::format("await({}, {})", name_, show_poll(events)));
	/*
	 * An error shows a moment before the end that comes with it, TCP's as well
	 * as ours, and poll() tells of an error whether it was asked for or not.
	 */
	const long end = now_ms() + run_->deadline_ms();
	for (long left = run_->deadline_ms(); left >= 0 && !(p.revents & events);
	     left = end - now_ms())
		::poll(&p, 1, static_cast<int>(left));
	run_->trace().enter({});
	if (p.revents & events)
		return;
	p.events = every_event;
	::poll(&p, 1, 0);
	run_->fail(fmt::format("waited in vain for {} of {}, which has {}", show_poll(events),
			       name_, show_poll(static_cast<unsigned short>(p.revents))));
}

void Sock::await_none(short events)
{
	run_->until(fmt::format("{} is without {}", name_, show_poll(events)), [&] {
		pollfd p = {.fd = fd_, .events = events, .revents = 0};

		return ::poll(&p, 1, 0) == 0 || !(p.revents & events);
	});
}

void Sock::await_end()
{
	run_->until(fmt::format("{} is connected no more", name_), [&] {
		sockaddr_storage peer{};
		socklen_t len = sizeof(peer);

		return ::getpeername(fd_, reinterpret_cast<sockaddr *>(&peer), &len) != 0;
	});
}

void Sock::await_bytes(int bytes)
{
	run_->until(fmt::format("{} has {} bytes", name_, bytes), [&] {
		int value = 0;

		return ::ioctl(fd_, SIOCINQ, &value) == 0 && value >= bytes;
	});
}

void Sock::await_sent()
{
	run_->until(fmt::format("all that {} sent has arrived", name_), [&] {
		int value = 0;

		return ::ioctl(fd_, SIOCOUTQ, &value) == 0 && value == 0;
	});
}

void Sock::set_nonblock(bool on)
{
	const int flags = fcntl(fd_, F_GETFL);

	run_->require(fcntl(fd_, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) == 0,
		      "fcntl(F_SETFL)");
}

void Sock::set_int(int level, int option, int value)
{
	run_->require(::setsockopt(fd_, level, option, &value, sizeof(value)) == 0,
		      fmt::format("setsockopt({}, {})", level, option));
}

void Sock::set_timeout(int option, int ms)
{
	const timeval tv = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000L};

	run_->require(::setsockopt(fd_, SOL_SOCKET, option, &tv, sizeof(tv)) == 0, "timeout");
}

void Sock::set_linger(int seconds)
{
	const linger value = {.l_onoff = 1, .l_linger = seconds};

	run_->require(::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &value, sizeof(value)) == 0,
		      "SO_LINGER");
}

Addr Sock::local() const
{
	Addr addr;

	addr.length = sizeof(addr.storage);
	run_->require(::getsockname(fd_, addr.get(), &addr.length) == 0, "getsockname()");
	return addr;
}

std::size_t Sock::fill()
{
	const std::string piece = pattern(16384);
	const std::string what = fmt::format("{} can take no more", name_);
	std::size_t total = 0;
	constexpr int enough = 60;
	long last = now_ms();
	int in_vain = 0;

	/*
	 * What is on its way may make room once more when it arrives, and TCP
	 * fills the rest of a window only when it probes it. Time alone does not
	 * tell: a virtual machine may not have been scheduled meanwhile.
	 */
	run_->until(what, [&] {
		ssize_t sent = 0;
		bool any = false;

		for (const std::size_t size : {piece.size(), std::size_t{1}}) {
			while ((sent = ::send(fd_, piece.data(), size,
					      MSG_DONTWAIT | MSG_NOSIGNAL)) > 0) {
				total += sent;
				any = true;
			}
		}
		in_vain = any ? 0 : in_vain + 1;
		if (any)
			last = now_ms();
		return in_vain >= enough && now_ms() - last >= 300;
	});
	return total;
}

void Sock::reset()
{
	set_linger(0);
	drop();
}

void Sock::drop()
{
	const int fd = release();

	run_->trace().enter(fmt::format("close({})", name_));
	run_->require(::close(fd) == 0, "close()");
	run_->trace().enter({});
}

} // namespace conformance
