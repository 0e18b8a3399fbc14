/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a consumer in the kernel may ask of a software iWARP provider, beyond the verbs.
 * Documentation/internals/provider-interface.rst is the contract.
 *
 * A provider exports one struct iw_ulp_ops, whose name begins with that of its module:
 * IW_ULP_OPS_FORMAT.  It is looked up when a device is there, so that neither module has
 * to be there for the other; and either may be older than the other, as each says how much
 * of the structures it knows.
 */
#ifndef _NET_IW_ULP_H
#define _NET_IW_ULP_H

#include <linux/bits.h>
#include <linux/types.h>

struct ib_device;
struct ib_qp;
struct ib_send_wr;
struct iov_iter;

/* The symbol that the module of a device's driver exports, made of the module's name. */
#define IW_ULP_OPS_FORMAT	"%s_iw_ulp_ops"

/**
 * enum iw_ulp_flag - what a provider does that iWARP does not promise
 * @IW_ULP_HOLD: a message without a receive request can wait for one, and its
 *	sender is held back by TCP, instead of the connection being ended
 * @IW_ULP_IMMEDIATE: RDMA writes may carry immediate data (RFC 7306, section
 *	6), if the peer's device can do the same
 * @IW_ULP_READ: iw_ulp_ops.read may find the peer in the same kernel
 * @IW_ULP_MODEL: the hardware is a model, whose work some processor does
 * @IW_ULP_SEND_ITER: iw_ulp_ops.send_iter may send what a process writes by the only copy,
 *	where %IW_ULP_TX_BUFFER is the host's
 * @IW_ULP_RECV_ITER: iw_ulp_ops.recv_iter may place what a process reads by the only copy;
 *	iw_ulp_ops.set_watermarks is there as well
 */
enum iw_ulp_flag {
	IW_ULP_HOLD		= BIT(0),
	IW_ULP_IMMEDIATE	= BIT(1),
	IW_ULP_READ		= BIT(2),
	IW_ULP_MODEL		= BIT(3),
	IW_ULP_SEND_ITER	= BIT(4),
	IW_ULP_RECV_ITER	= BIT(5),
};

/**
 * enum iw_ulp_function - work that the stack below the verbs may do
 * @IW_ULP_MARKERS: puts markers into the stream (RFC 5044, section 4.3)
 * @IW_ULP_CRC: computes and checks checksums of FPDUs
 * @IW_ULP_DEMUX: finds the memory that a segment belongs in, and puts it there
 * @IW_ULP_EARLY: does so before a hole ahead of it in TCP's stream is filled
 * @IW_ULP_TX_BUFFER: keeps a copy of what is sent until the peer's TCP has it
 * @IW_ULP_COALESCE: lets short messages that wait share a segment of TCP
 * @IW_ULP_FLOW_CONTROL: holds a sender back that has no receive request at the peer
 * @IW_ULP_TX_ZCOPY: sends from the consumer's memory without a copy by the host
 *
 * Others may follow, up to IW_ULP_FUNCTIONS.
 */
enum iw_ulp_function {
	IW_ULP_MARKERS,
	IW_ULP_CRC,
	IW_ULP_DEMUX,
	IW_ULP_EARLY,
	IW_ULP_TX_BUFFER,
	IW_ULP_COALESCE,
	IW_ULP_FLOW_CONTROL,
	IW_ULP_TX_ZCOPY,
};

#define IW_ULP_FUNCTIONS	16

/**
 * enum iw_ulp_where - where a function is done
 * @IW_ULP_ABSENT: nowhere: it is not there, it is off, or the provider does not know it
 * @IW_ULP_SOFTWARE: by the host
 * @IW_ULP_HARDWARE: by the adapter
 */
enum iw_ulp_where {
	IW_ULP_ABSENT,
	IW_ULP_SOFTWARE,
	IW_ULP_HARDWARE,
};

/**
 * struct iw_ulp_info - what a provider says of a device
 * @flags: enum iw_ulp_flag; does not change while the device is there
 * @segment: the longest payload of a send in one FPDU that fits a segment of TCP with
 *	time stamps, over IPv6 as over IPv4, with the MTU that the network device has now;
 *	0 if not known
 * @tx_full: from how many bytes on that TCP has not sent yet requests are left in the
 *	send queue, of queue pairs that hold if there are such; 0 if TCP alone decides
 * @tx_wake: below how many requests are taken again; no more than @tx_full
 * @functions: enum iw_ulp_where of each enum iw_ulp_function
 * @iter_max: the longest payload of a request of iw_ulp_ops.send_iter; 0 if it is not to
 *	be used
 * @iter_min: the shortest payload of a send for which iw_ulp_ops.recv_iter is worth being
 *	called; 0 if it is not to be used
 *
 * But for @flags all of it is about connections that are made from now on, and what this
 * end asks for: a peer may want markers or checksums that we do not.  Zero always means
 * that there is nothing; fields are only added behind the last.
 */
struct iw_ulp_info {
	u32 flags;
	u32 segment;
	u32 tx_full;
	u32 tx_wake;
	u8 functions[IW_ULP_FUNCTIONS];
	u32 iter_max;
	u32 iter_min;
};

/* The longest iw_ulp_recv.header. */
#define IW_ULP_HEADER_MAX	32

/**
 * struct iw_ulp_recv - what iw_ulp_ops.recv_iter takes
 * @size: sizeof(struct iw_ulp_recv) where the consumer was compiled
 * @received: how many completions of receive requests the consumer has handled, ever:
 *	nothing is taken of messages behind others
 * @len: how many bytes it takes
 * @header: length of what is in front of the payload in each send
 * @accept: says by that whether the payload is to be taken; called with locks of the
 *	provider's
 */
struct iw_ulp_recv {
	size_t size;
	u32 received;
	u32 len;
	u32 header;
	bool (*accept)(const void *header);
};

/**
 * struct iw_ulp_ops - what a provider offers
 * @size: sizeof(struct iw_ulp_ops) where the provider was compiled.  What is behind it
 *	is not there, as an operation is not that is NULL.
 * @query: say what is done where.  At most @size bytes of @info are written, which the
 *	caller has cleared.  Returns 0, or -EOPNOTSUPP for a device that is not the
 *	provider's.  Context: any.
 * @hold: have a queue pair hold; returns 0, -EINVAL if it is connected or may not hold,
 *	as one with a shared receive queue may not, or -EOPNOTSUPP if it is not the
 *	provider's.  Context: any.
 * @read: where both ends are in one kernel, read the memory that an STag of the
 *	peer's stands for into that of a process, which need not be registered,
 *	by one copy that is over when this returns.  Returns how many bytes were
 *	read, and the iterator is behind them; what is missing is to be read by
 *	a request, which also says what was wrong.  That is all of it if one end
 *	is elsewhere, or if requests wait in the send queue: it is as if it were
 *	posted behind them.  -EFAULT if nothing was read because the process's
 *	memory is not there: that is for the caller to wait for, who may hold a
 *	lock.  Context: process.
 * @send_iter: execute one request at once: %IB_WR_SEND, %IB_WR_SEND_WITH_INV,
 *	%IB_WR_RDMA_WRITE or %IB_WR_RDMA_WRITE_WITH_IMM, with %IB_SEND_INLINE for what
 *	is in its list, which is not more than max_inline_data of the queue pair, and
 *	behind that @len bytes of a process's memory.  These are copied once, to where
 *	the provider sends them from, and are the process's again when this returns.
 *	All else is as with ib_post_send(): the request is behind those that were
 *	posted, takes a place in the send queue, and completes when those before it
 *	have, if it is signaled.  Returns 0, and the iterator is behind the payload;
 *	-EAGAIN if the request has to be posted instead, as others wait or the
 *	transmit buffer is full; -EFAULT as above; -EOPNOTSUPP if the queue pair never
 *	does it, as both ends may be in one kernel; or -EINVAL.  Then nothing has
 *	happened.  The caller posts nothing else to the send queue meanwhile.
 *	Context: process, without spinlocks.
 * @recv_iter: handle what has arrived, and place the payload of one send in a process's
 *	memory, in place of that of the receive request, which gets the rest, and the
 *	header in any case.  That ends when a receive request has completed: what is behind
 *	waits, see @set_watermarks, or is handled.  Returns how many bytes were placed, and
 *	the iterator is behind them.  They have been verified, and are the first of the
 *	payload, or follow those that a call before has placed; but the message need not be
 *	complete.  Context: process, without spinlocks.
 * @set_watermarks: from now on leave what arrives to the consumer, who comes for it by
 *	@recv_iter, and is told by @ready, with the context of the queue pair, once until
 *	then, when there are @rx_low bytes of the stream.  It is not left for longer than
 *	some milliseconds: then all that arrives is handled, until the consumer comes
 *	again.  With 0 nothing is left, and what was is handled.  @ready is called in any
 *	context, with locks of the provider's: it may wake.  Returns 0, or -ENOTCONN if
 *	nothing will be left.  Context: process, without spinlocks.
 */
struct iw_ulp_ops {
	size_t size;
	int (*query)(const struct ib_device *ibdev, struct iw_ulp_info *info, size_t size);
	int (*hold)(struct ib_qp *ibqp);
	ssize_t (*read)(struct ib_qp *ibqp, u32 stag, u64 addr,
			struct iov_iter *to, size_t len);
	int (*send_iter)(struct ib_qp *ibqp, const struct ib_send_wr *wr,
			 struct iov_iter *from, size_t len);
	u32 (*recv_iter)(struct ib_qp *ibqp, const struct iw_ulp_recv *recv,
			 struct iov_iter *to);
	int (*set_watermarks)(struct ib_qp *ibqp, u32 rx_low, void (*ready)(void *context));
};

#endif /* _NET_IW_ULP_H */
