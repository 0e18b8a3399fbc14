/* SPDX-License-Identifier: GPL-2.0 */
/*
 * struct sdp_sock: states, life and death, references.
 */
#ifndef _SDP_SOCKET_H
#define _SDP_SOCKET_H

#include <linux/ipv6.h>
#include <linux/poll.h>
#include <linux/sdp.h>
#include <linux/socket.h>
#include <linux/sockptr.h>
#include <net/inet_sock.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <net/tcp_states.h>

#include "base/base.h"
#include "fallback/fallback.h"
#include "conn/conn.h"
#include "accept.h"
#include "inet.h"
#include "share.h"

struct pipe_inode_info;
struct vm_area_struct;

/**
 * struct sdp_sock - an SDP socket
 * @sk: the generic socket, first
 * @inet: the same as the inet families' code sees it
 * @base: the same as the layers below see it
 * @conn: the same as the connection sees it
 * @destruct: what the creating family wants done when the socket dies
 * @orphan: it counts among its namespace's orphans
 * @deadline: jiffies when connect() stops to ask a busy listener again, when
 *	a pending child is old, or when an orphan that stands still is given up
 * @backoff: jiffies until it asks the next time
 * @progress: bytes that had left when an orphan was looked at last
 * @number: place among the sockets of the namespace, 0 = none
 * @share: sockets with which it shares a port, or for which it owns one; set and
 *	cleared below share_mutex
 * @share_node: place among these
 * @accept_lock: protects the two lists of a listener, and what counts them
 * @accept_waits: children on or about to be on the pending list; those on the
 *	other one are in sk_ack_backlog
 * @accept_put_off: requests that found no room because of these, wraps
 * @accept_pending: children that are being connected
 * @accept_ready: children that accept() may take
 * @accept_node: place on one of the parent's lists
 * @fallback: the TCP socket beside this one
 * @inet6: for an AF_INET6 socket, where @inet points; last, since older kernels
 *	look for it at the end
 */
struct sdp_sock {
	union {
		struct sock sk;
		struct inet_sock inet;
		struct sdp_base base;
		struct sdp_conn conn;
	};
	void (*destruct)(struct sock *sk);

	bool orphan;
	unsigned long deadline;
	unsigned long backoff;
	u32 progress;
	u32 number;

	struct sdp_share *share;
	struct list_head share_node;
	spinlock_t accept_lock; /* protects the two lists and their counts */
	u32 accept_waits;
	u32 accept_put_off;
	struct list_head accept_pending;
	struct list_head accept_ready;
	struct list_head accept_node;
	struct sdp_fallback fallback;
#if IS_ENABLED(CONFIG_IPV6)
	struct ipv6_pinfo inet6;
#endif
};

extern struct proto sdp_prot;
extern const struct sdp_conn_ops sdp_sock_events;

static inline struct sdp_sock *sdp_sk(const struct sock *sk)
{
	return (struct sdp_sock *)sk;
}

static inline struct sdp_fallback *sdp_fallback(const struct sock *sk)
{
	return &sdp_sk(sk)->fallback;
}

/* Whether RDMA has a port for it, of its own or shared. */
static inline bool sdp_sock_has_port(const struct sdp_sock *ssk)
{
	return sdp_conn_is_bound(&ssk->conn) || ssk->share;
}

/* As with TCP a port that the kernel has chosen is for one use only. */
static inline void sdp_sock_free_port(struct sdp_sock *ssk)
{
	if (!ssk->conn.bound_port)
		ssk->conn.bound = false;
}

/* A socket that is not connected has no peer's name. */
static inline void sdp_sock_forget_peer(struct sdp_sock *ssk)
{
	sdp_addr_set_any(&ssk->base.peer, ssk->base.v6);
	ssk->base.peer.port = 0;
}

/* io_uring may ask not to copy; and some options at SOL_SOCKET are ours. */
static inline void sdp_sock_flags(struct socket *sock)
{
	set_bit(SOCK_SUPPORT_ZC, &sock->flags);
	set_bit(SOCK_CUSTOM_SOCKOPT, &sock->flags);
}

struct sock *sdp_sock_alloc(struct net *net, struct socket *sock, gfp_t gfp,
			    int kern);
struct sock *sdp_sock_alloc_child(const struct sock *parent, gfp_t gfp);
void sdp_sock_closed(struct sdp_sock *ssk);
void sdp_sock_rollback(struct sock *sk, void (*undo)(struct sdp_sock *ssk));
void sdp_sock_wait_closed(struct sock *sk);
/* connect.c */
void sdp_sock_connected(struct sdp_sock *ssk);
int sdp_sock_start_connect(struct sdp_sock *ssk);
void sdp_sock_failed(struct sdp_sock *ssk, int reason);
void sdp_sock_ended(struct sdp_sock *ssk, int reason);
void sdp_sock_connect_again(struct sdp_sock *ssk);
void sdp_sock_connect_timeout(struct sdp_sock *ssk);
int sdp_wait_connect(struct sock *sk, long *timeo);

/* bind.c */
int sdp_sock_bind(struct sdp_sock *ssk, bool dual);
void sdp_sock_keep_port(struct sdp_sock *ssk);

/* gate.c */
int sdp_gate_bind(struct sock *sk, struct sdp_addr *addr, bool v6);
int sdp_gate_connect(struct sdp_fallback *fb);
void sdp_gate_inherit(struct sock *child, const struct sock *parent);

/* transport.c */
int sdp_fallback_ask_bind(struct sdp_sock *ssk, bool dual);
int sdp_fallback_bind(struct sdp_sock *ssk, bool dual);
int sdp_fallback_prepare(struct sdp_sock *ssk);
bool sdp_fallback_connect(struct sdp_sock *ssk, int *err);
int sdp_fallback_wait_connect(struct socket *sock, struct socket *tcp,
			      int flags, bool first);
int sdp_fallback_disconnect(struct socket *sock, struct socket *tcp);
void sdp_fallback_undo(struct socket *sock);
void sdp_fallback_not_needed(struct sdp_sock *ssk);
void sdp_fallback_timeout(struct sdp_sock *ssk);
void sdp_fallback_release(struct sdp_sock *ssk);

/* tcp_listen.c */
int sdp_fallback_listen(struct sdp_sock *ssk, int backlog);
bool sdp_fallback_listen_alone(struct sdp_fallback *fb);
void sdp_fallback_listen_stop(struct sdp_fallback *fb);
bool sdp_fallback_listener_gone(struct sdp_fallback *fb);
bool sdp_fallback_accept_waiting(const struct sdp_fallback *fb);
struct sock *sdp_fallback_accept(struct sdp_sock *parent, int *err);

/* tcp_calls.c */
struct socket *sdp_fallback_wait_get(struct sdp_fallback *fb, long timeo, u32 *epoch);
int sdp_fallback_sendmsg(struct sdp_fallback *fb, struct socket *tcp,
			 struct msghdr *msg);
int sdp_fallback_recvmsg(struct sdp_fallback *fb, struct socket *tcp,
			 struct msghdr *msg, int flags);
ssize_t sdp_fallback_splice_read(struct sdp_fallback *fb, struct socket *tcp,
				 loff_t *ppos, struct pipe_inode_info *pipe,
				 size_t len, unsigned int flags);
void sdp_fallback_splice_eof(struct sdp_fallback *fb, struct socket *tcp);
__poll_t sdp_fallback_poll(struct sdp_fallback *fb, struct file *file,
			   struct socket *tcp);
int sdp_fallback_getname(struct sdp_fallback *fb, struct socket *tcp,
			 struct sockaddr *addr, int peer);
int sdp_fallback_shutdown(struct sdp_fallback *fb, struct socket *tcp, int how);
int sdp_fallback_ioctl(struct sdp_fallback *fb, struct socket *tcp,
		       unsigned int cmd, unsigned long arg);
int sdp_fallback_setsockopt(struct sdp_fallback *fb, int optname,
			    sockptr_t optval, unsigned int optlen);
int sdp_fallback_set_tcp(struct sdp_fallback *fb, struct socket *tcp, int level,
			 int optname, sockptr_t optval, unsigned int optlen);
int sdp_fallback_get_tcp(struct sdp_fallback *fb, struct socket *tcp, int level,
			 int optname, char __user *optval, int __user *optlen);
int sdp_fallback_mmap(struct sdp_fallback *fb, struct file *file, struct socket *tcp,
		      struct vm_area_struct *vma);
int sdp_fallback_set_peek_off(struct sdp_fallback *fb, int val);
int sdp_fallback_getsockopt(struct sdp_fallback *fb, int optname, int *val);

/* carry.c */
void sdp_fallback_carry(struct sdp_sock *ssk);
void sdp_fallback_carry_to_bind(struct sdp_sock *ssk);
void sdp_fallback_option_set(struct sock *sk);

/* af_sdp.c */
int __init sdp_family_init_module(void);
void sdp_family_exit_module(void);

/* sendmsg.c */
int sdp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
void sdp_splice_eof(struct socket *sock);

/* mmap.c */
int sdp_mmap(struct file *file, struct socket *sock, struct vm_area_struct *vma);
int sdp_mmap_getsockopt(struct socket *sock, int len, char __user *optval,
			int __user *optlen);

/* recvmsg.c */
void sdp_recv_took(struct sock *sk, size_t len);
int sdp_recv_inq(const struct sock *sk);
int sdp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		int flags);
ssize_t sdp_splice_read(struct socket *sock, loff_t *ppos,
			struct pipe_inode_info *pipe, size_t len,
			unsigned int flags);

/* close.c */
void sdp_sock_fin_received(struct sdp_sock *ssk);
void sdp_sock_fin_acked(struct sdp_sock *ssk);
void sdp_sock_check_orphan(struct sdp_sock *ssk);
void sdp_sock_close(struct sock *sk);
void sdp_sock_forget(struct sdp_sock *ssk);
void sdp_sock_disconnect(struct socket *sock);
int sdp_shutdown(struct socket *sock, int how);

/* sockopt.c */
int sdp_int_get(int *val, sockptr_t optval, unsigned int optlen);
int sdp_name_get(char name[SDP_NAME_MAX], sockptr_t optval,
		 unsigned int optlen);
int sdp_name_put(const char *name, int len, char __user *optval,
		 int __user *optlen);
int sdp_setsockopt(struct socket *sock, int level, int optname,
		   sockptr_t optval, unsigned int optlen);
int sdp_getsockopt(struct socket *sock, int level, int optname,
		   char __user *optval, int __user *optlen);
int sdp_set_rcvlowat(struct sock *sk, int val);
int sdp_set_peek_off(struct sock *sk, int val);
int sdp_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);

/* sockopt_tcp.c */
unsigned int sdp_tcp_retrans_to_secs(unsigned int retrans);
int sdp_tcp_setsockopt(struct sock *sk, int optname, sockptr_t optval,
		       unsigned int optlen);
int sdp_tcp_getsockopt(struct sock *sk, int optname, int *val);

/* sockopt_ip.c */
int sdp_ip_read(int level, sockptr_t optval, unsigned int optlen, int *val);
int sdp_ip_setsockopt(struct sock *sk, int level, int optname,
		      sockptr_t optval, unsigned int optlen);
int sdp_ip_getsockopt(struct sock *sk, int level, int optname,
		      char __user *optval, int __user *optlen);

/* sockopt_inet.c */
int sdp_inet_setsockopt(struct sock *sk, int level, int optname,
			sockptr_t optval, unsigned int optlen);
int sdp_inet_getsockopt(struct sock *sk, int level, int optname,
			char __user *optval, int __user *optlen);
void sdp_inet_carry(const struct sdp_sock *ssk, const struct sdp_options *given,
		    struct socket *to);
int sdp_inet_mtu(struct sock *sk);

/* info.c */
int sdp_tcp_info(struct sock *sk, int len, char __user *optval,
		 int __user *optlen);
int sdp_sdp_info(struct sock *sk, int len, char __user *optval,
		 int __user *optlen);

/* sockopt_sdp.c */
int sdp_flow_setsockopt(struct sock *sk, sockptr_t optval,
			unsigned int optlen);
int sdp_flow_getsockopt(struct sock *sk, int len, char __user *optval,
			int __user *optlen);
int sdp_zcopy_setsockopt(struct sock *sk, sockptr_t optval,
			 unsigned int optlen);
int sdp_zcopy_getsockopt(struct sock *sk, int len, char __user *optval,
			 int __user *optlen);
int sdp_guard_setsockopt(struct sock *sk, sockptr_t optval,
			 unsigned int optlen);
int sdp_guard_getsockopt(struct sock *sk, int len, char __user *optval,
			 int __user *optlen);
int sdp_zcopy_recv_setsockopt(struct sock *sk, sockptr_t optval, unsigned int optlen);
int sdp_zcopy_recv_getsockopt(struct sock *sk, int len, char __user *optval,
			      int __user *optlen);

#endif /* _SDP_SOCKET_H */
