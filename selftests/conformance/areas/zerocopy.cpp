// SPDX-License-Identifier: GPL-2.0
/*
 * MSG_ZEROCOPY, and what the error queue says of it.
 */
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <set>

#include <linux/errqueue.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "run.h"

namespace conformance
{

namespace
{

// SO_ZEROCOPY of AF_SDP, where the kernel keeps that one for other families.
constexpr int level_sdp = 1025;
constexpr int sdp_zerocopy = 6;

void want_words(Run &t, const Sock &sock)
{
	const int one = 1;

	if (::setsockopt(sock.fd(), SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)) == 0)
		return;
	t.require(errno == EOPNOTSUPP &&
			  ::setsockopt(sock.fd(), level_sdp, sdp_zerocopy, &one, sizeof(one)) == 0,
		  "setsockopt(SO_ZEROCOPY)");
}

Pair words_pair(Run &t)
{
	Pair pair = t.pair();

	want_words(t, pair.c);
	return pair;
}

/** A message of the error queue, with room for so much of what it says. */
struct Word {
	std::array<char, 256> control{};
	sockaddr_storage name{};
	msghdr header{};
	sock_extended_err err{};

	explicit Word(std::size_t room = 256)
	{
		header.msg_control = control.data();
		header.msg_controllen = room;
		header.msg_name = &name;
		header.msg_namelen = sizeof(name);
	}

	ssize_t take(const Sock &sock, int flags = 0)
	{
		const ssize_t result = ::recvmsg(sock.fd(), &header, MSG_ERRQUEUE | flags);

		if (result >= 0 && CMSG_FIRSTHDR(&header))
			memcpy(&err, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof(err));
		return result;
	}
};

std::string show(const Word &word)
{
	const cmsghdr *c = CMSG_FIRSTHDR(&word.header);
	std::string text = fmt::format("flags {:#x}, name {}, control {}", word.header.msg_flags,
				       word.header.msg_namelen, word.header.msg_controllen);

	if (c)
		text += fmt::format("; level {}, type {}, length {}, origin {}, type {}, errno {}",
				    c->cmsg_level, c->cmsg_type, c->cmsg_len, word.err.ee_origin,
				    word.err.ee_type, word.err.ee_errno);
	return text;
}

/** The numbers of all writes that there has been word of; how many words is chance. */
void note_words(Run &t, Sock &sock, std::size_t writes)
{
	std::set<std::uint32_t> numbers;

	while (numbers.size() < writes) {
		Word word;

		sock.await(POLLERR);
		if (word.take(sock) < 0)
			continue;
		for (std::uint32_t n = word.err.ee_info; n <= word.err.ee_data; n++)
			t.require(numbers.insert(n).second, "a number that is new");
	}
	t.note("words of {} writes, {} to {}", numbers.size(), *numbers.begin(), *numbers.rbegin());
}

} // namespace

CASE(flags, zerocopy_without_option)
{
	Pair pair = t.pair();

	pair.c.send("copied", MSG_ZEROCOPY | MSG_NOSIGNAL);
	pair.s.recv(10);
	pair.c.recv(1, MSG_ERRQUEUE);
}

CASE(flags, zerocopy_completion)
{
	Pair pair = words_pair(t);
	Word word;

	pair.c.send("copied or not", MSG_ZEROCOPY | MSG_NOSIGNAL);
	pair.s.recv(20);
	pair.c.await(POLLERR);
	t.call("recvmsg(c, ERRQUEUE)", [&] { return word.take(pair.c); });
	t.note("{}, {} to {}", show(word), word.err.ee_info, word.err.ee_data);
	pair.c.look();
}

CASE_IPV6(flags, zerocopy_completion_ipv6)
{
	Pair pair = words_pair(t);
	Word word;

	pair.c.send("copied or not", MSG_ZEROCOPY | MSG_NOSIGNAL);
	pair.s.recv(20);
	pair.c.await(POLLERR);
	t.call("recvmsg(c, ERRQUEUE)", [&] { return word.take(pair.c); });
	t.note("{}", show(word));
}

CASE(flags, zerocopy_poll)
{
	Pair pair = words_pair(t);

	pair.c.look();
	pair.c.send("x", MSG_ZEROCOPY | MSG_NOSIGNAL);
	pair.s.recv(1);
	pair.c.await(POLLERR);
	pair.c.look();
	pair.c.poll(POLLIN);
	pair.c.poll(0);
	note_words(t, pair.c, 1);
	pair.c.look();
}

CASE(flags, zerocopy_numbers)
{
	Pair pair = words_pair(t);
	const std::string large = pattern(200000);

	for (const std::string &data : {std::string("small"), large, std::string("x"), large}) {
		Blocked reader(t, "recv_all(s)", [&] {
			std::string got(data.size(), 0);

			return ::recv(pair.s.fd(), got.data(), got.size(), MSG_WAITALL);
		});
		pair.c.send(data, MSG_ZEROCOPY | MSG_NOSIGNAL);
		reader.join();
	}
	note_words(t, pair.c, 4);
	pair.c.recv(1, MSG_ERRQUEUE);
}

CASE(flags, zerocopy_of_nothing)
{
	Pair pair = words_pair(t);

	pair.c.send("", MSG_ZEROCOPY | MSG_NOSIGNAL);
	pair.c.recv(1, MSG_ERRQUEUE);
	pair.c.send("x", MSG_ZEROCOPY | MSG_NOSIGNAL);
	pair.s.recv(1);
	note_words(t, pair.c, 1);
}

CASE(flags, zerocopy_bad_memory)
{
	Pair pair = words_pair(t);
	void *const bad = reinterpret_cast<void *>(4096);

	for (std::size_t size : {1UL, 100000UL})
		t.call(fmt::format("send(c, bad, {})", size),
		       [&] { return ::send(pair.c.fd(), bad, size, MSG_ZEROCOPY | MSG_NOSIGNAL); });
	pair.c.recv(1, MSG_ERRQUEUE);
	pair.c.send("x", MSG_ZEROCOPY | MSG_NOSIGNAL);
	pair.s.recv(1);
	note_words(t, pair.c, 1);
}

CASE(flags, zerocopy_shut)
{
	Pair pair = words_pair(t);

	pair.c.shutdown(SHUT_WR);
	pair.c.send("x", MSG_ZEROCOPY | MSG_NOSIGNAL);
	pair.c.recv(1, MSG_ERRQUEUE);
	pair.c.look();
}

CASE(flags, zerocopy_not_connected)
{
	Sock sock = t.socket();

	want_words(t, sock);
	sock.send("x", MSG_ZEROCOPY | MSG_NOSIGNAL);
	sock.recv(1, MSG_ERRQUEUE);
}

CASE(flags, zerocopy_word_outlives_reset)
{
	Pair pair = words_pair(t);

	pair.c.send("x", MSG_ZEROCOPY | MSG_NOSIGNAL);
	pair.s.recv(1);
	pair.c.await(POLLERR);
	pair.s.reset();
	// The word alone ends every poll().
	t.until("c is reset", [&] {
		pollfd p = {.fd = pair.c.fd(), .events = 0, .revents = 0};

		return ::poll(&p, 1, 0) == 1 && (p.revents & POLLHUP);
	});
	note_words(t, pair.c, 1);
	pair.c.look();
}

CASE(flags, zerocopy_no_room_for_words)
{
	Pair pair = words_pair(t);
	Word none(0);
	Word little(CMSG_LEN(8));

	for (Word *word : {&none, &little}) {
		pair.c.send("x", MSG_ZEROCOPY | MSG_NOSIGNAL);
		pair.s.recv(1);
		pair.c.await(POLLERR);
		t.call("recvmsg(c, ERRQUEUE)", [&] { return word->take(pair.c); });
		t.note("flags {:#x}, control {}", word->header.msg_flags,
		       word->header.msg_controllen);
		pair.c.recv(1, MSG_ERRQUEUE);
	}
}

CASE(flags, zerocopy_peek_words)
{
	Pair pair = words_pair(t);
	Word word;

	pair.c.send("x", MSG_ZEROCOPY | MSG_NOSIGNAL);
	pair.s.recv(1);
	pair.c.await(POLLERR);
	t.call("recvmsg(c, ERRQUEUE|PEEK)", [&] { return word.take(pair.c, MSG_PEEK); });
	pair.c.recv(1, MSG_ERRQUEUE);
}

CASE(flags, zerocopy_does_not_end_recv)
{
	Pair pair = words_pair(t);

	pair.c.send("x", MSG_ZEROCOPY | MSG_NOSIGNAL);
	pair.s.recv(1);
	pair.c.await(POLLERR);
	pair.c.recv(1, MSG_DONTWAIT);
	pair.s.send("y");
	pair.c.recv(1);
	note_words(t, pair.c, 1);
}

CASE(flags, zerocopy_inherited)
{
	Sock listener = t.listener();

	want_words(t, listener);
	Sock client = t.socket("c");
	client.connect(listener.local());
	Sock server = listener.accept();
	server.get(OPTION(SOL_SOCKET, SO_ZEROCOPY));
	client.get(OPTION(SOL_SOCKET, SO_ZEROCOPY));
	server.send("x", MSG_ZEROCOPY | MSG_NOSIGNAL);
	client.recv(1);
	note_words(t, server, 1);
}

CASE(flags, zerocopy_epoll)
{
	Pair pair = words_pair(t);
	const int ep = ::epoll_create1(0);
	epoll_event event = {.events = 0, .data = {}};

	t.require(ep >= 0 && ::epoll_ctl(ep, EPOLL_CTL_ADD, pair.c.fd(), &event) == 0,
		  "epoll_ctl()");
	t.call("epoll_wait()", [&] { return ::epoll_wait(ep, &event, 1, 0); });
	pair.c.send("x", MSG_ZEROCOPY | MSG_NOSIGNAL);
	pair.s.recv(1);
	t.call("epoll_wait()", [&] { return ::epoll_wait(ep, &event, 1, t.deadline_ms()); });
	t.note("events {:#x}", static_cast<unsigned>(event.events));
	note_words(t, pair.c, 1);
	t.call("epoll_wait()", [&] { return ::epoll_wait(ep, &event, 1, 0); });
	::close(ep);
}

} // namespace conformance
