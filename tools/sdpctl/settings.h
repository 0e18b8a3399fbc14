// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The settings below net.sdp, read and written.
 */
#ifndef SDPCTL_SETTINGS_H
#define SDPCTL_SETTINGS_H

#include <filesystem>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace sdpctl
{

/** Values by name, with one blank between the numbers of a vector. */
using Settings = std::map<std::string, std::string>;

/** Those that are in a directory; none if there is none. */
[[nodiscard]] Settings read_settings(const std::filesystem::path &directory);

/** A setting that shall have another value. */
struct Change {
	std::string name;
	std::string before;
	std::string after;
};

/** A change was refused; what() says which, why, and what has become of the others. */
class ChangeError : public std::runtime_error
{
	using std::runtime_error::runtime_error;
};

/**
 * Make all changes, in their order. If one fails those before it are undone.
 *
 * @throws ChangeError
 */
void make_changes(const std::filesystem::path &directory, const std::vector<Change> &changes);

/**
 * Undo changes that were made, the last first.
 *
 * @return what to append to the error because of which: "; nothing is changed", or what cannot be
 * undone, with the value that it is left with.
 */
[[nodiscard]] std::string undo_changes(const std::filesystem::path &directory,
				       std::span<const Change> made);

} // namespace sdpctl

#endif // SDPCTL_SETTINGS_H
