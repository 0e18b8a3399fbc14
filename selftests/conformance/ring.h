// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * An io_uring whose completions are written down.
 */
#ifndef CONFORMANCE_RING_H
#define CONFORMANCE_RING_H

#include <cerrno>
#include <string>
#include <string_view>

#include <liburing.h>

#include "run.h"

namespace conformance
{

/** A ring whose completions are written down, in the order of the requests. */
class Ring
{
public:
	explicit Ring(Run &t) : t_(t)
	{
		const int err = io_uring_queue_init(16, &ring_, 0);

		if (err)
			t_.fail(fmt::format("io_uring_queue_init(): {}", strerrorname_np(-err)));
	}
	Ring(const Ring &) = delete;
	Ring &operator=(const Ring &) = delete;
	~Ring()
	{
		io_uring_queue_exit(&ring_);
	}
	io_uring_sqe *next()
	{
		io_uring_sqe *sqe = io_uring_get_sqe(&ring_);

		t_.require(sqe != nullptr, "io_uring_get_sqe()");
		return sqe;
	}
	void submit(io_uring_sqe *sqe, std::uint64_t data)
	{
		sqe->user_data = data;
		t_.require(io_uring_submit(&ring_) == 1, "io_uring_submit()");
	}
	/** The next completion, written down. */
	int wait(const char *what)
	{
		return wait(what, [](int result) {
			return result < 0 ? std::string(strerrorname_np(-result))
					  : fmt::format("{}", result);
		});
	}
	int wait(const char *what, const std::function<std::string(int)> &show)
	{
		const io_uring_cqe cqe = take(what);

		t_.note("{}: request {} = {}", what, cqe.user_data, show(cqe.res));
		return cqe.res;
	}
	io_uring_cqe take(const char *what)
	{
		__kernel_timespec limit = {.tv_sec = t_.deadline_ms() / 1000, .tv_nsec = 0};
		io_uring_cqe *cqe = nullptr;
		int err = 0;

		t_.trace().enter(fmt::format("waiting for the completion of {}", what));
		do {
			err = io_uring_wait_cqe_timeout(&ring_, &cqe, &limit);
		} while (err == -EINTR);
		t_.trace().enter({});
		if (err)
			t_.fail(fmt::format("{} does not complete", what));
		const io_uring_cqe copy = *cqe;
		io_uring_cqe_seen(&ring_, cqe);
		return copy;
	}
	/** Whether a completion is there already. */
	bool ready()
	{
		io_uring_cqe *cqe = nullptr;

		return io_uring_peek_cqe(&ring_, &cqe) == 0;
	}
	io_uring *get()
	{
		return &ring_;
	}

private:
	Run &t_;
	io_uring ring_{};
};

inline std::string show_mask(int result)
{
	return result < 0 ? strerrorname_np(-result) : show_poll(static_cast<unsigned>(result));
}

inline std::string show_fd(int result)
{
	return result < 0 ? strerrorname_np(-result) : "a descriptor";
}

inline void submit_recv(Ring &ring, const Sock &sock, char *data, std::size_t length, int flags = 0)
{
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_recv(sqe, sock.fd(), data, length, flags);
	ring.submit(sqe, 1);
}

inline void submit_send(Ring &ring, const Sock &sock, std::string_view data,
			int flags = MSG_NOSIGNAL)
{
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_send(sqe, sock.fd(), data.data(), data.size(), flags);
	ring.submit(sqe, 2);
}

inline void submit_poll(Ring &ring, const Sock &sock, unsigned mask, std::uint64_t data = 3)
{
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_poll_add(sqe, sock.fd(), mask);
	ring.submit(sqe, data);
}

} // namespace conformance

#endif
