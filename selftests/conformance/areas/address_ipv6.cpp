// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses of IPv6: mapped ones, IPV6_V6ONLY, lengths, special addresses.
 */
#include <cerrno>
#include <cstring>

#include <netinet/in.h>

#include "run.h"

namespace conformance
{

namespace
{

Addr with_length(Addr addr, socklen_t length)
{
	addr.length = length;
	return addr;
}

} // namespace

CASE_IPV6(address, mapped_server)
{
	Sock l = t.socket("l");
	Sock c = t.socket("c");

	l.bind(t.any());
	l.getsockname();
	l.listen();
	Addr mapped = make_addr("::ffff:0.0.0.0", l.local().port());
	const Addr v4 = make_addr(t.server_ipv4());
	memcpy(reinterpret_cast<sockaddr_in6 *>(&mapped.storage)->sin6_addr.s6_addr + 12,
	       &reinterpret_cast<const sockaddr_in *>(&v4.storage)->sin_addr, 4);
	c.connect(mapped);
	Sock s = l.accept("s");
	s.getsockname();
	s.getpeername();
	c.getsockname();
	c.getpeername();
}

CASE_IPV6(address, mapped_v6only)
{
	Sock l = t.socket("l");

	l.set(OPTION(SOL_IPV6, IPV6_V6ONLY), 1);
	l.get(OPTION(SOL_IPV6, IPV6_V6ONLY));
	l.bind(make_addr("::ffff:" + t.server_ipv4()));
	l.bind(t.any());
	l.set(OPTION(SOL_IPV6, IPV6_V6ONLY), 0);
	l.listen();
}

CASE_IPV6(address, mapped_connect_v6only)
{
	Sock u = t.socket();

	u.set(OPTION(SOL_IPV6, IPV6_V6ONLY), 1);
	u.connect(make_addr("::ffff:" + t.server_ipv4(), 9));
}

CASE_IPV6(address, v6only_leaves_ipv4_port)
{
	Sock six = t.socket("six");
	Sock four = t.socket("four");

	six.set(OPTION(SOL_IPV6, IPV6_V6ONLY), 1);
	six.bind(t.any());
	four.bind(make_addr("::ffff:" + t.server_ipv4(), six.local().port()));
}

CASE_IPV6(address, dual_takes_ipv4_port)
{
	Sock six = t.socket("six");
	Sock four = t.socket("four");

	six.bind(t.any());
	four.bind(make_addr("::ffff:" + t.server_ipv4(), six.local().port()));
}

CASE_IPV6(address, ipv6_short_rfc2133)
{
	Sock u = t.socket();

	u.bind(with_length(t.server(), 24));
	u.getsockname();
}

CASE_IPV6(address, ipv6_short)
{
	Sock u = t.socket();

	u.bind(with_length(t.server(), 23));
	u.connect(with_length(t.server(9), 23));
}

CASE_IPV6(address, ipv6_any_connect)
{
	const Sock l = t.listener();
	Sock u = t.socket();

	u.connect(t.any(l.local().port()));
}

CASE_IPV6(address, ipv6_loopback)
{
	Sock u = t.socket();

	u.bind(t.loopback());
	u.connect(t.loopback(1));
}

CASE_IPV6(address, ipv6_multicast)
{
	Sock u = t.socket();

	u.bind(make_addr("ff02::1"));
	u.connect(make_addr("ff02::1", 9));
}

CASE_IPV6(address, ipv6_link_local_without_scope)
{
	Sock u = t.socket();

	u.bind(make_addr("fe80::1"));
	u.connect(make_addr("fe80::1", 9));
}

CASE_IPV6(address, ipv6_not_ours)
{
	Sock u = t.socket();

	u.bind(make_addr("2001:db8::1"));
}

CASE_IPV6(address, ipv6_data)
{
	Pair pair = t.pair();
	const std::string data = pattern(100000);

	Blocked all(t, "send(c, 100000)",
		    [&] { return ::send(pair.c.fd(), data.data(), data.size(), 0); });
	pair.s.recv_all(100000);
	all.join();
}

CASE_IPV6(address, ipv6_reset)
{
	Pair pair = t.pair();

	pair.c.reset();
	pair.s.await(POLLHUP);
	pair.s.look();
	pair.s.getpeername();
}

CASE_IPV6(address, ipv6_refused)
{
	Sock u = t.socket();

	u.connect(t.dead());
	u.look();
}

} // namespace conformance
