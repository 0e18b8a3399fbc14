// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "converter.h"
#include "group.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <linux/sdp.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/vfs.h>

#include "convert.skel.h"

namespace sdpbpf
{

namespace fs = std::filesystem;

namespace
{

constexpr const char *bpf_file_system = "/sys/fs/bpf";
constexpr const char *hook = "update_socket_protocol";

const fs::path pin_directory = fs::path(bpf_file_system) / "sdp";
const fs::path pinned_link = pin_directory / "convert";
const fs::path pinned_map = pin_directory / "groups";

bool verbose = false;

int print(libbpf_print_level /*level*/, const char *format, va_list arguments)
{
	return verbose ? std::vfprintf(stderr, format, arguments) : 0;
}

[[noreturn]] void fail(int error, const std::string &what)
{
	if (error == EPERM || error == EACCES)
		throw std::system_error(error, std::generic_category(),
					what + ": CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN are "
					       "needed, as root has them");
	throw std::system_error(error, std::generic_category(), what);
}

// A program on a hook that no module answers would leave its processes without
// any TCP socket, so this is asked first. It loads the module, too.
void require_protocol()
{
	const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SDP));

	if (!socket)
		throw Unsupported("this kernel gives no sockets of IPPROTO_SDP: "
				  "the module 'sdp' is not there, or too old");
}

void require_hook()
{
	btf *types = btf__load_vmlinux_btf();

	if (types == nullptr)
		throw Unsupported(
			"this kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)");
	const int id = btf__find_by_name_kind(types, hook, BTF_KIND_FUNC);
	btf__free(types);
	if (id < 0)
		throw Unsupported(fmt::format("this kernel has no hook {}; Linux 6.6 and later "
					      "have it, if built with CONFIG_MPTCP",
					      hook));
}

} // namespace

void Groups::add(GroupId id) const
{
	const sdp_bpf_group group{};

	if (bpf_map_update_elem(map_.get(), &id, &group, BPF_NOEXIST) != 0 && errno != EEXIST)
		fail(errno, "cannot add a control group");
}

bool Groups::remove(GroupId id) const
{
	if (bpf_map_delete_elem(map_.get(), &id) == 0)
		return true;
	if (errno != ENOENT)
		fail(errno, "cannot remove a control group");
	return false;
}

std::map<GroupId, std::uint64_t> Groups::list() const
{
	std::map<GroupId, std::uint64_t> found;
	const GroupId *previous = nullptr;
	GroupId id = 0;

	while (bpf_map_get_next_key(map_.get(), previous, &id) == 0) {
		sdp_bpf_group group{};
		if (bpf_map_lookup_elem(map_.get(), &id, &group) == 0)
			found.emplace(id, group.converted);
		previous = &id;
	}
	return found;
}

Converter::Converter()
{
	libbpf_set_print(print);
	require_protocol();
	require_hook();
	program_.reset(convert_bpf::open());
	if (!program_)
		fail(errno, "cannot open the program");
	if (const int error = convert_bpf::load(program_.get()); error != 0)
		fail(-error, "cannot load the program");
	if (const int error = convert_bpf::attach(program_.get()); error != 0)
		fail(-error, fmt::format("cannot attach the program to {}", hook));
}

Converter::~Converter() = default;

void Converter::Destroy::operator()(convert_bpf *program) const
{
	convert_bpf::destroy(program);
}

Groups Converter::groups() const
{
	Descriptor copy(fcntl(bpf_map__fd(program_->maps.groups), F_DUPFD_CLOEXEC, 0));

	if (!copy)
		fail(errno, "cannot duplicate a descriptor");
	return Groups(std::move(copy));
}

PinLock::PinLock() : directory_(open(bpf_file_system, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
{
	if (!directory_ && errno != ENOENT)
		fail(errno, bpf_file_system);
	while (directory_ && flock(directory_.get(), LOCK_EX) != 0)
		if (errno != EINTR)
			fail(errno, bpf_file_system);
}

void Converter::pin() const
{
	struct statfs info {
	};

	if (statfs(bpf_file_system, &info) != 0 || info.f_type != BPF_FS_MAGIC)
		throw std::runtime_error(fmt::format(
			"there is no BPF file system at {0} (try: mount -t bpf bpf {0})",
			bpf_file_system));
	fs::create_directory(pin_directory);
	if (const int error = bpf_map__pin(program_->maps.groups, pinned_map.c_str()); error != 0)
		fail(-error, pinned_map);
	if (const int error = bpf_link__pin(program_->links.convert, pinned_link.c_str());
	    error != 0) {
		bpf_map__unpin(program_->maps.groups, pinned_map.c_str());
		fail(-error, pinned_link);
	}
}

std::optional<Groups> pinned_groups()
{
	Descriptor map(bpf_obj_get(pinned_map.c_str()));

	if (map)
		return Groups(std::move(map));
	if (errno != ENOENT)
		fail(errno, pinned_map);
	return std::nullopt;
}

void unpin()
{
	fs::remove(pinned_link);
	fs::remove(pinned_map);
	fs::remove(pin_directory);
}

void be_verbose()
{
	verbose = true;
}

} // namespace sdpbpf
