/* SPDX-License-Identifier: GPL-2.0 */
/* An io_uring, for the AF_SDP selftests. */
#ifndef SDP_RING_H
#define SDP_RING_H

#include <liburing.h>

#include "sdp_test.h"

static struct io_uring ring;

static inline void open_ring(void)
{
	int err = io_uring_queue_init(64, &ring, 0);

	if (err == -ENOSYS || err == -EPERM)
		sdp_skip("no io_uring in this kernel: %s", strerror(-err));
	CHECK_EQ(err, 0);
}

static inline struct io_uring_sqe *new_sqe(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	CHECK(sqe);
	return sqe;
}

/* The helpers of liburing clear the identifier. */
static inline void submit(struct io_uring_sqe *sqe, uint64_t id)
{
	io_uring_sqe_set_data64(sqe, id);
	CHECK_EQ(io_uring_submit(&ring), 1);
}

/* Submits what io_uring_prep_@what() prepares of the other arguments. */
#define REQUEST(id, what, ...)						\
	do {								\
		struct io_uring_sqe *request = new_sqe();		\
									\
		io_uring_prep_##what(request, __VA_ARGS__);		\
		submit(request, id);					\
	} while (0)

/* The next result, which must be that of this request. */
static inline int result_flags(uint64_t id, unsigned int *flags)
{
	struct __kernel_timespec limit = { .tv_sec = wait_limit_ms() / 1000 };
	struct io_uring_cqe *cqe = NULL;
	int res;

	CHECK_EQ(io_uring_wait_cqe_timeout(&ring, &cqe, &limit), 0);
	CHECK_EQ(cqe->user_data, id);
	res = cqe->res;
	if (flags)
		*flags = cqe->flags;
	io_uring_cqe_seen(&ring, cqe);
	return res;
}

static inline int result(uint64_t id)
{
	return result_flags(id, NULL);
}

static inline void no_result_yet(void)
{
	struct __kernel_timespec quiet = { .tv_nsec = quiet_ms() % 1000 * 1000000,
					   .tv_sec = quiet_ms() / 1000 };
	struct io_uring_cqe *cqe = NULL;

	CHECK_EQ(io_uring_wait_cqe_timeout(&ring, &cqe, &quiet), -ETIME);
}

/* As REQUEST(), of what cannot be done at once. */
#define PENDING(id, what, ...)						\
	do {								\
		REQUEST(id, what, __VA_ARGS__);				\
		no_result_yet();					\
	} while (0)

#endif /* SDP_RING_H */
