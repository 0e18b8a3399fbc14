// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "output.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace libsdp
{
namespace
{

// Signals as the kernel has them: its system calls want to be told the size.
using SignalSet = std::uint64_t;
constexpr SignalSet sigpipe = SignalSet{1} << (SIGPIPE - 1);

/** What a descriptor refers to, as two numbers that are both 0 if it is closed. */
struct Identity {
	std::uint64_t device = 0;
	std::uint64_t inode = 0;

	bool operator==(const Identity &) const = default;
};

Identity identity_of(int fd) noexcept
{
	struct statx status = {};

	if (statx(fd, "", AT_EMPTY_PATH, STATX_INO, &status) != 0)
		return {};
	return {.device = std::uint64_t{status.stx_dev_major} << 32 | status.stx_dev_minor,
		.inode = status.stx_ino};
}

// Not one object, which would not be lock-free; all who set them at the
// beginning set the same.
constinit std::atomic<std::uint64_t> first_device{0};
constinit std::atomic<std::uint64_t> first_inode{0};
constinit std::atomic<bool> remembered{false};

// Before the program's own code, or at the first message, whichever is first.
[[gnu::constructor]] void remember_standard_error() noexcept
{
	if (remembered.load(std::memory_order_acquire))
		return;
	const Identity now = identity_of(STDERR_FILENO);

	first_device.store(now.device, std::memory_order_relaxed);
	first_inode.store(now.inode, std::memory_order_relaxed);
	remembered.store(true, std::memory_order_release);
}

/** Takes away the SIGPIPE that a write has brought, and no other. */
class WithoutSigpipe
{
public:
	WithoutSigpipe() noexcept
	{
		syscall(SYS_rt_sigpending, &pending_, sizeof(pending_));
		syscall(SYS_rt_sigprocmask, SIG_BLOCK, &sigpipe, &before_, sizeof(before_));
	}
	~WithoutSigpipe()
	{
		const timespec at_once = {};

		if ((pending_ & sigpipe) == 0)
			syscall(SYS_rt_sigtimedwait, &sigpipe, nullptr, &at_once, sizeof(sigpipe));
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof(before_));
	}
	WithoutSigpipe(const WithoutSigpipe &) = delete;
	WithoutSigpipe &operator=(const WithoutSigpipe &) = delete;
	WithoutSigpipe(WithoutSigpipe &&) = delete;
	WithoutSigpipe &operator=(WithoutSigpipe &&) = delete;

private:
	SignalSet pending_ = 0;
	SignalSet before_ = 0;
};

// What is written to a file waits for nobody, even where it waits for a disk.
bool is_file(int fd) noexcept
{
	struct statx status = {};

	return statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &status) == 0 && S_ISREG(status.stx_mode);
}

bool takes_some(int fd) noexcept
{
	pollfd target = {.fd = fd, .events = POLLOUT, .revents = 0};
	const timespec at_once = {};

	return syscall(SYS_ppoll, &target, 1, &at_once, nullptr, sizeof(SignalSet)) == 1 &&
	       (target.revents & POLLOUT) != 0;
}

} // namespace

bool has_standard_error() noexcept
{
	remember_standard_error();
	const Identity first = {.device = first_device.load(std::memory_order_relaxed),
				.inode = first_inode.load(std::memory_order_relaxed)};

	return first != Identity{} && first == identity_of(STDERR_FILENO);
}

// Another process may fill a pipe after it was asked; where the kernel can be
// told not to wait it is.
void write_at_once(int fd, std::string_view line) noexcept
{
	const WithoutSigpipe guard;
	const iovec piece = {.iov_base = const_cast<char *>(line.data()), .iov_len = line.size()};

	if (!takes_some(fd))
		return;
	const int flags = is_file(fd) ? 0 : RWF_NOWAIT;

	if (syscall(SYS_pwritev2, fd, &piece, 1UL, -1L, -1L, flags) < 0 && errno == EOPNOTSUPP)
		syscall(SYS_write, fd, line.data(), line.size());
}

} // namespace libsdp
