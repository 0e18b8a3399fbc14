// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The programs in the kernel that convert and refuse, and the groups that they do it for.
 */
#ifndef SDP_BPF_CONVERTER_H
#define SDP_BPF_CONVERTER_H

#include "cgroup.h"
#include "group.h"
#include "policy.h"
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

/** What is known of a group that is attached. */
struct GroupState {
	sdp_bpf_group counts{};
	bool has_rules = false;
};

/** The groups whose processes are converted, with their rules: tables of the kernel's. */
class Groups
{
public:
	Groups(Descriptor map, Descriptor policies)
		: map_(std::move(map)), policies_(std::move(policies))
	{
	}

	/**
	 * From now on a group has these rules, or, without any, is simply converted.
	 * @throws std::system_error, for example when there are too many groups
	 */
	void add(GroupId id, const std::optional<Policy> &policy) const;
	/** @return whether it was there */
	[[nodiscard]] bool remove(GroupId id) const;
	[[nodiscard]] std::map<GroupId, GroupState> list() const;

	[[nodiscard]] int map() const
	{
		return map_.get();
	}
	[[nodiscard]] int policies() const
	{
		return policies_.get();
	}

private:
	void set_policy(GroupId id, const Policy &policy) const;
	void drop_policy(GroupId id) const;

	Descriptor map_;
	Descriptor policies_;
};

/**
 * Whether this kernel can do what is to be asked of it, from here. Loads the module, if
 * need be.
 * @throws Unsupported if not
 * @throws std::runtime_error if it can, but not from this namespace
 */
void require_support(const std::optional<Policy> &policy);

/** Which programs: those that refuse are asked about all that the host does. */
enum class Programs {
	converting,
	refusing,
	all
};

/** The programs at work, until this object is gone, or as long as they are pinned. */
class Converter
{
public:
	/**
	 * Loads those that the kernel has hooks for, and begins, for no group yet.
	 * @param groups  the tables that they use, of others that are at work; else new ones
	 * @throws Unsupported if the kernel has not what that takes
	 * @throws std::system_error if it refuses
	 */
	explicit Converter(Programs wanted, const std::optional<Groups> &groups = std::nullopt);
	~Converter();
	Converter(const Converter &) = delete;
	Converter &operator=(const Converter &) = delete;
	Converter(Converter &&) = delete;
	Converter &operator=(Converter &&) = delete;

	[[nodiscard]] Groups groups() const;

	/**
	 * Lets it go on after the end of this process, in the place of what is left of an
	 * attempt that has not come so far.
	 */
	void pin() const;

	/** Likewise, beside those that are pinned and have the same tables. */
	void pin_refusing() const;

private:
	struct Destroy {
		void operator()(convert_bpf *program) const;
	};

	void attach_to_root() const;

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

/** The groups of the programs that were pinned, if they were. */
std::optional<Groups> pinned_groups();

/** Whether those that refuse are among them. */
bool is_refusing_pinned();

/** Ends the programs that were pinned. */
void unpin();

/** Have libbpf say on standard error what it does. */
void be_verbose();

} // namespace sdpbpf

#endif // SDP_BPF_CONVERTER_H
