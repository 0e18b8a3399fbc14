/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What each network namespace has of its own.
 */
#ifndef _SDP_NET_H
#define _SDP_NET_H

#include <linux/mutex.h>
#include <linux/nsproxy.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

struct ctl_table;
struct ctl_table_header;
struct sdp_flow_ops;
struct sdp_guard_ops;
struct sdp_mib;

/* Receive buffers of a connection: a credit each, two of them reserved. */
#define SDP_MIN_BUFFERS		4U
#define SDP_MAX_BUFFERS		1024U
#define SDP_DEFAULT_BUFFERS	16U
/* Payload bytes of a receive buffer. */
#define SDP_MIN_BUFFER_SIZE	4096U
#define SDP_MAX_BUFFER_SIZE	(1024U * 1024)
#define SDP_DEFAULT_BUFFER_SIZE	(64U * 1024)
/* Bytes from which on a write is tried without a copy. */
#define SDP_MIN_ZCOPY_THRESHOLD	4096U
#define SDP_MAX_ZCOPY_THRESHOLD	(1024U * 1024)
#define SDP_DEFAULT_ZCOPY_THRESHOLD	(64U * 1024)
/* Bytes from which on such a write is better read by the peer than sent. */
#define SDP_MIN_ZCOPY_DIRECT	0U
#define SDP_MAX_ZCOPY_DIRECT	(1024U * 1024 * 1024)
#define SDP_DEFAULT_ZCOPY_DIRECT	(256U * 1024)
#define SDP_MIN_ZCOPY_FAULT_LIMIT	0U
#define SDP_MAX_ZCOPY_FAULT_LIMIT	100U
#define SDP_DEFAULT_ZCOPY_FAULT_LIMIT	10U
/* Bytes of a receive ring. */
#define SDP_MIN_RING_SIZE	4096U
#define SDP_MAX_RING_SIZE	(2U * 1024 * 1024)
#define SDP_DEFAULT_RING_SIZE	(256U * 1024)
/* Bytes of a virtual window. */
#define SDP_MIN_WINDOW_SIZE	512U
#define SDP_MAX_WINDOW_SIZE	(256U * 1024)
#define SDP_DEFAULT_WINDOW_SIZE	(128U * 1024)
/* Bytes of a burst that the device is given as they come; 0 = all. */
#define SDP_MIN_DEVICE_SHARE	0U
#define SDP_MAX_DEVICE_SHARE	(1024U * 1024)
#define SDP_DEFAULT_DEVICE_SHARE	(8U * 1024)
/* Microseconds that what exceeds the share is held back to coalesce. */
#define SDP_MIN_COALESCE_TIME	1U
#define SDP_MAX_COALESCE_TIME	10000U
#define SDP_DEFAULT_COALESCE_TIME	100U
/* Milliseconds that data with space waits for the next call. */
#define SDP_MIN_FLUSH_TIME	1U
#define SDP_MAX_FLUSH_TIME	10000U
#define SDP_DEFAULT_FLUSH_TIME	40U
/* Seconds that an orphan may stand still. */
#define SDP_MIN_FIN_TIMEOUT	1U
#define SDP_MAX_FIN_TIMEOUT	600U
#define SDP_DEFAULT_FIN_TIMEOUT	60U
/* Closed sockets whose connections are not over yet. */
#define SDP_MIN_MAX_ORPHANS	0U
#define SDP_MAX_MAX_ORPHANS	1048576U
#define SDP_DEFAULT_MAX_ORPHANS	16384U
/* Seconds that connect() keeps asking a busy listener. */
#define SDP_MIN_CONNECT_TIMEOUT	1U
#define SDP_MAX_CONNECT_TIMEOUT	600U
#define SDP_DEFAULT_CONNECT_TIMEOUT	127U
/* Whether new sockets may fall back to TCP. */
#define SDP_MIN_TCP_FALLBACK	0U
#define SDP_MAX_TCP_FALLBACK	1U
#define SDP_DEFAULT_TCP_FALLBACK	0U
/* Milliseconds that they wait for an answer over RDMA. */
#define SDP_MIN_FALLBACK_TIMEOUT	1U
#define SDP_MAX_FALLBACK_TIMEOUT	60000U
#define SDP_DEFAULT_FALLBACK_TIMEOUT	30U
/* Whether connections within this kernel do without the device. */
#define SDP_MIN_LOCAL		0U
#define SDP_MAX_LOCAL		1U
#define SDP_DEFAULT_LOCAL	1U
/* Keepalive: seconds idle, seconds for each probe, and how many, as for TCP. */
#define SDP_MIN_KEEPALIVE_TIME	1U
#define SDP_MAX_KEEPALIVE_TIME	32767U
#define SDP_DEFAULT_KEEPALIVE_TIME	7200U
#define SDP_MIN_KEEPALIVE_INTVL	1U
#define SDP_MAX_KEEPALIVE_INTVL	32767U
#define SDP_DEFAULT_KEEPALIVE_INTVL	75U
#define SDP_MIN_KEEPALIVE_PROBES	1U
#define SDP_MAX_KEEPALIVE_PROBES	127U
#define SDP_DEFAULT_KEEPALIVE_PROBES	9U

/**
 * struct sdp_net - one namespace
 * @flow_control: sysctl, engine of flow control that sockets want
 * @zcopy: sysctl, enum sdp_zcopy_mode
 * @zcopy_recv: sysctl, SDP_ZCOPY_SYNC or SDP_ZCOPY_ASYNC
 * @zcopy_fault: sysctl, what protects memory that is being sent
 * @zcopy_threshold: sysctl, bytes
 * @zcopy_direct: sysctl, bytes
 * @zcopy_fault_limit: sysctl, percent
 * @num_buffers: sysctl, receive buffers of new connections
 * @buffer_size: sysctl, their payload bytes
 * @ring_size: sysctl, bytes
 * @window_size: sysctl, bytes
 * @device_share: sysctl, bytes
 * @coalesce_time: sysctl, microseconds
 * @flush_time: sysctl, milliseconds
 * @fin_timeout: sysctl, seconds
 * @max_orphans: sysctl
 * @connect_timeout: sysctl, seconds
 * @tcp_fallback: sysctl, whether new sockets may fall back to TCP
 * @fallback_timeout: sysctl, milliseconds
 * @local: sysctl, whether connections within this kernel do without the device
 * @keepalive_time: sysctl, seconds
 * @keepalive_intvl: sysctl, seconds
 * @keepalive_probes: sysctl
 * @sysctl_table: the table of these
 * @sysctl_header: its registration
 * @mib: event counters
 * @sockets: all sockets by their number, without a reference: a socket leaves
 *	in its destructor, below the lock of this array
 * @last_number: what the newest socket has got
 * @orphans: sockets that were closed before their connection was over
 * @share_mutex: protects @shares, and each socket's @share
 * @shares: ports that sockets share
 */
struct sdp_net {
	const struct sdp_flow_ops *flow_control;
	const struct sdp_guard_ops *zcopy_fault;
	unsigned int zcopy;
	unsigned int zcopy_recv;
	unsigned int zcopy_threshold;
	unsigned int zcopy_direct;
	unsigned int zcopy_fault_limit;
	unsigned int num_buffers;
	unsigned int buffer_size;
	unsigned int ring_size;
	unsigned int window_size;
	unsigned int device_share;
	unsigned int coalesce_time;
	unsigned int flush_time;
	unsigned int fin_timeout;
	unsigned int max_orphans;
	unsigned int connect_timeout;
	unsigned int tcp_fallback;
	unsigned int fallback_timeout;
	unsigned int local;
	unsigned int keepalive_time;
	unsigned int keepalive_intvl;
	unsigned int keepalive_probes;
	struct ctl_table *sysctl_table;
	struct ctl_table_header *sysctl_header;
	struct sdp_mib __percpu *mib;
	struct xarray sockets;
	u32 last_number;
	atomic_t orphans;
	struct mutex share_mutex; /* shared ports and their members */
	struct list_head shares;
};

extern unsigned int sdp_net_id;

static inline struct sdp_net *sdp_net(const struct net *net)
{
	return net_generic(net, sdp_net_id);
}

#endif /* _SDP_NET_H */
