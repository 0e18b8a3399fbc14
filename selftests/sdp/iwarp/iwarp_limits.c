// SPDX-License-Identifier: GPL-2.0
/*
 * What a device says that it can do at most is what a queue pair may have, and no more
 * of any of it. Needs root, and our own iWARP devices.
 */
#include "iwarp_end.h"

static struct ibv_qp *new_qp(const struct iwarp_end *e, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = e->scq,
		.recv_cq = e->rcq,
		.cap = cap,
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(e->pd, &attr);
}

static void refused(const struct iwarp_end *e, struct ibv_qp_cap cap)
{
	CHECK(!new_qp(e, cap));
	CHECK_EQ(errno, EINVAL);
}

static void one_too_many(const struct iwarp_end *e, struct ibv_qp_cap most)
{
	struct ibv_qp_cap cap = most;

	cap.max_send_wr++;
	refused(e, cap);
	cap = most;
	cap.max_recv_wr++;
	refused(e, cap);
	cap = most;
	cap.max_send_sge++;
	refused(e, cap);
	cap = most;
	cap.max_recv_sge++;
	refused(e, cap);
	cap = most;
	cap.max_send_wr = 0;
	refused(e, cap);
}

static void of_a_queue_pair(void)
{
	struct ibv_device_attr attr;
	struct ibv_qp_cap most = { 0 };
	struct iwarp_pair p;
	struct ibv_qp *qp;

	iwarp_join(false);
	iwarp_pair_open(&p);
	CHECK_EQ(ibv_query_device(p.client.id->verbs, &attr), 0);
	most.max_send_wr = attr.max_qp_wr;
	most.max_recv_wr = attr.max_qp_wr;
	most.max_send_sge = attr.max_sge;
	most.max_recv_sge = attr.max_sge;
	qp = new_qp(&p.client, most);
	CHECK(qp);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	one_too_many(&p.client, most);
	iwarp_pair_close(&p);
}

static const struct sdp_case cases[] = {
	CASE(of_a_queue_pair, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
