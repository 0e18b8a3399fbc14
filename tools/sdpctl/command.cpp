// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "command.h"

#include "../common/descriptor.h"

#include <array>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sdpctl
{
namespace
{

std::string path_of(const std::string &program)
{
	for (const std::string_view directory : {"/usr/sbin/", "/sbin/", "/usr/bin/", "/bin/"}) {
		std::string path = std::string(directory) + program;

		if (access(path.c_str(), X_OK) == 0)
			return path;
	}
	return {};
}

std::string read_all(int fd)
{
	std::array<char, 4096> buffer{};
	std::string text;
	ssize_t count = 0;

	while ((count = read(fd, buffer.data(), buffer.size())) > 0 ||
	       (count < 0 && errno == EINTR))
		if (count > 0)
			text.append(buffer.data(), static_cast<std::size_t>(count));
	return text;
}

/** What a child has in the place of this program's descriptors. */
class FileActions
{
public:
	explicit FileActions(int output)
	{
		posix_spawn_file_actions_init(&actions_);
		posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
		posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
		posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY,
						 0);
	}
	~FileActions()
	{
		posix_spawn_file_actions_destroy(&actions_);
	}
	FileActions(const FileActions &) = delete;
	FileActions &operator=(const FileActions &) = delete;
	FileActions(FileActions &&) = delete;
	FileActions &operator=(FileActions &&) = delete;

	[[nodiscard]] const posix_spawn_file_actions_t *get() const
	{
		return &actions_;
	}

private:
	posix_spawn_file_actions_t actions_{};
};

} // namespace

CommandOutcome run_command(const std::vector<std::string> &command)
{
	const std::string program = path_of(command.at(0));
	std::vector<char *> argv;
	CommandOutcome outcome;
	std::array<int, 2> ends{};
	pid_t pid = 0;
	int status = 0;

	if (program.empty() || pipe2(ends.data(), O_CLOEXEC) != 0)
		return outcome;
	const sdp::Descriptor input(ends[0]);
	sdp::Descriptor output(ends[1]);
	const FileActions actions(output.get());

	argv.reserve(command.size() + 1);
	for (const std::string &argument : command)
		argv.push_back(const_cast<char *>(argument.c_str()));
	argv.push_back(nullptr);
	if (posix_spawn(&pid, program.c_str(), actions.get(), nullptr, argv.data(), environ) != 0)
		return outcome;
	output = sdp::Descriptor();
	outcome.output = read_all(input.get());
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		outcome.status = WEXITSTATUS(status);
	return outcome;
}

} // namespace sdpctl
