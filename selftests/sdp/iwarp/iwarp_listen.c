// SPDX-License-Identifier: GPL-2.0
/*
 * Who comes to a listener of software iWARP and then says nothing, or leaves before
 * he is answered: he keeps nobody else out, and nothing of him stays. And who says
 * what no process can be told. Needs root, and our own iWARP devices.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "iwarp_end.h"
#include "sdp_cgroup.h"
#include "sdp_memory.h"

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

static void create_qp(struct rdma_cm_id *id)
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

	CHECK_OK(rdma_create_qp(id, NULL, &attr));
}

static void client_asks(struct scene *s)
{
	struct rdma_conn_param param = { 0 };

	iwarp_resolve(&s->client, 0, &s->address);
	create_qp(s->client.id);
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

/* A program of the control group may say what it likes of a socket that it denies. */
static void run_socket_denied(void)
{
	const struct bpf_insn insns[] = {
		ARGUMENT(-EADDRINUSE), CALL(BPF_FUNC_set_retval), RESULT(0), EXIT,
	};
	struct rdma_conn_param param = { 0 };
	struct scene s;

	scene_open(&s);
	iwarp_resolve(&s.client, 0, &s.address);
	create_qp(s.client.id);
	attach_to_group(BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE, insns,
			ARRAY_SIZE(insns));
	CHECK_ERR(rdma_connect(s.client.id, &param), EADDRINUSE);
	client_leaves(&s);
	scene_close(&s);
}

static void socket_denied(void)
{
	run_in_group("iwarp_listen", run_socket_denied);
}

/* ---- a peer made of TCP ---- */

/* MPA's frames that set up (RFC 5044), of which these ask for nothing. */
#define FRAME_LEN	20
#define REQUEST		"MPA ID Req Frame\0\1"
#define REPLY		"MPA ID Rep Frame\0\1"
/* Untagged segments (RFC 5041, 5040): the only one of a message, version 1. */
#define DDP_UNTAGGED	0x41
#define RDMAP_TERMINATE	0x47
#define RDMAP_IMMEDIATE	0x48
#define IMMEDIATE_LEN	8

struct untagged {
	uint16_t len;
	uint8_t ddp;
	uint8_t rdmap;
	uint32_t stag;
	uint32_t queue;
	uint32_t msn;
	uint32_t offset;
} __attribute__((packed));

/* Connects, and waits for the answer to its request. */
static int raw_connect(struct scene *s)
{
	int fd = CHECK_OK(socket(AF_INET, SOCK_STREAM, 0));
	char frame[FRAME_LEN] = REQUEST;
	struct rdma_conn_param param = { 0 };
	struct ibv_sge nothing = { 0 };
	struct ibv_recv_wr *bad, wr = { .sg_list = &nothing, .num_sge = 1 };

	CHECK_OK(connect(fd, &s->address.sa, s->address.len));
	CHECK_EQ(send(fd, frame, FRAME_LEN, 0), FRAME_LEN);
	s->server.id = iwarp_wait_event(&s->server,
					RDMA_CM_EVENT_CONNECT_REQUEST);
	create_qp(s->server.id);
	CHECK_EQ(ibv_post_recv(s->server.id->qp, &wr, &bad), 0);
	CHECK_OK(rdma_accept(s->server.id, &param));
	iwarp_wait_event(&s->server, RDMA_CM_EVENT_ESTABLISHED);
	CHECK_EQ(recv(fd, frame, FRAME_LEN, MSG_WAITALL), FRAME_LEN);
	CHECK(!memcmp(frame, REPLY, sizeof(REPLY)));
	return fd;
}

/* Without checksums there is their place only. */
static void raw_send_immediate(int fd)
{
	struct {
		struct untagged segment;
		uint8_t data[IMMEDIATE_LEN];
		uint32_t crc;
	} __attribute__((packed)) fpdu = {
		.segment = {
			.len = htons(sizeof(fpdu) - sizeof(fpdu.crc) -
				     sizeof(fpdu.segment.len)),
			.ddp = DDP_UNTAGGED,
			.rdmap = RDMAP_IMMEDIATE,
			.msn = htonl(1),
		},
	};

	CHECK_EQ(send(fd, &fpdu, sizeof(fpdu), 0), sizeof(fpdu));
}

/* RDMAP, remote operation error, unexpected opcode. */
static void raw_wait_terminate(int fd)
{
	struct {
		struct untagged segment;
		uint8_t why[2];
	} __attribute__((packed)) fpdu;

	CHECK_EQ(recv(fd, &fpdu, sizeof(fpdu), MSG_WAITALL), sizeof(fpdu));
	CHECK_EQ(fpdu.segment.ddp, DDP_UNTAGGED);
	CHECK_EQ(fpdu.segment.rdmap, RDMAP_TERMINATE);
	CHECK_EQ(fpdu.why[0], 0x02);
	CHECK_EQ(fpdu.why[1], 0x06);
}

static void immediate_data_refused(void)
{
	struct scene s;
	int fd;

	iwarp_ask(false, false);
	scene_open(&s);
	fd = raw_connect(&s);
	raw_send_immediate(fd);
	iwarp_expect(s.server.id->recv_cq, IBV_WC_WR_FLUSH_ERR);
	raw_wait_terminate(fd);
	iwarp_wait_disconnected(&s.server);
	close(fd);
	rdma_destroy_qp(s.server.id);
	CHECK_OK(rdma_destroy_id(s.server.id));
	scene_close(&s);
}

static const struct sdp_case cases[] = {
	CASE(left_unanswered, 0),
	CASE(silence_keeps_nobody_out, 0),
	CASE(socket_denied, 0),
	CASE(immediate_data_refused, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
