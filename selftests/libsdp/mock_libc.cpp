// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What libsdp.so asks of libc besides sockets, to be preloaded behind it. Each
 * works as ever unless the environment tells otherwise:
 *   MOCK_MMAP   which call of mmap() fails for lack of memory, 1 = the first
 *   MOCK_FSTAT  errno of all calls of fstat()
 *   MOCK_READ   what the calls of read() do, one after the other, separated by
 *               spaces: read at most so many bytes, or fail with -errno
 *   MOCK_EUID   the effective user
 */
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace
{

std::string text_setting(const char *name)
{
	const char *text = std::getenv(name);

	return text == nullptr ? "" : text;
}

int setting(const char *name)
{
	return std::atoi(text_setting(name).c_str());
}

/** The answer to the next read(); without any more, as much as is asked for. */
long next_read(std::size_t wanted)
{
	static std::istringstream answers(text_setting("MOCK_READ"));
	long answer = 0;

	if (answers >> answer)
		return std::min(answer, static_cast<long>(wanted));
	return static_cast<long>(wanted);
}

} // namespace

extern "C" {

[[gnu::visibility("default")]] void *mmap(void *address, size_t length, int protection, int flags,
					  int fd, off_t offset) noexcept
{
	static int calls;

	if (++calls == setting("MOCK_MMAP")) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return mmap64(address, length, protection, flags, fd, offset);
}

[[gnu::visibility("default")]] int fstat(int fd, struct stat *status) noexcept
{
	const int error = setting("MOCK_FSTAT");

	if (error == 0)
		return fstatat(fd, "", status, AT_EMPTY_PATH);
	errno = error;
	return -1;
}

[[gnu::visibility("default")]] ssize_t read(int fd, void *buffer, size_t size)
{
	const long most = next_read(size);

	if (most >= 0)
		return syscall(SYS_read, fd, buffer, most);
	errno = static_cast<int>(-most);
	return -1;
}

[[gnu::visibility("default")]] uid_t geteuid() noexcept
{
	const std::string user = text_setting("MOCK_EUID");

	return static_cast<uid_t>(user.empty() ? syscall(SYS_geteuid) : std::stol(user));
}

} // extern "C"
