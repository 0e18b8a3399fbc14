// SPDX-License-Identifier: GPL-2.0
/*
 * What "rdma resource show" says of our own iWARP devices' objects, beside what was done
 * with these; that it says nothing that a kernel forgot on its stack; and that it may be
 * asked while they come and go. Needs root, and our own iWARP devices.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "iwarp_end.h"

#define TEXT_MAX	65536
#define HELD		1000

/* A copy of what the command writes; its status must be 0. */
static const char *output_of(const char *command)
{
	static char text[TEXT_MAX];
	FILE *from = popen(command, "r");
	size_t len;

	CHECK(from);
	len = fread(text, 1, sizeof(text) - 1, from);
	text[len] = 0;
	if (pclose(from))
		FAIL("'%s' fails: %s", command, text);
	return text;
}

/* Of one object, of the port if it belongs to one. */
static const char *object(struct iwarp_end *e, const char *kind, const char *filter)
{
	bool of_port = !strcmp(kind, "qp");
	char command[200];

	snprintf(command, sizeof(command), "rdma -j -dd resource show %s %s %s%s %s 2>&1", kind,
		 of_port ? "link" : "dev", ibv_get_device_name(e->id->verbs->device),
		 of_port ? "/1" : "", filter);
	return output_of(command);
}

static const char *qp_text(struct iwarp_end *e)
{
	char filter[40];

	snprintf(filter, sizeof(filter), "lqpn %u", e->id->qp->qp_num);
	return object(e, "qp", filter);
}

/* Those of this process are the only ones of it. */
static const char *ours(struct iwarp_end *e, const char *kind)
{
	char filter[40];

	snprintf(filter, sizeof(filter), "pid %d", getpid());
	return object(e, kind, filter);
}

static bool says(const char *text, const char *what)
{
	const char *at = strstr(text, what);

	/* Numbers end here. */
	return at && (at[strlen(what)] < '0' || at[strlen(what)] > '9');
}

static void expect(const char *text, const char *what)
{
	if (!says(text, what))
		FAIL("no %s in: %s", what, text);
}

static unsigned long long number(const char *text, const char *name)
{
	char key[40];
	const char *at;

	snprintf(key, sizeof(key), "\"drv_%s\":", name);
	at = strstr(text, key);
	if (!at)
		FAIL("no %s in: %s", name, text);
	return strtoull(at + strlen(key), NULL, 0);
}

static void send_some(struct iwarp_pair *p, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		CHECK_EQ(iwarp_recv(&p->server, MIB, HELD, 1), 0);
		CHECK_EQ(iwarp_send(&p->client, 0, HELD, 1), 0);
		iwarp_expect(p->server.rcq, IBV_WC_SUCCESS);
		iwarp_expect(p->client.scq, IBV_WC_SUCCESS);
	}
}

static void queue_pair_connected(void)
{
	struct iwarp_pair p;
	const char *text;

	iwarp_join(false);
	iwarp_pair_open(&p);
	send_some(&p, 3);
	text = qp_text(&p.client);
	expect(text, "\"state\":\"RTS\"");
	expect(text, "\"drv_connection\":\"connected\"");
	expect(text, "\"drv_design\":\"host\"");
	expect(text, "\"drv_joined\":\"no\"");
	expect(text, "\"drv_markers_out\":0");
	expect(text, "\"drv_markers_in\":0");
	expect(text, "\"drv_crc\":\"no\"");
	expect(text, "\"drv_long_fpdus\":\"yes\"");
	expect(text, "\"drv_hold\":\"no\"");
	expect(text, "\"drv_sq_size\":64");
	expect(text, "\"drv_sq_used\":0");
	expect(text, "\"drv_rq_size\":64");
	CHECK(!strstr(text, "drv_rq_used"));
	/* Three messages with a header and a checksum each, and all have arrived. */
	CHECK_EQ(number(text, "sent_bytes"), number(text, "acked_bytes"));
	CHECK(number(text, "sent_bytes") >= 3 * (HELD + 20));
	expect(qp_text(&p.server), "\"drv_rq_taken\":3");
	CHECK_OK(rdma_disconnect(p.client.id));
	iwarp_wait_disconnected(&p.client);
	iwarp_wait_disconnected(&p.server);
	expect(qp_text(&p.client), "\"drv_connection\":\"error\"");
	iwarp_pair_close(&p);
}

/* One end asks for markers, and both for checksums. */
static void queue_pair_negotiated(void)
{
	struct iwarp_pair p;
	const char *text;

	iwarp_join(false);
	iwarp_ask(true, true);
	iwarp_pair_open(&p);
	iwarp_ask(false, false);
	send_some(&p, 1);
	text = qp_text(&p.server);
	expect(text, "\"drv_markers_out\":512");
	expect(text, "\"drv_markers_in\":512");
	expect(text, "\"drv_crc\":\"yes\"");
	expect(text, "\"drv_long_fpdus\":\"no\"");
	expect(text, "\"drv_early\":\"yes\"");
	iwarp_pair_close(&p);
}

static void queue_pair_joined(void)
{
	struct iwarp_pair p;

	iwarp_join(true);
	iwarp_pair_open(&p);
	send_some(&p, 2);
	expect(qp_text(&p.client), "\"drv_joined\":\"yes\"");
	expect(qp_text(&p.server), "\"drv_rq_taken\":2");
	iwarp_pair_close(&p);
}

static void message_held(void)
{
	struct iwarp_pair p;

	iwarp_join(false);
	iwarp_set("hold", true);
	iwarp_pair_open(&p);
	iwarp_set("hold", false);
	expect(qp_text(&p.server), "\"drv_hold\":\"yes\"");
	CHECK_EQ(iwarp_send(&p.client, 0, HELD, 1), 0);
	WAIT_FOR(says(qp_text(&p.server), "\"drv_hold\":\"waiting\""));
	WAIT_FOR(number(qp_text(&p.server), "held_bytes") >= HELD);
	CHECK_EQ(iwarp_recv(&p.server, MIB, HELD, 1), 0);
	iwarp_expect(p.server.rcq, IBV_WC_SUCCESS);
	WAIT_FOR(says(qp_text(&p.server), "\"drv_hold\":\"yes\""));
	expect(qp_text(&p.server), "\"drv_held_bytes\":0");
	iwarp_pair_close(&p);
}

/* With both ends joined the message itself stays with its sender. */
static void request_waits(void)
{
	struct iwarp_pair p;

	iwarp_join(true);
	iwarp_set("hold", true);
	iwarp_pair_open(&p);
	iwarp_set("hold", false);
	CHECK_EQ(iwarp_send(&p.client, 0, HELD, 1), 0);
	WAIT_FOR(number(qp_text(&p.client), "sq_used"));
	CHECK_EQ(iwarp_recv(&p.server, MIB, HELD, 1), 0);
	iwarp_expect(p.client.scq, IBV_WC_SUCCESS);
	expect(qp_text(&p.client), "\"drv_sq_used\":0");
	iwarp_pair_close(&p);
}

/* Those of a process. */
static void completion_queues(void)
{
	struct iwarp_pair p;
	const char *text;

	iwarp_join(false);
	iwarp_pair_open(&p);
	send_some(&p, 5);
	text = ours(&p.client, "cq");
	expect(text, "\"drv_size\":64");
	expect(text, "\"drv_completions\":5");
	expect(text, "\"drv_overrun\":\"no\"");
	CHECK(!strstr(text, "\"drv_used\""));
	iwarp_pair_close(&p);
}

/* Those of AF_SDP. */
static void kernel_objects(void)
{
	struct pair p = new_pair();
	struct iwarp_end e;
	struct addr to;
	struct rdma_cm_id *listener;

	iwarp_channel(&e);
	listener = iwarp_listen(&e, &to, 0);
	iwarp_resolve(&e, 0, &to);
	CHECK(number(object(&e, "qp", ""), "rq_used") > 0);
	expect(object(&e, "qp", ""), "\"drv_connection\":\"connected\"");
	CHECK(strstr(object(&e, "cq", ""), "\"drv_used\":"));
	CHECK_OK(rdma_destroy_id(e.id));
	CHECK_OK(rdma_destroy_id(listener));
	rdma_destroy_event_channel(e.channel);
	close_pair(p);
}

static void memory_regions(void)
{
	struct iwarp_pair p;
	unsigned long long pages;
	const char *text;

	iwarp_join(false);
	iwarp_pair_open(&p);
	text = ours(&p.client, "mr");
	expect(text, "\"drv_type\":\"user\"");
	expect(text, "\"drv_valid\":\"yes\"");
	CHECK_EQ(number(text, "access"), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		 IBV_ACCESS_REMOTE_READ);
	CHECK_EQ(number(text, "page_size"), sysconf(_SC_PAGESIZE));
	/* It need not begin with a page. */
	pages = number(text, "pages");
	CHECK(pages * sysconf(_SC_PAGESIZE) >= END_MEM);
	CHECK((pages - 1) * sysconf(_SC_PAGESIZE) <= END_MEM);
	iwarp_pair_close(&p);
}

/*
 * What a queue pair of ours does not have is none, and not what the caller's memory
 * happened to hold.
 */
static void nothing_forgotten(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct iwarp_pair p;
	const char *text;

	iwarp_join(false);
	iwarp_pair_open(&p);
	text = qp_text(&p.client);
	expect(text, "\"rqpn\":0");
	expect(text, "\"rq-psn\":0");
	expect(text, "\"sq-psn\":0");
	memset(&attr, 0xff, sizeof(attr));
	CHECK_EQ(ibv_query_qp(p.client.id->qp, &attr, IBV_QP_STATE | IBV_QP_CAP, &init), 0);
	CHECK_EQ(attr.qp_state, IBV_QPS_RTS);
	CHECK_EQ(attr.cap.max_send_wr, END_WRS);
	CHECK_EQ(attr.dest_qp_num, 0);
	CHECK_EQ(attr.qkey, 0);
	CHECK_EQ(attr.pkey_index, 0);
	CHECK_EQ(attr.timeout, 0);
	CHECK_EQ(attr.ah_attr.dlid, 0);
	CHECK_EQ(attr.alt_ah_attr.dlid, 0);
	CHECK_EQ(init.sq_sig_all, 1);
	iwarp_pair_close(&p);
}

static void *come_and_go(void *arg)
{
	const bool *over = arg;
	struct iwarp_pair p;

	while (!__atomic_load_n(over, __ATOMIC_RELAXED)) {
		iwarp_pair_open(&p);
		send_some(&p, 1);
		iwarp_pair_close(&p);
	}
	return NULL;
}

static void asked_all_the_time(void)
{
	static const char * const kinds[] = { "qp", "cq", "mr" };
	static bool over;
	unsigned int i, found = 0;
	char command[80];
	pthread_t thread;

	iwarp_join(false);
	iwarp_set("local", true);
	thread_start(&thread, come_and_go, &over);
	for (i = 0; i < 3 * scaled_count(12); i++) {
		snprintf(command, sizeof(command), "rdma -j -dd resource show %s 2>&1",
			 kinds[i % ARRAY_SIZE(kinds)]);
		found += !!strstr(output_of(command), "\"drv_");
	}
	ktap_diag("objects of ours in %u answers of %u", found, i);
	CHECK(found);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	thread_join(thread);
}

static const struct sdp_case cases[] = {
	CASE(queue_pair_connected, 0),
	CASE(queue_pair_negotiated, 0),
	CASE(queue_pair_joined, 0),
	CASE(message_held, 0),
	CASE(request_waits, 0),
	CASE(completion_queues, 0),
	CASE(kernel_objects, 0),
	CASE(memory_regions, 0),
	CASE(nothing_forgotten, 0),
	CASE(asked_all_the_time, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
