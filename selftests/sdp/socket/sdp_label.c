// SPDX-License-Identifier: GPL-2.0
/*
 * What only security modules know, and probes of their hooks show.  Accepted sockets get
 * their listener's security label, though it is not the listener's program that creates
 * them: do the modules hear of each heir, and whose?  And do they hear of what is sent
 * and received over the TCP socket beside one?  Needs root, and a kernel with security
 * modules (CONFIG_SECURITY_NETWORK) and kprobes.
 */
#define _GNU_SOURCE
#include "sdp_events.h"
#include "sdp_fallback.h"
#include "sdp_memory.h"

#define HOOK		"security_sk_clone"
#define TRACING		"/sys/kernel/tracing/"
#define SWITCH		TRACING "events/sdp_label/sdp_label/enable"
/* Where struct sock has its family (skc_family). */
#define FAMILY		"16"
/* The hook's arguments: whose label it is, and who gets it. */
#if defined(__x86_64__)
#define OLD		"%di"
#define NEW		"%si"
#elif defined(__aarch64__)
#define OLD		"%x0"
#define NEW		"%x1"
#endif

/* Where struct socket has its struct sock. */
#define SOCK		"24"

#define FIELDS		"family=+" FAMILY "(" OLD "):u16 to=+" FAMILY "(" NEW "):u16"
#define PROBE		"p:sdp_label/sdp_label " HOOK " old=" OLD " new=" NEW " " FIELDS
#define PROBE_OF(hook)	"p:sdp_label/sdp_label " hook " family=+" FAMILY "(+" SOCK "(" OLD ")):u16"

static void (*to_run)(void);
static const char *probe;

static void remove_probe(void)
{
	file_write(SWITCH, "0");
	file_write(TRACING "kprobe_events", "-:sdp_label/sdp_label");
}

static void probe_and_run(void)
{
#ifdef OLD
	if (!file_write(TRACING "kprobe_events", probe))
#endif
		sdp_skip("no probe of the hook");
	CHECK(file_write(SWITCH, "1"));
	to_run();
}

static void probe_or_undo(void)
{
	run_and_undo(probe_and_run, remove_probe);
}

static void probed(const char *which, void (*run)(void))
{
	probe = which;
	to_run = run;
	traced(probe_or_undo);
}

static void labelled(void (*run)(void))
{
	probed(PROBE, run);
}

/* Who has inherited, both of our family: TCP does so by itself. */
static const struct event *next_heir(size_t *from)
{
	char family[16], to[16];
	const struct event *e;

	snprintf(family, sizeof(family), "family=%d", AF_SDP);
	snprintf(to, sizeof(to), " to=%d ", AF_SDP);
	while ((e = event_from(from, "sdp_label", NULL, family)) &&
	       !strstr(e->fields, to))
		;
	return e;
}

/* Connects so many times by clients of a mode; there is nobody else who inherits. */
static const struct event *connect_and_look(int listener, int mode, int times)
{
	struct addr a = local_addr(listener);
	const struct event *first = NULL, *e;
	int client, server, i;
	size_t from = 0;

	trace_clear();
	for (i = 0; i < times; i++) {
		client = new_socket(0);
		set_int(client, SOL_SDP, SDP_TCP_FALLBACK, mode);
		CHECK_OK(connect(client, &a.sa, a.len));
		server = CHECK_OK(accept(listener, NULL, NULL));
		exchange(client, server, 1000);
	}
	trace_read();
	for (i = 0; (e = next_heir(&from)); i++) {
		if (!first)
			first = e;
		CHECK_EQ(number_of(e, "old"), number_of(first, "old"));
		CHECK(i == 0 || number_of(e, "new") != number_of(first, "new"));
	}
	CHECK_EQ(i, times);
	return first;
}

static void inherit(int mode)
{
	int one = listener_at(both_socket(0), server_addr(0), 8);
	int two = listener_at(both_socket(0), server_addr(0), 8);
	uint64_t first;

	first = number_of(connect_and_look(one, mode, 2), "old");
	CHECK(number_of(connect_and_look(two, mode, 1), "old") != first);
	CHECK_EQ(number_of(connect_and_look(one, mode, 1), "old"), first);
}

static void run_over_rdma(void)
{
	inherit(OFF);
}

static void over_rdma(void)
{
	labelled(run_over_rdma);
}

static void run_over_tcp(void)
{
	inherit(ONLY);
}

static void over_tcp(void)
{
	labelled(run_over_tcp);
}

/* Each end's call is one of our socket, and one of the TCP socket. */
static void run_data_over_tcp(void)
{
	int listener = listener_at(both_socket(0), server_addr(0), 8);
	int client = new_socket(0), server;
	struct addr a = local_addr(listener);

	set_int(client, SOL_SDP, SDP_TCP_FALLBACK, ONLY);
	CHECK_OK(connect(client, &a.sa, a.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	trace_clear();
	exchange(client, server, 1000);
	trace_read();
	CHECK(count_of("sdp_label", NULL, "family=27") >= 2);
	CHECK(count_of("sdp_label", NULL, "family=2") +
	      count_of("sdp_label", NULL, "family=10") >= 2);
}

static void sent_over_tcp(void)
{
	probed(PROBE_OF("security_socket_sendmsg"), run_data_over_tcp);
}

static void received_over_tcp(void)
{
	probed(PROBE_OF("security_socket_recvmsg"), run_data_over_tcp);
}

static const struct sdp_case cases[] = {
	CASE(over_rdma, CASE_SDP_ONLY | CASE_IPV6 | CASE_FAMILY),
	CASE(over_tcp, CASE_SDP_ONLY | CASE_IPV6 | CASE_FAMILY),
	CASE(sent_over_tcp, CASE_SDP_ONLY | CASE_IPV6 | CASE_FAMILY),
	CASE(received_over_tcp, CASE_SDP_ONLY | CASE_IPV6 | CASE_FAMILY),
};

int main(int argc, char **argv)
{
	return fallback_main(argc, argv, cases, ARRAY_SIZE(cases));
}
