// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The program in the kernel that converts, and the groups that it does it for.
 */
#ifndef SDP_BPF_CONVERTER_H
#define SDP_BPF_CONVERTER_H

#include "cgroup.h"
#include "../common/descriptor.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>

struct convert_bpf;

namespace sdpbpf
{

using sdp::Descriptor;

/** This kernel cannot do it, whoever asks. */
class Unsupported : public std::runtime_error
{
	using std::runtime_error::runtime_error;
};

/** The groups whose processes are converted: a table of the kernel's. */
class Groups
{
public:
	explicit Groups(Descriptor map) : map_(std::move(map))
	{
	}

	/** @throws std::system_error, for example when there are too many */
	void add(GroupId id) const;
	/** @return whether it was there */
	[[nodiscard]] bool remove(GroupId id) const;
	/** The groups, each with how many sockets were converted for it. */
	[[nodiscard]] std::map<GroupId, std::uint64_t> list() const;

private:
	Descriptor map_;
};

/** The program at work, until this object is gone, or as long as it is pinned. */
class Converter
{
public:
	/**
	 * Loads the program and begins to convert, for no group yet.
	 * @throws Unsupported if the kernel has not what that takes
	 * @throws std::system_error if it refuses
	 */
	Converter();
	~Converter();
	Converter(const Converter &) = delete;
	Converter &operator=(const Converter &) = delete;
	Converter(Converter &&) = delete;
	Converter &operator=(Converter &&) = delete;

	[[nodiscard]] Groups groups() const;

	/** Lets it go on after the end of this process. */
	void pin() const;

private:
	struct Destroy {
		void operator()(convert_bpf *program) const;
	};
	std::unique_ptr<convert_bpf, Destroy> program_;
};

/** What is pinned does not change as long as the object exists, but by its owner. */
class PinLock
{
public:
	/**
	 * Waits for whoever else attaches or detaches just now. Without a BPF file
	 * system nothing is pinned, and nobody has to be waited for.
	 * @throws std::system_error
	 */
	PinLock();

private:
	Descriptor directory_;
};

/** The groups of the program that was pinned, if one was. */
std::optional<Groups> pinned_groups();

/** Ends the program that was pinned. */
void unpin();

/** Have libbpf say on standard error what it does. */
void be_verbose();

} // namespace sdpbpf

#endif // SDP_BPF_CONVERTER_H
