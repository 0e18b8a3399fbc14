// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "resources.h"

#include "../common/number.h"
#include "../sdpstat/table.h"
#include "fabric.h"

#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

namespace sdpctl
{
namespace
{

using libsdp::first_line;

std::string setting(const Places &places, const std::string &name)
{
	return first_line(places.proc / "sys/net/sdp" / name);
}

// Only what is sent and read without a copy counts against the limit, while it is on
// its way.
Check check_memlock(const Places &places, MemLock memlock)
{
	const std::string zcopy = setting(places, "zcopy");
	const auto threshold =
		sdp::parse_number<std::uint64_t>(setting(places, "zcopy_threshold")).value_or(0);
	const std::string limit =
		memlock.unlimited ? std::string("this user may lock all memory")
				  : fmt::format("this user may lock {} KiB", memlock.bytes / 1024);

	if (memlock.unlimited || memlock.bytes >= threshold)
		return {"memlock", Status::ok, limit, ""};
	return {"memlock", zcopy == "off" ? Status::warning : Status::wrong,
		fmt::format("{}, less than the shortest transfer without a copy has ({} bytes)",
			    limit, threshold),
		"raise it: ulimit -l, limits.conf(5), or LimitMEMLOCK= of the service"};
}

std::int64_t statistic(const Places &places, const std::string &wanted)
{
	std::ifstream input(places.proc / "net/sdpstats");

	for (const sdpstat::Counter &counter : sdpstat::parse_counters(input))
		if (counter.name == wanted)
			return counter.value;
	return 0;
}

Check check_memory(const Places &places)
{
	std::istringstream words(setting(places, "mem"));
	const std::int64_t used = statistic(places, "MemPages");
	std::int64_t low = 0;
	std::int64_t pressure = 0;
	std::int64_t high = 0;
	const char *advice = "raise net.sdp.mem";

	if (!(words >> low >> pressure >> high))
		return {"memory", Status::unknown,
			"net.sdp.mem is the initial network namespace's alone", ""};
	const std::string what = fmt::format("{} of {} pages are in use", used, high);

	if (used > high)
		return {"memory", Status::wrong, what + ": new connections are refused", advice};
	if (statistic(places, "MemPressure") != 0)
		return {"memory", Status::warning, what + ": no buffer grows", advice};
	return {"memory", Status::ok, what, ""};
}

Check check_settings(const Places &places)
{
	std::string off;
	const auto note = [&off](bool is_off, const char *what) {
		if (is_off)
			off += (off.empty() ? "" : "; ") + std::string(what);
	};

	note(setting(places, "max_orphans") == "0",
	     "net.sdp.max_orphans=0 resets each connection when its socket is closed");
	note(setting(places, "zcopy") != "off" && setting(places, "zcopy_mem") == "0",
	     "net.sdp.zcopy_mem=0 has everything copied, against net.sdp.zcopy");
	note(setting(places, "local") == "0",
	     "net.sdp.local=0 has connections within this host use the device");
	note(first_line(places.sys / "module/sdp/parameters/ulp") == "N",
	     "ulp=0 of the module has devices of iwarp.ko used by their verbs only");
	if (!off.empty())
		return {"settings", Status::warning, off, "sysctl.rst has the defaults"};
	return {"settings", Status::ok,
		fmt::format("flow_control={} zcopy={} tcp_fallback={}",
			    setting(places, "flow_control"), setting(places, "zcopy"),
			    setting(places, "tcp_fallback")),
		""};
}

// All users' since the module was loaded; they say what has been, and not what is wrong.
Check check_fallbacks(const Places &places)
{
	std::string text;

	for (const char *name : {"FallbackNoDevice", "FallbackUnreachable", "FallbackRefused",
				 "FallbackTimeout", "FallbackResources"})
		if (const std::int64_t count = statistic(places, name); count != 0)
			text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
	return {"fallbacks", Status::ok,
		text.empty() ? "no connection has fallen back to TCP" : "so far: " + text, ""};
}

bool has_cap_ipc_lock()
{
	constexpr unsigned cap_ipc_lock = 14;
	std::ifstream input("/proc/self/status");
	std::string word;
	std::string mask;

	while (input >> word)
		if (word == "CapEff:" && input >> mask)
			return ((sdp::parse_number<std::uint64_t>(mask, 16).value_or(0) >>
				 cap_ipc_lock) &
				1) != 0;
	return false;
}

} // namespace

MemLock own_memlock()
{
	rlimit limit{};

	getrlimit(RLIMIT_MEMLOCK, &limit);
	return {.bytes = limit.rlim_cur,
		.unlimited = limit.rlim_cur == RLIM_INFINITY || has_cap_ipc_lock()};
}

Report check_resources(const Places &places, MemLock memlock)
{
	return {check_memlock(places, memlock), check_memory(places), check_settings(places),
		check_fallbacks(places)};
}

} // namespace sdpctl
