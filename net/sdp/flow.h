/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Engines of flow control: which there are, and which one a connection uses.
 * Documentation/flow-control.rst explains them.
 */
#ifndef _SDP_FLOW_H
#define _SDP_FLOW_H

#include <linux/sdp.h>
#include <linux/sockptr.h>
#include <linux/types.h>

struct ib_device;
struct net;
struct sdp_sock;
struct sock;

/* Bytes of an engine's name, the zero at its end included. */
#define SDP_FLOW_NAME_MAX	16
/* Bytes that all names take, with blanks between them. */
#define SDP_FLOW_BUF_MAX	64

/**
 * struct sdp_flow_ops - an engine of flow control
 * @name: as administrators and programs know it
 * @id: as SDP_INFO tells it
 * @feature: SDP_FEAT_* by which Hello offers it
 */
struct sdp_flow_ops {
	char name[SDP_FLOW_NAME_MAX];
	enum sdp_flow id;
	u16 feature;
};

extern const struct sdp_flow_ops *const sdp_flow_credit;
extern const struct sdp_flow_ops *const sdp_flow_default;

const struct sdp_flow_ops *sdp_flow_find(const char *name);
void sdp_flow_names(char *buf, size_t size);
u16 sdp_flow_device(const struct ib_device *ibdev, bool iwarp);
u16 sdp_flow_offer(const struct sdp_sock *ssk);
void sdp_flow_choose(struct sdp_sock *ssk, u16 peer);
int sdp_flow_setsockopt(struct sock *sk, sockptr_t optval,
			unsigned int optlen);
int sdp_flow_getsockopt(struct sock *sk, int len, char __user *optval,
			int __user *optlen);

#endif /* _SDP_FLOW_H */
