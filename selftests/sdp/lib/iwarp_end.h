/* SPDX-License-Identifier: GPL-2.0 */
/* Two ends of an iWARP connection, both in this process, made of verbs. */
#ifndef IWARP_END_H
#define IWARP_END_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "sdp_test.h"

/* Memory of an end: from the middle of it messages go, and there they come. */
#define END_MEM		(3 * MIB)
#define END_WRS		64
/* How many completions of requests to send there is room for. */
#define END_CQES	(2 * END_WRS)
#define END_SGES	4

struct iwarp_end {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *scq;
	struct ibv_cq *rcq;
	struct ibv_mr *mr;
	unsigned char *mem;
};

struct iwarp_pair {
	struct iwarp_end client;
	struct iwarp_end server;
};

/* A parameter of the module, for connections from now on; needs root. */
void iwarp_set(const char *name, bool on);
/*
 * Whether what one end of a connection of AF_SDP has sent is at the other: received, or left
 * to its reads. For who has something to send, and for the only connection of a namespace.
 */
bool iwarp_all_came(int from, int to);
/* What both ends ask for when a connection is set up; needs root. */
void iwarp_ask(bool markers, bool crc);
/*
 * Something over two devices of a design whose connections are not joined, and ask for
 * markers and checksums or not; all is put back, whatever becomes of it.
 */
void iwarp_run_over(const char *design, bool markers, bool crc, void (*run)(void));
/*
 * Whether both ends are joined, instead of exchanging segments; if it is not said,
 * SDP_TEST_JOINED in the environment decides.
 */
void iwarp_join(bool joined);
/* How many requests to read are outstanding at a time, from now on. */
void iwarp_read_depth(unsigned int depth);
/* From now on servers take receive requests from there. */
void iwarp_servers_share(struct ibv_srq *srq);
void iwarp_pair_open(struct iwarp_pair *p);
/* The same with ports of one's choice; 0 is any. */
void iwarp_pair_open_at(struct iwarp_pair *p, uint16_t client_port,
			uint16_t server_port);
void iwarp_pair_close(struct iwarp_pair *p);

/* What a pair is made of, one by one. */
void iwarp_channel(struct iwarp_end *e);
/* Listens at the server's address, which becomes *addr. */
struct rdma_cm_id *iwarp_listen(struct iwarp_end *e, struct addr *addr,
				uint16_t port);
/* Accepts who asks, whatever that is, and has all that an end has. */
void iwarp_accept(struct iwarp_end *e);
void iwarp_end_close(struct iwarp_end *e);
/* Knows its device and its way; without a queue pair. */
void iwarp_resolve(struct iwarp_end *e, uint16_t port, struct addr *to);
struct rdma_cm_id *iwarp_wait_event(struct iwarp_end *e,
				    enum rdma_cm_event_type want);

/* A message of @len bytes at @at of the memory, in @pieces; returns the error. */
int iwarp_recv(struct iwarp_end *e, size_t at, size_t len, int pieces);
int iwarp_send(struct iwarp_end *e, size_t at, size_t len, int pieces);
/* Between @at of our memory, and @rkey and @addr of the peer's. */
int iwarp_write(struct iwarp_end *e, size_t at, size_t len, uint32_t rkey,
		uint64_t addr);
int iwarp_read(struct iwarp_end *e, size_t at, size_t len, uint32_t rkey,
	       uint64_t addr);
uint64_t iwarp_address(const struct iwarp_end *e, size_t at);
/* The next completion, which must come. */
struct ibv_wc iwarp_wait(struct ibv_cq *cq);
void iwarp_expect(struct ibv_cq *cq, enum ibv_wc_status status);
void iwarp_wait_disconnected(struct iwarp_end *e);

#endif /* IWARP_END_H */
