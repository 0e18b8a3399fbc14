// SPDX-License-Identifier: GPL-2.0
/*
 * Forms of addresses: families, lengths, special addresses, ports in use.
 */
#include <cerrno>
#include <cstring>
#include <span>

#include <arpa/inet.h>
#include <unistd.h>

#include "run.h"

namespace conformance
{

namespace
{

Addr with_family(Addr addr, int family)
{
	addr.storage.ss_family = static_cast<sa_family_t>(family);
	return addr;
}

Addr with_length(Addr addr, socklen_t length)
{
	addr.length = length;
	return addr;
}

Sock reuse(Run &t, const char *name)
{
	Sock sock = t.socket(name);

	sock.set_int(SOL_SOCKET, SO_REUSEADDR, 1);
	return sock;
}

/* A call that takes an address, made with every length that is too short. */
struct Form {
	const char *name;
	std::function<Addr(Run &t)> make;
};

const Form forms[] = {
	{"length_0", [](Run &t) { return with_length(t.server(), 0); }},
	{"length_1", [](Run &t) { return with_length(t.server(), 1); }},
	{"length_2", [](Run &t) { return with_length(t.server(), 2); }},
	{"length_15", [](Run &t) { return with_length(t.server(), 15); }},
	{"length_23", [](Run &t) { return with_length(t.server(), 23); }},
	{"length_24", [](Run &t) { return with_length(t.server(), 24); }},
	{"length_27", [](Run &t) { return with_length(t.server(), 27); }},
	{"length_17", [](Run &t) { return with_length(t.server(), 17); }},
	{"length_128", [](Run &t) { return with_length(t.server(), 128); }},
	{"length_129", [](Run &t) { return with_length(t.server(), 129); }},
	{"length_negative",
	 [](Run &t) { return with_length(t.server(), static_cast<socklen_t>(-1)); }},
	{"family_unix", [](Run &t) { return with_family(t.server(), AF_UNIX); }},
	{"family_unix_short",
	 [](Run &t) { return with_length(with_family(t.server(), AF_UNIX), 8); }},
	{"family_unspec", [](Run &t) { return with_family(t.server(), AF_UNSPEC); }},
	{"family_unspec_any", [](Run &t) { return with_family(t.any(), AF_UNSPEC); }},
	{"family_unspec_short",
	 [](Run &t) { return with_length(with_family(t.server(), AF_UNSPEC), 2); }},
	{"family_max", [](Run &t) { return with_family(t.server(), 0xffff); }},
	{"broadcast", [](Run &t) { return t.ipv4("255.255.255.255"); }},
	{"multicast", [](Run &t) { return t.ipv4("224.0.0.1"); }},
	{"not_ours", [](Run &t) { return t.ipv4("192.0.2.1"); }},
};

void bind_form(Run &t, const Form &form)
{
	Sock u = t.socket();

	u.bind(form.make(t));
	u.getsockname();
	u.listen();
}

/* Forms that name somebody else are about routes, not about addresses. */
void connect_form(Run &t, const Form &form)
{
	const Sock l = t.listener();
	Sock u = t.socket();
	Addr to = form.make(t);

	if (to.storage.ss_family == AF_INET || to.storage.ss_family == AF_INET6)
		to.set_port(l.local().port());
	u.connect(to);
	u.getpeername();
	u.look();
}

const Register all{[] {
	for (const Form &form : forms) {
		suite().push_back({std::string("address.bind_") + form.name,
				   [&form](Run &t) { bind_form(t, form); }, false});
	}
	for (const Form &form : std::span(forms).first(17)) {
		suite().push_back({std::string("address.connect_") + form.name,
				   [&form](Run &t) { connect_form(t, form); }, false});
	}
}};

} // namespace

CASE(address, bind_twice)
{
	Sock u = t.socket();

	u.bind(t.server());
	u.bind(t.server());
	u.bind(t.client());
	u.getsockname();
}

CASE(address, bind_any)
{
	Sock u = t.socket();

	u.bind(t.any());
	u.getsockname();
	u.listen();
}

CASE(address, listen_on_any)
{
	Sock l = t.socket("l");
	Sock c = t.socket("c");

	l.bind(t.any());
	l.listen();
	c.connect(t.server(l.local().port()));
	const Sock s = l.accept("s");
	c.getsockname();
	c.getpeername();
}

CASE(address, listen_without_bind)
{
	Sock l = t.socket("l");
	Sock c = t.socket("c");

	l.listen();
	c.connect(t.server(l.local().port()));
	Sock s = l.accept("s");
	s.getsockname();
	s.getpeername();
}

CASE(address, port_in_use)
{
	const Sock b = t.bound();
	Sock u = t.socket();

	u.bind(b.local());
	u.getsockname();
	u.bind(t.server());
}

CASE(address, port_in_use_by_listener)
{
	const Sock l = t.listener();
	Sock u = reuse(t, "u");

	u.bind(l.local());
}

CASE(address, port_in_use_elsewhere)
{
	const Sock b = t.bound();
	Sock u = t.socket();

	u.bind(t.client(b.local().port()));
	u.getsockname();
}

CASE(address, port_in_use_by_any)
{
	Sock b = t.socket("b");
	Sock u = t.socket();

	b.bind(t.any());
	u.bind(t.server(b.local().port()));
}

CASE(address, any_while_port_in_use)
{
	const Sock b = t.bound();
	Sock u = t.socket();

	u.bind(t.any(b.local().port()));
}

CASE(address, reuseaddr_both)
{
	Sock one = reuse(t, "one");
	Sock two = reuse(t, "two");

	one.bind(t.server());
	two.bind(one.local());
	two.getsockname();
}

CASE(address, reuseaddr_first_only)
{
	Sock one = reuse(t, "one");
	Sock two = t.socket("two");

	one.bind(t.server());
	two.bind(one.local());
}

CASE(address, reuseaddr_second_only)
{
	Sock one = t.socket("one");
	Sock two = reuse(t, "two");

	one.bind(t.server());
	two.bind(one.local());
}

CASE(address, reuseaddr_then_listen)
{
	Sock one = reuse(t, "one");
	Sock two = reuse(t, "two");

	one.bind(t.server());
	two.bind(one.local());
	one.listen();
	two.listen();
}

CASE(address, restart_server_reuseaddr)
{
	Sock l = reuse(t, "l");

	l.bind(t.server());
	l.listen();
	const Addr addr = l.local();
	const Sock c = t.connect_to(l, "c");
	const Sock s = t.take(l);
	l.drop();
	Sock again = reuse(t, "again");
	again.bind(addr);
	again.listen();
}

CASE(address, port_free_after_close)
{
	Sock b = t.bound();
	const Addr addr = b.local();
	Sock u = t.socket();

	b.drop();
	u.bind(addr);
	u.getsockname();
}

CASE(address, port_free_after_listener)
{
	Sock l = t.listener();
	const Addr addr = l.local();
	Sock u = t.socket();

	l.drop();
	u.bind(addr);
	u.listen();
}

CASE(address, explicit_port_kept)
{
	Sock b = t.bound();
	const Addr addr = b.local();
	Sock u = t.socket();

	b.drop();
	u.bind(addr);
	u.listen();
	u.shutdown(SHUT_RD);
	u.bind(t.server());
	u.getsockname();
	u.listen();
	u.getsockname();
}

CASE(address, chosen_port_given_back)
{
	Sock u = t.bound("u");
	const Addr first = u.local();

	u.listen();
	u.shutdown(SHUT_RD);
	u.getsockname();
	Sock other = t.socket("other");
	other.bind(first);
	/* The port that is chosen now is another one, for the first is in use. */
	u.bind(t.client());
	u.getsockname();
}

CASE(address, connect_from_bound)
{
	const Sock l = t.listener();
	Sock c = t.socket("c");

	c.bind(t.client());
	c.connect(l.local());
	c.getsockname();
	c.getpeername();
}

CASE(address, connect_from_bound_any)
{
	const Sock l = t.listener();
	Sock c = t.socket("c");

	c.bind(t.any());
	c.getsockname();
	c.connect(l.local());
	c.getsockname();
}

CASE(address, names_of_both_ends)
{
	Pair pair = t.pair();

	pair.c.getsockname();
	pair.c.getpeername();
	pair.s.getsockname();
	pair.s.getpeername();
}

CASE_IPV6(address, names_of_both_ends_ipv6)
{
	Pair pair = t.pair();

	pair.c.getsockname();
	pair.c.getpeername();
	pair.s.getsockname();
	pair.s.getpeername();
}

CASE(address, connect_any)
{
	const Sock l = t.listener();
	Sock u = t.socket();

	u.connect(t.any(l.local().port()));
}

CASE(address, connect_loopback)
{
	Sock u = t.socket();

	u.connect(t.loopback(1));
}

CASE(address, bind_loopback)
{
	Sock u = t.socket();

	u.bind(t.loopback());
}

CASE(address, connect_port_zero)
{
	Sock u = t.socket();

	u.connect(t.server(0));
	u.look();
}

CASE(address, connect_broadcast)
{
	Sock u = t.socket();

	u.connect(t.ipv4("255.255.255.255", 9));
	u.look();
}

CASE(address, connect_multicast)
{
	Sock u = t.socket();

	u.connect(t.ipv4("224.0.0.1", 9));
	u.look();
}

CASE(address, connect_to_itself)
{
	Sock u = t.bound("u");

	u.connect(u.local());
}

CASE(address, privileged_port)
{
	Sock u = t.socket();

	t.require(setegid(65534) == 0 && seteuid(65534) == 0, "seteuid()");
	u.bind(t.server(1));
}

CASE(address, unspec_dissolves_connection)
{
	Pair pair = t.pair();
	Addr none = with_family(t.any(), AF_UNSPEC);

	pair.c.connect(none);
	pair.c.getpeername();
	pair.c.look();
	pair.s.await(POLLHUP);
	pair.s.recv(1);
	pair.s.look();
}

CASE(address, connect_again_after_unspec)
{
	Sock l = t.listener();
	Sock c = t.connect_to(l);
	const Sock first = t.take(l, "first");

	c.connect(with_family(t.any(), AF_UNSPEC));
	c.error();
	c.connect(l.local());
	Sock second = t.take(l, "second");
	c.send("anew");
	second.recv(4);
	c.getpeername();
}

CASE(address, unspec_drops_data)
{
	Sock l = t.listener();
	Sock c = t.connect_to(l);
	Sock s = t.take(l);

	s.send("lost");
	c.await_bytes(4);
	c.connect(with_family(t.any(), AF_UNSPEC));
	c.set_nonblock();
	c.recv(10);
	c.recv(10);
}

CASE(address, unspec_of_unconnected)
{
	Sock u = t.socket();

	u.connect(with_family(t.any(), AF_UNSPEC));
	u.look();
	u.bind(t.server());
	u.connect(with_family(t.any(), AF_UNSPEC));
	u.bind(t.server());
	u.listen();
}

CASE(address, unspec_ends_listener)
{
	Sock l = t.listener();
	Sock c = t.connect_to(l);

	l.connect(with_family(t.any(), AF_UNSPEC));
	l.look();
	l.get(OPTION(SOL_SOCKET, SO_ACCEPTCONN));
	c.await(POLLHUP);
	c.look();
}

CASE(address, unspec_ends_connecting)
{
	Sock filler;
	const Sock l = t.full_listener(filler);
	Sock u = t.socket("u", SOCK_NONBLOCK);

	u.connect(l.local());
	u.connect(with_family(t.any(), AF_UNSPEC));
	u.look();
}

CASE(address, name_length_short)
{
	Sock u = t.bound("u");
	unsigned char room[32];
	socklen_t length = 8;

	memset(room, 0xee, sizeof(room));
	t.call("getsockname(u, 8 bytes)",
	       [&] { return ::getsockname(u.fd(), reinterpret_cast<sockaddr *>(room), &length); });
	t.note("length {}, byte 7 {}, byte 8 {:#x}", length, room[7] == 0xee ? "kept" : "set",
	       room[8]);
}

CASE(address, name_length_zero)
{
	Pair pair = t.pair();
	socklen_t length = 0;
	sockaddr name{};

	t.call("getpeername(c, 0 bytes)",
	       [&] { return ::getpeername(pair.c.fd(), &name, &length); });
	t.note("length {}, family {}", length, name.sa_family);
}

CASE(address, name_length_negative)
{
	Sock u = t.bound("u");
	auto length = static_cast<socklen_t>(-1);
	sockaddr name{};

	t.call("getsockname(u, -1 bytes)", [&] { return ::getsockname(u.fd(), &name, &length); });
}

CASE(address, name_bad_pointer)
{
	Sock u = t.bound("u");
	socklen_t length = sizeof(sockaddr_in);

	t.call("getsockname(u, bad pointer)",
	       [&] { return ::getsockname(u.fd(), reinterpret_cast<sockaddr *>(8), &length); });
	t.call("getsockname(u, bad length pointer)", [&] {
		sockaddr name{};
		return ::getsockname(u.fd(), &name, reinterpret_cast<socklen_t *>(8));
	});
}

CASE(address, accept_without_name)
{
	Sock l = t.listener();
	const Sock c = t.connect_to(l);

	t.call(
		"accept(l, no name)", [&] { return ::accept(l.fd(), nullptr, nullptr); },
		[](long fd) { return std::string(fd >= 0 ? "a socket" : "none"); });
}

CASE(address, accept_bad_name)
{
	Sock l = t.listener();
	const Sock c = t.connect_to(l);
	socklen_t length = sizeof(sockaddr_in);

	t.call("accept(l, bad name)",
	       [&] { return ::accept(l.fd(), reinterpret_cast<sockaddr *>(8), &length); });
	l.poll();
}

CASE(address, accept_short_name)
{
	Sock l = t.listener();
	const Sock c = t.connect_to(l);
	socklen_t length = 4;
	sockaddr_in name{};

	t.call(
		"accept(l, 4 bytes)",
		[&] { return ::accept(l.fd(), reinterpret_cast<sockaddr *>(&name), &length); },
		[](long fd) { return std::string(fd >= 0 ? "a socket" : "none"); });
	t.note("length {}, address {}", length, name.sin_addr.s_addr);
}

CASE(address, bind_bad_pointer)
{
	Sock u = t.socket();

	t.call("bind(u, bad pointer)", [&] {
		return ::bind(u.fd(), reinterpret_cast<sockaddr *>(8), sizeof(sockaddr_in));
	});
	t.call("connect(u, bad pointer)", [&] {
		return ::connect(u.fd(), reinterpret_cast<sockaddr *>(8), sizeof(sockaddr_in));
	});
	u.getsockname();
}

} // namespace conformance
