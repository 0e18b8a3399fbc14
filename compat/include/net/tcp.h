/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_NET_TCP_H
#define _SDP_COMPAT_NET_TCP_H

#include_next <net/tcp.h>

#ifdef SDP_HAVE_TCP_SENDPAGE
#include <linux/bvec.h>

/*
 * Older kernels take pages one by one.  Some know MSG_SPLICE_PAGES by name,
 * and copy.
 */
#ifndef MSG_SPLICE_PAGES
#define MSG_SPLICE_PAGES 0x8000000
#endif

static inline int sdp_tcp_sendmsg_locked(struct sock *sk, struct msghdr *msg,
					 size_t size)
{
	int flags = msg->msg_flags & ~MSG_SPLICE_PAGES;
	size_t sent = 0;

	if (!(msg->msg_flags & MSG_SPLICE_PAGES))
		return tcp_sendmsg_locked(sk, msg, size);
	/* The usual case; nobody looks at how far it went but by the result. */
	if (msg->msg_iter.nr_segs == 1 && !msg->msg_iter.iov_offset)
		return tcp_sendpage_locked(sk, msg->msg_iter.bvec->bv_page,
					   msg->msg_iter.bvec->bv_offset, size,
					   flags);
	while (sent < size) {
		struct bio_vec vec = mp_bvec_iter_bvec(msg->msg_iter.bvec,
			((struct bvec_iter) {
				.bi_size = size - sent,
				.bi_bvec_done = msg->msg_iter.iov_offset,
			}));
		bool last = vec.bv_len == size - sent;
		int n = tcp_sendpage_locked(sk, vec.bv_page, vec.bv_offset,
					    vec.bv_len, last ? flags :
					    flags | MSG_SENDPAGE_NOTLAST);

		if (n <= 0)
			return sent ?: n;
		sent += n;
		iov_iter_advance(&msg->msg_iter, n);
	}
	return sent;
}

#define tcp_sendmsg_locked sdp_tcp_sendmsg_locked
#endif

/* Only what this one calls is for modules. */
static inline void sdp_tcp_send_ack(struct sock *sk)
{
#ifdef SDP_HAVE_TCP_SEND_ACK_FLAGS
	__tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt, 0);
#else
	__tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt);
#endif
}

#define tcp_send_ack sdp_tcp_send_ack

#endif /* _SDP_COMPAT_NET_TCP_H */
