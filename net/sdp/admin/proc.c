// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/net/sdp, a line for each socket in the format of the classic driver
 * with columns of our own behind it, /proc/net/sdpstats and /proc/net/sdp_devices.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "base/base.h"
#include "stream/stream.h"
#include "socket/socket.h"
#include "admin.h"
#include "view.h"

#ifdef CONFIG_PROC_FS

/* Lines are padded to this width, for readers that seek in the file. */
#define SDP_PROC_WIDTH	297

/**
 * struct sdp_proc_iter - how far a reader of the file has come
 * @p: the file's namespace
 * @line: number of the line that is due
 */
struct sdp_proc_iter {
	struct seq_net_private p;
	int line;
};

static struct sock *sdp_proc_get(struct seq_file *seq, loff_t *pos)
{
	unsigned long number = *pos;
	struct sock *sk = sdp_view_next(sdp_net(seq_file_net(seq)), &number);

	*pos = number;
	return sk;
}

static void *sdp_proc_start(struct seq_file *seq, loff_t *pos)
{
	struct sdp_proc_iter *iter = seq->private;

	if (*pos)
		return sdp_proc_get(seq, pos);
	iter->line = -1;
	return SEQ_START_TOKEN;
}

static void sdp_proc_stop(struct seq_file *seq, void *v)
{
	if (v && v != SEQ_START_TOKEN)
		sock_put(v);
}

static void *sdp_proc_next(struct seq_file *seq, void *v, loff_t *pos)
{
	struct sdp_proc_iter *iter = seq->private;

	sdp_proc_stop(seq, v);
	iter->line++;
	++*pos;
	return sdp_proc_get(seq, pos);
}

static void sdp_proc_addr(struct seq_file *seq, const struct sdp_addr *addr,
			  bool v4)
{
	if (v4)
		seq_printf(seq, "%08X:%04X ",
			   (__force u32)addr->ip.s6_addr32[3],
			   ntohs(addr->port));
	else
		seq_printf(seq, "%08X%08X%08X%08X:%04X ",
			   (__force u32)addr->ip.s6_addr32[0],
			   (__force u32)addr->ip.s6_addr32[1],
			   (__force u32)addr->ip.s6_addr32[2],
			   (__force u32)addr->ip.s6_addr32[3],
			   ntohs(addr->port));
}

/* What flow control has, and what it did. */
static void sdp_proc_flow(struct seq_file *seq, const struct sdp_view *view,
			  const struct sdp_conn_stats *stats)
{
	seq_printf(seq, " %u:%u %u %llu %llu %llu:%llu:%llu:%llu",
		   view->ring, view->ring_used, view->peer_ring, stats->credit_stalls,
		   stats->coalesced, stats->flushes[SDP_FLUSH_CALL],
		   stats->flushes[SDP_FLUSH_INTERRUPT],
		   stats->flushes[SDP_FLUSH_TIMER],
		   stats->flushes[SDP_FLUSH_PAUSE]);
}

/* What has gone without a copy, and what could not. */
static void sdp_proc_zcopy(struct seq_file *seq, const struct sdp_view *view,
			   const struct sdp_conn_stats *stats)
{
	seq_printf(seq, " %s %llu:%llu:%llu:%llu:%llu %llu:%llu:%llu:%llu",
		   view->live ? sdp_zcopy_mode_name(view->zcopy) : "-",
		   stats->bytes_out, stats->zcopy_out, stats->async_out,
		   stats->bytes_in, stats->zcopy_in, stats->zcopy_refusals,
		   stats->zcopy_cancels, stats->guard_refusals,
		   stats->guard_faults);
}

/* What has made a ring of receive buffers. */
static const char *sdp_proc_ring_why(const struct sdp_view *view)
{
	static const char * const words[] = {
		[SDP_RING_SHORT] = "short",
		[SDP_RING_FULL] = "full",
		[SDP_RING_LONGER] = "longer",
	};
	u32 why = view->ring_why;

	return why < ARRAY_SIZE(words) && words[why] ? words[why] : "-";
}

/* What has kept it from the engine that was wanted. */
static const char *sdp_proc_flow_why(const struct sdp_view *view)
{
	switch (view->flow_why) {
	case SDP_FLOW_REASON_DEVICE:
		return "device";
	case SDP_FLOW_REASON_PEER:
		return "peer";
	default:
		return "-";
	}
}

static void sdp_proc_qpn(struct seq_file *seq, const struct sdp_view *view)
{
	if (view->qpn)
		seq_printf(seq, " %u", view->qpn);
	else
		seq_puts(seq, " -");
}

static void sdp_proc_line(struct seq_file *seq, struct sdp_sock *ssk, int line)
{
	const struct sdp_conn_stats *stats = &ssk->conn.stream.stats;
	struct sock *sk = &ssk->sk;
	struct sdp_view view;

	sdp_view_socket(ssk, &view);
	seq_printf(seq, "%4d: ", line);
	sdp_proc_addr(seq, &ssk->base.local, view.v4);
	sdp_proc_addr(seq, &ssk->base.peer, view.v4);
	seq_printf(seq, "%5u %llu\t",
		   from_kuid_munged(seq_user_ns(seq), sk_uid(sk)),
		   (u64)sock_i_ino(sk));
	seq_printf(seq, "%08X:%08X %X %u:%u %s %s", view.rqueue, view.wqueue, view.state,
		   view.tx_credits, view.rx_credits, view.flow ?: "-", view.dev ?: "-");
	sdp_proc_flow(seq, &view, stats);
	sdp_proc_zcopy(seq, &view, stats);
	seq_printf(seq, " %s", sdp_proc_ring_why(&view));
	sdp_proc_qpn(seq, &view);
	seq_printf(seq, " %s", sdp_proc_flow_why(&view));
}

static int sdp_proc_show(struct seq_file *seq, void *v)
{
	const struct sdp_proc_iter *iter = seq->private;

	seq_setwidth(seq, SDP_PROC_WIDTH);
	if (v == SEQ_START_TOKEN)
		seq_puts(seq,
			 "  sl  local_address rem_address        uid inode   rx_queue tx_queue state credits flow dev ring peer_ring stalls coalesced flushes zcopy zcopy_bytes zcopy_misses ring_why qp flow_why");
	else
		sdp_proc_line(seq, sdp_sk(v), iter->line);
	seq_pad(seq, '\n');
	return 0;
}

static const struct seq_operations sdp_proc_ops = {
	.start = sdp_proc_start,
	.next = sdp_proc_next,
	.stop = sdp_proc_stop,
	.show = sdp_proc_show,
};

/**
 * sdp_proc_init() - create the files of a namespace
 * @net: namespace
 *
 * Return: 0 or -ENOMEM.
 */
int sdp_proc_init(struct net *net)
{
	if (!proc_create_net("sdp", 0444, net->proc_net, &sdp_proc_ops,
			     sizeof(struct sdp_proc_iter)))
		return -ENOMEM;
	if (!proc_create_net_single("sdpstats", 0444, net->proc_net,
				    sdp_mib_show, NULL))
		goto err_sockets;
	if (!proc_create_net_single("sdp_devices", 0444, net->proc_net,
				    sdp_devices_show, NULL))
		goto err_stats;
	return 0;

err_stats:
	remove_proc_entry("sdpstats", net->proc_net);
err_sockets:
	remove_proc_entry("sdp", net->proc_net);
	return -ENOMEM;
}

/**
 * sdp_proc_exit() - remove the files of a namespace
 * @net: namespace
 */
void sdp_proc_exit(struct net *net)
{
	remove_proc_entry("sdp_devices", net->proc_net);
	remove_proc_entry("sdpstats", net->proc_net);
	remove_proc_entry("sdp", net->proc_net);
}

#else

int sdp_proc_init(struct net *net)
{
	return 0;
}

void sdp_proc_exit(struct net *net)
{
}

#endif
