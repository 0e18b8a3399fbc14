/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of sockets: what is charged, to which socket, and how much there may be.
 */
#ifndef _SDP_MEM_H
#define _SDP_MEM_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/percpu_counter.h>
#include <linux/types.h>
#include <net/proto_memory.h>
#include <net/sock.h>

struct mem_cgroup;

/*
 * Tables of a connection, and of what it sends or protects, charged to a control
 * group.  A group that is full has the connection refused, or bytes copied: neither
 * is one of its processes killed for it, nor is the group reclaimed from again and
 * again, by a worker for which others wait.
 */
#define SDP_GFP_TABLE	(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)

struct sock;

/* Receive buffers that a socket gets even if memory is short, a page each. */
#define SDP_MEM_BUFFERS		8U
/* And a piece of the send ring. */
#define SDP_MEM_CHUNK		(16U * 1024)

extern int sdp_mem_guaranteed;

extern atomic_long_t sdp_memory_allocated;
DECLARE_PER_CPU(int, sdp_memory_fw_alloc);
extern struct percpu_counter sdp_sockets_allocated;
extern unsigned long sdp_memory_pressure;
extern long sdp_sysctl_mem[3];
/* Pages of user memory that transfers may use, of all sockets together. */
extern unsigned int sdp_sysctl_zcopy_mem;

void sdp_mem_enter_pressure(struct sock *sk);
bool sdp_mem_charge(struct sock *sk, u32 bytes);
void sdp_mem_uncharge(struct sock *sk, u32 bytes);
void sdp_mem_settle(struct sock *sk);
long sdp_mem_pages(void);
struct mem_cgroup *sdp_mem_account_begin(const struct sock *sk);
void sdp_mem_account_end(struct mem_cgroup *old);

/* Whether a socket had better not use more memory. */
static inline bool sdp_mem_pressure(const struct sock *sk)
{
	return sk_under_memory_pressure(sk);
}

/**
 * sdp_mem_grow() - charge what makes a socket faster
 * @sk: locked socket
 * @bytes: how much
 *
 * Return: false, and nothing charged, if memory is short.
 */
static inline bool sdp_mem_grow(struct sock *sk, u32 bytes)
{
	sdp_owned(sk);
	return !sdp_mem_pressure(sk) && sdp_mem_charge(sk, bytes);
}

int __init sdp_mem_init_module(void);
void sdp_mem_exit_module(void);

#endif /* _SDP_MEM_H */
