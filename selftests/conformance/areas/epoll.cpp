// SPDX-License-Identifier: GPL-2.0
/*
 * epoll: level, edge, one shot, exclusive, nested, several sets.
 */
#include <cerrno>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "states.h"

namespace conformance
{

namespace
{

constexpr std::uint32_t every = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI;

/** An epoll set whose waits are written down. */
class Set
{
public:
	explicit Set(Run &t, std::string name = "set")
		: t_(t), name_(std::move(name)), fd_(epoll_create1(0))
	{
		t_.require(fd_ >= 0, "epoll_create1()");
	}
	Set(const Set &) = delete;
	Set &operator=(const Set &) = delete;
	~Set()
	{
		close(fd_);
	}
	[[nodiscard]] int fd() const
	{
		return fd_;
	}
	void control(int operation, const Sock &sock, std::uint32_t events)
	{
		control(operation, sock.fd(), events);
	}
	void control(int operation, int fd, std::uint32_t events)
	{
		epoll_event event = {.events = events, .data = {.fd = fd}};
		static constexpr const char *names[] = {"", "add", "del", "mod"};

		t_.call(fmt::format("{}.{}", name_, names[operation]),
			[&] { return epoll_ctl(fd_, operation, fd, &event); });
	}
	void add(const Sock &sock, std::uint32_t events)
	{
		control(EPOLL_CTL_ADD, sock, events);
	}
	/** What is ready now. */
	void look()
	{
		wait(0);
	}
	/** What becomes ready. */
	void wait()
	{
		wait(t_.deadline_ms());
	}

private:
	void wait(int timeout)
	{
		epoll_event events[8];

		t_.call(
			fmt::format("{}.wait", name_),
			[&] { return epoll_wait(fd_, events, 8, timeout); },
			[&](long count) {
				std::string text = show_result(count, errno);
				for (long i = 0; i < count; i++)
					text += " " + show_poll(events[i].events);
				return text;
			});
	}

	Run &t_;
	std::string name_;
	int fd_;
};

void level(Run &t, const State &state)
{
	Surroundings around;
	const Sock u = state.reach(t, around);
	Set set(t);

	set.add(u, every);
	set.look();
	set.look();
}

/* An edge is told once, and again when something is added anew. */
void edge(Run &t, const State &state)
{
	Surroundings around;
	const Sock u = state.reach(t, around);
	Set set(t);

	set.add(u, every | EPOLLET);
	set.look();
	set.look();
	set.control(EPOLL_CTL_MOD, u, every | EPOLLET);
	set.look();
}

void oneshot(Run &t, const State &state)
{
	Surroundings around;
	const Sock u = state.reach(t, around);
	Set set(t);

	set.add(u, every | EPOLLONESHOT);
	set.look();
	set.look();
	set.control(EPOLL_CTL_MOD, u, EPOLLIN | EPOLLONESHOT);
	set.look();
}

const Register all{[] {
	for (const State &state : states()) {
		suite().push_back({std::string("epoll.level_") + state.name,
				   [&state](Run &t) { level(t, state); }, false});
		suite().push_back({std::string("epoll.edge_") + state.name,
				   [&state](Run &t) { edge(t, state); }, false});
		suite().push_back({std::string("epoll.oneshot_") + state.name,
				   [&state](Run &t) { oneshot(t, state); }, false});
	}
}};

} // namespace

CASE(epoll, edge_for_each_arrival)
{
	Pair pair = t.pair();
	Set set(t);

	set.add(pair.c, EPOLLIN | EPOLLET);
	pair.s.send("one");
	set.wait();
	set.look();
	pair.s.send("two");
	set.wait();
	pair.c.await_bytes(6);
	pair.c.recv(10);
	set.look();
}

CASE(epoll, edge_after_partial_read)
{
	Pair pair = t.pair();
	Set set(t);

	set.add(pair.c, EPOLLIN | EPOLLET);
	pair.s.send("123456");
	set.wait();
	pair.c.recv(2);
	set.look();
	pair.s.send("7");
	set.wait();
	pair.c.await_bytes(5);
	pair.c.recv(10);
}

CASE(epoll, level_until_read)
{
	Pair pair = t.pair();
	Set set(t);

	set.add(pair.c, EPOLLIN);
	pair.s.send("12");
	set.wait();
	pair.c.recv(1);
	set.look();
	pair.c.recv(1);
	set.look();
}

CASE(epoll, edge_for_end)
{
	Pair pair = t.pair();
	Set set(t);

	set.add(pair.c, EPOLLIN | EPOLLRDHUP | EPOLLET);
	pair.s.shutdown(SHUT_WR);
	set.wait();
	set.look();
	pair.c.recv(1);
	set.look();
}

CASE(epoll, edge_for_room)
{
	Pair pair = t.narrow_pair();
	Set set(t);

	set.add(pair.c, EPOLLOUT | EPOLLET);
	set.look();
	const std::size_t total = pair.c.fill();
	std::string sink(total, 0);
	std::size_t got = 0;
	while (got < total)
		got += ::recv(pair.s.fd(), sink.data(), sink.size(), 0);
	set.wait();
}

CASE(epoll, edge_for_connection)
{
	Sock l = t.listener();
	Set set(t);

	set.add(l, EPOLLIN | EPOLLET);
	const Sock one = t.connect_to(l, "one");
	set.wait();
	set.look();
	const Sock two = t.connect_to(l, "two");
	set.wait();
	const Sock first = l.accept("first");
	const Sock second = l.accept("second");
	set.look();
}

CASE(epoll, edge_for_connect)
{
	const Sock l = t.listener();
	Sock u = t.socket("u", SOCK_NONBLOCK);
	Set set(t);

	set.add(u, EPOLLOUT | EPOLLIN | EPOLLET);
	set.look();
	u.connect(l.local());
	u.await(POLLOUT);
	set.wait();
	set.look();
	u.error();
}

CASE(epoll, edge_for_refusal)
{
	Sock u = t.socket("u", SOCK_NONBLOCK);
	Set set(t);

	u.connect(t.dead());
	u.await(POLLERR);
	set.add(u, EPOLLOUT | EPOLLIN | EPOLLET);
	set.wait();
	u.error();
	set.look();
}

CASE(epoll, added_before_connect)
{
	Sock u = t.socket("u");
	Set set(t);

	set.add(u, EPOLLIN | EPOLLRDHUP);
	set.look();
	u.connect(t.dead());
	set.look();
}

CASE(epoll, same_socket_added_twice)
{
	Pair pair = t.pair();
	Set set(t);

	set.add(pair.c, EPOLLIN);
	set.add(pair.c, EPOLLIN);
	set.control(EPOLL_CTL_DEL, pair.c, 0);
	set.control(EPOLL_CTL_DEL, pair.c, 0);
	set.control(EPOLL_CTL_MOD, pair.c, EPOLLIN);
}

CASE(epoll, duplicate_descriptor)
{
	Pair pair = t.pair();
	Set set(t);
	const Sock copy(t, "copy", dup(pair.c.fd()));

	set.add(pair.c, EPOLLIN);
	set.add(copy, EPOLLIN);
	pair.s.send("x");
	pair.c.await(POLLIN);
	set.look();
	pair.c.recv(1);
	set.look();
}

CASE(epoll, closed_but_duplicated)
{
	Pair pair = t.pair();
	Set set(t);
	const Sock copy(t, "copy", dup(pair.c.fd()));

	set.add(pair.c, EPOLLIN);
	pair.c.close();
	pair.s.send("x");
	set.wait();
}

CASE(epoll, closed_goes_from_set)
{
	Pair pair = t.pair();
	Set set(t);

	set.add(pair.c, EPOLLIN | EPOLLOUT);
	set.look();
	pair.c.close();
	set.look();
}

CASE(epoll, two_sets)
{
	Pair pair = t.pair();
	Set one(t, "one");
	Set two(t, "two");

	one.add(pair.c, EPOLLIN);
	two.add(pair.c, EPOLLIN | EPOLLET);
	pair.s.send("x");
	one.wait();
	two.wait();
	one.look();
	two.look();
}

CASE(epoll, nested)
{
	Pair pair = t.pair();
	Set inner(t, "inner");
	Set outer(t, "outer");

	inner.add(pair.c, EPOLLIN);
	outer.control(EPOLL_CTL_ADD, inner.fd(), EPOLLIN);
	outer.look();
	pair.s.send("x");
	outer.wait();
	inner.look();
	pair.c.recv(1);
	outer.look();
}

CASE(epoll, nested_edge)
{
	Pair pair = t.pair();
	Set inner(t, "inner");
	Set outer(t, "outer");

	inner.add(pair.c, EPOLLIN | EPOLLET);
	outer.control(EPOLL_CTL_ADD, inner.fd(), EPOLLIN | EPOLLET);
	pair.s.send("x");
	outer.wait();
	outer.look();
	inner.look();
	inner.look();
}

CASE(epoll, exclusive)
{
	Pair pair = t.pair();
	Set one(t, "one");
	Set two(t, "two");

	one.add(pair.c, EPOLLIN | EPOLLEXCLUSIVE);
	two.add(pair.c, EPOLLIN | EPOLLEXCLUSIVE);
	one.control(EPOLL_CTL_MOD, pair.c, EPOLLIN);
	pair.s.send("x");
	pair.c.await(POLLIN);
	one.look();
	two.look();
}

/* A connection wakes one of the sleepers; which one is not said. */
CASE(epoll, exclusive_sleepers)
{
	Sock l = t.listener();
	Set one(t, "one");
	Set two(t, "two");
	epoll_event event{};

	one.add(l, EPOLLIN | EPOLLEXCLUSIVE);
	two.add(l, EPOLLIN | EPOLLEXCLUSIVE);
	Blocked first(t, "first", [&] { return epoll_wait(one.fd(), &event, 1, t.deadline_ms()); });
	Blocked second(t, "second",
		       [&] { return epoll_wait(two.fd(), &event, 1, t.deadline_ms()); });
	const Sock c = t.connect_to(l, "c");
	t.until("one is woken", [&] { return first.done() || second.done(); });
	const Sock s = l.accept("s");
	t.note("both woken: {}", first.done() && second.done());
	const Sock other = t.connect_to(l, "other");
	first.join();
	second.join();
}

CASE(epoll, oneshot_rearmed)
{
	Pair pair = t.pair();
	Set set(t);

	set.add(pair.c, EPOLLIN | EPOLLONESHOT);
	pair.s.send("a");
	set.wait();
	pair.s.send("b");
	pair.c.await_bytes(2);
	set.look();
	set.control(EPOLL_CTL_MOD, pair.c, EPOLLIN | EPOLLONESHOT);
	set.look();
}

CASE(epoll, hup_without_asking)
{
	Pair pair = t.pair();
	Set set(t);

	set.add(pair.c, 0);
	pair.s.reset();
	set.wait();
	set.look();
}

CASE(epoll, sleeper_woken_by_data)
{
	Pair pair = t.pair();
	Set set(t);
	epoll_event event{};

	set.add(pair.c, EPOLLIN | EPOLLET);
	Blocked sleeper(t, "epoll_wait",
			[&] { return epoll_wait(set.fd(), &event, 1, t.deadline_ms()); });
	pair.s.send("x");
	sleeper.join(
		[&](long count) { return fmt::format("{} {}", count, show_poll(event.events)); });
}

CASE(epoll, modified_while_ready)
{
	Pair pair = t.pair();
	Set set(t);

	pair.s.send("x");
	pair.c.await(POLLIN);
	set.add(pair.c, EPOLLPRI);
	set.look();
	set.control(EPOLL_CTL_MOD, pair.c, EPOLLIN);
	set.look();
	set.control(EPOLL_CTL_MOD, pair.c, EPOLLOUT);
	set.look();
}

CASE(epoll, lowat)
{
	Pair pair = t.pair();
	Set set(t);

	pair.c.set_int(SOL_SOCKET, SO_RCVLOWAT, 4);
	set.add(pair.c, EPOLLIN | EPOLLET);
	pair.s.send("12");
	pair.c.await_bytes(2);
	set.look();
	pair.s.send("34");
	set.wait();
}

} // namespace conformance
