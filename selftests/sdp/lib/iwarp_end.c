// SPDX-License-Identifier: GPL-2.0
/* Two ends of an iWARP connection, both in this process, made of verbs. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "iwarp_end.h"
#include "sdp_memory.h"

#define RESOLVE_MS	4000

void iwarp_set(const char *name, bool on)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/sys/module/iwarp/parameters/%s", name);
	fd = open(path, O_WRONLY);
	if (fd < 0 && errno == ENOENT)
		sdp_skip("the devices are not those of iwarp.ko");
	CHECK_OK(fd);
	CHECK_EQ(write(fd, on ? "Y" : "N", 1), 1);
	close(fd);
}

void iwarp_ask(bool markers, bool crc)
{
	iwarp_set("markers", markers);
	iwarp_set("crc", crc);
}

/* Sums up what the sockets of TCP that do not listen have of one kind in their queues. */
static unsigned long tcp_queued(bool received)
{
	FILE *f = fopen("/proc/net/tcp", "r");
	unsigned int state, tx, rx;
	unsigned long sum = 0;
	char line[256];

	CHECK(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*d: %*s %*s %x %x:%x", &state, &tx, &rx) == 3 &&
		    state != TCP_LISTEN)
			sum += received ? rx : tx;
	fclose(f);
	return sum;
}

/* Who asks for what was received is left nothing from then on. */
bool iwarp_all_came(int from, int to)
{
	return !ioctl_int(from, SIOCOUTQ) && !tcp_queued(false) &&
	       (tcp_queued(true) || ioctl_int(to, SIOCINQ));
}

static struct {
	const char *design;
	bool markers, crc;
	void (*run)(void);
} over;

/* Queue pairs of what ran before may be a moment from their end. */
static void use_design(const char *name)
{
	char path[64];
	int i;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/sys/class/infiniband/iwarp%d/design", i);
		WAIT_FOR(file_write(path, name));
	}
}

static void run_as_asked(void)
{
	iwarp_set("local", false);
	iwarp_ask(over.markers, over.crc);
	use_design(over.design);
	over.run();
}

static void as_before(void)
{
	iwarp_set("local", true);
	iwarp_ask(false, false);
	use_design("host");
}

void iwarp_run_over(const char *design, bool markers, bool crc, void (*run)(void))
{
	over.design = design;
	over.markers = markers;
	over.crc = crc;
	over.run = run;
	run_and_undo(run_as_asked, as_before);
}

static enum { BY_ENVIRONMENT, APART, JOINED } wanted;

void iwarp_join(bool joined)
{
	wanted = joined ? JOINED : APART;
}

static bool want_joined(void)
{
	if (wanted == BY_ENVIRONMENT)
		return getenv("SDP_TEST_JOINED");
	return wanted == JOINED;
}

struct rdma_cm_id *iwarp_wait_event(struct iwarp_end *e,
				    enum rdma_cm_event_type want)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	CHECK_OK(rdma_get_cm_event(e->channel, &event));
	if (event->event != want)
		FAIL("expected %s, got %s with status %d", rdma_event_str(want),
		     rdma_event_str(event->event), event->status);
	id = event->id;
	CHECK_OK(rdma_ack_cm_event(event));
	return id;
}

void iwarp_wait_disconnected(struct iwarp_end *e)
{
	iwarp_wait_event(e, RDMA_CM_EVENT_DISCONNECTED);
}

static void end_open(struct iwarp_end *e, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = {
		.srq = srq,
		.cap = {
			.max_send_wr = END_WRS,
			.max_recv_wr = END_WRS,
			.max_send_sge = END_SGES,
			.max_recv_sge = END_SGES,
		},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	e->mem = calloc(1, END_MEM);
	CHECK(e->mem);
	e->pd = ibv_alloc_pd(e->id->verbs);
	CHECK(e->pd);
	e->scq = ibv_create_cq(e->id->verbs, END_CQES, NULL, NULL, 0);
	e->rcq = ibv_create_cq(e->id->verbs, END_WRS, NULL, NULL, 0);
	CHECK(e->scq && e->rcq);
	attr.send_cq = e->scq;
	attr.recv_cq = e->rcq;
	CHECK_OK(rdma_create_qp(e->id, e->pd, &attr));
	e->mr = ibv_reg_mr(e->pd, e->mem, END_MEM, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	CHECK(e->mr);
}

void iwarp_end_close(struct iwarp_end *e)
{
	if (e->id->qp)
		rdma_destroy_qp(e->id);
	CHECK_OK(rdma_destroy_id(e->id));
	CHECK_EQ(ibv_dereg_mr(e->mr), 0);
	CHECK_EQ(ibv_destroy_cq(e->scq), 0);
	CHECK_EQ(ibv_destroy_cq(e->rcq), 0);
	CHECK_EQ(ibv_dealloc_pd(e->pd), 0);
	rdma_destroy_event_channel(e->channel);
	free(e->mem);
}

void iwarp_channel(struct iwarp_end *e)
{
	e->channel = rdma_create_event_channel();
	if (!e->channel)
		sdp_skip("no access to the connection manager: %s",
			 strerrorname_np(errno));
}

struct rdma_cm_id *iwarp_listen(struct iwarp_end *e, struct addr *addr,
				uint16_t port)
{
	struct rdma_cm_id *id;

	*addr = server_addr(port);
	CHECK_OK(rdma_create_id(e->channel, &id, NULL, RDMA_PS_TCP));
	CHECK_OK(rdma_bind_addr(id, &addr->sa));
	CHECK_OK(rdma_listen(id, 1));
	if (addr->sa.sa_family == AF_INET)
		addr->in4.sin_port = rdma_get_src_port(id);
	else
		addr->in6.sin6_port = rdma_get_src_port(id);
	return id;
}

void iwarp_resolve(struct iwarp_end *e, uint16_t port, struct addr *to)
{
	struct addr from = client_addr(port);

	CHECK_OK(rdma_create_id(e->channel, &e->id, NULL, RDMA_PS_TCP));
	CHECK_OK(rdma_resolve_addr(e->id, &from.sa, &to->sa, RESOLVE_MS));
	iwarp_wait_event(e, RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK_OK(rdma_resolve_route(e->id, RESOLVE_MS));
	iwarp_wait_event(e, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static uint8_t read_depth = 4;

void iwarp_read_depth(unsigned int depth)
{
	read_depth = depth;
}

static struct ibv_srq *shared;

void iwarp_servers_share(struct ibv_srq *srq)
{
	shared = srq;
}

static struct rdma_conn_param connection(void)
{
	return (struct rdma_conn_param){
		.responder_resources = read_depth,
		.initiator_depth = read_depth,
	};
}

void iwarp_accept(struct iwarp_end *e)
{
	struct rdma_conn_param param = connection();

	e->id = iwarp_wait_event(e, RDMA_CM_EVENT_CONNECT_REQUEST);
	end_open(e, shared);
	CHECK_OK(rdma_accept(e->id, &param));
}

void iwarp_pair_open_at(struct iwarp_pair *p, uint16_t client_port,
			uint16_t server_port)
{
	struct rdma_conn_param param = connection();
	struct rdma_cm_id *listener;
	struct addr to;

	memset(p, 0, sizeof(*p));
	iwarp_set("local", want_joined());
	iwarp_channel(&p->client);
	iwarp_channel(&p->server);
	listener = iwarp_listen(&p->server, &to, server_port);
	iwarp_resolve(&p->client, client_port, &to);
	end_open(&p->client, NULL);
	CHECK_OK(rdma_connect(p->client.id, &param));
	iwarp_accept(&p->server);
	iwarp_wait_event(&p->client, RDMA_CM_EVENT_ESTABLISHED);
	iwarp_wait_event(&p->server, RDMA_CM_EVENT_ESTABLISHED);
	CHECK_OK(rdma_destroy_id(listener));
	iwarp_set("local", true);
}

void iwarp_pair_open(struct iwarp_pair *p)
{
	iwarp_pair_open_at(p, 0, 0);
}

void iwarp_pair_close(struct iwarp_pair *p)
{
	iwarp_end_close(&p->client);
	iwarp_end_close(&p->server);
}

/* Pieces of unequal length, none of them aligned to anything. */
static int cut(struct iwarp_end *e, struct ibv_sge *sge, size_t at, size_t len,
	       int pieces)
{
	int i;

	for (i = 0; i < pieces; i++) {
		size_t n = i == pieces - 1 ? len : len / 3;

		sge[i] = (struct ibv_sge) {
			.addr = iwarp_address(e, at),
			.length = n,
			.lkey = e->mr->lkey,
		};
		at += n;
		len -= n;
	}
	return pieces;
}

int iwarp_recv(struct iwarp_end *e, size_t at, size_t len, int pieces)
{
	struct ibv_sge sge[END_SGES];
	struct ibv_recv_wr *bad, wr = {
		.sg_list = sge,
		.num_sge = cut(e, sge, at, len, pieces),
	};

	return ibv_post_recv(e->id->qp, &wr, &bad);
}

static int post(struct iwarp_end *e, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(e->id->qp, wr, &bad);
}

int iwarp_send(struct iwarp_end *e, size_t at, size_t len, int pieces)
{
	struct ibv_sge sge[END_SGES];
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND,
		.sg_list = sge,
		.num_sge = cut(e, sge, at, len, pieces),
	};

	return post(e, &wr);
}

static int post_rdma(struct iwarp_end *e, enum ibv_wr_opcode opcode, size_t at,
		     size_t len, uint32_t rkey, uint64_t addr)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.opcode = opcode,
		.sg_list = &sge,
		.num_sge = cut(e, &sge, at, len, 1),
		.wr.rdma.remote_addr = addr,
		.wr.rdma.rkey = rkey,
	};

	return post(e, &wr);
}

int iwarp_write(struct iwarp_end *e, size_t at, size_t len, uint32_t rkey,
		uint64_t addr)
{
	return post_rdma(e, IBV_WR_RDMA_WRITE, at, len, rkey, addr);
}

int iwarp_read(struct iwarp_end *e, size_t at, size_t len, uint32_t rkey,
	       uint64_t addr)
{
	return post_rdma(e, IBV_WR_RDMA_READ, at, len, rkey, addr);
}

uint64_t iwarp_address(const struct iwarp_end *e, size_t at)
{
	return (uintptr_t)e->mem + at;
}

struct ibv_wc iwarp_wait(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	WAIT_FOR(ibv_poll_cq(cq, 1, &wc) > 0);
	return wc;
}

void iwarp_expect(struct ibv_cq *cq, enum ibv_wc_status status)
{
	struct ibv_wc wc = iwarp_wait(cq);

	if (wc.status != status)
		FAIL("expected %s, got %s", ibv_wc_status_str(status),
		     ibv_wc_status_str(wc.status));
}
