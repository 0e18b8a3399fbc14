// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * A file descriptor with an owner.
 */
#ifndef SDP_COMMON_DESCRIPTOR_H
#define SDP_COMMON_DESCRIPTOR_H

#include <utility>

#include <unistd.h>

namespace sdp
{

class Descriptor
{
public:
	explicit Descriptor(int fd = -1) : fd_(fd)
	{
	}
	~Descriptor()
	{
		if (fd_ >= 0)
			close(fd_);
	}
	Descriptor(Descriptor &&other) noexcept : fd_(std::exchange(other.fd_, -1))
	{
	}
	Descriptor &operator=(Descriptor &&other) noexcept
	{
		std::swap(fd_, other.fd_);
		return *this;
	}
	Descriptor(const Descriptor &) = delete;
	Descriptor &operator=(const Descriptor &) = delete;

	[[nodiscard]] int get() const
	{
		return fd_;
	}

	/** Whether there is one: a failed open() leaves none. */
	explicit operator bool() const
	{
		return fd_ >= 0;
	}

private:
	int fd_;
};

} // namespace sdp

#endif // SDP_COMMON_DESCRIPTOR_H
