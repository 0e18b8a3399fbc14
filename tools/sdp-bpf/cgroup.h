// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Control groups (version 2): their directories and their numbers.
 */
#ifndef SDP_BPF_CGROUP_H
#define SDP_BPF_CGROUP_H

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>

namespace sdpbpf
{

/** The kernel's number of a group, never used again after the group is gone. */
using GroupId = std::uint64_t;

/**
 * Where the hierarchy is mounted.
 * @throws std::runtime_error if it is not
 */
std::filesystem::path hierarchy();

/**
 * Whether hierarchy() begins with the group that all others are below.
 * @throws std::runtime_error if not
 */
void require_root();

/**
 * The directory of a group.
 * @param name  its directory, its path within the hierarchy, or the name of a slice of
 *              systemd, which may stand below others: "a-b.slice" is in "a.slice"
 * @throws std::runtime_error if there is no such group
 */
std::filesystem::path find_group(const std::string &name);

/**
 * The number of the group with this directory.
 * @throws std::system_error
 */
GroupId group_id(const std::filesystem::path &directory);

/** The paths of all groups within the hierarchy. */
std::unordered_map<GroupId, std::string> all_groups();

/** A group of our own, below the one that this process is in. */
class OwnGroup
{
public:
	/** @throws std::system_error if it cannot be created */
	OwnGroup();
	/** Removes it if no process is left in it. */
	~OwnGroup();
	OwnGroup(const OwnGroup &) = delete;
	OwnGroup &operator=(const OwnGroup &) = delete;
	OwnGroup(OwnGroup &&) = delete;
	OwnGroup &operator=(OwnGroup &&) = delete;

	[[nodiscard]] const std::filesystem::path &directory() const
	{
		return directory_;
	}

	/**
	 * Moves the calling process into it.
	 * @return 0 or an errno
	 */
	[[nodiscard]] int enter() const;

	/**
	 * Waits until the last process has left it.
	 * @throws std::system_error
	 */
	void wait_until_empty() const;

private:
	std::filesystem::path directory_;
};

} // namespace sdpbpf

#endif // SDP_BPF_CGROUP_H
