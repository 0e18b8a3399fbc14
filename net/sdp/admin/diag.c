// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets by netlink (sock_diag), for sdpstat: what /proc/net/sdp says as well, and more
 * for an administrator.
 */
#include <linux/build_bug.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/sdp.h>
#include <linux/sdp_diag.h>
#include <linux/sock_diag.h>
#include <net/netlink.h>

#include "base/base.h"
#include "stream/stream.h"
#include "socket/socket.h"
#include "admin.h"
#include "view.h"

/* User space is built with the layout. */
static_assert(sizeof(struct sdp_diag_req) == 16);
static_assert(sizeof(struct sdp_diag_msg) == 72);
static_assert(sizeof(struct sdp_diag_credits) == 8);
static_assert(sizeof(struct sdp_diag_ring) == 96);
static_assert(sizeof(struct sdp_diag_zcopy) == 80);
static_assert(sizeof(struct sdp_diag_timeouts) == 24);
static_assert(ARRAY_SIZE(((struct sdp_diag_ring *)0)->flushes) >= __SDP_FLUSH_MAX);

/**
 * struct sdp_diag_dump - one answer, as far as it has come
 * @skb: messages so far
 * @cb: the dump
 * @req: what was asked for
 * @admin: who asks may see what /proc/net/sdp does not show
 */
struct sdp_diag_dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	const struct sdp_diag_req *req;
	bool admin;
};

static bool sdp_diag_wants(const struct sdp_diag_dump *d, enum sdp_diag_attr attr)
{
	return d->req->sdr_show & BIT(attr - 1);
}

/* A name may change while it is looked at, but in the message it has to end. */
static int sdp_diag_put_name(const struct sdp_diag_dump *d, enum sdp_diag_attr attr,
			     const char *name)
{
	char copy[IB_DEVICE_NAME_MAX];

	if (!name || !sdp_diag_wants(d, attr))
		return 0;
	strscpy(copy, name, sizeof(copy));
	return nla_put_string(d->skb, attr, copy);
}

static int sdp_diag_put_credits(const struct sdp_diag_dump *d, const struct sdp_view *view)
{
	struct sdp_diag_credits credits = {
		.tx = view->tx_credits,
		.rx = view->rx_credits,
	};

	if (!view->live || !sdp_diag_wants(d, SDP_DIAG_CREDITS))
		return 0;
	return nla_put(d->skb, SDP_DIAG_CREDITS, sizeof(credits), &credits);
}

static int sdp_diag_put_ring(const struct sdp_diag_dump *d, const struct sdp_view *view,
			     const struct sdp_conn_stats *stats)
{
	struct sdp_diag_ring ring = {
		.size = view->ring,
		.used = view->ring_used,
		.peer_size = view->peer_ring,
		.reason = view->ring_why,
		.stalls = stats->credit_stalls,
		.coalesced = stats->coalesced,
	};

	if (!sdp_diag_wants(d, SDP_DIAG_RING))
		return 0;
	memcpy(ring.flushes, stats->flushes, sizeof(stats->flushes));
	return nla_put(d->skb, SDP_DIAG_RING, sizeof(ring), &ring);
}

static int sdp_diag_put_zcopy(const struct sdp_diag_dump *d, const struct sdp_view *view,
			      const struct sdp_conn_stats *stats)
{
	struct sdp_diag_zcopy zcopy = {
		.connected = view->live,
		.mode = view->zcopy,
		.sent = stats->bytes_out,
		.sent_zcopy = stats->zcopy_out,
		.sent_async = stats->async_out,
		.received = stats->bytes_in,
		.received_zcopy = stats->zcopy_in,
		.refusals = stats->zcopy_refusals,
		.cancels = stats->zcopy_cancels,
		.guard_refusals = stats->guard_refusals,
		.guard_faults = stats->guard_faults,
	};

	if (!sdp_diag_wants(d, SDP_DIAG_ZCOPY))
		return 0;
	return nla_put(d->skb, SDP_DIAG_ZCOPY, sizeof(zcopy), &zcopy);
}

static int sdp_diag_put_timeouts(const struct sdp_diag_dump *d, const struct sdp_sock *ssk)
{
	const struct sock *sk = &ssk->sk;
	struct sdp_diag_timeouts timeouts = {
		.keepalive = READ_ONCE(ssk->base.opt.keepalive),
		.keepidle = sdp_option_keepidle(sk),
		.keepintvl = sdp_option_keepintvl(sk),
		.keepcnt = sdp_option_keepcnt(sk),
		.user_timeout = READ_ONCE(ssk->base.opt.user_timeout),
		.linger2 = sdp_option_linger2(sk),
	};

	if (!d->admin || !sdp_diag_wants(d, SDP_DIAG_TIMEOUTS))
		return 0;
	return nla_put(d->skb, SDP_DIAG_TIMEOUTS, sizeof(timeouts), &timeouts);
}

static int sdp_diag_put_memory(const struct sdp_diag_dump *d, struct sock *sk)
{
	if (!d->admin || !sdp_diag_wants(d, SDP_DIAG_SKMEMINFO))
		return 0;
	return sock_diag_put_meminfo(sk, d->skb, SDP_DIAG_SKMEMINFO);
}

static int sdp_diag_put_qpn(const struct sdp_diag_dump *d, const struct sdp_view *view)
{
	if (!view->qpn || !sdp_diag_wants(d, SDP_DIAG_QPN))
		return 0;
	return nla_put_u32(d->skb, SDP_DIAG_QPN, view->qpn);
}

static int sdp_diag_put_flow_why(const struct sdp_diag_dump *d, const struct sdp_view *view)
{
	if (!view->live || !sdp_diag_wants(d, SDP_DIAG_FLOW_WHY))
		return 0;
	return nla_put_u32(d->skb, SDP_DIAG_FLOW_WHY, view->flow_why);
}

static int sdp_diag_put_attrs(const struct sdp_diag_dump *d, struct sdp_sock *ssk,
			      const struct sdp_view *view)
{
	const struct sdp_conn_stats *stats = &ssk->conn.stream.stats;

	return sdp_diag_put_name(d, SDP_DIAG_FLOW, view->flow) ?:
	       sdp_diag_put_name(d, SDP_DIAG_DEVICE, view->dev) ?:
	       sdp_diag_put_credits(d, view) ?:
	       sdp_diag_put_ring(d, view, stats) ?:
	       sdp_diag_put_zcopy(d, view, stats) ?:
	       sdp_diag_put_memory(d, &ssk->sk) ?:
	       sdp_diag_put_timeouts(d, ssk) ?:
	       sdp_diag_put_qpn(d, view) ?:
	       sdp_diag_put_flow_why(d, view);
}

static void sdp_diag_addr(__be32 words[4], const struct sdp_addr *addr, bool v4)
{
	if (v4)
		words[0] = addr->ip.s6_addr32[3];
	else
		memcpy(words, addr->ip.s6_addr32, sizeof(addr->ip));
}

/* Netlink aligns messages to four bytes only: that is for who fills in words of eight. */
static void sdp_diag_head(const struct sdp_diag_dump *d, struct sdp_sock *ssk,
			  const struct sdp_view *view, void *to)
{
	struct user_namespace *user_ns = sk_user_ns(NETLINK_CB(d->cb->skb).sk);
	struct sdp_diag_msg msg = {
		.sdiag_family = PF_SDP,
		.sdm_state = view->state,
		.sdm_addr_family = view->v4 ? AF_INET : AF_INET6,
		.sdm_sport = ssk->base.local.port,
		.sdm_dport = ssk->base.peer.port,
		.sdm_uid = from_kuid_munged(user_ns, sk_uid(&ssk->sk)),
		.sdm_rqueue = view->rqueue,
		.sdm_wqueue = view->wqueue,
		.sdm_ino = sock_i_ino(&ssk->sk),
	};

	sdp_diag_addr(msg.sdm_src, &ssk->base.local, view->v4);
	sdp_diag_addr(msg.sdm_dst, &ssk->base.peer, view->v4);
	sock_diag_save_cookie(&ssk->sk, msg.sdm_cookie);
	memcpy(to, &msg, sizeof(msg));
}

/* One message, if the socket is asked for; -EMSGSIZE if there is no room for it. */
static int sdp_diag_fill(const struct sdp_diag_dump *d, struct sdp_sock *ssk)
{
	const struct netlink_callback *cb = d->cb;
	struct nlmsghdr *nlh;
	struct sdp_view view;

	sdp_view_socket(ssk, &view);
	if (!(d->req->sdr_states & BIT(view.state)))
		return 0;
	nlh = nlmsg_put(d->skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			SOCK_DIAG_BY_FAMILY, sizeof(struct sdp_diag_msg), NLM_F_MULTI);
	if (!nlh)
		return -EMSGSIZE;
	sdp_diag_head(d, ssk, &view, nlmsg_data(nlh));
	if (sdp_diag_put_attrs(d, ssk, &view)) {
		nlmsg_cancel(d->skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(d->skb, nlh);
	return 0;
}

/* As many as there is room for; the next part goes on where this one has ended. */
static int sdp_diag_dump_some(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct sdp_net *sn = sdp_net(sock_net(skb->sk));
	struct sdp_diag_dump d = {
		.skb = skb,
		.cb = cb,
		.req = nlmsg_data(cb->nlh),
		.admin = netlink_net_capable(cb->skb, CAP_NET_ADMIN),
	};
	unsigned long number = cb->args[0];
	struct sock *sk;
	int err = 0;

	while (!err && (sk = sdp_view_next(sn, &number))) {
		err = sdp_diag_fill(&d, sdp_sk(sk));
		sock_put(sk);
		if (!err)
			number++;
		cond_resched();
	}
	/* Who came to the end has seen all, however many come meanwhile. */
	cb->args[0] = err ? number : ULONG_MAX;
	return skb->len ?: err;
}

static bool sdp_diag_valid(const struct nlmsghdr *nlh)
{
	const struct sdp_diag_req *req = nlmsg_data(nlh);

	return nlmsg_len(nlh) == sizeof(*req) &&
	       !(req->sdiag_protocol || req->pad || req->reserved);
}

/* The core has looked at the length of sdiag_family and sdiag_protocol alone. */
static int sdp_diag_ask(struct sk_buff *skb, struct nlmsghdr *nlh)
{
	struct netlink_dump_control control = {
		.dump = sdp_diag_dump_some,
		/* Until the last part has been fetched. */
		.module = THIS_MODULE,
	};

	if (!sdp_diag_valid(nlh))
		return -EINVAL;
	if ((nlh->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP)
		return -EOPNOTSUPP;
	return netlink_dump_start(sock_net(skb->sk)->diag_nlsk, skb, nlh, &control);
}

static const struct sock_diag_handler sdp_diag_handler = {
	SOCK_DIAG_OWNER(THIS_MODULE)
	.family = PF_SDP,
	.dump = sdp_diag_ask,
};

/**
 * sdp_diag_init_module() - answer requests, from all namespaces
 *
 * Return: 0 or a negative errno.
 */
int __init sdp_diag_init_module(void)
{
	return sock_diag_register(&sdp_diag_handler);
}

/**
 * sdp_diag_exit_module() - answer no more
 *
 * Context: process. An answer that is being fetched holds the module.
 */
void sdp_diag_exit_module(void)
{
	sock_diag_unregister(&sdp_diag_handler);
}
