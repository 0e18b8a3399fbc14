// SPDX-License-Identifier: GPL-2.0
/* Statements about the module's socket, and what the module counts. */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "play.h"
#include "sdp_engine.h"
#include "sdp_memory.h"

#define CALL_MAX	(64 * KIB)

/* The call that one thread of the socket's is in. */
static struct blocked call;
static bool calling;
static unsigned char call_buf[CALL_MAX];
static size_t call_len;

/* ---- from and to the socket ---- */

/* Where all is copied nothing is offered. */
static int socket_like(const struct script_line *l)
{
	const char *flow = script_word(l, "flow"), *zcopy = script_word(l, "zcopy");
	int fd = CHECK_OK(socket(test_family(false), SOCK_STREAM, test_protocol()));

	if (flow)
		CHECK_OK(set_flow(fd, flow));
	if (zcopy) {
		skip_where_copied();
		CHECK_OK(set_zcopy(fd, zcopy));
	}
	return fd;
}

/* The kernel doubles what it is told, and would not allow as much to all. */
static void set_buffer(struct script *s, const struct script_line *l, int fd)
{
	if (script_has(l, "rcvbuf"))
		set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, script_field(s, l, "rcvbuf", 0) / 2);
}

static void run_listens(struct script *s, const struct script_line *l)
{
	struct addr addr = server_addr(0);

	play.listener = socket_like(l);
	set_buffer(s, l, play.listener);
	CHECK_OK(bind(play.listener, &addr.sa, addr.len));
	CHECK_OK(listen(play.listener, 1));
	play.address = local_addr(play.listener);
}

void play_socket_is(int fd)
{
	char flow[16] = "";
	socklen_t len = sizeof(flow);

	play.fd = fd;
	set_int(fd, SOL_TCP, TCP_NODELAY, 1);
	CHECK_OK(getsockopt(fd, SOL_SDP, SDP_FLOW_CONTROL, flow, &len));
	play.peer.windows = !strcmp(flow, "nic");
	/* A call that waits in vain says so before the watchdog comes. */
	set_timeout(fd, SO_RCVTIMEO, wait_limit_ms());
	set_timeout(fd, SO_SNDTIMEO, wait_limit_ms());
}

static void run_accepts(struct script *s, const struct script_line *l)
{
	set_timeout(play.listener, SO_RCVTIMEO, wait_limit_ms());
	play_socket_is(CHECK_OK(accept(play.listener, NULL, NULL)));
	(void)s;
	(void)l;
}

static void need_socket(void)
{
	if (play.fd < 0)
		FAIL("there is no socket yet");
}

/* ---- calls that may wait ---- */

static long op_connect(int fd)
{
	return connect(fd, &play.address.sa, play.address.len);
}

static long op_write(int fd)
{
	return send(fd, call_buf, call_len, MSG_NOSIGNAL);
}

static long op_read(int fd)
{
	return recv(fd, call_buf, call_len, 0);
}

static void begin(sdp_op op)
{
	if (calling)
		FAIL("the socket is in a call");
	calling = true;
	block_run(&call, op, play.fd);
}

static void run_connects(struct script *s, const struct script_line *l)
{
	struct addr from = client_addr(0);

	play.fd = socket_like(l);
	set_buffer(s, l, play.fd);
	CHECK_OK(bind(play.fd, &from.sa, from.len));
	begin(op_connect);
}

static size_t call_length(struct script *s, const struct script_line *l)
{
	size_t len = script_value(s, l->words[0]);

	need_socket();
	if (len > sizeof(call_buf))
		FAIL("a call has no more than %zu bytes", sizeof(call_buf));
	return len;
}

static void run_begins_write(struct script *s, const struct script_line *l)
{
	call_len = call_length(s, l);
	pattern_fill(call_buf, call_len, SEED_SOCKET, play.wrote);
	begin(op_write);
}

static void run_begins_read(struct script *s, const struct script_line *l)
{
	call_len = call_length(s, l);
	begin(op_read);
	WAIT_FOR(block_sleeps(&call));
}

/* What has come with it, or has left. */
static void call_has_moved(size_t len)
{
	if (call.op == op_read) {
		pattern_verify(call_buf, len, SEED_PEER, play.read);
		play.read += len;
	} else if (call.op == op_write) {
		play.wrote += len;
	} else {
		play_socket_is(play.fd);
	}
}

static bool is_result(struct script *s, const char *word, long ret)
{
	if (word[0] == 'E')
		return ret < 0 && call.err == script_errno(word);
	return ret >= 0 && ret == (long)script_value(s, word);
}

/* It returns a number, or fails with an errno; or one of several of them. */
static void run_returns(struct script *s, const struct script_line *l)
{
	unsigned int i = 0;
	long ret;

	if (!calling)
		FAIL("the socket is in no call");
	WAIT_FOR(__atomic_load_n(&call.done, __ATOMIC_ACQUIRE));
	ret = block_join(&call);
	calling = false;
	while (i < l->nr_words && !is_result(s, l->words[i], ret))
		i++;
	if (i == l->nr_words)
		FAIL("the call returns %ld (%s)", ret, ret < 0 ? strerrorname_np(call.err) : "-");
	if (ret >= 0)
		call_has_moved(ret);
}

/* ---- calls that do not ---- */

static void run_writes(struct script *s, const struct script_line *l)
{
	size_t len = call_length(s, l);

	send_pattern(play.fd, SEED_SOCKET, play.wrote, len, len);
	play.wrote += len;
}

static void run_reads(struct script *s, const struct script_line *l)
{
	size_t len = call_length(s, l);

	recv_pattern(play.fd, SEED_PEER, play.read, len, len);
	play.read += len;
}

static void run_end(struct script *s, const struct script_line *l)
{
	char byte;

	need_socket();
	CHECK_EQ(CHECK_OK(recv(play.fd, &byte, 1, 0)), 0);
	(void)s;
	(void)l;
}

static void run_shuts(struct script *s, const struct script_line *l)
{
	need_socket();
	CHECK_OK(shutdown(play.fd, SHUT_WR));
	(void)s;
	(void)l;
}

static void run_closes(struct script *s, const struct script_line *l)
{
	need_socket();
	CHECK_OK(close(play.fd));
	play.fd = -1;
	(void)s;
	(void)l;
}

static const struct {
	const char *name;
	int level, option;
} options[] = {
	{ "user_timeout", SOL_TCP, TCP_USER_TIMEOUT },
	{ "zcopy_thresh", SOL_TCP, SDP_ZCOPY_THRESH },
	{ "rcvlowat", SOL_SOCKET, SO_RCVLOWAT },
	{ "oobinline", SOL_SOCKET, SO_OOBINLINE },
};

static void run_sets(struct script *s, const struct script_line *l)
{
	size_t i;

	need_socket();
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (strcmp(options[i].name, l->words[0]))
			continue;
		set_int(play.fd, options[i].level, options[i].option,
			script_value(s, l->words[1]));
		return;
	}
	FAIL("there is no option '%s'", l->words[0]);
}

static const struct {
	const char *name;
	short event;
} events[] = {
	{ "in", POLLIN }, { "out", POLLOUT }, { "hup", POLLHUP }, { "err", POLLERR },
	{ "rdhup", POLLRDHUP }, { "pri", POLLPRI },
};

static short event_named(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (!strcmp(events[i].name, name))
			return events[i].event;
	FAIL("there is no event '%s'", name);
}

static void run_polls(struct script *s, const struct script_line *l)
{
	short want = 0;
	unsigned int i;

	need_socket();
	for (i = 0; i < l->nr_words; i++)
		want |= event_named(l->words[i]);
	wait_poll(play.fd, want);
	(void)s;
}

/* ---- what is expected ---- */

static const struct {
	const char *name;
	size_t at, size;
} facts[] = {
#define FACT(f)	{ #f, offsetof(struct sdp_info, sdpi_##f), \
		  sizeof(((struct sdp_info *)NULL)->sdpi_##f) }
	FACT(msgs_in), FACT(data_msgs_in), FACT(bytes_received), FACT(peer_ring), FACT(rx_ring),
	FACT(zcopy_sent), FACT(zcopy_received), FACT(zcopy_refusals), FACT(zcopy_cancels),
	FACT(tx_credits), FACT(features), FACT(unread), FACT(max_payload), FACT(rx_buffer_size),
};

static uint64_t fact(const char *name)
{
	struct sdp_info info = info_of(play.fd);
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(facts); i++) {
		if (strcmp(facts[i].name, name))
			continue;
		memcpy(&value, (char *)&info + facts[i].at, facts[i].size);
		return value;
	}
	FAIL("nothing is known of '%s'", name);
}

static void run_info(struct script *s, const struct script_line *l)
{
	uint64_t end = now_ms() + wait_limit_ms(), got;
	unsigned int i;

	need_socket();
	for (i = 0; i < l->nr_fields; i++) {
		uint64_t want = script_value(s, l->fields[i].value);

		while ((got = fact(l->fields[i].name)) != want) {
			if (now_ms() > end)
				FAIL("expected %s %llu, got %llu", l->fields[i].name,
				     (unsigned long long)want, (unsigned long long)got);
			pause_a_bit();
		}
	}
}

/* What no script causes without saying so, as it was before. */
static struct {
	const char *name;
	long before;
	bool said;
} counters[] = {
	{ "ProtocolErrors" }, { "PostErrors" }, { "DeviceRefusals" }, { "Timeouts" },
	{ "Resets" }, { "ConnectFails" }, { "OrderlyCloses" },
};

/* The first four. */
#define COUNTED_BY_SCRIPTS	4

void play_counters_begin(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(counters); i++)
		counters[i].before = sdp_stat(counters[i].name);
}

static void expect_counted(const char *name, long times)
{
	uint64_t end = now_ms() + wait_limit_ms();
	size_t i = 0;
	long got;

	while (i < ARRAY_SIZE(counters) && strcmp(counters[i].name, name))
		i++;
	if (i == ARRAY_SIZE(counters))
		FAIL("'%s' is not counted here", name);
	counters[i].said = true;
	while ((got = sdp_stat(name) - counters[i].before) != times) {
		if (now_ms() > end || got > times)
			FAIL("expected %ld more %s, got %ld", times, name, got);
		pause_a_bit();
	}
}

void play_counters_end(void)
{
	size_t i;

	for (i = 0; i < COUNTED_BY_SCRIPTS; i++)
		if (!counters[i].said)
			expect_counted(counters[i].name, 0);
}

static void run_counted(struct script *s, const struct script_line *l)
{
	unsigned int i;

	for (i = 0; i < l->nr_fields; i++)
		expect_counted(l->fields[i].name, script_value(s, l->fields[i].value));
}

/* What was written and not acknowledged. */
static void run_outq(struct script *s, const struct script_line *l)
{
	uint64_t end = now_ms() + wait_limit_ms();
	int want = script_value(s, l->words[0]), got;

	need_socket();
	while ((got = ioctl_int(play.fd, SIOCOUTQ)) != want) {
		if (now_ms() > end)
			FAIL("expected %d bytes on their way, got %d", want, got);
		pause_a_bit();
	}
}

/* How many pages are pinned gets a name; later there may be no more than so many. */
static void run_pinned(struct script *s, const struct script_line *l)
{
	if (!l->as)
		FAIL("'pinned' is followed by 'as' and a name");
	script_set(s, NULL, l->as, pinned_pages());
}

static void run_expect_pinned(struct script *s, const struct script_line *l)
{
	expect_pinned(script_value(s, l->words[0]));
}

/* The stream ends so, behind what has arrived before. */
static void run_error(struct script *s, const struct script_line *l)
{
	int want = script_errno(l->words[0]), got;

	need_socket();
	play.read += recv_pattern_to_end(play.fd, SEED_PEER, play.read, &got);
	if (got != want)
		FAIL("expected %s, got %s", l->words[0],
		     got ? strerrorname_np(got) : "the end of the stream");
	if (l->nr_words == 1)
		return;
	if (l->nr_words != 3 || strcmp(l->words[1], "counted"))
		FAIL("expected 'counted' and a counter's name");
	expect_counted(l->words[2], 1);
	(void)s;
}

/* What the next call is told, whatever it is. */
static void run_pending(struct script *s, const struct script_line *l)
{
	int want = script_errno(l->words[0]), got;

	need_socket();
	wait_poll(play.fd, POLLERR);
	got = get_int(play.fd, SOL_SOCKET, SO_ERROR);
	if (got != want)
		FAIL("expected %s, got %s", l->words[0], strerrorname_np(got));
	(void)s;
}

void play_socket_end(void)
{
	if (calling)
		FAIL("the socket is in a call");
	if (play.fd >= 0) {
		/* Nobody is there to take a DisConn. */
		set_linger(play.fd, 1, 0);
		CHECK_OK(close(play.fd));
	}
	if (play.listener >= 0)
		CHECK_OK(close(play.listener));
}

#define LIKE	"flow zcopy rcvbuf"

const struct statement socket_statements[] = {
	{ "socket listens", 0, 0, LIKE, run_listens },
	{ "socket accepts", 0, 0, NULL, run_accepts },
	{ "socket connects", 0, 0, LIKE, run_connects },
	{ "socket writes", 1, 1, NULL, run_writes },
	{ "socket reads", 1, 1, NULL, run_reads },
	{ "begin write", 1, 1, NULL, run_begins_write },
	{ "begin read", 1, 1, NULL, run_begins_read },
	{ "expect returns", 1, SCRIPT_WORDS, NULL, run_returns },
	{ "expect end", 0, 0, NULL, run_end },
	{ "socket shuts", 0, 0, NULL, run_shuts },
	{ "socket closes", 0, 0, NULL, run_closes },
	{ "socket sets", 2, 2, NULL, run_sets },
	{ "expect poll", 1, SCRIPT_WORDS, NULL, run_polls },
	{ "expect info", 0, 0, "*", run_info },
	{ "expect counted", 0, 0, "*", run_counted },
	{ "expect outq", 1, 1, NULL, run_outq },
	{ "pinned", 0, 0, NULL, run_pinned },
	{ "expect pinned", 1, 1, NULL, run_expect_pinned },
	{ "expect pending", 1, 1, NULL, run_pending },
	{ "expect error", 1, 3, NULL, run_error },
	{ }
};
