// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "child.h"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace child
{
namespace
{

void check(int error, const std::string &what)
{
	if (error != 0)
		throw std::system_error(error, std::generic_category(), what);
}

/** A file without a name that takes what a child writes, however much it is. */
class Capture
{
public:
	Capture() : fd_(memfd_create("capture", MFD_CLOEXEC))
	{
		check(fd_ < 0 ? errno : 0, "memfd_create");
	}

	~Capture()
	{
		close(fd_);
	}

	Capture(const Capture &) = delete;
	Capture &operator=(const Capture &) = delete;
	Capture(Capture &&) = delete;
	Capture &operator=(Capture &&) = delete;

	[[nodiscard]] int fd() const
	{
		return fd_;
	}

	[[nodiscard]] std::string text() const
	{
		return content_of("/proc/self/fd/" + std::to_string(fd_));
	}

private:
	int fd_;
};

class Redirection
{
public:
	Redirection(const Capture &output, const Capture &errors)
	{
		check(posix_spawn_file_actions_init(&actions_), "posix_spawn_file_actions_init");
		posix_spawn_file_actions_adddup2(&actions_, output.fd(), STDOUT_FILENO);
		posix_spawn_file_actions_adddup2(&actions_, errors.fd(), STDERR_FILENO);
	}

	~Redirection()
	{
		posix_spawn_file_actions_destroy(&actions_);
	}

	Redirection(const Redirection &) = delete;
	Redirection &operator=(const Redirection &) = delete;
	Redirection(Redirection &&) = delete;
	Redirection &operator=(Redirection &&) = delete;

	[[nodiscard]] const posix_spawn_file_actions_t *get() const
	{
		return &actions_;
	}

private:
	posix_spawn_file_actions_t actions_{};
};

std::vector<char *> pointers(std::vector<std::string> &strings)
{
	std::vector<char *> result;

	result.reserve(strings.size() + 1);
	for (std::string &string : strings)
		result.push_back(string.data());
	result.push_back(nullptr);
	return result;
}

std::vector<std::string> merged(const Environment &changes)
{
	Environment all;

	for (char **entry = environ; *entry != nullptr; entry++) {
		const std::string text = *entry;
		const std::size_t equals = text.find('=');

		all[text.substr(0, equals)] = text.substr(equals + 1);
	}
	for (const auto &[name, value] : changes)
		all[name] = value;

	std::vector<std::string> result;

	for (const auto &[name, value] : all)
		result.emplace_back(name).append("=").append(value);
	return result;
}

int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		check(errno == EINTR ? 0 : errno, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

Outcome run(const std::vector<std::string> &command, const Environment &environment)
{
	const Capture output, errors;
	const Redirection redirection(output, errors);
	std::vector<std::string> arguments = command;
	std::vector<std::string> variables = merged(environment);
	pid_t pid = -1;

	check(posix_spawnp(&pid, command.front().c_str(), redirection.get(), nullptr,
			   pointers(arguments).data(), pointers(variables).data()),
	      command.front());
	const int status = wait_for(pid);

	return {.status = status, .output = output.text(), .errors = errors.text()};
}

Directory::Directory(const std::string &name_prefix)
{
	std::string name = (std::filesystem::temp_directory_path() / (name_prefix + "XXXXXX"));

	if (mkdtemp(name.data()) == nullptr)
		check(errno, name);
	path_ = name;
}

Directory::~Directory()
{
	std::error_code ignored;

	std::filesystem::remove_all(path_, ignored);
}

void Directory::create_file(const std::string &name, std::string_view content) const
{
	std::ofstream output(path_ / name, std::ios::binary);

	output << content;
	output.close();
	if (!output)
		throw std::runtime_error("cannot write " + name);
}

std::string content_of(const std::filesystem::path &file)
{
	std::ifstream input(file, std::ios::binary);

	if (!input)
		throw std::runtime_error("cannot read " + file.native());
	return {std::istreambuf_iterator<char>(input), {}};
}

} // namespace child
