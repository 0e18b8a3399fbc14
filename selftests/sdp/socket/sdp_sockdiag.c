// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets as netlink lists them (linux/sdp_diag.h): what is said of each, which ones, to
 * whom, and what becomes of requests that make no sense.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sdp.h>
#include <linux/sdp_diag.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sdp_diag.h"
#include "sdp_engine.h"
#include "sdp_transfer.h"

#define NOBODY			65534
#define STATE_ESTABLISHED	1
#define STATE_FIN_WAIT2		5
#define STATE_CLOSE		7
#define STATE_CLOSE_WAIT	8
#define STATE_LISTEN		10
#define ALL			(~0U)
#define SHOW(attr)		(1U << ((attr) - 1))

/* ---- a dump ---- */

struct ask {
	struct nlmsghdr head;
	struct sdp_diag_req req;
	char more[16];
};

static struct ask ask_for(uint32_t states, uint32_t show)
{
	return (struct ask) {
		.head = {
			.nlmsg_len = NLMSG_LENGTH(sizeof(struct sdp_diag_req)),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.req = {
			.sdiag_family = AF_SDP,
			.sdr_states = states,
			.sdr_show = show,
		},
	};
}

static void ask(int diag, const struct ask *a)
{
	CHECK_EQ(CHECK_OK(send(diag, a, a->head.nlmsg_len, 0)), a->head.nlmsg_len);
}

/* One socket as it was listed. */
struct entry {
	struct sdp_diag_msg msg;
	unsigned int len[SDP_DIAG_MAX + 1];	/* of its attributes, 0 = not there */
	unsigned char attr[SDP_DIAG_MAX + 1][96];
};

static void read_attr(struct entry *e, const struct nlattr *a)
{
	unsigned int len = a->nla_len - NLA_HDRLEN;

	CHECK(a->nla_type > SDP_DIAG_UNSPEC && a->nla_type <= SDP_DIAG_MAX);
	CHECK(len && len <= sizeof(e->attr[0]));
	CHECK_EQ(e->len[a->nla_type], 0);
	e->len[a->nla_type] = len;
	memcpy(e->attr[a->nla_type], a + 1, len);
}

static struct entry read_entry(const struct nlmsghdr *head)
{
	const char *at = (const char *)NLMSG_DATA(head) + NLMSG_ALIGN(sizeof(struct sdp_diag_msg));
	const char *end = (const char *)head + head->nlmsg_len;
	struct entry e = { 0 };

	CHECK_EQ(head->nlmsg_type, SOCK_DIAG_BY_FAMILY);
	CHECK(at <= end);
	memcpy(&e.msg, NLMSG_DATA(head), sizeof(e.msg));
	CHECK_EQ(e.msg.sdiag_family, AF_SDP);
	while (at < end) {
		const struct nlattr *a = (const void *)at;

		CHECK(a->nla_len > NLA_HDRLEN && at + a->nla_len <= end);
		read_attr(&e, a);
		at += NLA_ALIGN(a->nla_len);
	}
	return e;
}

typedef void (*visit_fn)(void *arg, const struct entry *e);

/* The next part of an answer; whether it was the last. */
static bool read_part(int diag, visit_fn visit, void *arg)
{
	static char buf[64 * KIB] __attribute__((aligned(8)));
	int len = CHECK_OK(recv(diag, buf, sizeof(buf), 0));
	const struct nlmsghdr *head = (void *)buf;

	for (; NLMSG_OK(head, len); head = NLMSG_NEXT(head, len)) {
		struct entry e;

		if (head->nlmsg_type == NLMSG_DONE)
			return true;
		CHECK_EQ(head->nlmsg_flags & NLM_F_MULTI, NLM_F_MULTI);
		e = read_entry(head);
		visit(arg, &e);
	}
	return false;
}

static void dump(uint32_t states, uint32_t show, visit_fn visit, void *arg)
{
	struct ask a = ask_for(states, show);
	int diag = diag_socket();

	ask(diag, &a);
	while (!read_part(diag, visit, arg))
		;
	CHECK_OK(close(diag));
}

/* ---- one socket ---- */

struct search {
	unsigned long ino;
	unsigned int times;
	struct entry found;
};

static unsigned long inode_of(int fd)
{
	struct stat st;

	CHECK_OK(fstat(fd, &st));
	return st.st_ino;
}

static void compare_inode(void *arg, const struct entry *e)
{
	struct search *s = arg;

	if (e->msg.sdm_ino != s->ino)
		return;
	s->times++;
	s->found = *e;
}

static unsigned int times_listed(int fd, uint32_t states)
{
	struct search s = { .ino = inode_of(fd) };

	dump(states, 0, compare_inode, &s);
	return s.times;
}

static struct entry entry_of(int fd, uint32_t show)
{
	struct search s = { .ino = inode_of(fd) };

	dump(ALL, show, compare_inode, &s);
	CHECK_EQ(s.times, 1);
	return s.found;
}

static void check_end(const struct sdp_diag_msg *m, const __be32 *words, __be16 port,
		      const struct addr *want)
{
	CHECK_EQ(m->sdm_addr_family, want->sa.sa_family);
	if (want->sa.sa_family == AF_INET) {
		CHECK_EQ(words[0], want->in4.sin_addr.s_addr);
		CHECK(!words[1] && !words[2] && !words[3]);
		CHECK_EQ(port, want->in4.sin_port);
	} else {
		CHECK(!memcmp(words, &want->in6.sin6_addr, 16));
		CHECK_EQ(port, want->in6.sin6_port);
	}
}

static uint64_t cookie_of(int fd)
{
	uint64_t cookie;
	socklen_t len = sizeof(cookie);

	CHECK_OK(getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len));
	return cookie;
}

static void check_head(int fd, const struct entry *e)
{
	struct addr local = local_addr(fd), peer = peer_addr(fd);

	CHECK_EQ(e->msg.sdm_state, STATE_ESTABLISHED);
	CHECK_EQ(e->msg.sdm_uid, getuid());
	CHECK_EQ(e->msg.sdm_cookie[0] | (uint64_t)e->msg.sdm_cookie[1] << 32, cookie_of(fd));
	check_end(&e->msg, e->msg.sdm_src, e->msg.sdm_sport, &local);
	check_end(&e->msg, e->msg.sdm_dst, e->msg.sdm_dport, &peer);
}

static void head_of_connection(void)
{
	struct pair p = new_pair();
	struct entry c, s;

	send_pattern(p.client, 1, 0, 5000, 5000);
	wait_inq(p.server, 5000);
	c = entry_of(p.client, 0);
	s = entry_of(p.server, 0);
	check_head(p.client, &c);
	check_head(p.server, &s);
	CHECK_EQ(s.msg.sdm_rqueue, 5000);
	CHECK_EQ(s.msg.sdm_wqueue, 0);
	CHECK_EQ(c.msg.sdm_rqueue, 0);
	recv_pattern(p.server, 1, 0, 3000, 3000);
	CHECK_EQ(entry_of(p.server, 0).msg.sdm_rqueue, 2000);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	WAIT_FOR(entry_of(p.client, 0).msg.sdm_state == STATE_FIN_WAIT2);
	WAIT_FOR(entry_of(p.server, 0).msg.sdm_state == STATE_CLOSE_WAIT);
}

static void unread_and_unsent(void)
{
	struct pair p = new_pair();
	uint64_t sent = fill_pipe(p.client, 2);
	struct entry c = entry_of(p.client, 0);

	CHECK(c.msg.sdm_wqueue > 0);
	WAIT_FOR(entry_of(p.server, 0).msg.sdm_rqueue == info_of(p.server).sdpi_unread);
	recv_pattern(p.server, 2, 0, sent, 64 * KIB);
	CHECK_EQ(entry_of(p.server, 0).msg.sdm_rqueue, 0);
}

static void head_of_listener(void)
{
	int listener = new_listener(7);
	struct addr local = local_addr(listener);
	struct entry e;

	connect_to(listener);
	connect_to(listener);
	WAIT_FOR(entry_of(listener, 0).msg.sdm_rqueue == 2);
	e = entry_of(listener, ALL);
	CHECK_EQ(e.msg.sdm_state, STATE_LISTEN);
	CHECK_EQ(e.msg.sdm_wqueue, 7);
	CHECK_EQ(e.msg.sdm_dport, 0);
	check_end(&e.msg, e.msg.sdm_src, e.msg.sdm_sport, &local);
	CHECK_EQ(e.len[SDP_DIAG_FLOW], 0);
	CHECK_EQ(e.len[SDP_DIAG_DEVICE], 0);
	CHECK_EQ(e.len[SDP_DIAG_CREDITS], 0);
}

static void check_text(const struct entry *e, unsigned int attr, const char *want)
{
	CHECK_EQ(e->len[attr], strlen(want) + 1);
	CHECK(!memcmp(e->attr[attr], want, strlen(want) + 1));
}

static void check_ring(const struct entry *e, const struct sdp_info *info)
{
	struct sdp_diag_ring ring;

	CHECK_EQ(e->len[SDP_DIAG_RING], sizeof(ring));
	memcpy(&ring, e->attr[SDP_DIAG_RING], sizeof(ring));
	CHECK_EQ(ring.size, info->sdpi_rx_ring);
	CHECK_EQ(ring.used, info->sdpi_rx_ring_used);
	CHECK_EQ(ring.peer_size, info->sdpi_peer_ring);
	CHECK_EQ(ring.reason, info->sdpi_ring_reason);
	CHECK_EQ(ring.stalls, info->sdpi_credit_stalls);
	CHECK_EQ(ring.coalesced, info->sdpi_coalesced);
	CHECK(!memcmp(ring.flushes, info->sdpi_flushes, sizeof(ring.flushes)));
}

static void check_zcopy(const struct entry *e, const struct sdp_info *info)
{
	struct sdp_diag_zcopy zcopy;

	CHECK_EQ(e->len[SDP_DIAG_ZCOPY], sizeof(zcopy));
	memcpy(&zcopy, e->attr[SDP_DIAG_ZCOPY], sizeof(zcopy));
	CHECK_EQ(zcopy.connected, 1);
	CHECK_EQ(zcopy.mode, info->sdpi_zcopy);
	CHECK_EQ(zcopy.sent, info->sdpi_bytes_sent);
	CHECK_EQ(zcopy.sent_zcopy, info->sdpi_zcopy_sent);
	CHECK_EQ(zcopy.sent_async, info->sdpi_async_sent);
	CHECK_EQ(zcopy.received, info->sdpi_bytes_received);
	CHECK_EQ(zcopy.received_zcopy, info->sdpi_zcopy_received);
	CHECK_EQ(zcopy.refusals, info->sdpi_zcopy_refusals);
	CHECK_EQ(zcopy.cancels, info->sdpi_zcopy_cancels);
	CHECK_EQ(zcopy.guard_refusals, info->sdpi_guard_refusals);
	CHECK_EQ(zcopy.guard_faults, info->sdpi_guard_faults);
}

static void check_number(const struct entry *e, int attr, uint32_t want)
{
	uint32_t value;

	CHECK_EQ(e->len[attr], sizeof(value));
	memcpy(&value, e->attr[attr], sizeof(value));
	CHECK_EQ(value, want);
}

static void check_connection(int fd)
{
	static const char * const engines[] = { "", "credit", "rdma", "nic" };
	struct sdp_info info = info_of(fd);
	struct entry e = entry_of(fd, ALL);
	struct sdp_diag_credits credits;

	check_text(&e, SDP_DIAG_FLOW, engines[info.sdpi_flow]);
	check_text(&e, SDP_DIAG_DEVICE, info.sdpi_device);
	check_number(&e, SDP_DIAG_QPN, info.sdpi_qp_num);
	check_number(&e, SDP_DIAG_FLOW_WHY, info.sdpi_flow_reason);
	CHECK_EQ(e.len[SDP_DIAG_CREDITS], sizeof(credits));
	memcpy(&credits, e.attr[SDP_DIAG_CREDITS], sizeof(credits));
	CHECK_EQ(credits.tx, info.sdpi_tx_credits);
	CHECK_EQ(credits.rx, info.sdpi_rx_credits);
	check_ring(&e, &info);
	check_zcopy(&e, &info);
}

/* Nothing moves once both ends know what the other has. */
static void wait_settled(struct pair p)
{
	WAIT_FOR(info_of(p.client).sdpi_unacked == 0 && info_of(p.server).sdpi_unacked == 0);
	WAIT_FOR(info_of(p.server).sdpi_rx_credits == info_of(p.client).sdpi_tx_credits &&
		 info_of(p.client).sdpi_rx_credits == info_of(p.server).sdpi_tx_credits);
}

static void attributes_of_connection(void)
{
	struct pair p = new_nodelay_pair();

	send_pattern(p.client, 3, 0, 7000, 1000);
	recv_pattern(p.server, 3, 0, 7000, 7000);
	send_pattern(p.server, 4, 0, 300, 300);
	recv_pattern(p.client, 4, 0, 300, 300);
	wait_settled(p);
	check_connection(p.client);
	check_connection(p.server);
}

static void engine_that_the_peer_has_not(void)
{
	struct pair p = engine_pair("rdma", "credit", 64 * KIB);

	CHECK_EQ(info_of(p.client).sdpi_flow_reason, SDP_FLOW_REASON_PEER);
	check_connection(p.client);
	check_connection(p.server);
}

static void move_long(struct pair p)
{
	struct job reader = { .fd = p.server, .seed = 5, .len = MIB, .chunk = 256 * KIB };
	struct job writer = reader;
	pthread_t thread;

	writer.fd = p.client;
	thread_start(&thread, read_job, &reader);
	write_job(&writer);
	thread_join(thread);
}

/* Where a reader is late what is written is copied. */
static void attributes_of_zero_copy(void)
{
	static const char *const modes[] = { "sync", "async" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		struct pair p = zcopy_pair(modes[i], modes[i]);

		do {
			move_long(p);
		} while (!info_of(p.client).sdpi_zcopy_sent);
		wait_settled(p);
		check_connection(p.client);
		check_connection(p.server);
		close_pair(p);
	}
}

static void memory_and_timeouts(void)
{
	int fd = new_socket(0);
	struct sdp_diag_timeouts t;
	uint32_t mem[SK_MEMINFO_VARS];
	struct entry e;

	set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, 1234);
	set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, 56);
	set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, 7);
	set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 5678);
	set_int(fd, IPPROTO_TCP, TCP_LINGER2, 9);
	e = entry_of(fd, SHOW(SDP_DIAG_SKMEMINFO) | SHOW(SDP_DIAG_TIMEOUTS));
	CHECK(e.len[SDP_DIAG_SKMEMINFO] >= sizeof(mem));
	memcpy(mem, e.attr[SDP_DIAG_SKMEMINFO], sizeof(mem));
	CHECK_EQ(mem[SK_MEMINFO_SNDBUF], get_int(fd, SOL_SOCKET, SO_SNDBUF));
	CHECK_EQ(mem[SK_MEMINFO_RCVBUF], get_int(fd, SOL_SOCKET, SO_RCVBUF));
	CHECK_EQ(e.len[SDP_DIAG_TIMEOUTS], sizeof(t));
	memcpy(&t, e.attr[SDP_DIAG_TIMEOUTS], sizeof(t));
	CHECK_EQ(t.keepalive, 1);
	CHECK_EQ(t.keepidle, 1234);
	CHECK_EQ(t.keepintvl, 56);
	CHECK_EQ(t.keepcnt, 7);
	CHECK_EQ(t.linger2, 9);
	CHECK_EQ(t.user_timeout, 5678);
}

static void only_what_is_asked_for(void)
{
	struct pair p = new_pair();
	unsigned int asked, attr;

	for (asked = SDP_DIAG_UNSPEC + 1; asked <= SDP_DIAG_MAX; asked++) {
		struct entry e = entry_of(p.client, SHOW(asked));

		for (attr = 0; attr <= SDP_DIAG_MAX; attr++)
			CHECK_EQ(!!e.len[attr], attr == asked);
	}
	/* What a later header may know. */
	CHECK_EQ(entry_of(p.client, 1U << 31).len[SDP_DIAG_FLOW], 0);
}

static void only_these_states(void)
{
	struct pair p = new_pair();
	int listener = new_listener(1), closed = new_socket(0);

	CHECK_EQ(times_listed(listener, 1 << STATE_LISTEN), 1);
	CHECK_EQ(times_listed(listener, ~(1U << STATE_LISTEN)), 0);
	CHECK_EQ(times_listed(closed, 1 << STATE_CLOSE), 1);
	CHECK_EQ(times_listed(closed, 1 << STATE_LISTEN), 0);
	CHECK_EQ(times_listed(p.client, 1 << STATE_ESTABLISHED | 1 << STATE_LISTEN), 1);
	CHECK_EQ(times_listed(p.client, 1 << STATE_LISTEN | 1 << STATE_CLOSE), 0);
	CHECK_EQ(times_listed(p.client, 0), 0);
}

/* ---- to whom ---- */

static void become_nobody(void)
{
	CHECK_OK(setresgid(NOBODY, NOBODY, NOBODY));
	CHECK_OK(setresuid(NOBODY, NOBODY, NOBODY));
}

static void nobody_sees_what_proc_shows(void)
{
	struct pair p = new_pair();
	struct entry mine = entry_of(p.client, ALL);
	pid_t child;

	CHECK(mine.len[SDP_DIAG_SKMEMINFO]);
	child = fork_child();
	if (!child) {
		struct entry e;

		become_nobody();
		e = entry_of(p.client, ALL);
		CHECK(!memcmp(&e.msg, &mine.msg, sizeof(e.msg)));
		CHECK_EQ(e.len[SDP_DIAG_FLOW], mine.len[SDP_DIAG_FLOW]);
		CHECK_EQ(e.len[SDP_DIAG_ZCOPY], mine.len[SDP_DIAG_ZCOPY]);
		CHECK_EQ(e.len[SDP_DIAG_SKMEMINFO], 0);
		CHECK_EQ(e.len[SDP_DIAG_TIMEOUTS], 0);
		exit(0);
	}
	join_child(child);
}

static void namespaces_see_their_own(void)
{
	int outer = new_socket(0), inner, home = CHECK_OK(open("/proc/self/ns/net", O_RDONLY));

	CHECK_OK(unshare(CLONE_NEWNET));
	inner = new_socket(0);
	CHECK_EQ(times_listed(inner, ALL), 1);
	CHECK_EQ(times_listed(outer, ALL), 0);
	CHECK_OK(setns(home, CLONE_NEWNET));
	CHECK_EQ(times_listed(inner, ALL), 0);
	CHECK_EQ(times_listed(outer, ALL), 1);
}

/* ---- many ---- */

#define KEPT	3000

struct census {
	unsigned long first, last;	/* inodes of those that stay */
	unsigned char *times;
};

static void count_kept(void *arg, const struct entry *e)
{
	struct census *c = arg;

	if (e->msg.sdm_ino >= c->first && e->msg.sdm_ino <= c->last)
		c->times[e->msg.sdm_ino - c->first]++;
}

static void renew(int *fd)
{
	CHECK_OK(close(*fd));
	*fd = new_socket(0);
}

/* Sockets come and go, at both ends of the list and in its middle; fewer than are listed. */
static void churn(int *passing, unsigned int count, unsigned int round)
{
	renew(&passing[round % count]);
	renew(&passing[(round + count / 2) % count]);
	renew(&passing[count - 1 - round % count]);
}

static void many_are_listed_once(void)
{
	unsigned int kept = scaled_count(KEPT), passing = kept / 10, i, rounds = 0;
	int *stay = calloc(kept, sizeof(int)), *pass = calloc(passing, sizeof(int));
	struct ask a = ask_for(ALL, ALL);
	struct census c = { 0 };
	int diag = diag_socket();

	raise_file_limit(kept + passing + 100);
	for (i = 0; i < kept; i++) {
		stay[i] = new_socket(0);
		if (i % 10 == 0 && i / 10 < passing)
			pass[i / 10] = new_socket(0);
	}
	/* Each processor hands out inodes of its own. */
	c.first = ~0UL;
	for (i = 0; i < kept; i++) {
		c.first = inode_of(stay[i]) < c.first ? inode_of(stay[i]) : c.first;
		c.last = inode_of(stay[i]) > c.last ? inode_of(stay[i]) : c.last;
	}
	c.times = calloc(c.last - c.first + 1, 1);
	ask(diag, &a);
	while (!read_part(diag, count_kept, &c))
		churn(pass, passing, rounds++);
	CHECK(rounds > 1);
	for (i = 0; i < kept; i++)
		CHECK_EQ(c.times[inode_of(stay[i]) - c.first], 1);
}

static int module_users(void)
{
	FILE *f = fopen("/sys/module/sdp/refcnt", "r");
	int users;

	if (!f)
		sdp_skip("the kernel says nobody how often a module is used");
	CHECK_EQ(fscanf(f, "%d", &users), 1);
	fclose(f);
	return users;
}

/* The module cannot go while somebody has fetched a part only. */
static void half_a_dump_holds_the_module(void)
{
	int before = module_users();
	unsigned int count = 300, i;
	struct ask a = ask_for(ALL, ALL);
	int fds[300], diag = diag_socket();
	struct search nobody = { .ino = ~0UL };

	for (i = 0; i < count; i++)
		fds[i] = new_socket(0);
	ask(diag, &a);
	for (i = 0; i < count; i++)
		CHECK_OK(close(fds[i]));
	WAIT_FOR(module_users() == before + 1);
	while (!read_part(diag, compare_inode, &nobody))
		;
	WAIT_FOR(module_users() == before);
	/* Nor is it held for ever by somebody who fetches nothing more. */
	for (i = 0; i < count; i++)
		fds[i] = new_socket(0);
	ask(diag, &a);
	for (i = 0; i < count; i++)
		CHECK_OK(close(fds[i]));
	CHECK_OK(close(diag));
	WAIT_FOR(module_users() == before);
}

/* ---- requests that make no sense ---- */

static int refusal(const struct ask *a)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
		char rest[512];
	} answer;
	int diag = diag_socket();

	ask(diag, a);
	CHECK_OK(recv(diag, &answer, sizeof(answer), 0));
	CHECK_OK(close(diag));
	CHECK_EQ(answer.head.nlmsg_type, NLMSG_ERROR);
	return -answer.err.error;
}

static void lengths_are_checked(void)
{
	struct ask a = ask_for(ALL, ALL);
	unsigned int len;

	for (len = 0; len <= sizeof(a.req) + sizeof(a.more); len++) {
		if (len == sizeof(a.req))
			continue;
		a.head.nlmsg_len = NLMSG_LENGTH(len);
		CHECK_EQ(refusal(&a), EINVAL);
	}
}

static void what_is_reserved_is_zero(void)
{
	unsigned char *bytes;
	unsigned int i;

	for (i = 1; i < sizeof(struct sdp_diag_req); i++) {
		struct ask a = ask_for(0, 0);

		if (i >= offsetof(struct sdp_diag_req, sdr_states) &&
		    i < offsetof(struct sdp_diag_req, reserved))
			continue;
		bytes = (unsigned char *)&a.req;
		bytes[i] = 1;
		CHECK_EQ(refusal(&a), EINVAL);
	}
}

static void other_commands_are_refused(void)
{
	struct ask a = ask_for(ALL, ALL);

	a.head.nlmsg_flags = NLM_F_REQUEST;
	CHECK_EQ(refusal(&a), EOPNOTSUPP);
	a.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ROOT;
	CHECK_EQ(refusal(&a), EOPNOTSUPP);
	a.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	a.head.nlmsg_type = SOCK_DESTROY;
	CHECK_EQ(refusal(&a), EOPNOTSUPP);
}

static const struct sdp_case cases[] = {
	CASE(head_of_connection, CASE_SDP_ONLY | CASE_IPV6),
	CASE(unread_and_unsent, CASE_SDP_ONLY),
	CASE(head_of_listener, CASE_SDP_ONLY | CASE_IPV6),
	CASE(attributes_of_connection, CASE_SDP_ONLY),
	CASE(engine_that_the_peer_has_not, CASE_SDP_ONLY),
	CASE(attributes_of_zero_copy, CASE_SDP_ONLY),
	CASE(memory_and_timeouts, CASE_SDP_ONLY),
	CASE(only_what_is_asked_for, CASE_SDP_ONLY),
	CASE(only_these_states, CASE_SDP_ONLY),
	CASE(nobody_sees_what_proc_shows, CASE_SDP_ONLY),
	CASE(namespaces_see_their_own, CASE_SDP_ONLY),
	CASE(many_are_listed_once, CASE_SDP_ONLY | CASE_LONG),
	CASE(half_a_dump_holds_the_module, CASE_SDP_ONLY),
	CASE(lengths_are_checked, CASE_SDP_ONLY),
	CASE(what_is_reserved_is_zero, CASE_SDP_ONLY),
	CASE(other_commands_are_refused, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
