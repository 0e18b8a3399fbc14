// SPDX-License-Identifier: GPL-2.0
/*
 * Who comes to a listener of software iWARP and then says nothing, or leaves before
 * he is answered: he keeps nobody else out, and nothing of him stays. Needs root, and
 * our own iWARP devices.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "iwarp_end.h"

/* More than a listener bears with, who have asked for nothing. */
#define SILENT		1100
/* States of TCP: what is over to all but TCP, and the listener's own socket. */
#define TIME_WAIT	0x06
#define LISTENS		0x0a

struct scene {
	struct iwarp_end client;
	struct iwarp_end server;
	struct rdma_cm_id *listener;
	struct addr address;
	uint16_t port;
};

static void scene_open(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	iwarp_join(false);
	iwarp_channel(&s->client);
	iwarp_channel(&s->server);
	s->address = server_addr(0);
	CHECK_OK(rdma_create_id(s->server.channel, &s->listener, NULL,
				RDMA_PS_TCP));
	CHECK_OK(rdma_bind_addr(s->listener, &s->address.sa));
	CHECK_OK(rdma_listen(s->listener, 128));
	s->address.in4.sin_port = rdma_get_src_port(s->listener);
	s->port = ntohs(s->address.in4.sin_port);
}

static void scene_close(struct scene *s)
{
	CHECK_OK(rdma_destroy_id(s->listener));
	rdma_destroy_event_channel(s->client.channel);
	rdma_destroy_event_channel(s->server.channel);
	iwarp_set("local", true);
}

static void client_asks(struct scene *s)
{
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = END_WRS,
			.max_recv_wr = END_WRS,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
	};
	struct rdma_conn_param param = { 0 };

	iwarp_resolve(&s->client, 0, &s->address);
	CHECK_OK(rdma_create_qp(s->client.id, NULL, &attr));
	CHECK_OK(rdma_connect(s->client.id, &param));
	s->server.id = iwarp_wait_event(&s->server,
					RDMA_CM_EVENT_CONNECT_REQUEST);
}

static void client_leaves(struct scene *s)
{
	rdma_destroy_qp(s->client.id);
	CHECK_OK(rdma_destroy_id(s->client.id));
}

/* The listener's connections as TCP knows them. */
static unsigned int connections(uint16_t port)
{
	FILE *f = fopen("/proc/net/tcp", "r");
	unsigned int local, state, count = 0;
	char line[256];

	CHECK(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*d: %*x:%x %*x:%*x %x", &local, &state) == 2)
			count += local == port && state != LISTENS &&
				 state != TIME_WAIT;
	fclose(f);
	return count;
}

static void left_unanswered(void)
{
	struct scene s;

	scene_open(&s);
	client_asks(&s);
	CHECK_EQ(connections(s.port), 1);
	client_leaves(&s);
	WAIT_FOR(!connections(s.port));
	/* Who answers late hears that nobody waits. */
	CHECK_ERR(rdma_reject(s.server.id, NULL, 0), ECONNRESET);
	CHECK_OK(rdma_destroy_id(s.server.id));
	scene_close(&s);
}

static void silence_keeps_nobody_out(void)
{
	static int silent[SILENT];
	struct scene s;
	int i;

	raise_file_limit(SILENT + 64);
	scene_open(&s);
	for (i = 0; i < SILENT; i++) {
		silent[i] = CHECK_OK(socket(AF_INET, SOCK_STREAM, 0));
		CHECK_OK(connect(silent[i], &s.address.sa, s.address.len));
	}
	client_asks(&s);
	CHECK_OK(rdma_reject(s.server.id, NULL, 0));
	CHECK_OK(rdma_destroy_id(s.server.id));
	iwarp_wait_event(&s.client, RDMA_CM_EVENT_REJECTED);
	client_leaves(&s);
	for (i = 0; i < SILENT; i++)
		close(silent[i]);
	WAIT_FOR(!connections(s.port));
	scene_close(&s);
}

static const struct sdp_case cases[] = {
	CASE(left_unanswered, 0),
	CASE(silence_keeps_nobody_out, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
