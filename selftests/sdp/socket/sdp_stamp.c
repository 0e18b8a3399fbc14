// SPDX-License-Identifier: GPL-2.0
/* Time stamps of what was received, in each of their forms; also on TCP. */
#define _GNU_SOURCE
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <time.h>

#include "sdp_engine.h"

#define NSEC	1000000000LL

struct stamp {
	int type;	/* of the control message, 0 for none */
	size_t len;
	long long sec;
	long long fraction;
};

static long long clock_ns(void)
{
	struct timespec ts;

	CHECK_OK(clock_gettime(CLOCK_REALTIME, &ts));
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

/* One read must give so much. */
static struct stamp recv_with_stamp(int fd, void *buf, size_t room, size_t len, int flags)
{
	char control[256];
	struct iovec v = { buf, room };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct stamp s = { 0 };
	struct cmsghdr *c;
	long long word[2];

	CHECK_EQ(recvmsg(fd, &m, flags), len);
	c = CMSG_FIRSTHDR(&m);
	if (!c)
		return s;
	CHECK_EQ(c->cmsg_level, SOL_SOCKET);
	CHECK(!CMSG_NXTHDR(&m, c));
	/* On 64-bit machines all forms begin with two such words. */
	CHECK(c->cmsg_len >= CMSG_LEN(sizeof(word)));
	memcpy(word, CMSG_DATA(c), sizeof(word));
	return (struct stamp){ c->cmsg_type, c->cmsg_len - CMSG_LEN(0),
			       word[0], word[1] };
}

static struct stamp recv_stamped(int fd, const char *text, int flags)
{
	char buf[64];
	struct stamp s = recv_with_stamp(fd, buf, sizeof(buf), strlen(text), flags);

	CHECK(!memcmp(buf, text, strlen(text)));
	return s;
}

static bool stamps(struct pair p)
{
	send_text(p.client, "x", 0);
	wait_inq(p.server, 1);
	return recv_stamped(p.server, "x", 0).type;
}

/* A message, looked at only, and what the clock said before and after it came. */
struct look {
	long long before, after;
	struct stamp s;
};

static struct look look_at_message(struct pair p)
{
	struct look l = { .before = clock_ns() };

	send_text(p.client, "abc", 0);
	wait_inq(p.server, 3);
	l.after = clock_ns();
	l.s = recv_stamped(p.server, "abc", MSG_PEEK);
	return l;
}

/*
 * The IP stack's clock starts when the kernel gets round to it, and in one place
 * after the other: with TCP a packet may lack what one before it had.
 */
static struct look look_at_stamp(struct pair p)
{
	struct look l;

	WAIT_FOR(stamps(p));
	l = look_at_message(p);
	while (opts.tcp && !l.s.type) {
		recv_stamped(p.server, "abc", 0);
		WAIT_FOR(stamps(p));
		l = look_at_message(p);
	}
	return l;
}

/* The stamp is from between the write and the look at the arrived bytes. */
static void check_form(int opt, int value, size_t len, long long fractions)
{
	struct pair p = new_nodelay_pair();
	struct look l;
	struct stamp s;
	long long at;

	set_int(p.server, SOL_SOCKET, opt, value);
	l = look_at_stamp(p);
	s = l.s;
	CHECK_EQ(s.type, opt);
	CHECK_EQ(s.len, len);
	CHECK(s.fraction >= 0 && s.fraction < fractions);
	at = s.sec * NSEC + s.fraction * (NSEC / fractions);
	CHECK(at >= l.before - NSEC / fractions && at <= l.after);
	/* It does not change with the time of reading. */
	CHECK_EQ(recv_stamped(p.server, "abc", 0).fraction, s.fraction);
}

static void microseconds(void)
{
	check_form(SO_TIMESTAMP_OLD, 1, 16, 1000000);
}

static void nanoseconds(void)
{
	check_form(SO_TIMESTAMPNS_OLD, 1, 16, NSEC);
}

static void new_microseconds(void)
{
	check_form(SO_TIMESTAMP_NEW, 1, 16, 1000000);
}

static void new_nanoseconds(void)
{
	check_form(SO_TIMESTAMPNS_NEW, 1, 16, NSEC);
}

static void of_software(void)
{
	check_form(SO_TIMESTAMPING_OLD, SOF_TIMESTAMPING_RX_SOFTWARE |
		   SOF_TIMESTAMPING_SOFTWARE, 48, NSEC);
}

static void new_of_software(void)
{
	check_form(SO_TIMESTAMPING_NEW, SOF_TIMESTAMPING_RX_SOFTWARE |
		   SOF_TIMESTAMPING_SOFTWARE, 48, NSEC);
}

/* The listener's options are those of the sockets that it accepts. */
static void check_inherited(int opt, int value)
{
	int listener = new_listener(1);
	struct pair p;

	set_int(listener, SOL_SOCKET, opt, value);
	p.client = connect_to(listener);
	p.server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(get_int(p.server, SOL_SOCKET, opt), value);
	WAIT_FOR(stamps(p));
}

static void inherited(void)
{
	check_inherited(SO_TIMESTAMP, 1);
	check_inherited(SO_TIMESTAMPNS, 1);
	check_inherited(SO_TIMESTAMPING, SOF_TIMESTAMPING_RX_SOFTWARE |
			SOF_TIMESTAMPING_SOFTWARE);
}

static void none_unless_asked(void)
{
	struct pair p = new_nodelay_pair();

	send_text(p.client, "abc", 0);
	wait_inq(p.server, 3);
	CHECK_EQ(recv_stamped(p.server, "abc", 0).type, 0);
	set_int(p.server, SOL_SOCKET, SO_TIMESTAMP, 1);
	set_int(p.server, SOL_SOCKET, SO_TIMESTAMP, 0);
	send_text(p.client, "de", 0);
	wait_inq(p.server, 2);
	CHECK_EQ(recv_stamped(p.server, "de", 0).type, 0);
}

/* Where there is no room for it, the data comes all the same. */
static void no_room_for_it(void)
{
	struct pair p = new_nodelay_pair();
	char buf[8], control[8];
	struct iovec v = { buf, sizeof(buf) };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};

	set_int(p.server, SOL_SOCKET, SO_TIMESTAMP, 1);
	WAIT_FOR(stamps(p));
	send_text(p.client, "abc", 0);
	CHECK_EQ(recvmsg(p.server, &m, 0), 3);
	CHECK_EQ(m.msg_flags & MSG_CTRUNC, MSG_CTRUNC);
	send_text(p.client, "def", 0);
	expect_text(p.server, "def", 0);
}

/* ---- a ring, which notes no more than so many arrivals ---- */

#define RING	(64 * KIB)
#define WRITES	40
#define PIECE	1000

/* When each piece was about to be written; all of them are there. */
static void write_pieces(struct flow_pair *f, long long *before)
{
	unsigned int i;

	for (i = 0; i < WRITES; i++) {
		before[i] = clock_ns();
		send_pattern(f->p.client, FLOW_UP, f->up + i * PIECE, PIECE, PIECE);
		wait_inq(f->p.server, (i + 1) * PIECE);
	}
}

static void more_than_a_ring_notes(void)
{
	struct flow_pair f = flow_open("rdma", RING);
	long long before[WRITES], after, at, last = 0;
	char buf[PIECE];
	struct stamp s;
	unsigned int i;

	set_int(f.p.server, SOL_SOCKET, SO_TIMESTAMPNS_OLD, 1);
	write_pieces(&f, before);
	after = clock_ns();
	for (i = 0; i < WRITES; i++) {
		s = recv_with_stamp(f.p.server, buf, PIECE, PIECE, 0);
		pattern_verify(buf, PIECE, FLOW_UP, f.up + i * PIECE);
		CHECK_EQ(s.type, SO_TIMESTAMPNS_OLD);
		at = s.sec * NSEC + s.fraction;
		CHECK(at >= before[i] && at <= after && at >= last);
		last = at;
	}
	exchange(f.p.client, f.p.server, PIECE);
	close_pair(f.p);
}

static const struct sdp_case cases[] = {
	CASE(microseconds, CASE_TCP),
	CASE(nanoseconds, CASE_TCP),
	CASE(new_microseconds, CASE_TCP),
	CASE(new_nanoseconds, CASE_TCP),
	CASE(of_software, CASE_TCP),
	CASE(new_of_software, CASE_TCP),
	CASE(inherited, CASE_TCP),
	CASE(none_unless_asked, CASE_TCP),
	CASE(no_room_for_it, CASE_TCP),
	CASE(more_than_a_ring_notes, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
