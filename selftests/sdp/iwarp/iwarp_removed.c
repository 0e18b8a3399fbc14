// SPDX-License-Identifier: GPL-2.0
/*
 * A device that goes while processes use it: nothing waits for them, they are told, all
 * that they ask for afterwards fails with EIO, and the queues that they have mapped stay
 * memory with what was in it. Sockets hear of it as well. Needs root and our own iWARP
 * devices, of which it removes iwarp0, and makes it anew.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "iwarp_end.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

#define LEN	10000
#define POSTED	8

static int __printf(1, 2) run(const char *format, ...)
{
	char command[256];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	return system(command);
}

/* The network device below iwarp0. */
static const char *wire(void)
{
	static char name[32];
	FILE *from = popen("rdma link show iwarp0/1 2> /dev/null | sed 's/.* netdev *//; s/ .*//'",
			   "r");

	CHECK(from);
	if (!fgets(name, sizeof(name), from))
		sdp_skip("there is no iwarp0");
	pclose(from);
	name[strcspn(name, "\n")] = 0;
	return name;
}

static bool active(const char *device)
{
	return !run("rdma link show %s/1 2> /dev/null | grep -q 'state ACTIVE'", device);
}

static const char *netdev;

static void devices_again(void)
{
	if (access("/sys/module/iwarp", F_OK))
		CHECK_EQ(run("insmod $SDP_IWARP"), 0);
	if (access("/sys/class/infiniband/iwarp0", F_OK))
		CHECK_EQ(run("rdma link add iwarp0 type iwarp netdev %s", netdev), 0);
	if (access("/sys/class/infiniband/iwarp1", F_OK))
		CHECK_EQ(run("rdma link add iwarp1 type iwarp netdev v1"), 0);
	WAIT_FOR(active("iwarp0") && active("iwarp1"));
	if (access("/proc/net/sdp", F_OK))
		CHECK_EQ(run("insmod $SDP_MODULE"), 0);
	run("echo ${SDP_LOCAL:-0} > /proc/sys/net/sdp/local");
}

/*
 * Such a kernel may free a device before its addresses, see kernel-bugs.rst. With checkers it
 * is too slow.
 */
static bool preempts_anywhere(void)
{
	struct utsname name;

	CHECK_OK(uname(&name));
	return strstr(name.version, " PREEMPT ") && access("/proc/lockdep", F_OK);
}

/* A device that is gone would be missed by all other cases. */
static void with_device(void (*fn)(void))
{
	netdev = wire();
	run_and_undo(fn, devices_again);
}

static void with_users_device(void (*fn)(void))
{
	if (preempts_anywhere())
		sdp_skip("this kernel does not bear it: who uses a device may be preempted");
	with_device(fn);
}

static void expect_fatal(struct ibv_context *context)
{
	struct ibv_async_event event;

	/* There may be others of the queue pair before it. */
	do {
		CHECK_EQ(ibv_get_async_event(context, &event), 0);
		ibv_ack_async_event(&event);
	} while (event.event_type != IBV_EVENT_DEVICE_FATAL);
}

/* The connection may be seen to end before the device does. */
static void wait_removal(struct iwarp_end *e)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;

	do {
		CHECK_OK(rdma_get_cm_event(e->channel, &event));
		type = event->event;
		if (type != RDMA_CM_EVENT_DEVICE_REMOVAL)
			CHECK_EQ(type, RDMA_CM_EVENT_DISCONNECTED);
		CHECK_OK(rdma_ack_cm_event(event));
	} while (type != RDMA_CM_EVENT_DEVICE_REMOVAL);
}

/* Whatever a process asks for. */
static void expect_eio(struct iwarp_end *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_device_attr device;
	struct ibv_qp_attr attr;
	void *at;

	CHECK_EQ(ibv_query_qp(e->id->qp, &attr, IBV_QP_STATE, &init), EIO);
	CHECK(!ibv_alloc_pd(e->id->verbs));
	CHECK_EQ(errno, EIO);
	CHECK(!ibv_reg_mr(e->pd, e->mem, END_MEM, IBV_ACCESS_LOCAL_WRITE));
	CHECK_EQ(errno, EIO);
	CHECK(!ibv_create_cq(e->id->verbs, 1, NULL, NULL, 0));
	CHECK_EQ(errno, EIO);
	CHECK(ibv_query_device(e->id->verbs, &device));
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, e->id->verbs->cmd_fd, 0);
	CHECK(at == MAP_FAILED);
	CHECK_EQ(errno, EIO);
	/* The doorbell. */
	CHECK(iwarp_send(e, 0, 1, 1));
}

/* What was posted is flushed, into memory that is nobody else's now. */
static void expect_flushed(struct iwarp_end *e)
{
	int i;

	for (i = 0; i < POSTED; i++)
		iwarp_expect(e->rcq, IBV_WC_WR_FLUSH_ERR);
	for (i = 0; i < POSTED; i++)
		iwarp_recv(e, 0, 1, 1);
}

static void connect_and_post(struct iwarp_pair *p)
{
	int i;

	iwarp_join(false);
	iwarp_pair_open(p);
	pattern_fill(p->client.mem, LEN, 1, 0);
	CHECK_EQ(iwarp_write(&p->client, 0, LEN, p->server.mr->rkey,
			     iwarp_address(&p->server, 0)), 0);
	iwarp_expect(p->client.scq, IBV_WC_SUCCESS);
	for (i = 0; i < POSTED; i++)
		CHECK_EQ(iwarp_recv(&p->client, MIB, LEN, 1), 0);
}

static void expect_the_end(struct iwarp_pair *p)
{
	wait_removal(&p->client);
	expect_fatal(p->client.id->verbs);
	expect_flushed(&p->client);
	expect_eio(&p->client);
}

static void delete_device(void)
{
	struct iwarp_pair p;

	connect_and_post(&p);
	CHECK_EQ(run("rdma link delete iwarp0"), 0);
	CHECK(access("/sys/class/infiniband/iwarp0", F_OK));
	expect_the_end(&p);
	iwarp_wait_disconnected(&p.server);
	pattern_verify(p.server.mem, LEN, 1, 0);
	/* The other one is as good as ever. */
	CHECK(ibv_reg_mr(p.server.pd, p.server.mem, LEN, IBV_ACCESS_LOCAL_WRITE));
}

static void deleted(void)
{
	with_users_device(delete_device);
}

static void unload_module(void)
{
	struct iwarp_pair p;

	if (!getenv("SDP_IWARP") || !getenv("SDP_MODULE"))
		sdp_skip("no module to load");
	connect_and_post(&p);
	CHECK_EQ(run("rmmod sdp"), 0);
	/* Where lockdep looks after sockets' locks, a socket holds the module. */
	if (run("grep -qx 0 /sys/module/iwarp/refcnt")) {
		ktap_diag("sockets hold the module: without the devices there are none");
		CHECK_EQ(run("rdma link delete iwarp0"), 0);
		CHECK_EQ(run("rdma link delete iwarp1"), 0);
		WAIT_FOR(!run("grep -qx 0 /sys/module/iwarp/refcnt"));
	}
	CHECK_EQ(run("rmmod iwarp"), 0);
	CHECK(access("/sys/module/iwarp", F_OK));
	expect_the_end(&p);
	expect_fatal(p.server.id->verbs);
	expect_eio(&p.server);
}

static void unloaded(void)
{
	with_users_device(unload_module);
}

/* What a second thread does until the device is gone. */
static void *ask_until_over(void *arg)
{
	struct iwarp_end *e = arg;
	struct ibv_mr *mr;
	struct ibv_cq *cq;

	for (;;) {
		mr = ibv_reg_mr(e->pd, e->mem + 2 * MIB, MIB, IBV_ACCESS_LOCAL_WRITE);
		cq = ibv_create_cq(e->id->verbs, 1000, NULL, NULL, 0);
		if (!mr || !cq)
			break;
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		CHECK_EQ(ibv_destroy_cq(cq), 0);
	}
	CHECK_EQ(errno, EIO);
	return NULL;
}

static unsigned int written;

static void *write_until_over(void *arg)
{
	struct iwarp_pair *p = arg;
	struct ibv_wc wc;

	do {
		if (iwarp_write(&p->client, 0, LEN, p->server.mr->rkey,
				iwarp_address(&p->server, 0)))
			break;
		wc = iwarp_wait(p->client.scq);
		__atomic_add_fetch(&written, 1, __ATOMIC_RELAXED);
	} while (wc.status == IBV_WC_SUCCESS);
	return NULL;
}

static void delete_under_load(void)
{
	pthread_t writer, asker;
	struct iwarp_pair p;

	iwarp_join(false);
	iwarp_pair_open(&p);
	thread_start(&writer, write_until_over, &p);
	thread_start(&asker, ask_until_over, &p.client);
	WAIT_FOR(__atomic_load_n(&written, __ATOMIC_RELAXED) > 100);
	CHECK_EQ(run("rdma link delete iwarp0"), 0);
	thread_join(writer);
	thread_join(asker);
	wait_removal(&p.client);
	iwarp_wait_disconnected(&p.server);
}

static void deleted_under_load(void)
{
	unsigned int i;

	for (i = 0; i < scaled_count(8); i++)
		with_users_device(delete_under_load);
}

/* A listener and a half-made connection do not hold the device either. */
static void delete_while_listening(void)
{
	struct iwarp_end server, client;
	struct rdma_cm_id *listener;
	struct addr to;

	iwarp_channel(&server);
	iwarp_channel(&client);
	listener = iwarp_listen(&server, &to, 0);
	iwarp_resolve(&client, 0, &to);
	CHECK_EQ(run("rdma link delete iwarp1"), 0);
	CHECK_EQ(run("rdma link delete iwarp0"), 0);
	wait_removal(&server);
	wait_removal(&client);
	CHECK_OK(rdma_destroy_id(listener));
	CHECK_OK(rdma_destroy_id(client.id));
}

static void deleted_while_listening(void)
{
	with_users_device(delete_while_listening);
}

/* Connections of sockets, each of which ends with an error at both ends, and listeners. */
static void delete_below_sockets(void)
{
	struct addr at = server_addr(0);
	struct pair pairs[8];
	int listeners[8];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		listeners[i] = new_socket(0);
		CHECK_OK(bind(listeners[i], &at.sa, at.len));
		CHECK_OK(listen(listeners[i], 4));
		pairs[i] = new_pair();
		send_pattern(pairs[i].client, SEED_UP, 0, LEN, LEN);
		recv_pattern(pairs[i].server, SEED_UP, 0, LEN, LEN);
	}
	CHECK_EQ(run("rdma link delete iwarp0"), 0);
	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		CHECK(recv_until_end(pairs[i].client));
		CHECK(recv_until_end(pairs[i].server));
		close_pair(pairs[i]);
		CHECK_OK(close(listeners[i]));
	}
}

static void deleted_below_sockets(void)
{
	unsigned int i;

	for (i = 0; i < scaled_count(8); i++)
		with_device(delete_below_sockets);
}

static const struct sdp_case cases[] = {
	CASE(deleted, 0),
	CASE(unloaded, 0),
	CASE(deleted_under_load, CASE_LONG),
	CASE(deleted_while_listening, 0),
	CASE(deleted_below_sockets, CASE_LONG),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
