// SPDX-License-Identifier: GPL-2.0
/* Calls that move data. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <liburing.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "fuzz.h"

/* Pieces of a buffer, the last of which may be elsewhere. */
struct pieces {
	struct iovec iov[4];
	int count;
};

static struct pieces pieces_of(uint32_t buffer, uint32_t offset, uint32_t len, uint32_t how)
{
	struct pieces p = { .count = 1 + how % 4 };
	int i;

	for (i = 0; i < p.count; i++) {
		p.iov[i].iov_base = fuzz_memory(buffer, offset + i * (len / p.count));
		p.iov[i].iov_len = len / p.count;
	}
	if (how & 4)
		p.iov[p.count - 1].iov_base = fuzz_memory(buffer + 1, offset);
	if (how & 8)
		p.iov[0].iov_len = 0;
	return p;
}

void fuzz_do_send(const uint32_t *arg)
{
	send(fuzz_slot(arg[0]), fuzz_memory(arg[1], arg[2]), arg[3], arg[4]);
}

void fuzz_do_recv(const uint32_t *arg)
{
	recv(fuzz_slot(arg[0]), fuzz_memory(arg[1], arg[2]), arg[3], arg[4]);
}

/* Some that streams know, and some that they do not. */
static void add_control(struct msghdr *msg, uint32_t how, void *room, size_t size)
{
	static const int types[][2] = {
		{ SOL_SOCKET, SO_TIMESTAMPING }, { SOL_SOCKET, SCM_RIGHTS }, { IPPROTO_IP, 1 },
		{ IPPROTO_IPV6, 67 }, { SOL_SOCKET, SO_MARK },
	};
	struct cmsghdr *cmsg;

	if (how % 8 > ARRAY_SIZE(types))
		return;
	memset(room, 0, size);
	msg->msg_control = room;
	msg->msg_controllen = size;
	cmsg = CMSG_FIRSTHDR(msg);
	cmsg->cmsg_len = how == 8 ? 3 : CMSG_LEN(sizeof(int));
	cmsg->cmsg_level = types[how % ARRAY_SIZE(types)][0];
	cmsg->cmsg_type = types[how % ARRAY_SIZE(types)][1];
	msg->msg_controllen = CMSG_SPACE(sizeof(int));
}

void fuzz_do_sendmsg(const uint32_t *arg)
{
	struct pieces p = pieces_of(arg[1], 0, arg[2], arg[4]);
	struct addr a = server_addr(1);
	struct msghdr msg = { .msg_iov = p.iov, .msg_iovlen = p.count };
	unsigned char room[128] __attribute__((aligned(8)));

	add_control(&msg, arg[4], room, sizeof(room));
	if (arg[4] == 5) {
		msg.msg_name = &a.sa;
		msg.msg_namelen = a.len;
	}
	sendmsg(fuzz_slot(arg[0]), &msg, arg[3]);
}

void fuzz_do_recvmsg(const uint32_t *arg)
{
	struct pieces p = pieces_of(arg[1], 0, arg[2], arg[4]);
	unsigned char room[256] __attribute__((aligned(8)));
	struct sockaddr_storage name;
	struct msghdr msg = {
		.msg_iov = p.iov, .msg_iovlen = p.count, .msg_name = &name,
		.msg_namelen = sizeof(name), .msg_control = room,
		.msg_controllen = arg[4] & 4 ? sizeof(room) : arg[4],
	};

	recvmsg(fuzz_slot(arg[0]), &msg, arg[3]);
}

void fuzz_do_writev(const uint32_t *arg)
{
	struct pieces p = pieces_of(arg[1], arg[2], arg[3], arg[4]);

	writev(fuzz_slot(arg[0]), p.iov, p.count);
}

void fuzz_do_readv(const uint32_t *arg)
{
	struct pieces p = pieces_of(arg[1], arg[2], arg[3], arg[4]);

	readv(fuzz_slot(arg[0]), p.iov, p.count);
}

void fuzz_do_sendfile(const uint32_t *arg)
{
	off_t at = arg[1];

	sendfile(fuzz_slot(arg[0]), fuzz_file(), &at, arg[2]);
}

static unsigned int splice_flags(uint32_t how)
{
	return (how & 1 ? 0 : SPLICE_F_NONBLOCK) | (how & 2 ? SPLICE_F_MORE : 0) |
	       (how & 4 ? SPLICE_F_MOVE : 0);
}

void fuzz_do_splice_in(const uint32_t *arg)
{
	splice(fuzz_slot(arg[0]), NULL, fuzz_pipe(true), NULL, arg[1], splice_flags(arg[2]));
}

void fuzz_do_splice_out(const uint32_t *arg)
{
	splice(fuzz_pipe(false), NULL, fuzz_slot(arg[0]), NULL, arg[1], splice_flags(arg[2]));
}

void fuzz_do_tee(const uint32_t *arg)
{
	int more[2];

	if (pipe2(more, O_NONBLOCK))
		return;
	tee(fuzz_pipe(false), more[1], arg[0], SPLICE_F_NONBLOCK);
	close(more[0]);
	close(more[1]);
}

void fuzz_do_vmsplice(const uint32_t *arg)
{
	struct iovec iov = { .iov_base = fuzz_memory(arg[0], arg[1]), .iov_len = arg[2] };

	vmsplice(fuzz_pipe(true), &iov, 1, SPLICE_F_NONBLOCK | (arg[3] & 1 ? SPLICE_F_GIFT : 0));
}

/* ---- requests ---- */

static struct io_uring ring;
static pthread_mutex_t ring_lock = PTHREAD_MUTEX_INITIALIZER;
static bool has_ring;
static uint64_t requests;

void fuzz_open_ring(void)
{
	has_ring = !io_uring_queue_init(64, &ring, 0);
}

/* What has been done makes room. */
static struct io_uring_sqe *new_request(void)
{
	struct io_uring_cqe *cqe;

	if (!has_ring)
		return NULL;
	pthread_mutex_lock(&ring_lock);
	while (!io_uring_peek_cqe(&ring, &cqe))
		io_uring_cqe_seen(&ring, cqe);
	return io_uring_get_sqe(&ring);
}

static void submit(struct io_uring_sqe *sqe)
{
	if (sqe) {
		io_uring_sqe_set_data64(sqe, requests++ % 16);
		io_uring_submit(&ring);
	}
	if (has_ring)
		pthread_mutex_unlock(&ring_lock);
}

void fuzz_do_uring_send(const uint32_t *arg)
{
	struct io_uring_sqe *sqe = new_request();

	if (sqe && arg[4] & 1)
		io_uring_prep_write(sqe, fuzz_slot(arg[0]), fuzz_memory(arg[1], 0), arg[2], 0);
	else if (sqe)
		io_uring_prep_send(sqe, fuzz_slot(arg[0]), fuzz_memory(arg[1], 0), arg[2], arg[3]);
	/* 47 is IORING_OP_SEND_ZC, which not every liburing knows. */
	if (sqe && arg[4] % 4 == 2)
		sqe->opcode = 47;
	if (sqe && arg[4] & 8)
		sqe->flags |= IOSQE_ASYNC;
	submit(sqe);
}

void fuzz_do_uring_recv(const uint32_t *arg)
{
	struct io_uring_sqe *sqe = new_request();

	if (sqe && arg[4] & 1)
		io_uring_prep_read(sqe, fuzz_slot(arg[0]), fuzz_memory(arg[1], 0), arg[2], 0);
	else if (sqe)
		io_uring_prep_recv(sqe, fuzz_slot(arg[0]), fuzz_memory(arg[1], 0), arg[2], arg[3]);
	if (sqe && arg[4] & 8)
		sqe->flags |= IOSQE_ASYNC;
	submit(sqe);
}

void fuzz_do_uring_accept(const uint32_t *arg)
{
	struct io_uring_sqe *sqe = new_request();

	if (sqe)
		io_uring_prep_accept(sqe, fuzz_slot(arg[0]), NULL, NULL, 0);
	submit(sqe);
}

void fuzz_do_uring_poll(const uint32_t *arg)
{
	struct io_uring_sqe *sqe = new_request();

	if (sqe)
		io_uring_prep_poll_add(sqe, fuzz_slot(arg[0]), arg[1]);
	submit(sqe);
}

void fuzz_do_uring_cancel(const uint32_t *arg)
{
	struct io_uring_sqe *sqe = new_request();

	if (sqe)
		io_uring_prep_cancel64(sqe, arg[0], 0);
	submit(sqe);
}
