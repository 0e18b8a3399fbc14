// SPDX-License-Identifier: GPL-2.0
/*
 * Options: the value of a new socket, get after set, bad values, bad lengths.
 */
#include <cerrno>
#include <climits>
#include <cstring>

#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

#include "run.h"

namespace conformance
{

namespace
{

struct Option {
	const char *name;
	int level;
	int option;
	std::vector<int> values; ///< to set, good and bad
	bool show_default = true;
};

#define O(level, option, ...)                                                                      \
	{                                                                                          \
#option, level, option,                                                            \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define O_SIZED(level, option, ...)                                                                \
	{                                                                                          \
#option, level, option, {__VA_ARGS__ }, false                                      \
	}

const Option options[] = {
	O(SOL_SOCKET, SO_DEBUG, 1, 0),
	O(SOL_SOCKET, SO_REUSEADDR, 1, 2, -1, 0),
	O(SOL_SOCKET, SO_REUSEPORT, 1, 0),
	O(SOL_SOCKET, SO_TYPE, 1),
	O(SOL_SOCKET, SO_DOMAIN, 1),
	O(SOL_SOCKET, SO_PROTOCOL, 6),
	O(SOL_SOCKET, SO_ERROR, 5),
	O(SOL_SOCKET, SO_ACCEPTCONN, 1),
	O(SOL_SOCKET, SO_DONTROUTE, 1, 0),
	O(SOL_SOCKET, SO_BROADCAST, 1, 0),
	O_SIZED(SOL_SOCKET, SO_SNDBUF, 0, 100000, -1, 5000),
	O_SIZED(SOL_SOCKET, SO_RCVBUF, 0, 100000, -1, 5000),
	O_SIZED(SOL_SOCKET, SO_SNDBUFFORCE, 300000, -1),
	O_SIZED(SOL_SOCKET, SO_RCVBUFFORCE, 300000, -1),
	O(SOL_SOCKET, SO_KEEPALIVE, 1, 7, 0),
	O(SOL_SOCKET, SO_OOBINLINE, 1, 0),
	O(SOL_SOCKET, SO_NO_CHECK, 1, 0),
	O(SOL_SOCKET, SO_PRIORITY, 3, 0, 7, -1),
	O(SOL_SOCKET, SO_RCVLOWAT, 0, 1, 17, -1, INT_MAX, INT_MIN),
	O(SOL_SOCKET, SO_SNDLOWAT, 1, 100),
	O(SOL_SOCKET, SO_PASSCRED, 1, 0),
	O(SOL_SOCKET, SO_PASSSEC, 1),
	O(SOL_SOCKET, SO_TIMESTAMP, 1, 0),
	O(SOL_SOCKET, SO_TIMESTAMPNS, 1, 0),
	O(SOL_SOCKET, SO_TIMESTAMPING, 0, 1, -1),
	O(SOL_SOCKET, SO_MARK, 5, 0),
	O(SOL_SOCKET, SO_RXQ_OVFL, 1, 0),
	O(SOL_SOCKET, SO_WIFI_STATUS, 1, 0),
	O(SOL_SOCKET, SO_PEEK_OFF, 0, 5, -1, -2),
	O(SOL_SOCKET, SO_NOFCS, 1, 0),
	O(SOL_SOCKET, SO_LOCK_FILTER, 1, 0),
	O(SOL_SOCKET, SO_SELECT_ERR_QUEUE, 1, 0),
	O(SOL_SOCKET, SO_BUSY_POLL, 10, 0, -1),
	O(SOL_SOCKET, SO_PREFER_BUSY_POLL, 1, 0),
	O(SOL_SOCKET, SO_BUSY_POLL_BUDGET, 8, 65536),
	O(SOL_SOCKET, SO_INCOMING_NAPI_ID, 1),
	O(SOL_SOCKET, SO_ZEROCOPY, 1, 0, 2, -1),
	O(SOL_SOCKET, SO_TXREHASH, 1, 0, -1, 2),
	O(SOL_SOCKET, SO_RESERVE_MEM, 0),
	O(SOL_SOCKET, SO_BUF_LOCK, 3, 0, 4),
	O(SOL_SOCKET, 999, 1),
	O(SOL_TCP, TCP_NODELAY, 1, 0, 2),
	O_SIZED(SOL_TCP, TCP_MAXSEG, 1, 87, 88, 1000, 32768, 0),
	O(SOL_TCP, TCP_CORK, 1, 0, 2),
	O(SOL_TCP, TCP_KEEPIDLE, 10, 0, 32767, 32768, -1),
	O(SOL_TCP, TCP_KEEPINTVL, 10, 0, 32767, 32768),
	O(SOL_TCP, TCP_KEEPCNT, 3, 0, 127, 128),
	O(SOL_TCP, TCP_SYNCNT, 3, 0, 127, 128),
	O(SOL_TCP, TCP_LINGER2, 30, 0, -1, 100000),
	O(SOL_TCP, TCP_DEFER_ACCEPT, 1, 5, 0, -1),
	O(SOL_TCP, TCP_WINDOW_CLAMP, 0),
	O(SOL_TCP, TCP_QUICKACK, 0, 1),
	O(SOL_TCP, TCP_USER_TIMEOUT, 1000, 0, -1),
	O(SOL_TCP, TCP_FASTOPEN, 5, 0, -1),
	O(SOL_TCP, TCP_FASTOPEN_CONNECT, 1, 0, 2),
	O(SOL_TCP, TCP_NOTSENT_LOWAT, 1000, 0),
	O(SOL_TCP, TCP_INQ, 1, 0, 2),
	O(SOL_TCP, TCP_THIN_LINEAR_TIMEOUTS, 1, 0, 2),
	O(SOL_TCP, TCP_THIN_DUPACK, 1, 0),
	O(SOL_TCP, TCP_REPAIR_QUEUE, 1),
	O(SOL_TCP, 999, 1),
	O(SOL_IP, IP_TOS, 0x10, 0, 0xff),
	O(SOL_IP, IP_TTL, 64, 0, 255, 256, -1),
	O(SOL_IP, IP_RECVTTL, 1, 0),
	O(SOL_IP, IP_FREEBIND, 1, 0),
	O(SOL_IP, IP_TRANSPARENT, 1, 0),
	O(SOL_IP, IP_MTU_DISCOVER, 2, 0, 9),
	O(SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1, 0),
	O(SOL_IP, 999, 1),
	O(999, 1, 1),
};

void get_and_set(Run &t, const Option &option)
{
	Sock u = t.socket();
	const std::string get = fmt::format("get({})", option.name);
	const bool shown = option.show_default;

	if (shown)
		u.get(option.level, option.option, option.name);
	for (const int value : option.values) {
		const long set = u.set(option.level, option.option, option.name, value);
		if (shown || set == 0)
			u.get(option.level, option.option, option.name);
	}
}

std::string hex(const unsigned char *bytes, std::size_t count)
{
	std::string text;

	for (std::size_t i = 0; i < count; i++)
		text += fmt::format("{:02x}", bytes[i]);
	return text;
}

/* Lengths too short, too long and negative; what lies behind must stay. */
void lengths(Run &t, const Option &option)
{
	const Sock u = t.socket();

	for (const int length : {0, 1, 2, 3, 8, -1}) {
		unsigned char value[16] = {1};

		t.call(fmt::format("set({}, {} bytes)", option.name, length), [&] {
			return ::setsockopt(u.fd(), option.level, option.option, value,
					    static_cast<socklen_t>(length));
		});
	}
	for (const int length : {0, 1, 2, 3, 8, -1}) {
		auto left = static_cast<socklen_t>(length);
		unsigned char value[16];

		memset(value, 0xee, sizeof(value));
		t.call(fmt::format("get({}, {} bytes)", option.name, length), [&] {
			return ::getsockopt(u.fd(), option.level, option.option, value, &left);
		});
		t.note("length {}, {}", static_cast<int>(left), hex(value, 12));
	}
	t.call("set(bad pointer)", [&] {
		return ::setsockopt(u.fd(), option.level, option.option,
				    reinterpret_cast<void *>(8), sizeof(int));
	});
	t.call("get(bad pointer)", [&] {
		socklen_t left = sizeof(int);
		return ::getsockopt(u.fd(), option.level, option.option,
				    reinterpret_cast<void *>(8), &left);
	});
}

const Option plain[] = {
	O(SOL_SOCKET, SO_KEEPALIVE), O(SOL_SOCKET, SO_OOBINLINE), O(SOL_SOCKET, SO_RCVLOWAT),
	O(SOL_SOCKET, SO_ERROR),     O(SOL_SOCKET, SO_LINGER),	  O(SOL_TCP, TCP_NODELAY),
	O(SOL_TCP, TCP_CORK),	     O(SOL_TCP, TCP_KEEPIDLE),	  O(SOL_TCP, TCP_USER_TIMEOUT),
	O(SOL_IP, IP_TOS),
};

const Register all{[] {
	for (const Option &option : options) {
		suite().push_back({fmt::format("options.{}_{}", option.name, option.level),
				   [&option](Run &t) { get_and_set(t, option); }, false});
	}
	for (const Option &option : plain) {
		suite().push_back({fmt::format("options.lengths_{}", option.name),
				   [&option](Run &t) { lengths(t, option); }, false});
	}
}};

/* What accept() gives must have the listener's wishes. */
void inherited(Run &t, int level, int option, const char *name, int value)
{
	Sock l = t.listener();

	l.set(level, option, name, value);
	const Sock c = t.connect_to(l);
	Sock s = t.take(l);
	s.get(level, option, name);
}

} // namespace

#define INHERITED(level, option, value)                                                            \
	CASE(options, inherited_##option)                                                          \
	{                                                                                          \
		inherited(t, level, option, #option, value);                                       \
	}

INHERITED(SOL_SOCKET, SO_KEEPALIVE, 1)
INHERITED(SOL_SOCKET, SO_OOBINLINE, 1)
INHERITED(SOL_SOCKET, SO_RCVLOWAT, 7)
INHERITED(SOL_SOCKET, SO_PRIORITY, 3)
INHERITED(SOL_SOCKET, SO_MARK, 9)
INHERITED(SOL_SOCKET, SO_REUSEADDR, 1)
INHERITED(SOL_SOCKET, SO_DONTROUTE, 1)
INHERITED(SOL_SOCKET, SO_BROADCAST, 1)
INHERITED(SOL_SOCKET, SO_TIMESTAMP, 1)
INHERITED(SOL_SOCKET, SO_ZEROCOPY, 1)
INHERITED(SOL_SOCKET, SO_SNDBUF, 50000)
INHERITED(SOL_SOCKET, SO_RCVBUF, 50000)
INHERITED(SOL_SOCKET, SO_PEEK_OFF, 3)
INHERITED(SOL_TCP, TCP_NODELAY, 1)
INHERITED(SOL_TCP, TCP_CORK, 1)
INHERITED(SOL_TCP, TCP_KEEPIDLE, 77)
INHERITED(SOL_TCP, TCP_KEEPINTVL, 7)
INHERITED(SOL_TCP, TCP_KEEPCNT, 5)
INHERITED(SOL_TCP, TCP_USER_TIMEOUT, 9000)
INHERITED(SOL_TCP, TCP_LINGER2, 5)
INHERITED(SOL_TCP, TCP_DEFER_ACCEPT, 5)
INHERITED(SOL_IP, IP_TOS, 0x10)

CASE(options, of_listener)
{
	Sock l = t.listener();

	l.get(OPTION(SOL_SOCKET, SO_ACCEPTCONN));
	l.get(OPTION(SOL_SOCKET, SO_TYPE));
	l.get(OPTION(SOL_SOCKET, SO_ERROR));
}

CASE(options, linger_values)
{
	const Sock u = t.socket();

	for (const linger value :
	     {linger{1, 5}, linger{0, 5}, linger{7, 0}, linger{1, -1}, linger{1, 100000000}}) {
		linger got{9, 9};
		socklen_t length = sizeof(got);

		t.call(fmt::format("set linger {} {}", value.l_onoff, value.l_linger), [&] {
			return ::setsockopt(u.fd(), SOL_SOCKET, SO_LINGER, &value, sizeof(value));
		});
		::getsockopt(u.fd(), SOL_SOCKET, SO_LINGER, &got, &length);
		t.note("linger {} {}", got.l_onoff, got.l_linger);
	}
}

CASE(options, cookie)
{
	const Sock u = t.socket();
	const Sock other = t.socket("other");
	std::uint64_t one = 0;
	std::uint64_t two = 0;
	socklen_t length = sizeof(one);

	t.call("get(SO_COOKIE)",
	       [&] { return ::getsockopt(u.fd(), SOL_SOCKET, SO_COOKIE, &one, &length); });
	::getsockopt(other.fd(), SOL_SOCKET, SO_COOKIE, &two, &length);
	t.note("different {}", one != two);
}

CASE(options, peer_name)
{
	Pair pair = t.pair();
	Addr name;

	name.length = sizeof(name.storage);
	t.call("get(SO_PEERNAME)", [&] {
		return ::getsockopt(pair.c.fd(), SOL_SOCKET, SO_PEERNAME, name.get(), &name.length);
	});
	pair.c.getpeername();
	t.note("{}", t.show(name));
}

CASE(options, bind_to_device)
{
	const Sock u = t.socket();
	char name[16] = {};
	socklen_t length = sizeof(name);

	t.call("set(SO_BINDTODEVICE, lo)",
	       [&] { return ::setsockopt(u.fd(), SOL_SOCKET, SO_BINDTODEVICE, "lo", 3); });
	t.call("get(SO_BINDTODEVICE)",
	       [&] { return ::getsockopt(u.fd(), SOL_SOCKET, SO_BINDTODEVICE, name, &length); });
	t.note("{} {}", length, name);
	t.call("set(SO_BINDTODEVICE, none)",
	       [&] { return ::setsockopt(u.fd(), SOL_SOCKET, SO_BINDTODEVICE, "nosuch", 7); });
	t.call("set(SO_BINDTODEVICE, \"\")",
	       [&] { return ::setsockopt(u.fd(), SOL_SOCKET, SO_BINDTODEVICE, "", 0); });
}

CASE(options, tcp_info)
{
	Pair pair = t.pair();
	tcp_info info{};
	socklen_t length = sizeof(info);

	t.call("get(TCP_INFO)",
	       [&] { return ::getsockopt(pair.c.fd(), SOL_TCP, TCP_INFO, &info, &length); });
	t.note("state {}", info.tcpi_state);
	pair.s.shutdown(SHUT_WR);
	pair.c.await(POLLRDHUP);
	::getsockopt(pair.c.fd(), SOL_TCP, TCP_INFO, &info, &length);
	t.note("state {}", info.tcpi_state);
}

CASE(options, tcp_info_short)
{
	const Sock u = t.socket();
	unsigned char info[8];
	socklen_t length = 4;

	memset(info, 0xee, sizeof(info));
	t.call("get(TCP_INFO, 4 bytes)",
	       [&] { return ::getsockopt(u.fd(), SOL_TCP, TCP_INFO, info, &length); });
	t.note("length {}, state {}, byte 4 {:#x}", length, info[0], info[4]);
	t.call("set(TCP_INFO)",
	       [&] { return ::setsockopt(u.fd(), SOL_TCP, TCP_INFO, info, sizeof(info)); });
}

CASE(options, congestion)
{
	const Sock u = t.socket();
	char name[16] = {};
	socklen_t length = sizeof(name);

	t.call("get(TCP_CONGESTION)",
	       [&] { return ::getsockopt(u.fd(), SOL_TCP, TCP_CONGESTION, name, &length); });
	t.call("set(TCP_CONGESTION, nosuch)",
	       [&] { return ::setsockopt(u.fd(), SOL_TCP, TCP_CONGESTION, "nosuch", 6); });
}

CASE(options, ioctls_unknown)
{
	Sock u = t.socket();

	u.ioctl(0x1234, "0x1234");
	u.ioctl(TCGETS, "TCGETS");
	u.ioctl(FIONREAD, "FIONREAD");
	t.call("ioctl(SIOCINQ, bad pointer)", [&] { return ::ioctl(u.fd(), SIOCINQ, 8); });
}

CASE(options, inq_counts)
{
	Pair pair = t.pair();

	pair.s.send("123");
	pair.s.send("4567");
	pair.c.await_bytes(7);
	pair.c.ioctl(SIOCINQ, "SIOCINQ");
	pair.c.recv(2);
	pair.c.ioctl(SIOCINQ, "SIOCINQ");
	pair.c.recv(10, MSG_PEEK);
	pair.c.ioctl(SIOCINQ, "SIOCINQ");
	pair.c.recv(10);
	pair.c.ioctl(SIOCINQ, "SIOCINQ");
}

CASE(options, inq_at_end)
{
	Pair pair = t.pair();

	pair.s.send("123");
	pair.s.shutdown(SHUT_WR);
	pair.c.await(POLLRDHUP);
	pair.c.ioctl(SIOCINQ, "SIOCINQ");
	pair.c.recv(10);
	pair.c.ioctl(SIOCINQ, "SIOCINQ");
	pair.c.recv(10);
	pair.c.ioctl(SIOCINQ, "SIOCINQ");
}

CASE(options, outq_after_delivery)
{
	Pair pair = t.pair();

	pair.c.send("12345");
	pair.c.await_sent();
	pair.c.ioctl(SIOCOUTQ, "SIOCOUTQ");
	pair.c.ioctl(SIOCOUTQNSD, "SIOCOUTQNSD");
}

} // namespace conformance
