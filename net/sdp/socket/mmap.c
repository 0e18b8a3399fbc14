// SPDX-License-Identifier: GPL-2.0
/*
 * Reading without a copy for programs that never wait in a read: the pages that the
 * device has filled appear in a mapping of the socket (TCP_ZEROCOPY_RECEIVE).
 * Documentation/protocol/zero-copy.rst explains it.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/tcp.h>
#include <linux/uio.h>

#include "base/base.h"
#include "conn/conn.h"
#include "stream/stream.h"
#include "zcopy/zcopy.h"
#include "socket.h"

/* What TCP takes in tcp_zerocopy_receive::msg_flags: the caller wants to know the time. */
#define SDP_ZEROCOPY_MSG_FLAGS	2

static const struct vm_operations_struct sdp_vm_ops = {
};

/**
 * sdp_mmap() - give a program room for what it receives
 * @file: file of the socket
 * @sock: socket
 * @vma: the new mapping, empty
 *
 * Context: process context, with the lock of the program's memory.
 * Return: 0; -EPERM if it could be written to; or what TCP says.
 */
int sdp_mmap(struct file *file, struct socket *sock, struct vm_area_struct *vma)
{
	struct socket *tcp = sdp_fallback_get(sdp_fallback(sock->sk));

	if (tcp)
		return sdp_fallback_mmap(sdp_fallback(sock->sk), file, tcp, vma);
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	vm_flags_clear(vma, VM_MAYWRITE | VM_MAYEXEC);
	vm_flags_set(vma, VM_MIXEDMAP);
	vma->vm_ops = &sdp_vm_ops;
	return 0;
}

/* The mapping that was made of a socket, any, at an address; NULL for others. */
static struct vm_area_struct *sdp_mmap_find(unsigned long addr)
{
	struct vm_area_struct *vma = vma_lookup(current->mm, addr);

	return vma && vma->vm_ops == &sdp_vm_ops ? vma : NULL;
}

/*
 * Takes so many bytes of what was there before out of the mapping, or as much as it has
 * room for; returns how many, or an errno.  Whoever watches the program's memory is told,
 * and may take its time: the socket is not locked.
 */
static long sdp_mmap_clear(const struct tcp_zerocopy_receive *zc, u32 len)
{
	struct vm_area_struct *vma;
	long ret = -EINVAL;

	if (mmap_read_lock_killable(current->mm))
		return -EINTR;
	vma = sdp_mmap_find(zc->address);
	if (vma) {
		ret = min3((unsigned long)zc->length, vma->vm_end - (unsigned long)zc->address,
			   (unsigned long)len) & PAGE_MASK;
		if (ret)
			zap_vma_range(vma, zc->address, ret);
	}
	mmap_read_unlock(current->mm);
	return ret;
}

/* Moves pages to the mapping, as many as have room there; returns bytes. */
static u32 sdp_mmap_fill(struct sdp_stream *st, struct vm_area_struct *vma,
			 unsigned long addr, u32 room)
{
	u32 done = 0;
	u32 len;

	room = min_t(unsigned long, room, vma->vm_end - addr);
	while (room - done >= PAGE_SIZE && sdp_oob_unread(st) >= PAGE_SIZE &&
	       !sdp_rx_unmappable(st) && !fatal_signal_pending(current)) {
		len = sdp_rx_map(st, vma, addr + done, room - done);
		if (!len)
			break;
		done += len;
	}
	return done;
}

/* How much is to be read before there may be pages to map; @failed: there were some. */
static u32 sdp_mmap_to_read(const struct sdp_stream *st, bool failed)
{
	u32 skip = sdp_rx_unmappable(st);

	return !skip && st->rx.bytes && failed ? sdp_rx_first(st) : skip;
}

/*
 * The lock of the program's memory comes before that of a socket, and is only tried
 * here: where others change the mappings now, what has arrived is to be read.
 */
static void sdp_mmap_move(struct sdp_sock *ssk, struct tcp_zerocopy_receive *zc, u32 room)
{
	struct sdp_stream *st = &ssk->conn.stream;
	struct vm_area_struct *vma;
	u32 done = 0;

	if (mmap_read_trylock(current->mm)) {
		vma = sdp_mmap_find(zc->address);
		if (vma)
			done = sdp_mmap_fill(st, vma, zc->address, room);
		mmap_read_unlock(current->mm);
	}
	if (done) {
		st->stats.zcopy_in += done;
		SDP_SOCK_ADD_STATS(&ssk->sk, SDP_MIB_MAPPEDBYTESIN, done);
		sdp_recv_took(&ssk->sk, done);
		sdp_rx_was_read(st);
	}
	zc->recv_skip_hint = min3(sdp_mmap_to_read(st, done < room), sdp_oob_unread(st),
				  zc->length);
	zc->length = done;
}

/* What is not whole pages may be copied, to where the program wants it. */
static int sdp_mmap_copy(struct socket *sock, struct tcp_zerocopy_receive *zc, u32 len)
{
	void __user *to = u64_to_user_ptr(zc->copybuf_address);
	struct msghdr msg = {};
	int ret = -EFAULT;

	if (!len)
		return 0;
	if (access_ok(to, len)) {
		iov_iter_ubuf(&msg.msg_iter, ITER_DEST, to, len);
		ret = sdp_recvmsg(sock, &msg, len, MSG_DONTWAIT);
	}
	if (ret == -EAGAIN)
		return 0;
	zc->copybuf_len = ret;
	zc->recv_skip_hint -= max(ret, 0);
	return min(ret, 0);
}

/* Whole pages are moved, and what is left at their end is copied. */
static int sdp_mmap_receive(struct socket *sock, struct tcp_zerocopy_receive *zc, u32 unread,
			    u32 copy)
{
	long room = sdp_mmap_clear(zc, unread);

	if (room < 0)
		return room;
	sdp_lock_sock(sock->sk);
	sdp_mmap_move(sdp_sk(sock->sk), zc, room);
	sdp_release_sock(sock->sk);
	/* As TCP: what is mapped is read, whatever becomes of the rest. */
	sdp_mmap_copy(sock, zc, min(copy, zc->recv_skip_hint));
	return 0;
}

/*
 * How much there is to read; -EIO at the end of the stream.  Who finds nothing may not
 * come back before there is something, so that an offer of the peer's is refused.
 */
static int sdp_mmap_look(struct sock *sk, u32 *unread)
{
	struct sdp_sock *ssk = sdp_sk(sk);
	int err;

	sdp_lock_sock(sk);
	err = sdp_rdmacg_use(&ssk->conn.link);
	if (!err)
		sdp_tx_progress(&ssk->conn, SDP_FLUSH_CALL);
	sdp_integrated_pull(&ssk->conn.stream);
	*unread = sdp_oob_unread(&ssk->conn.stream);
	if (!err && !*unread) {
		sdp_zrecv_want_copy(&ssk->conn.zcopy);
		sdp_tx_pause_here(&ssk->conn);
		err = ssk->conn.stream.done ? -EIO : 0;
	}
	sdp_release_sock(sk);
	return err;
}

static int sdp_mmap_get_data(struct socket *sock, struct tcp_zerocopy_receive *zc)
{
	u32 copy = max(zc->copybuf_len, 0);
	u32 unread;
	int err;

	zc->copybuf_len = 0;
	zc->msg_flags = 0;
	if (!PAGE_ALIGNED(zc->address) || zc->address != (unsigned long)zc->address)
		return -EINVAL;
	if (sock->sk->sk_state == TCP_LISTEN)
		return -ENOTCONN;
	err = sdp_mmap_look(sock->sk, &unread);
	if (err)
		return err;
	if (unread >= PAGE_SIZE && unread > copy)
		return sdp_mmap_receive(sock, zc, unread, copy);
	zc->length = 0;
	zc->recv_skip_hint = unread;
	return unread > copy ? 0 : sdp_mmap_copy(sock, zc, unread);
}

/* As TCP: a longer one than is known is for a newer kernel, whose fields are zero. */
static int sdp_mmap_get(struct tcp_zerocopy_receive *zc, int *len, char __user *optval,
			int __user *optlen)
{
	int err;

	if (*len < (int)offsetofend(struct tcp_zerocopy_receive, length))
		return -EINVAL;
	if (*len > (int)sizeof(*zc)) {
		err = check_zeroed_user(optval + sizeof(*zc), *len - sizeof(*zc));
		if (err < 1)
			return err ?: -EINVAL;
		*len = sizeof(*zc);
		if (put_user(*len, optlen))
			return -EFAULT;
	}
	if (copy_from_user(zc, optval, *len))
		return -EFAULT;
	return zc->reserved || zc->msg_flags & ~SDP_ZEROCOPY_MSG_FLAGS ? -EINVAL : 0;
}

/**
 * sdp_mmap_getsockopt() - TCP_ZEROCOPY_RECEIVE: map what has arrived
 * @sock: socket
 * @len: length of the option, not negative
 * @optval: struct tcp_zerocopy_receive, which says where to, and how much; what was
 *	done is written back
 * @optlen: set to the length if it was too much
 *
 * What is not mapped is to be read, @recv_skip_hint bytes of it before there may be
 * pages again.  When it arrived is not told.
 *
 * Return: 0; -EINVAL for what is no mapping of a socket; -EIO at the end of the
 * stream; or an errno that a read could have.
 */
int sdp_mmap_getsockopt(struct socket *sock, int len, char __user *optval,
			int __user *optlen)
{
	struct tcp_zerocopy_receive zc = {};
	struct sock *sk = sock->sk;
	int err;

	err = sdp_mmap_get(&zc, &len, optval, optlen);
	if (err)
		return err;
	err = sdp_mmap_get_data(sock, &zc);
	if (err)
		return err;
	if (len >= (int)offsetofend(struct tcp_zerocopy_receive, err))
		zc.err = sock_error(sk);
	sdp_lock_sock(sk);
	zc.inq = sdp_recv_inq(sk);
	sdp_release_sock(sk);
	return copy_to_user(optval, &zc, len) ? -EFAULT : 0;
}
