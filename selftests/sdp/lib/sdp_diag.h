/* SPDX-License-Identifier: GPL-2.0 */
/* What an administrator does to other programs' TCP sockets, as ss(8) --kill. */
#ifndef SDP_DIAG_H
#define SDP_DIAG_H

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>

#include "sdp_test.h"

#ifndef SOCK_DESTROY
#define SOCK_DESTROY 21
#endif

struct diag_request {
	struct nlmsghdr head;
	struct inet_diag_req_v2 req;
};

static inline int diag_socket(void)
{
	return CHECK_OK(socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG));
}

static inline void diag_name(struct inet_diag_sockid *id, const struct addr *a)
{
	id->idiag_sport = a->in4.sin_port;
	id->idiag_cookie[0] = INET_DIAG_NOCOOKIE;
	id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	if (a->sa.sa_family == AF_INET6)
		memcpy(id->idiag_src, &a->in6.sin6_addr, 16);
	else
		memcpy(id->idiag_src, &a->in4.sin_addr, 4);
}

/* Ends the TCP listener that is bound to this address; 0 or an errno. */
static inline int diag_destroy(int diag, const struct addr *a)
{
	struct diag_request r = {
		.head = {
			.nlmsg_len = sizeof(r),
			.nlmsg_type = SOCK_DESTROY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
		.req = {
			.sdiag_family = a->sa.sa_family,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_states = ~0U,
		},
	};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
		char rest[512];
	} answer;

	diag_name(&r.req.id, a);
	CHECK_EQ(CHECK_OK(send(diag, &r, sizeof(r), 0)), (long)sizeof(r));
	CHECK_OK(recv(diag, &answer, sizeof(answer), 0));
	CHECK_EQ(answer.head.nlmsg_type, NLMSG_ERROR);
	return -answer.err.error;
}

#endif /* SDP_DIAG_H */
