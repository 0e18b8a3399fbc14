// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * For tests that run programs: child processes and directories of their own.
 */
#ifndef LIBSDP_TEST_CHILD_H
#define LIBSDP_TEST_CHILD_H

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace child
{

struct Outcome {
	int status = -1; ///< exit status, or 128 + the number of the signal
	std::string output;
	std::string errors;
};

/** What differs from this process's environment. */
using Environment = std::map<std::string, std::string>;

/**
 * Run a program, looked for in PATH, to its end.
 * @throws std::system_error if it cannot be started.
 */
Outcome run(const std::vector<std::string> &command, const Environment &environment = {});

/** A directory that exists, with its content, as long as the object does. */
class Directory
{
public:
	explicit Directory(const std::string &name_prefix = "libsdp-test-");
	~Directory();
	Directory(const Directory &) = delete;
	Directory &operator=(const Directory &) = delete;
	Directory(Directory &&) = delete;
	Directory &operator=(Directory &&) = delete;

	[[nodiscard]] const std::filesystem::path &path() const
	{
		return path_;
	}

	/** @throws std::runtime_error */
	void create_file(const std::string &name, std::string_view content) const;

private:
	std::filesystem::path path_;
};

/** All bytes of a file. @throws std::runtime_error */
std::string content_of(const std::filesystem::path &file);

} // namespace child

#endif // LIBSDP_TEST_CHILD_H
