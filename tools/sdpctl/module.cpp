// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "module.h"

#include "fabric.h"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <fmt/format.h>

namespace sdpctl
{
namespace
{

using libsdp::first_line;

// A line of modinfo's is "NAME:", blanks and a value; empty if there is none.
std::string field_of(const CommandOutcome &modinfo, const std::string &name)
{
	std::istringstream lines(modinfo.output);
	std::string line;

	while (std::getline(lines, line))
		if (line.starts_with(name + ':')) {
			const std::size_t value = line.find_first_not_of(' ', name.size() + 1);

			return value == std::string::npos ? std::string() : line.substr(value);
		}
	return {};
}

Check check_version(const Places &places)
{
	const std::string loaded = first_line(places.sys / "module/sdp/version");

	if (loaded.empty())
		return {"version", Status::unknown, "the module does not say its version", ""};
	if (loaded == SDP_VERSION)
		return {"version", Status::ok, "module and tools are " + loaded, ""};
	return {"version", Status::wrong,
		fmt::format("the loaded module is {}, these tools are " SDP_VERSION, loaded),
		"install the same version of both, then: modprobe -r sdp; modprobe sdp"};
}

Check check_file(const Places &places, const CommandOutcome &modinfo)
{
	const std::string release = kernel_release(places);

	if (modinfo.status == -1)
		return {"module-file", Status::unknown, "there is no modinfo to ask for the module",
			"install kmod"};
	if (modinfo.status != 0)
		return {"module-file", Status::wrong,
			fmt::format("Linux {} has no module sdp on the disk", release),
			fmt::format(
				"install sdp-dkms and linux-headers-{}; dkms status tells whether "
				"it was built",
				release)};
	return {"module-file", Status::ok, field_of(modinfo, "filename"), ""};
}

// The attributes of a variable of the firmware come first, 4 bytes.
bool has_secure_boot(const Places &places)
{
	std::ifstream input(places.sys / "firmware/efi/efivars/"
					 "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
			    std::ios::binary);
	const std::string bytes{std::istreambuf_iterator<char>(input), {}};

	return bytes.size() == 5 && bytes[4] == 1;
}

bool wants_signature(const Places &places)
{
	const std::string lockdown = first_line(places.sys / "kernel/security/lockdown");

	return has_secure_boot(places) ||
	       first_line(places.sys / "module/module/parameters/sig_enforce") == "Y" ||
	       (!lockdown.empty() && lockdown.find("[none]") == std::string::npos);
}

Check check_signature(const Places &places, const CommandOutcome &modinfo)
{
	if (!wants_signature(places))
		return {"signature", Status::ok, "this kernel loads modules without a signature",
			""};
	const std::string signer = field_of(modinfo, "signer");

	if (signer.empty())
		return {"signature", Status::wrong,
			"this kernel loads signed modules only (Secure Boot), and sdp is not "
			"signed",
			"sign it: install.rst, Secure Boot"};
	return {"signature", Status::unknown,
		fmt::format(
			"sdp is signed by '{}'; whether the kernel knows that key, only loading "
			"it tells",
			signer),
		"if modprobe says 'Key was rejected by service': mokutil --import "
		"/var/lib/dkms/mok.pub, and boot"};
}

} // namespace

std::string kernel_release(const Places &places)
{
	return first_line(places.proc / "sys/kernel/osrelease");
}

bool is_loaded(const Places &places)
{
	return !first_line(places.proc / "net/sdpstats").empty();
}

Report check_module(const Places &places)
{
	if (is_loaded(places))
		return {{"module", Status::ok, "sdp is loaded", ""}, check_version(places)};
	return check_absent_module(places, run_command({"modinfo", "sdp"}));
}

Report check_absent_module(const Places &places, const CommandOutcome &modinfo)
{
	Report report = {{"module", Status::wrong, "the module sdp is not loaded", "modprobe sdp"},
			 check_file(places, modinfo)};

	if (report.back().status == Status::ok)
		report.push_back(check_signature(places, modinfo));
	else
		report.front().advice.clear();
	return report;
}

} // namespace sdpctl
