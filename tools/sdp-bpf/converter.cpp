// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "converter.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

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
// Of these a kernel has all or none.
constexpr const char *refusing_hook = "security_socket_connect";

const fs::path pin_directory = fs::path(bpf_file_system) / "sdp";
const fs::path pinned_map = pin_directory / "groups";
const fs::path pinned_policies = pin_directory / "policies";
constexpr const char *module_directory = "/sys/module/sdp";

using ProgramSet = decltype(convert_bpf::progs);
using LinkSet = decltype(convert_bpf::links);

// The programs that refuse, and the names that their links are pinned under.
constexpr struct Refusing {
	const char *name;
	bpf_program *ProgramSet::*program;
	bpf_link *LinkSet::*link;
} refusing_programs[] = {
	{"create", &ProgramSet::create, &LinkSet::create},
	{"bind", &ProgramSet::bind, &LinkSet::bind},
	{"listen", &ProgramSet::listen, &LinkSet::listen},
	{"connect", &ProgramSet::connect, &LinkSet::connect},
	{"fastopen", &ProgramSet::fastopen, &LinkSet::fastopen},
	{"connect4", &ProgramSet::connect4, &LinkSet::connect4},
	{"connect6", &ProgramSet::connect6, &LinkSet::connect6},
};

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
// any TCP socket, so this is asked first. It loads the module, too, unless rules that are
// there already refuse SDP to this process as well.
void require_protocol()
{
	const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SDP));

	if (socket || (errno == EPERM && fs::exists(module_directory)))
		return;
	if (errno == EPERM)
		throw std::runtime_error("SDP is refused to this process, and the module 'sdp' is "
					 "not loaded (try: modprobe sdp)");
	throw Unsupported("this kernel gives no sockets of IPPROTO_SDP: "
			  "the module 'sdp' is not there, or too old");
}

bool has_function(const btf *types, const char *name)
{
	return btf__find_by_name_kind(types, name, BTF_KIND_FUNC) >= 0;
}

struct FreeTypes {
	void operator()(btf *types) const
	{
		btf__free(types);
	}
};

// They are read once, which takes longer than all else here does.
const btf *types_of_kernel()
{
	static const std::unique_ptr<btf, FreeTypes> types(btf__load_vmlinux_btf());

	if (!types)
		throw Unsupported(
			"this kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)");
	return types.get();
}

void require_conversion(const btf *types, const std::string &reason)
{
	require_protocol();
	if (!has_function(types, hook))
		throw Unsupported(fmt::format("{}this kernel has no hook {}; Linux 6.6 and later "
					      "have it, if built with CONFIG_MPTCP",
					      reason, hook));
}

// A program for a hook that this kernel has not is not even loaded. The names of the
// programs are the shorter ones of the hooks.
void choose_programs(const convert_bpf &program, Programs wanted)
{
	const btf *const types = types_of_kernel();
	const auto &progs = program.progs;
	const bool refuses = wanted != Programs::converting && has_function(types, refusing_hook);

	bpf_program__set_autoload(progs.convert,
				  wanted != Programs::refusing && has_function(types, hook));
	for (const Refusing &refusing : refusing_programs)
		bpf_program__set_autoload(progs.*refusing.program, refuses);
}

void reuse(bpf_map *map, int descriptor)
{
	if (const int error = bpf_map__reuse_fd(map, descriptor); error != 0)
		fail(-error, "cannot use a table of the programs that are at work");
}

} // namespace

void require_support(const std::optional<Policy> &policy)
{
	libbpf_set_print(print);
	const btf *const types = types_of_kernel();

	if (!policy)
		require_conversion(types, "");
	else if (!policy->converts.empty())
		require_conversion(types, policy->converts + ": ");
	if (!policy)
		return;
	if (!has_function(types, refusing_hook))
		throw Unsupported(fmt::format("this kernel has no hook {} for rules "
					      "(CONFIG_SECURITY_NETWORK)",
					      refusing_hook));
	require_root();
}

// The rules come first: a group that is there without any is converted.
void Groups::add(GroupId id, const std::optional<Policy> &policy) const
{
	const sdp_bpf_group group{};

	if (policy)
		set_policy(id, *policy);
	else
		drop_policy(id);
	if (bpf_map_update_elem(map_.get(), &id, &group, BPF_NOEXIST) != 0 && errno != EEXIST)
		fail(errno, "cannot add a control group");
}

// Whoever asks meanwhile is told by the old ones or by the new ones, and not by both.
void Groups::set_policy(GroupId id, const Policy &policy) const
{
	bpf_map_create_opts options{};
	const auto count = static_cast<__u32>(policy.rules.size());

	options.sz = sizeof(options);
	options.map_flags = BPF_F_INNER_MAP;
	const Descriptor rules(bpf_map_create(BPF_MAP_TYPE_ARRAY, "sdp_rules", sizeof(__u32),
					      sizeof(sdp_bpf_rule), count, &options));

	if (!rules)
		fail(errno, "cannot create a table of rules");
	for (__u32 i = 0; i < count; i++)
		if (bpf_map_update_elem(rules.get(), &i, &policy.rules[i], BPF_ANY) != 0)
			fail(errno, "cannot add a rule");
	const int fd = rules.get();

	if (bpf_map_update_elem(policies_.get(), &id, &fd, BPF_ANY) != 0)
		fail(errno, "cannot set the rules of a control group");
}

void Groups::drop_policy(GroupId id) const
{
	if (bpf_map_delete_elem(policies_.get(), &id) != 0 && errno != ENOENT)
		fail(errno, "cannot drop the rules of a control group");
}

bool Groups::remove(GroupId id) const
{
	const bool was_there = bpf_map_delete_elem(map_.get(), &id) == 0;

	if (!was_there && errno != ENOENT)
		fail(errno, "cannot remove a control group");
	drop_policy(id);
	return was_there;
}

std::map<GroupId, GroupState> Groups::list() const
{
	std::map<GroupId, GroupState> found;
	const GroupId *previous = nullptr;
	GroupId id = 0;

	while (bpf_map_get_next_key(map_.get(), previous, &id) == 0) {
		GroupState state;
		__u32 rules = 0;
		if (bpf_map_lookup_elem(map_.get(), &id, &state.counts) == 0) {
			state.has_rules = bpf_map_lookup_elem(policies_.get(), &id, &rules) == 0;
			found.emplace(id, state);
		}
		previous = &id;
	}
	return found;
}

Converter::Converter(Programs wanted, const std::optional<Groups> &groups)
{
	program_.reset(convert_bpf::open());
	if (!program_)
		fail(errno, "cannot open the programs");
	choose_programs(*program_, wanted);
	if (groups) {
		reuse(program_->maps.groups, groups->map());
		reuse(program_->maps.policies, groups->policies());
	}
	if (const int error = convert_bpf::load(program_.get()); error != 0)
		fail(-error, "cannot load the programs");
	if (const int error = convert_bpf::attach(program_.get()); error != 0)
		fail(-error, "cannot attach the programs");
	if (bpf_program__autoload(program_->progs.connect4))
		attach_to_root();
}

// They look themselves whether the process is in a group that is attached.
void Converter::attach_to_root() const
{
	const Descriptor root(open(hierarchy().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	auto &links = program_->links;

	if (!root)
		fail(errno, hierarchy());
	links.connect4 = bpf_program__attach_cgroup(program_->progs.connect4, root.get());
	links.connect6 = bpf_program__attach_cgroup(program_->progs.connect6, root.get());
	if (links.connect4 == nullptr || links.connect6 == nullptr)
		fail(errno, "cannot attach the programs to the control groups' root");
}

Converter::~Converter() = default;

void Converter::Destroy::operator()(convert_bpf *program) const
{
	convert_bpf::destroy(program);
}

namespace
{

Descriptor copy_of(const bpf_map *map)
{
	Descriptor copy(fcntl(bpf_map__fd(map), F_DUPFD_CLOEXEC, 0));

	if (!copy)
		fail(errno, "cannot duplicate a descriptor");
	return copy;
}

} // namespace

Groups Converter::groups() const
{
	return {copy_of(program_->maps.groups), copy_of(program_->maps.policies)};
}

PinLock::PinLock() : directory_(open(bpf_file_system, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
{
	if (!directory_ && errno != ENOENT)
		fail(errno, bpf_file_system);
	while (directory_ && flock(directory_.get(), LOCK_EX) != 0)
		if (errno != EINTR)
			fail(errno, bpf_file_system);
}

namespace
{

void require_file_system()
{
	struct statfs info {
	};

	if (statfs(bpf_file_system, &info) != 0 || info.f_type != BPF_FS_MAGIC)
		throw std::runtime_error(fmt::format(
			"there is no BPF file system at {0} (try: mount -t bpf bpf {0})",
			bpf_file_system));
}

// Programs that this kernel has no hook for have no link.
void pin_link(bpf_link *link, const char *name)
{
	const fs::path path = pin_directory / name;

	if (link == nullptr)
		return;
	if (const int error = bpf_link__pin(link, path.c_str()); error != 0)
		fail(-error, path);
}

void pin_map(bpf_map *map, const fs::path &path)
{
	if (const int error = bpf_map__pin(map, path.c_str()); error != 0)
		fail(-error, path);
}

void pin_refusing_links(const convert_bpf &program)
{
	for (const Refusing &refusing : refusing_programs)
		pin_link(program.links.*refusing.link, refusing.name);
}

void unpin_refusing_links()
{
	for (const Refusing &refusing : refusing_programs)
		fs::remove(pin_directory / refusing.name);
}

// The groups come last: where they are, all is in place.
void pin_all(const convert_bpf &program)
{
	pin_link(program.links.convert, "convert");
	pin_refusing_links(program);
	pin_map(program.maps.policies, pinned_policies);
	pin_map(program.maps.groups, pinned_map);
}

} // namespace

void Converter::pin_refusing() const
{
	unpin_refusing_links();
	pin_refusing_links(*program_);
}

void Converter::pin() const
{
	require_file_system();
	unpin();
	fs::create_directory(pin_directory);
	try {
		pin_all(*program_);
	} catch (...) {
		unpin();
		throw;
	}
}

std::optional<Groups> pinned_groups()
{
	Descriptor map(bpf_obj_get(pinned_map.c_str()));

	if (!map && errno == ENOENT)
		return std::nullopt;
	if (!map)
		fail(errno, pinned_map);
	Descriptor policies(bpf_obj_get(pinned_policies.c_str()));

	if (!policies)
		fail(errno, pinned_policies);
	return Groups(std::move(map), std::move(policies));
}

// The last of them says so of all.
bool is_refusing_pinned()
{
	return fs::exists(pin_directory / std::rbegin(refusing_programs)->name);
}

// The groups first: what is left then counts as nothing, whatever happens now.
void unpin()
{
	fs::remove(pinned_map);
	fs::remove_all(pin_directory);
}

void be_verbose()
{
	verbose = true;
}

} // namespace sdpbpf
