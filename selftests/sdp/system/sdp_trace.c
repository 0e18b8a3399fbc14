// SPDX-License-Identifier: GPL-2.0
/*
 * The tracepoints of AF_SDP: that each is there, and that it says what has happened
 * on which connection.  What can be counted otherwise has to agree with it.
 */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

#include "sdp_engine.h"
#include "sdp_events.h"
#include "sdp_fallback.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

#define HDR_LEN		16
#define LEN		(4 * THRESH)
#define PAGES		(LEN / 4096)

/* ---- states ---- */

/* All states of the socket that was connected with these ports. */
static const char *states_of(const struct end *end)
{
	static char text[2][256];
	static unsigned int turn;
	char *path = text[turn++ % 2], sk[64];
	const struct event *e;
	size_t from = 0;

	e = first_event("sdp_state", end, "new=ESTABLISHED");
	CHECK(e);
	snprintf(sk, sizeof(sk), "sk=%s", word_of(e, "sk"));
	*path = 0;
	while ((e = event_from(&from, "sdp_state", NULL, sk))) {
		if (!*path)
			strcpy(path, word_of(e, "old"));
		/* No state is left out. */
		else
			CHECK(!strcmp(strrchr(path, '>') + 1, word_of(e, "old")));
		CHECK(strlen(path) < 200);
		strcat(path, ">");
		strcat(path, word_of(e, "new"));
	}
	return path;
}

static void expect_states(const struct end *end, const char *want)
{
	const char *got = states_of(end);

	if (strcmp(got, want))
		FAIL("states%s: expected %s, got %s", end->ports, want, got);
}

static void run_states(void)
{
	struct pair p = new_pair();
	struct end c = end_of_fd(p.client), s = end_of_fd(p.server);

	CHECK_OK(shutdown(p.client, SHUT_WR));
	WAIT_FOR(count_now("sdp_state", &c, "new=FIN_WAIT2") == 1);
	CHECK_EQ(recv_until_end(p.server), 0);
	CHECK_OK(close(p.server));
	CHECK_EQ(recv_until_end(p.client), 0);
	WAIT_FOR(count_now("sdp_state", &c, "new=CLOSE") == 1);
	WAIT_FOR(count_now("sdp_state", &s, "new=CLOSE") == 1);
	expect_states(&c, "CLOSE>SYN_SENT>ESTABLISHED>FIN_WAIT1>FIN_WAIT2>TIME_WAIT>CLOSE");
	expect_states(&s, "CLOSE>SYN_RECV>ESTABLISHED>CLOSE_WAIT>LAST_ACK>TIME_WAIT>CLOSE");
}

static void states(void)
{
	traced(run_states);
}

/* ---- messages and work requests ---- */

static const unsigned int sizes[] = { 1, 100, 1000, 700, 16, 17 };

/* Each write is a message; returns how many bytes they have in all. */
static uint64_t send_messages(struct pair p)
{
	uint64_t pos = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		send_pattern(p.client, 1, pos, sizes[i], sizes[i]);
		recv_pattern(p.server, 1, pos, sizes[i], sizes[i]);
		pos += sizes[i];
	}
	return pos;
}

/* What one end has sent the other has got, word for word. */
static void expect_same_messages(const struct end *from, const struct end *to)
{
	const struct event *out, *in;
	size_t i = 0, j = 0;

	while ((out = event_from(&i, "sdp_msg_out", from, NULL))) {
		in = event_from(&j, "sdp_msg_in", to, NULL);
		CHECK(in);
		if (strcmp(strstr(out->fields, " mid="), strstr(in->fields, " mid=")))
			FAIL("sent:%s received:%s", out->fields, in->fields);
	}
	CHECK(!event_from(&j, "sdp_msg_in", to, NULL));
}

static void expect_sizes(const struct end *c)
{
	const struct event *e;
	size_t from = 0, n = 0;

	while ((e = event_from(&from, "sdp_msg_out", c, "mid=Data"))) {
		if (!number_of(e, "len"))
			continue;
		CHECK(n < ARRAY_SIZE(sizes));
		CHECK_EQ(number_of(e, "len"), sizes[n++]);
		CHECK(!strcmp(word_of(e, "flags"), "none"));
	}
	CHECK_EQ(n, ARRAY_SIZE(sizes));
}

static void run_messages(void)
{
	struct pair p = new_nodelay_pair();
	struct end c = end_of_fd(p.client), s = end_of_fd(p.server);
	uint64_t sent = send_messages(p);

	/* Nothing is on its way any more. */
	WAIT_FOR(count_now("sdp_msg_in", &s, NULL) == count_of("sdp_msg_out", &c, NULL) &&
		 count_of("sdp_msg_in", &c, NULL) == count_of("sdp_msg_out", &s, NULL) &&
		 count_of("sdp_msg_out", &c, NULL) == info_of(p.client).sdpi_msgs_out);
	expect_sizes(&c);
	CHECK_EQ(sum_of("sdp_msg_out", &c, NULL, "len"), sent);
	CHECK_EQ(sum_of("sdp_msg_in", &s, NULL, "len"), sent);
	CHECK_EQ(sum_of("sdp_msg_out", &s, NULL, "len"), 0);
	expect_same_messages(&c, &s);
	expect_same_messages(&s, &c);
	close_pair(p);
}

static void messages(void)
{
	traced(run_messages);
}

static void run_urgent(void)
{
	struct pair p = new_nodelay_pair();
	struct end c = end_of_fd(p.client), s = end_of_fd(p.server);
	const struct event *e;

	CHECK_EQ(send(p.client, "abc!", 4, MSG_OOB), 4);
	expect_text(p.server, "abc", 0);
	expect_urgent(p.server, '!', 0);
	trace_read();
	CHECK_EQ(sum_of("sdp_msg_out", &c, NULL, "len"), 4);
	e = first_event("sdp_msg_out", &c, "len=4");
	CHECK(e && strstr(word_of(e, "flags"), "OOB_PRES"));
	e = first_event("sdp_msg_in", &s, "len=4");
	CHECK(e && strstr(word_of(e, "flags"), "OOB_PRES"));
	close_pair(p);
}

static void urgent(void)
{
	traced(run_urgent);
}

static void run_disconn(void)
{
	struct pair p = new_pair();
	struct end c = end_of_fd(p.client), s = end_of_fd(p.server);

	CHECK_EQ(count_now("sdp_msg_out", &c, "mid=DisConn"), 0);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_EQ(recv_until_end(p.server), 0);
	trace_read();
	CHECK_EQ(count_of("sdp_msg_out", &c, "mid=DisConn"), 1);
	CHECK_EQ(count_of("sdp_msg_in", &s, "mid=DisConn"), 1);
	CHECK_EQ(count_of("sdp_msg_out", &s, "mid=DisConn"), 0);
	close_pair(p);
}

static void disconn(void)
{
	traced(run_disconn);
}

/* Bytes of headers, of messages that have one. */
static uint64_t header_bytes(const struct end *end)
{
	return HDR_LEN * count_of("sdp_post", end, "opcode=SEND");
}

/* Longer ones leave their bytes in memory. */
#define INLINE_MOST		256

/* Short messages are in their requests, and long ones are not. */
static void expect_inline(const struct end *c)
{
	const struct event *e;
	size_t from = 0, n = 0;

	while ((e = event_from(&from, "sdp_post", c, "inline=1"))) {
		CHECK(number_of(e, "len") <= INLINE_MOST);
		n++;
	}
	/* Those of 1, 16 and 17 bytes. */
	CHECK(n >= 3);
	CHECK(n < count_of("sdp_post", c, NULL));
}

/* Work requests of which one at least asks for its completion: a quarter of the queue. */
#define SIGNALED_ROUNDS		4

static void run_work_requests(void)
{
	struct pair p = pair_wanting("credit");
	struct end c = end_of_fd(p.client), s = end_of_fd(p.server);
	uint64_t sent = 0, posted;
	int i;

	set_int(p.client, SOL_TCP, TCP_NODELAY, 1);
	for (i = 0; i < SIGNALED_ROUNDS; i++)
		sent += send_messages(p);
	WAIT_FOR(count_now("sdp_completion", &s, "queue=receive") ==
			count_of("sdp_msg_out", &c, NULL) &&
		 count_of("sdp_completion", &c, "queue=send") ==
			count_of("sdp_post", &c, "signaled=1"));
	/* No message has more of a header. */
	CHECK_EQ(count_of("sdp_msg_out", &c, NULL),
		 count_of("sdp_msg_out", &c, "mid=Data"));
	posted = sum_of("sdp_post", &c, NULL, "len");
	CHECK(header_bytes(&c) > 0);
	CHECK_EQ(posted, sent + header_bytes(&c));
	CHECK_EQ(sum_of("sdp_completion", &s, "queue=receive", "bytes"), posted);
	CHECK(count_of("sdp_completion", &c, "queue=send") > 0);
	expect_inline(&c);
	CHECK_EQ(sum_of("sdp_completion", &c, "queue=send", "bytes"), 0);
	CHECK_EQ(count_of("sdp_completion", &c, NULL),
		 count_of("sdp_completion", &c, "status=SUCCESS"));
	CHECK_EQ(count_of("sdp_completion", &s, NULL),
		 count_of("sdp_completion", &s, "status=SUCCESS"));
	CHECK_EQ(count_of("sdp_completion", &s, "queue=receive"),
		 count_of("sdp_completion", &s, "opcode=RECV"));
	close_pair(p);
}

static void work_requests(void)
{
	traced(run_work_requests);
}

/* What is posted to a connection that ends is flushed, which is no success. */
static void run_failed_completions(void)
{
	struct pair p = new_pair();
	struct end c = end_of_fd(p.client);

	set_linger(p.client, 1, 0);
	CHECK_OK(close(p.client));
	WAIT_FOR(count_now("sdp_completion", &c, "status=WR_FLUSH_ERR") > 0);
	CHECK_EQ(count_of("sdp_completion", &c, "status=WR_FLUSH_ERR"),
		 count_of("sdp_completion", &c, "opcode=unknown"));
	CHECK_OK(close(p.server));
}

static void failed_completions(void)
{
	traced(run_failed_completions);
}

/* ---- without a copy ---- */

/* Whether a write has passed without a copy, on a connection of its own. */
static bool read_once(struct pair *p, struct end *c, struct end *s)
{
	trace_clear();
	*p = zcopy_pair("sync", "sync");
	*c = end_of_fd(p->client);
	*s = end_of_fd(p->server);
	one_way(p->client, p->server, LEN, 0, 0);
	if (info_of(p->client).sdpi_zcopy_sent)
		return true;
	close_pair(*p);
	return false;
}

/* Each read is one of something that was offered, and not too long. */
static void expect_offered(const struct end *c, const struct end *s)
{
	const struct event *e;
	char what[48];
	size_t from = 0;

	while ((e = event_from(&from, "sdp_zcopy_read", s, NULL))) {
		snprintf(what, sizeof(what), "rkey=%s", word_of(e, "rkey"));
		CHECK_EQ(count_of("sdp_zcopy_offer", c, what), 1);
		CHECK(number_of(e, "len") <= number_of(e, "left"));
		CHECK(number_of(e, "left") <= sum_of("sdp_zcopy_offer", c, what, "len"));
	}
}

static void run_offer_and_read(void)
{
	struct sdp_info sent, received;
	struct end c, s;
	struct pair p;

	/* A reader that comes late gets copies. */
	WAIT_FOR(read_once(&p, &c, &s));
	sent = info_of(p.client);
	received = info_of(p.server);
	WAIT_FOR(count_now("sdp_msg_in", &c, "mid=RdmaRdCompl") > 0);
	CHECK_EQ(sum_of("sdp_zcopy_read", &s, NULL, "len"), received.sdpi_zcopy_received);
	CHECK_EQ(received.sdpi_zcopy_received, sent.sdpi_zcopy_sent);
	CHECK(sum_of("sdp_zcopy_offer", &c, "mode=sync", "len") >= sent.sdpi_zcopy_sent);
	CHECK_EQ(count_of("sdp_zcopy_offer", &c, "mode=async"), 0);
	CHECK_EQ(count_of("sdp_zcopy_offer", &c, NULL),
		 count_of("sdp_msg_out", &c, "mid=SrcAvail"));
	expect_offered(&c, &s);
	CHECK_EQ(sum_of("sdp_msg_out", &c, NULL, "len") + sent.sdpi_zcopy_sent, LEN);
	/* Memory is registered for each offer. */
	CHECK_EQ(count_of("sdp_post", &c, "opcode=REG_MR"),
		 count_of("sdp_zcopy_offer", &c, NULL));
	if (!over_iwarp())
		CHECK(count_of("sdp_completion", &s, "opcode=RDMA_READ") > 0);
	close_pair(p);
}

static void offer_and_read(void)
{
	traced(run_offer_and_read);
}

static void run_refused_to_sleeper(void)
{
	struct pair p = new_pair();
	struct end c = end_of_fd(p.client), s = end_of_fd(p.server);
	unsigned char *buf = memory(LEN, 0);
	struct sdp_info info;
	struct blocked b;

	block_start(&b, op_poll, p.server);
	write_async(p.client, buf, LEN, 0);
	CHECK(block_join(&b) > 0);
	read_all(p.server, 0, LEN);
	info = info_of(p.server);
	trace_read();
	CHECK(count_of("sdp_zcopy_refuse", &s, "why=sleeper") > 0);
	CHECK_EQ(count_of("sdp_zcopy_refuse", &s, NULL), info.sdpi_zcopy_refusals);
	CHECK(count_of("sdp_msg_out", &s, "mid=SendSm") > 0);
	CHECK(sum_of("sdp_zcopy_offer", &c, "mode=async", "len") >= LEN);
	/* All of it came as messages, but for what a later read has taken. */
	CHECK_EQ(sum_of("sdp_msg_in", &s, NULL, "len") +
		 sum_of("sdp_zcopy_read", &s, NULL, "len"), LEN);
	close_pair(p);
}

static void refused_to_sleeper(void)
{
	need_page_protection();
	traced(run_refused_to_sleeper);
}

/* Whether a short read has refused what was offered before. */
static bool refused_once(void)
{
	unsigned char *buf = memory(LEN, 0), part[1000];
	struct pair p = new_pair();
	struct end s = end_of_fd(p.server);
	bool refused;

	trace_clear();
	write_async(p.client, buf, LEN, 0);
	WAIT_FOR(count_now("sdp_msg_in", &s, "mid=SrcAvail") > 0);
	CHECK_EQ(recv(p.server, part, sizeof(part), MSG_WAITALL), sizeof(part));
	pattern_verify(part, sizeof(part), SEED_UP, 0);
	read_all(p.server, sizeof(part), LEN - sizeof(part));
	trace_read();
	CHECK_EQ(count_of("sdp_zcopy_refuse", &s, NULL), info_of(p.server).sdpi_zcopy_refusals);
	refused = count_of("sdp_zcopy_refuse", &s, "why=read");
	close_pair(p);
	return refused;
}

static void run_refused_by_read(void)
{
	/* A writer who has waited too long takes his offer back. */
	WAIT_FOR(refused_once());
}

static void refused_by_read(void)
{
	need_page_protection();
	traced(run_refused_by_read);
}

static void expect_faults(const char *guard)
{
	struct pair p = new_pair();
	struct end c = end_of_fd(p.client);
	struct sdp_info info;

	CHECK_OK(setsockopt(p.client, SOL_SDP, SDP_ZCOPY_FAULT, guard, strlen(guard)));
	overwritten(p, memory(LEN, 0), LEN, 0);
	WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
	WAIT_FOR(sum_now("sdp_guard_fault", &c, NULL, "touched") > 0);
	info = info_of(p.client);
	CHECK_EQ(count_of("sdp_guard_fault", &c, NULL), 1);
	CHECK_EQ(sum_of("sdp_guard_fault", &c, NULL, "pages"), PAGES);
	CHECK_EQ(sum_of("sdp_guard_fault", &c, NULL, "touched"), info.sdpi_guard_faults);
	CHECK_EQ(sum_of("sdp_guard_fault", &c, NULL, "waited"), info.sdpi_guard_waits);
	CHECK_EQ(sum_of("sdp_guard_fault", &c, NULL, "copied"), info.sdpi_guard_copies);
	CHECK_EQ(!strcmp(guard, "block"), info.sdpi_guard_waits > 0);
	close_pair(p);
}

static void run_faults_that_copy(void)
{
	expect_faults("copy");
}

static void faults_that_copy(void)
{
	need_page_protection();
	traced(run_faults_that_copy);
}

static void run_faults_that_wait(void)
{
	expect_faults("block");
}

static void faults_that_wait(void)
{
	need_page_protection();
	traced(run_faults_that_wait);
}

/* ---- TCP ---- */

static void expect_fallback(int fd, const char *reason)
{
	struct end e = end_of_fd(fd);

	trace_read();
	CHECK_EQ(count_of("sdp_fallback", &e, NULL), 1);
	CHECK_EQ(count_of("sdp_fallback", &e, reason), 1);
}

static void run_fallback_refused(void)
{
	int listener = tcp_listener(4), client = both_socket(0);
	struct addr a = local_addr(listener);

	CHECK_OK(connect(client, &a.sa, a.len));
	expect_fallback(client, "reason=refused");
	CHECK_EQ(count_of("sdp_fallback", NULL, NULL), 1);
	CHECK_EQ(count_of("sdp_state", NULL, "new=ESTABLISHED"), 0);
}

static void fallback_refused(void)
{
	traced(run_fallback_refused);
}

static void run_fallback_at_loopback(void)
{
	struct addr a = make_addr("127.0.0.1", 0);
	int listener = listener_at(both_socket(0), a, 4);
	int client = both_socket(0), server;

	a = local_addr(listener);
	CHECK_OK(connect(client, &a.sa, a.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	expect_fallback(client, "reason=no-device");
	expect_fallback(server, "reason=accepted");
}

static void fallback_at_loopback(void)
{
	traced(run_fallback_at_loopback);
}

static void run_no_fallback(void)
{
	int listener = listener_at(both_socket(0), server_addr(0), 4);
	struct addr a = local_addr(listener);
	int client = both_socket(0);

	CHECK_OK(connect(client, &a.sa, a.len));
	CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(count_now("sdp_fallback", NULL, NULL), 0);
	CHECK_EQ(count_of("sdp_state", NULL, "new=ESTABLISHED"), 2);
}

static void no_fallback(void)
{
	traced(run_no_fallback);
}

static const struct sdp_case cases[] = {
	CASE(states, CASE_SDP_ONLY | CASE_IPV6),
	CASE(messages, CASE_SDP_ONLY),
	CASE(urgent, CASE_SDP_ONLY),
	CASE(disconn, CASE_SDP_ONLY),
	CASE(work_requests, CASE_SDP_ONLY),
	CASE(failed_completions, CASE_SDP_ONLY),
	CASE(offer_and_read, CASE_SDP_ONLY),
	CASE(refused_to_sleeper, CASE_SDP_ONLY),
	CASE(refused_by_read, CASE_SDP_ONLY),
	CASE(faults_that_copy, CASE_SDP_ONLY),
	CASE(faults_that_wait, CASE_SDP_ONLY),
	CASE(fallback_refused, CASE_SDP_ONLY),
	CASE(fallback_at_loopback, CASE_SDP_ONLY),
	CASE(no_fallback, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	int ret;

	be_patient(true);
	ret = zcopy_main("async", argc, argv, cases, ARRAY_SIZE(cases));
	be_patient(false);
	return ret;
}
