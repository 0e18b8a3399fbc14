// SPDX-License-Identifier: GPL-2.0
/*
 * net.sdp.*, one set for each network namespace.  New connections use the
 * values; existing ones keep theirs.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysctl.h>

#include "base/base.h"
#include "flow/flow.h"
#include "guard/guard.h"
#include "zcopy/zcopy.h"
#include "admin.h"

static unsigned int sdp_min_num_buffers = SDP_MIN_BUFFERS;
static unsigned int sdp_max_num_buffers = SDP_MAX_BUFFERS;
static unsigned int sdp_min_buffer_size = SDP_MIN_BUFFER_SIZE;
static unsigned int sdp_max_buffer_size = SDP_MAX_BUFFER_SIZE;
static unsigned int sdp_min_ring_size = SDP_MIN_RING_SIZE;
static unsigned int sdp_max_ring_size = SDP_MAX_RING_SIZE;
static unsigned int sdp_min_window_size = SDP_MIN_WINDOW_SIZE;
static unsigned int sdp_max_window_size = SDP_MAX_WINDOW_SIZE;
static unsigned int sdp_min_device_share = SDP_MIN_DEVICE_SHARE;
static unsigned int sdp_max_device_share = SDP_MAX_DEVICE_SHARE;
static unsigned int sdp_min_coalesce_time = SDP_MIN_COALESCE_TIME;
static unsigned int sdp_max_coalesce_time = SDP_MAX_COALESCE_TIME;
static unsigned int sdp_min_flush_time = SDP_MIN_FLUSH_TIME;
static unsigned int sdp_max_flush_time = SDP_MAX_FLUSH_TIME;
static unsigned int sdp_min_zcopy_threshold = SDP_MIN_ZCOPY_THRESHOLD;
static unsigned int sdp_max_zcopy_threshold = SDP_MAX_ZCOPY_THRESHOLD;
static unsigned int sdp_min_zcopy_direct = SDP_MIN_ZCOPY_DIRECT;
static unsigned int sdp_max_zcopy_direct = SDP_MAX_ZCOPY_DIRECT;
static unsigned int sdp_min_zcopy_fault_limit = SDP_MIN_ZCOPY_FAULT_LIMIT;
static unsigned int sdp_max_zcopy_fault_limit = SDP_MAX_ZCOPY_FAULT_LIMIT;
static unsigned int sdp_min_fin_timeout = SDP_MIN_FIN_TIMEOUT;
static unsigned int sdp_max_fin_timeout = SDP_MAX_FIN_TIMEOUT;
static unsigned int sdp_min_max_orphans = SDP_MIN_MAX_ORPHANS;
static unsigned int sdp_max_max_orphans = SDP_MAX_MAX_ORPHANS;
static unsigned int sdp_min_connect_timeout = SDP_MIN_CONNECT_TIMEOUT;
static unsigned int sdp_max_connect_timeout = SDP_MAX_CONNECT_TIMEOUT;
static unsigned int sdp_min_tcp_fallback = SDP_MIN_TCP_FALLBACK;
static unsigned int sdp_max_tcp_fallback = SDP_MAX_TCP_FALLBACK;
static unsigned int sdp_min_fallback_timeout = SDP_MIN_FALLBACK_TIMEOUT;
static unsigned int sdp_max_fallback_timeout = SDP_MAX_FALLBACK_TIMEOUT;
static unsigned int sdp_min_local = SDP_MIN_LOCAL;
static unsigned int sdp_max_local = SDP_MAX_LOCAL;
static unsigned int sdp_min_keepalive_time = SDP_MIN_KEEPALIVE_TIME;
static unsigned int sdp_max_keepalive_time = SDP_MAX_KEEPALIVE_TIME;
static unsigned int sdp_min_keepalive_intvl = SDP_MIN_KEEPALIVE_INTVL;
static unsigned int sdp_max_keepalive_intvl = SDP_MAX_KEEPALIVE_INTVL;
static unsigned int sdp_min_keepalive_probes = SDP_MIN_KEEPALIVE_PROBES;
static unsigned int sdp_max_keepalive_probes = SDP_MAX_KEEPALIVE_PROBES;

/* Shows the name that counts now, or takes another one, which is not checked. */
static int sdp_sysctl_name(char name[SDP_NAME_MAX], const char *now, int write,
			   void *buf, size_t *len, loff_t *pos)
{
	struct ctl_table table = {
		.data = name,
		.maxlen = SDP_NAME_MAX,
	};

	strscpy(name, now, SDP_NAME_MAX);
	return proc_dostring(&table, write, buf, len, pos);
}

/* A name of sdp_flow_find(); anything else is refused. */
static int sdp_sysctl_flow(const struct ctl_table *ctl, int write, void *buf,
			   size_t *len, loff_t *pos)
{
	const struct sdp_flow_ops **flow = ctl->data;
	char name[SDP_NAME_MAX];
	const struct sdp_flow_ops *found;
	int err;

	err = sdp_sysctl_name(name, READ_ONCE(*flow)->name, write, buf, len,
			      pos);
	if (err || !write)
		return err;
	found = sdp_flow_find(name);
	if (!found)
		return -EINVAL;
	WRITE_ONCE(*flow, found);
	return 0;
}

static int sdp_sysctl_flows(const struct ctl_table *ctl, int write, void *buf,
			    size_t *len, loff_t *pos)
{
	char names[SDP_FLOW_BUF_MAX];
	struct ctl_table table = {
		.data = names,
		.maxlen = sizeof(names),
	};

	sdp_flow_names(names, sizeof(names));
	return proc_dostring(&table, write, buf, len, pos);
}

/* The name of a mode of zero copy, stored as its number. */
static int sdp_sysctl_mode(const struct ctl_table *ctl, int write, void *buf, size_t *len,
			   loff_t *pos, int (*find)(const char *name))
{
	unsigned int *mode = ctl->data;
	char name[SDP_NAME_MAX];
	int found;
	int err;

	err = sdp_sysctl_name(name, sdp_zcopy_mode_name(READ_ONCE(*mode)),
			      write, buf, len, pos);
	if (err || !write)
		return err;
	found = find(name);
	if (found < 0)
		return found;
	WRITE_ONCE(*mode, found);
	return 0;
}

static int sdp_sysctl_zcopy(const struct ctl_table *ctl, int write, void *buf,
			    size_t *len, loff_t *pos)
{
	return sdp_sysctl_mode(ctl, write, buf, len, pos, sdp_zcopy_mode_find);
}

static int sdp_sysctl_zcopy_recv(const struct ctl_table *ctl, int write, void *buf,
				 size_t *len, loff_t *pos)
{
	return sdp_sysctl_mode(ctl, write, buf, len, pos, sdp_zcopy_recv_find);
}

/* A name of sdp_guard_find(). */
static int sdp_sysctl_guard(const struct ctl_table *ctl, int write, void *buf,
			    size_t *len, loff_t *pos)
{
	const struct sdp_guard_ops **guard = ctl->data;
	char name[SDP_NAME_MAX];
	const struct sdp_guard_ops *found;
	int err;

	err = sdp_sysctl_name(name, READ_ONCE(*guard)->name, write, buf, len,
			      pos);
	if (err || !write)
		return err;
	found = sdp_guard_find(name);
	if (!found)
		return -EINVAL;
	WRITE_ONCE(*guard, found);
	return 0;
}

/* In the initial form @data is an offset into struct sdp_net. */
#define SDP_SYSCTL(name)						\
	{								\
		.procname = #name,					\
		.data = (void *)offsetof(struct sdp_net, name),		\
		.maxlen = sizeof(unsigned int),				\
		.mode = 0644,						\
		.proc_handler = proc_douintvec_minmax,			\
		.extra1 = &sdp_min_##name,				\
		.extra2 = &sdp_max_##name,				\
	}

static const struct ctl_table sdp_sysctls[] = {
	{
		.procname = "flow_control",
		.data = (void *)offsetof(struct sdp_net, flow_control),
		.mode = 0644,
		.proc_handler = PROC_HANDLER(sdp_sysctl_flow),
	}, {
		.procname = "available_flow_control",
		.mode = 0444,
		.proc_handler = PROC_HANDLER(sdp_sysctl_flows),
	},
	{
		.procname = "zcopy",
		.data = (void *)offsetof(struct sdp_net, zcopy),
		.mode = 0644,
		.proc_handler = PROC_HANDLER(sdp_sysctl_zcopy),
	},
	{
		.procname = "zcopy_recv",
		.data = (void *)offsetof(struct sdp_net, zcopy_recv),
		.mode = 0644,
		.proc_handler = PROC_HANDLER(sdp_sysctl_zcopy_recv),
	},
	{
		.procname = "zcopy_fault",
		.data = (void *)offsetof(struct sdp_net, zcopy_fault),
		.mode = 0644,
		.proc_handler = PROC_HANDLER(sdp_sysctl_guard),
	},
	SDP_SYSCTL(zcopy_threshold),
	SDP_SYSCTL(zcopy_direct),
	SDP_SYSCTL(zcopy_fault_limit),
	SDP_SYSCTL(num_buffers),
	SDP_SYSCTL(buffer_size),
	SDP_SYSCTL(ring_size),
	SDP_SYSCTL(window_size),
	SDP_SYSCTL(device_share),
	SDP_SYSCTL(coalesce_time),
	SDP_SYSCTL(flush_time),
	SDP_SYSCTL(fin_timeout),
	SDP_SYSCTL(max_orphans),
	SDP_SYSCTL(connect_timeout),
	SDP_SYSCTL(tcp_fallback),
	SDP_SYSCTL(fallback_timeout),
	SDP_SYSCTL(local),
	SDP_SYSCTL(keepalive_time),
	SDP_SYSCTL(keepalive_intvl),
	SDP_SYSCTL(keepalive_probes),
};

/**
 * sdp_sysctl_init() - defaults and sysctls of a namespace
 * @net: namespace
 *
 * Return: 0 or -ENOMEM.
 */
int sdp_sysctl_init(struct net *net)
{
	struct sdp_net *sn = sdp_net(net);
	struct ctl_table *table;
	size_t i;

	sn->flow_control = sdp_flow_default;
	sn->zcopy = SDP_ZCOPY_OFF;
	sn->zcopy_recv = SDP_ZCOPY_SYNC;
	sn->zcopy_fault = sdp_guard_default;
	sn->zcopy_threshold = SDP_DEFAULT_ZCOPY_THRESHOLD;
	sn->zcopy_direct = SDP_DEFAULT_ZCOPY_DIRECT;
	sn->zcopy_fault_limit = SDP_DEFAULT_ZCOPY_FAULT_LIMIT;
	sn->num_buffers = SDP_DEFAULT_BUFFERS;
	sn->buffer_size = SDP_DEFAULT_BUFFER_SIZE;
	sn->ring_size = SDP_DEFAULT_RING_SIZE;
	sn->window_size = SDP_DEFAULT_WINDOW_SIZE;
	sn->device_share = SDP_DEFAULT_DEVICE_SHARE;
	sn->coalesce_time = SDP_DEFAULT_COALESCE_TIME;
	sn->flush_time = SDP_DEFAULT_FLUSH_TIME;
	sn->fin_timeout = SDP_DEFAULT_FIN_TIMEOUT;
	sn->max_orphans = SDP_DEFAULT_MAX_ORPHANS;
	sn->connect_timeout = SDP_DEFAULT_CONNECT_TIMEOUT;
	sn->tcp_fallback = SDP_DEFAULT_TCP_FALLBACK;
	sn->fallback_timeout = SDP_DEFAULT_FALLBACK_TIMEOUT;
	/* What the initial namespace forbids a new one does not allow by itself. */
	sn->local = net_eq(net, &init_net) ? SDP_DEFAULT_LOCAL :
					     READ_ONCE(sdp_net(&init_net)->local);
	sn->keepalive_time = SDP_DEFAULT_KEEPALIVE_TIME;
	sn->keepalive_intvl = SDP_DEFAULT_KEEPALIVE_INTVL;
	sn->keepalive_probes = SDP_DEFAULT_KEEPALIVE_PROBES;

	/* The spare entry is the end mark that older kernels look for. */
	table = kcalloc(ARRAY_SIZE(sdp_sysctls) + 1, sizeof(*table),
			GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(sdp_sysctls); i++) {
		table[i] = sdp_sysctls[i];
		table[i].data = (void *)sn + (uintptr_t)table[i].data;
	}
	sn->sysctl_table = table;
	sn->sysctl_header = register_net_sysctl_sz(net, "net/sdp", table,
						   ARRAY_SIZE(sdp_sysctls));
	if (!sn->sysctl_header) {
		kfree(table);
		return -ENOMEM;
	}
	return 0;
}

/**
 * sdp_sysctl_exit() - remove the sysctls of a namespace
 * @net: namespace
 */
void sdp_sysctl_exit(struct net *net)
{
	struct sdp_net *sn = sdp_net(net);

	unregister_net_sysctl_table(sn->sysctl_header);
	kfree(sn->sysctl_table);
}
