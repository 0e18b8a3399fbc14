// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of sockets: receive buffers and the send ring are charged to the
 * socket, to its control group, and to net.sdp.mem, in the way in which TCP's
 * are to net.ipv4.tcp_mem.
 *
 * All calls that change a socket's account need the socket lock, and then sock::sk_lock:
 * SO_RESERVE_MEM is the socket layer's, which changes the account, too.  User space may
 * delay the release of that lock (lock.c), so nothing waits for it: meanwhile changes
 * are noted in sdp_base::mem_debt, and booked when it is released.
 */
#include <linux/limits.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/swap.h>
#include <linux/sysctl.h>
#include <net/proto_memory.h>

#include "base.h"

/* Shares of the memory that is not highmem, as TCP's: 4.7, 6.3 and 9.4 %. */
#define SDP_MEM_SHARE		16
#define SDP_MEM_MIN_PAGES	128UL
/* An eighth of the memory, as much as RLIMIT_MEMLOCK gives to a user. */
#define SDP_ZCOPY_MEM_SHARE	8

int sdp_mem_guaranteed = SDP_MEM_BUFFERS * PAGE_SIZE;
atomic_long_t sdp_memory_allocated;
DEFINE_PER_CPU(int, sdp_memory_fw_alloc);
struct percpu_counter sdp_sockets_allocated;
unsigned long sdp_memory_pressure;
long sdp_sysctl_mem[3];
unsigned int sdp_sysctl_zcopy_mem;

static unsigned int sdp_zcopy_mem_max = INT_MAX;
static struct ctl_table_header *sdp_mem_header;

static struct ctl_table sdp_mem_table[] = {
	{
		.procname = "mem",
		.data = sdp_sysctl_mem,
		.maxlen = sizeof(sdp_sysctl_mem),
		.mode = 0644,
		.proc_handler = proc_doulongvec_minmax,
	}, {
		.procname = "zcopy_mem",
		.data = &sdp_sysctl_zcopy_mem,
		.maxlen = sizeof(sdp_sysctl_zcopy_mem),
		.mode = 0644,
		.proc_handler = proc_douintvec_minmax,
		.extra1 = SYSCTL_ZERO,
		.extra2 = &sdp_zcopy_mem_max,
	},
	/* The end mark that older kernels look for. */
	{ }
};

/**
 * sdp_mem_enter_pressure() - all sockets together have passed the second limit
 * @sk: the socket that did it
 */
void sdp_mem_enter_pressure(struct sock *sk)
{
	if (READ_ONCE(sdp_memory_pressure))
		return;
	WRITE_ONCE(sdp_memory_pressure, 1);
	SDP_INC_STATS(sock_net(sk), SDP_MIB_MEMPRESSURES);
}

/* The account is the caller's. */
static bool sdp_mem_take(struct sock *sk, u32 bytes)
{
	int missing = bytes - sk->sk_forward_alloc;

	lockdep_assert(lockdep_sock_is_held(sk));
	if (missing > 0 && !__sk_mem_schedule(sk, missing, SK_MEM_RECV))
		return false;
	sk_mem_charge(sk, bytes);
	return true;
}

/**
 * sdp_mem_settle() - book what has changed while sock::sk_lock was taken
 * @sk: socket whose sock::sk_lock is about to be released, or is free
 *
 * Context: softirqs disabled, slock of sock::sk_lock held.
 */
void sdp_mem_settle(struct sock *sk)
{
	struct sdp_base *base = sdp_base(sk);

	lockdep_assert_held(&sk->sk_lock.slock);
	if (likely(!base->mem_debt))
		return;
	if (base->mem_debt < 0)
		sk_mem_uncharge(sk, -base->mem_debt);
	else if (!sdp_mem_take(sk, base->mem_debt))
		return;
	base->mem_debt = 0;
}

/* Only what a connection begins with, so that no limit is evaded. */
static bool sdp_mem_owe(struct sdp_base *base, u32 bytes)
{
	lockdep_assert_held(&base->sk.sk_lock.slock);
	if ((s64)base->mem_debt + bytes > sdp_mem_guaranteed + SDP_MEM_CHUNK)
		return false;
	base->mem_debt += bytes;
	return true;
}

/*
 * A control group may reclaim other memory for it, and that may sleep.  A worker
 * does not wait for that, nor kill anybody: it charges as TCP does in softirqs.
 */
static bool sdp_mem_take_slowly(struct sock *sk, u32 bytes)
	__releases(&sk->sk_lock.slock)
{
	bool ok;

	lockdep_assert_held(&sk->sk_lock.slock);
	mutex_acquire(&sk->sk_lock.dep_map, 0, 1, _RET_IP_);
	sk->sk_lock.owned = 1;
	spin_unlock_bh(&sk->sk_lock.slock);
	ok = sdp_mem_take(sk, bytes);
	release_sock(sk);
	return ok;
}

/**
 * sdp_mem_charge() - charge what a socket cannot do without
 * @sk: locked socket
 * @bytes: how much
 *
 * Context: any; may sleep unless softirqs are disabled.
 * Return: false, and nothing charged, if a hard limit forbids it.
 */
bool sdp_mem_charge(struct sock *sk, u32 bytes)
{
	bool may_sleep = !in_softirq() && !(current->flags & PF_KTHREAD);
	bool ok, theirs;

	sdp_owned(sk);
	spin_lock_bh(&sk->sk_lock.slock);
	theirs = sock_owned_by_user_nocheck(sk);
	if (!theirs && may_sleep && sk->sk_forward_alloc < (int)bytes)
		return sdp_mem_take_slowly(sk, bytes);
	ok = theirs ? sdp_mem_owe(sdp_base(sk), bytes) : sdp_mem_take(sk, bytes);
	spin_unlock_bh(&sk->sk_lock.slock);
	return ok;
}

/**
 * sdp_mem_uncharge() - uncharge what was charged
 * @sk: locked or unpublished socket
 * @bytes: how much
 *
 * Context: any.
 */
void sdp_mem_uncharge(struct sock *sk, u32 bytes)
{
	spin_lock_bh(&sk->sk_lock.slock);
	sdp_base(sk)->mem_debt -= bytes;
	if (likely(!sock_owned_by_user_nocheck(sk)))
		sdp_mem_settle(sk);
	spin_unlock_bh(&sk->sk_lock.slock);
}

/**
 * sdp_mem_pages() - memory that all sockets are charged
 *
 * Exact, while what the limits are compared with lags behind on each CPU.
 *
 * Return: pages.
 */
long sdp_mem_pages(void)
{
	long pages = atomic_long_read(&sdp_memory_allocated);
	int cpu;

	for_each_possible_cpu(cpu)
		pages += per_cpu(sdp_memory_fw_alloc, cpu);
	return pages;
}

/**
 * sdp_mem_account_begin() - charge descriptions to a socket's control group
 * @sk: socket
 *
 * What is allocated with GFP_KERNEL_ACCOUNT until sdp_mem_account_end() is charged to
 * the socket's group, also by workers, which have none.
 *
 * Return: what that function wants.
 */
struct mem_cgroup *sdp_mem_account_begin(const struct sock *sk)
{
#ifdef CONFIG_MEMCG
	return set_active_memcg(sk->sk_memcg);
#else
	return NULL;
#endif
}

/**
 * sdp_mem_account_end() - charge to the previous control group again
 * @old: from sdp_mem_account_begin()
 *
 * A group that is over memory.high has its tasks sleep for that on their return to user
 * space.  A worker does not return there, and would sleep for all of its groups in one
 * of the next allocations, delaying other work items.
 */
void sdp_mem_account_end(struct mem_cgroup *old)
{
#ifdef CONFIG_MEMCG
	if (current->flags & PF_KTHREAD)
		current->memcg_nr_pages_over_high = 0;
#endif
	set_active_memcg(old);
}

/**
 * sdp_mem_init_module() - limits for this machine's memory
 *
 * Return: 0 or a negative errno.
 */
int __init sdp_mem_init_module(void)
{
	unsigned long limit = max(nr_free_buffer_pages() / SDP_MEM_SHARE,
				  SDP_MEM_MIN_PAGES);
	int err;

	sdp_sysctl_mem[0] = limit / 4 * 3;
	sdp_sysctl_mem[1] = limit;
	sdp_sysctl_mem[2] = sdp_sysctl_mem[0] * 2;
	sdp_sysctl_zcopy_mem = min_t(unsigned long,
				     totalram_pages() / SDP_ZCOPY_MEM_SHARE,
				     sdp_zcopy_mem_max);
	err = percpu_counter_init(&sdp_sockets_allocated, 0, GFP_KERNEL);
	if (err)
		return err;
	sdp_mem_header = register_net_sysctl_sz(&init_net, "net/sdp",
						sdp_mem_table,
						ARRAY_SIZE(sdp_mem_table) - 1);
	if (!sdp_mem_header) {
		percpu_counter_destroy(&sdp_sockets_allocated);
		return -ENOMEM;
	}
	return 0;
}

/**
 * sdp_mem_exit_module() - the last socket is gone
 */
void sdp_mem_exit_module(void)
{
	WARN_ON_ONCE(sdp_mem_pages());
	unregister_net_sysctl_table(sdp_mem_header);
	percpu_counter_destroy(&sdp_sockets_allocated);
}
