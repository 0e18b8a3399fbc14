// SPDX-License-Identifier: GPL-2.0
/*
 * Every call in every state. A state is reached by conditions alone, so that
 * nothing is on its way any more when the call is made.
 */
#include <cerrno>

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "states.h"

namespace conformance
{

namespace
{

struct Call {
	const char *name;
	void (*make)(Run &t, Sock &u, Surroundings &around);
};

void call_bind(Run &t, Sock &u, Surroundings &)
{
	u.bind(t.server());
	u.getsockname();
}

void start_connect(Sock &u, const Addr &to)
{
	if (u.connect(to) == -1 && errno == EINPROGRESS)
		u.await(POLLOUT);
	u.getpeername();
}

void call_connect(Run &t, Sock &u, Surroundings &around)
{
	around.target = t.listener(5, "target");
	start_connect(u, around.target.local());
}

void call_connect_blocking(Run &t, Sock &u, Surroundings &around)
{
	around.target = t.listener(5, "target");
	u.set_nonblock(false);
	/* Nobody will answer the connection that is on its way. */
	u.set_timeout(SO_SNDTIMEO, around.filler.fd() >= 0 ? 100 : t.deadline_ms());
	u.connect(around.target.local());
	u.getpeername();
}

void call_connect_dead(Run &t, Sock &u, Surroundings &)
{
	start_connect(u, t.dead());
}

void call_listen(Run &, Sock &u, Surroundings &)
{
	u.listen(3);
	u.get(OPTION(SOL_SOCKET, SO_ACCEPTCONN));
}

void call_accept(Run &, Sock &u, Surroundings &)
{
	Sock a = u.accept();
}

void call_names(Run &, Sock &u, Surroundings &)
{
	u.getsockname();
	u.getpeername();
}

void call_recv(Run &, Sock &u, Surroundings &)
{
	u.recv(4);
	u.recv(100);
	u.recv(100);
}

void call_peek(Run &, Sock &u, Surroundings &)
{
	u.recv(4, MSG_PEEK);
	u.recv(100, MSG_PEEK);
}

void call_recv_nothing(Run &, Sock &u, Surroundings &)
{
	u.recv(0);
	u.recv(0, MSG_PEEK);
}

void call_send(Run &, Sock &u, Surroundings &around)
{
	if (u.send("first") > 0 && around.answers_reset)
		u.await(POLLHUP);
	u.send("second");
}

void call_send_sigpipe(Run &, Sock &u, Surroundings &around)
{
	if (u.send("first", 0) > 0 && around.answers_reset)
		u.await(POLLHUP);
	u.send("second", 0);
}

void call_send_nothing(Run &, Sock &u, Surroundings &)
{
	u.send("");
}

void call_shut_rd(Run &, Sock &u, Surroundings &)
{
	u.shutdown(SHUT_RD);
	u.poll();
	u.recv(10);
}

void call_shut_wr(Run &, Sock &u, Surroundings &)
{
	u.shutdown(SHUT_WR);
	u.send("after");
}

void call_shut_rdwr(Run &, Sock &u, Surroundings &)
{
	u.shutdown(SHUT_RDWR);
	u.recv(10);
	u.send("after");
}

void call_shut_wrong(Run &, Sock &u, Surroundings &)
{
	u.shutdown(3);
	u.shutdown(-1);
}

void call_error(Run &, Sock &u, Surroundings &)
{
	u.error();
	u.error();
}

void call_inq(Run &, Sock &u, Surroundings &)
{
	u.ioctl(SIOCINQ, "SIOCINQ");
}

void call_outq(Run &, Sock &u, Surroundings &)
{
	u.ioctl(SIOCOUTQ, "SIOCOUTQ");
	u.ioctl(SIOCOUTQNSD, "SIOCOUTQNSD");
}

void call_atmark(Run &, Sock &u, Surroundings &)
{
	u.ioctl(SIOCATMARK, "SIOCATMARK");
}

void call_oob(Run &, Sock &u, Surroundings &)
{
	u.recv(1, MSG_OOB);
}

void call_close(Run &, Sock &u, Surroundings &)
{
	u.close();
}

constexpr Call calls[] = {
	{"bind", call_bind},
	{"connect", call_connect},
	{"connect_blocking", call_connect_blocking},
	{"connect_refused", call_connect_dead},
	{"listen", call_listen},
	{"accept", call_accept},
	{"names", call_names},
	{"recv", call_recv},
	{"peek", call_peek},
	{"recv_nothing", call_recv_nothing},
	{"send", call_send},
	{"send_sigpipe", call_send_sigpipe},
	{"send_nothing", call_send_nothing},
	{"shutdown_rd", call_shut_rd},
	{"shutdown_wr", call_shut_wr},
	{"shutdown_rdwr", call_shut_rdwr},
	{"shutdown_wrong", call_shut_wrong},
	{"so_error", call_error},
	{"siocinq", call_inq},
	{"siocoutq", call_outq},
	{"siocatmark", call_atmark},
	{"recv_oob", call_oob},
	{"close", call_close},
};

void run(Run &t, const State &state, const Call &call)
{
	Surroundings around;
	Sock u = state.reach(t, around);

	u.set_nonblock();
	call.make(t, u, around);
	if (u.fd() >= 0)
		u.look();
}

const Register all{[] {
	for (const State &state : states()) {
		for (const Call &call : calls) {
			suite().push_back({std::string("lifecycle.") + call.name + "_" + state.name,
					   [&state, &call](Run &t) { run(t, state, call); },
					   false});
		}
	}
}};

} // namespace

} // namespace conformance
