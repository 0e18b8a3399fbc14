// SPDX-License-Identifier: GPL-2.0
/*
 * Queues and queue pairs that come and go while another thread uses them: what a
 * process can name is complete, and what is about to go cannot be named. Two
 * threads of a process are enough for all of that. Needs root, and our own iWARP
 * devices; a kernel that looks after its memory finds more.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/siw-abi.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "iwarp_end.h"
#include "sdp_memory.h"

/* An end without a queue pair, whose way to the server is known. */
struct scene {
	struct iwarp_end client;
	struct iwarp_end server;
	struct rdma_cm_id *listener;
	struct addr address;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
};

static void scene_open(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	iwarp_join(false);
	iwarp_set("local", true);
	iwarp_channel(&s->client);
	iwarp_channel(&s->server);
	s->listener = iwarp_listen(&s->server, &s->address, 0);
	iwarp_resolve(&s->client, 0, &s->address);
	s->pd = ibv_alloc_pd(s->client.id->verbs);
	CHECK(s->pd);
	s->cq = ibv_create_cq(s->client.id->verbs, END_WRS, NULL, NULL, 0);
	CHECK(s->cq);
}

static void scene_close(struct scene *s)
{
	CHECK_OK(rdma_destroy_id(s->client.id));
	CHECK_OK(rdma_destroy_id(s->listener));
	CHECK_EQ(ibv_destroy_cq(s->cq), 0);
	CHECK_EQ(ibv_dealloc_pd(s->pd), 0);
	rdma_destroy_event_channel(s->client.channel);
	rdma_destroy_event_channel(s->server.channel);
}

static struct ibv_qp *new_qp_of(struct scene *s, uint32_t wrs)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = s->cq,
		.recv_cq = s->cq,
		.cap = {
			.max_send_wr = wrs,
			.max_recv_wr = wrs,
			.max_send_sge = END_SGES,
			.max_recv_sge = END_SGES,
		},
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(s->pd, &attr);
}

static struct ibv_qp *new_qp(struct scene *s)
{
	struct ibv_qp *qp = new_qp_of(s, END_WRS);

	CHECK(qp);
	return qp;
}

/* Connects whatever has that number; returns the error, or 0. */
static int connect_number(struct iwarp_end *e, uint32_t qpn)
{
	struct rdma_conn_param param = { .qp_num = qpn };

	return rdma_connect(e->id, &param) ? errno : 0;
}

/* ---- calls that the library has no way to make ---- */

#define WORDS(type)	(sizeof(type) / sizeof(uint32_t))

struct cq_answer {
	struct ib_uverbs_create_cq_resp core;
	struct siw_uresp_create_cq ours;
};

struct qp_answer {
	struct ib_uverbs_create_qp_resp core;
	struct siw_uresp_create_qp ours;
};

static void cq_create(struct scene *s, unsigned int cqe,
		      struct cq_answer *answer)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_cq cmd;
	} call = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_CREATE_CQ,
			.in_words = WORDS(call),
			.out_words = WORDS(*answer),
		},
		.cmd = {
			.response = (uintptr_t)answer,
			.cqe = cqe,
			.comp_channel = -1,
		},
	};

	CHECK_EQ(write(s->client.id->verbs->cmd_fd, &call, sizeof(call)),
		 sizeof(call));
}

static void cq_destroy(struct scene *s, uint32_t handle)
{
	struct ib_uverbs_destroy_cq_resp answer;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_destroy_cq cmd;
	} call = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_DESTROY_CQ,
			.in_words = WORDS(call),
			.out_words = WORDS(answer),
		},
		.cmd = {
			.response = (uintptr_t)&answer,
			.cq_handle = handle,
		},
	};

	CHECK_EQ(write(s->client.id->verbs->cmd_fd, &call, sizeof(call)),
		 sizeof(call));
}

/* Returns what write() does. */
static long qp_create(struct scene *s, struct qp_answer *answer)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_qp cmd;
	} call = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_CREATE_QP,
			.in_words = WORDS(call),
			.out_words = WORDS(*answer),
		},
		.cmd = {
			.response = (uintptr_t)answer,
			.pd_handle = s->pd->handle,
			.send_cq_handle = s->cq->handle,
			.recv_cq_handle = s->cq->handle,
			.max_send_wr = END_WRS,
			.max_recv_wr = END_WRS,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.qp_type = IBV_QPT_RC,
		},
	};

	return write(s->client.id->verbs->cmd_fd, &call, sizeof(call));
}

static void qp_destroy(struct scene *s, uint32_t handle)
{
	struct ib_uverbs_destroy_qp_resp answer;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_destroy_qp cmd;
	} call = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_DESTROY_QP,
			.in_words = WORDS(call),
			.out_words = WORDS(answer),
		},
		.cmd = {
			.response = (uintptr_t)&answer,
			.qp_handle = handle,
		},
	};

	CHECK_EQ(write(s->client.id->verbs->cmd_fd, &call, sizeof(call)),
		 sizeof(call));
}

/* ---- a queue that is mapped while it goes ---- */

/* Long enough that it takes a while to map it. */
#define LONG_CQ		(64 * 1024)
#define LONG_BYTES	(LONG_CQ * sizeof(struct siw_cqe) + 4096)
#define ROUNDS		40

struct mapper {
	pthread_barrier_t begin;
	int fd;
	uint64_t key;
	bool mapped;
};

/* All of it, and it stays there; or nothing. */
static void *map_queue(void *arg)
{
	struct mapper *m = arg;
	const unsigned char *queue;
	size_t i;

	pthread_barrier_wait(&m->begin);
	queue = mmap(NULL, LONG_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd,
		     m->key);
	m->mapped = queue != MAP_FAILED;
	if (!m->mapped) {
		CHECK_EQ(errno, EINVAL);
		return NULL;
	}
	for (i = 0; i < LONG_BYTES; i += 64)
		CHECK_EQ(queue[i], 0);
	CHECK_OK(munmap((void *)queue, LONG_BYTES));
	return NULL;
}

static bool mapped_while_destroyed(struct scene *s, unsigned int head_start)
{
	struct mapper m = { .fd = s->client.id->verbs->cmd_fd };
	struct cq_answer answer;
	pthread_t thread;

	cq_create(s, LONG_CQ, &answer);
	m.key = answer.ours.cq_key;
	CHECK_EQ(pthread_barrier_init(&m.begin, NULL, 2), 0);
	thread_start(&thread, map_queue, &m);
	pthread_barrier_wait(&m.begin);
	usleep(head_start);
	cq_destroy(s, answer.core.cq_handle);
	thread_join(thread);
	return m.mapped;
}

static void queue_mapped_while_it_goes(void)
{
	unsigned int i, mapped = 0;
	struct scene s;

	scene_open(&s);
	for (i = 0; i < scaled_count(ROUNDS); i++)
		mapped += mapped_while_destroyed(&s, i * 100);
	ktap_diag("mapped %u times out of %u", mapped, i);
	CHECK(mapped);
	scene_close(&s);
}

/* ---- a queue pair that is not there yet ---- */

/* A creation that waits for the memory of its answer. */
struct creation {
	struct scene *s;
	struct qp_answer *answer;
	long ret;
	int err;
	int uffd;
	pthread_t thread;
};

static void *create_slowly(void *arg)
{
	struct creation *c = arg;

	c->ret = qp_create(c->s, c->answer);
	c->err = errno;
	return NULL;
}

/* Returns when the kernel is about to answer. */
static void creation_begin(struct creation *c, struct scene *s)
{
	size_t page = sysconf(_SC_PAGESIZE);

	c->s = s;
	c->answer = mmap(NULL, page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(c->answer != MAP_FAILED);
	c->uffd = watch_missing(c->answer, page);
	thread_start(&c->thread, create_slowly, c);
	wait_poll(c->uffd, POLLIN);
}

static void creation_goes_on(struct creation *c)
{
	struct uffdio_zeropage zero = {
		.range = {
			.start = (uintptr_t)c->answer,
			.len = sysconf(_SC_PAGESIZE),
		},
	};

	CHECK_OK(ioctl(c->uffd, UFFDIO_ZEROPAGE, &zero));
	thread_join(c->thread);
	close(c->uffd);
}

static void creation_fails(struct creation *c)
{
	CHECK_OK(munmap(c->answer, sysconf(_SC_PAGESIZE)));
	close(c->uffd);
	thread_join(c->thread);
	CHECK_EQ(c->ret, -1);
	CHECK_EQ(c->err, EFAULT);
}

/* The number that the next queue pair of the device has. */
static uint32_t next_number(struct scene *s)
{
	struct ibv_qp *qp = new_qp(s);
	uint32_t number = qp->qp_num + 1;

	CHECK_EQ(ibv_destroy_qp(qp), 0);
	return number;
}

static void not_found_before_it_is_there(void)
{
	struct creation c;
	struct scene s;
	uint32_t number;

	scene_open(&s);
	number = next_number(&s);
	creation_begin(&c, &s);
	CHECK_EQ(connect_number(&s.client, number), EINVAL);
	creation_goes_on(&c);
	CHECK(c.ret > 0);
	CHECK_EQ(c.answer->core.qpn, number);
	/* It was that one. */
	CHECK_EQ(connect_number(&s.client, number), 0);
	CHECK_OK(rdma_destroy_id(iwarp_wait_event(&s.server,
						  RDMA_CM_EVENT_CONNECT_REQUEST)));
	qp_destroy(&s, c.answer->core.qp_handle);
	scene_close(&s);
}

static void not_found_if_it_never_is(void)
{
	struct creation c;
	struct scene s;
	uint32_t number;

	scene_open(&s);
	number = next_number(&s);
	creation_begin(&c, &s);
	CHECK_EQ(connect_number(&s.client, number), EINVAL);
	creation_fails(&c);
	CHECK_EQ(connect_number(&s.client, number), EINVAL);
	scene_close(&s);
}

/* ---- a queue pair that goes ---- */

struct finder {
	struct scene *s;
	uint32_t number;
	bool stop;
	unsigned int found;
	unsigned int missed;
	pthread_t thread;
};

/* It is in error and so not to be connected, and after that not to be found. */
static void *find_on(void *arg)
{
	struct finder *f = arg;

	while (!__atomic_load_n(&f->stop, __ATOMIC_RELAXED)) {
		uint32_t number = __atomic_load_n(&f->number, __ATOMIC_RELAXED);
		int err = connect_number(&f->s->client, number);

		CHECK(err == EISCONN || err == EINVAL);
		f->found += err == EISCONN;
		f->missed += err == EINVAL;
	}
	return NULL;
}

static void found_while_it_goes(void)
{
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };
	struct finder f = { 0 };
	struct scene s;
	unsigned int i;

	scene_open(&s);
	f.s = &s;
	thread_start(&f.thread, find_on, &f);
	for (i = 0; i < scaled_count(300); i++) {
		struct ibv_qp *qp = new_qp(&s);
		unsigned int found = __atomic_load_n(&f.found, __ATOMIC_RELAXED);

		CHECK_EQ(ibv_modify_qp(qp, &error, IBV_QP_STATE), 0);
		__atomic_store_n(&f.number, qp->qp_num, __ATOMIC_RELAXED);
		WAIT_FOR(__atomic_load_n(&f.found, __ATOMIC_RELAXED) != found);
		CHECK_EQ(ibv_destroy_qp(qp), 0);
	}
	__atomic_store_n(&f.stop, true, __ATOMIC_RELAXED);
	thread_join(f.thread);
	ktap_diag("found %u times, not found %u times", f.found, f.missed);
	scene_close(&s);
}

/* ---- a connection that ends before it has begun ---- */

/* More requests to read than a device takes, which the library would find out. */
#define TOO_DEEP	200
#define HANDLES		4096

struct trier {
	struct scene *s;
	uint32_t handle;
	struct ibv_qp *qp;
	unsigned int tries;
	pthread_t thread;
};

/* As in rdma/rdma_user_cm.h, which does not go with the library's header. */
enum {
	UCM_CONNECT = 6,
	UCM_QUERY = 19,
};

struct ucm_hdr {
	uint32_t cmd;
	uint16_t in;
	uint16_t out;
};

struct ucm_query {
	uint64_t response;
	uint32_t id;
	uint32_t option;
};

struct ucm_connect {
	uint32_t qp_num;
	uint32_t qkey;
	uint8_t private_data[256];
	uint8_t private_data_len;
	uint8_t srq;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t flow_control;
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t valid;
	uint32_t id;
	uint32_t reserved[3];
};

/* What the connection manager calls the client's identifier. */
static uint32_t client_handle(struct scene *s)
{
	struct {
		struct ucm_hdr hdr;
		struct ucm_query cmd;
	} call = {
		.hdr = {
			.cmd = UCM_QUERY,
			.in = sizeof(call.cmd),
		},
	};

	for (; call.cmd.id < HANDLES; call.cmd.id++) {
		CHECK_EQ(write(s->client.channel->fd, &call, sizeof(call)), -1);
		/* It is ours, but there is no room for the answer. */
		if (errno == ENOSPC)
			return call.cmd.id;
		CHECK(errno == ENOENT || errno == EINVAL);
	}
	FAIL("the client's identifier is not found");
}

/* Returns the error: the device takes the queue pair, and then refuses. */
static int connect_too_deep(struct trier *t)
{
	struct {
		struct ucm_hdr hdr;
		struct ucm_connect cmd;
	} call = {
		.hdr = {
			.cmd = UCM_CONNECT,
			.in = sizeof(call.cmd),
		},
		.cmd = {
			.qp_num = t->qp->qp_num,
			.responder_resources = TOO_DEEP,
			.valid = 1,
			.id = t->handle,
		},
	};

	CHECK_EQ(write(t->s->client.channel->fd, &call, sizeof(call)), -1);
	return errno;
}

static void *try_until_over(void *arg)
{
	struct trier *t = arg;
	int err;

	for (;;) {
		err = connect_too_deep(t);
		if (err == EISCONN)
			return NULL;
		CHECK_EQ(err, EINVAL);
		__atomic_add_fetch(&t->tries, 1, __ATOMIC_RELAXED);
	}
}

/* Puts in error what is taken and left free again all the time. */
static void end_while_tried(struct trier *t)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	unsigned int tries = __atomic_load_n(&t->tries, __ATOMIC_RELAXED);
	struct ibv_qp_init_attr init;

	t->qp = new_qp(t->s);
	thread_start(&t->thread, try_until_over, t);
	WAIT_FOR(__atomic_load_n(&t->tries, __ATOMIC_RELAXED) != tries);
	CHECK_EQ(ibv_modify_qp(t->qp, &attr, IBV_QP_STATE), 0);
	thread_join(t->thread);
	CHECK_EQ(ibv_query_qp(t->qp, &attr, IBV_QP_STATE, &init), 0);
	CHECK_EQ(attr.qp_state, IBV_QPS_ERR);
	CHECK_EQ(ibv_destroy_qp(t->qp), 0);
}

/* A kernel with lockdep says if it was ended under the lock of another's. */
static void ended_while_it_is_tried(void)
{
	struct trier t = { 0 };
	struct scene s;
	struct ibv_qp *qp;
	unsigned int i;

	scene_open(&s);
	t.s = &s;
	t.handle = client_handle(&s);
	for (i = 0; i < scaled_count(300); i++)
		end_while_tried(&t);
	ktap_diag("%u queue pairs, %u tries", i, t.tries);
	/* It was for the depth only. */
	qp = new_qp(&s);
	CHECK_EQ(connect_number(&s.client, qp->qp_num), 0);
	CHECK_OK(rdma_destroy_id(iwarp_wait_event(&s.server,
						  RDMA_CM_EVENT_CONNECT_REQUEST)));
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	scene_close(&s);
}

/* ---- a queue pair of somebody else ---- */

#define NOBODY	65534

static void number_known(uid_t user, int err)
{
	struct iwarp_end other = { 0 };
	struct ibv_qp *qp;
	struct scene s;
	pid_t pid;

	scene_open(&s);
	qp = new_qp(&s);
	pid = fork_child();
	if (!pid) {
		CHECK_OK(setuid(user));
		iwarp_channel(&other);
		iwarp_resolve(&other, 0, &s.address);
		CHECK_EQ(connect_number(&other, qp->qp_num), err);
		_exit(0);
	}
	if (err) {
		join_child(pid);
		CHECK_EQ(connect_number(&s.client, qp->qp_num), 0);
	}
	CHECK_OK(rdma_destroy_id(iwarp_wait_event(&s.server,
						  RDMA_CM_EVENT_CONNECT_REQUEST)));
	if (!err)
		join_child(pid);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	scene_close(&s);
}

/* Who knows its number must not connect it. */
static void of_another_user(void)
{
	number_known(NOBODY, EINVAL);
}

/* Who could trace the process could do all that it does. */
static void of_another_process(void)
{
	number_known(geteuid(), 0);
}

/* ---- what regions take ---- */

#define REGIONS		32
#define REGION_BYTES	(4 * MIB)

static void register_in_group(void)
{
	size_t lists = REGIONS * (REGION_BYTES / 4096) * sizeof(uint64_t);
	struct ibv_mr *mr[REGIONS];
	struct scene s;
	size_t before;
	void *mem;
	int i;

	group_enter();
	scene_open(&s);
	mem = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	CHECK(mem != MAP_FAILED);
	before = group_stat("kernel");
	for (i = 0; i < REGIONS; i++) {
		mr[i] = ibv_reg_mr(s.pd, mem, REGION_BYTES,
				   IBV_ACCESS_LOCAL_WRITE);
		CHECK(mr[i]);
	}
	CHECK(group_stat("kernel") >= before + lists);
	for (i = 0; i < REGIONS; i++)
		CHECK_EQ(ibv_dereg_mr(mr[i]), 0);
	WAIT_FOR(group_stat("kernel") < before + lists);
	scene_close(&s);
}

/* Each has a list of its pages. */
static void regions_are_charged(void)
{
	group_make();
	run_and_undo(register_in_group, group_remove);
}

/* ---- what queues take ---- */

#define QUEUE_WRS	(32 * 1024)
/* Less than the memory of a send request and a receive request. */
#define QUEUE_BYTES	(QUEUE_WRS * 128)

static void create_in_group(void)
{
	struct scene s;
	struct ibv_qp *qp;
	size_t before;

	group_enter();
	scene_open(&s);
	before = group_stat("kernel");
	qp = new_qp_of(&s, QUEUE_WRS);
	CHECK(qp);
	CHECK(group_stat("kernel") >= before + QUEUE_BYTES);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	WAIT_FOR(group_stat("kernel") < before + QUEUE_BYTES);
	CHECK(!new_qp_of(&s, QUEUE_WRS + 1));
	CHECK_EQ(errno, EINVAL);
	scene_close(&s);
}

static void queues_are_charged(void)
{
	group_make();
	run_and_undo(create_in_group, group_remove);
}

static const struct sdp_case cases[] = {
	CASE(queue_mapped_while_it_goes, 0),
	CASE(not_found_before_it_is_there, 0),
	CASE(not_found_if_it_never_is, 0),
	CASE(found_while_it_goes, 0),
	CASE(ended_while_it_is_tried, 0),
	CASE(of_another_user, 0),
	CASE(of_another_process, 0),
	CASE(regions_are_charged, 0),
	CASE(queues_are_charged, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
