// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "tune.h"

#include "../sdpstat/json.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

namespace sdpctl
{
namespace
{

using sdpstat::Json;

// Lines of a comment, which end at a blank.
std::string comment(const std::string &text)
{
	constexpr std::size_t width = 78;
	std::istringstream words(text);
	std::string result;
	std::string line = "#";
	std::string word;

	while (words >> word) {
		if (line.size() + 1 + word.size() > width) {
			result += line + "\n";
			line = "#";
		}
		line += " " + word;
	}
	return result + line + "\n";
}

std::string device_text(const MeasuredDevice &device)
{
	constexpr unsigned measured = 4096;
	std::string text = fmt::format("{} is {}", device.name, name_of(device.kind));

	if (device.packet != 0)
		text += fmt::format(" with packets of {} bytes", device.packet);
	if (device.packet != 0 && device.packet != measured)
		text += fmt::format(" (the figures are of {}: ip link set mtu 4200)", measured);
	if (device.kind == DeviceKind::adapter)
		text += " (no adapter was measured: the figures are of Soft-RoCE)";
	return text;
}

std::string machine_text(const Machine &machine)
{
	std::string text = fmt::format("Linux {}, processors: {}, memory: {} MiB", machine.release,
				       machine.processors, machine.memory >> 20);

	for (const MeasuredDevice &device : machine.devices)
		text += "; " + device_text(device);
	return text + ".";
}

std::string setting_text(const Judgement &judgement)
{
	return comment(fmt::format("{} {} {}: {} [{}].", judgement.setting,
				   judgement.is_change() ? "was" : "stays", judgement.present,
				   judgement.reason, judgement.source)) +
	       fmt::format("net.sdp.{} = {}\n", judgement.setting, judgement.proposed);
}

std::string last_line(const Tuning &tuning)
{
	if (changes_of(tuning.judgements).empty())
		return "# Nothing to set: nothing that was measured is better.\n";
	return tuning.is_set ? "# This is set now.\n" : "# Nothing was set.\n";
}

std::filesystem::path settings_of(const Places &places)
{
	return places.proc / "sys/net/sdp";
}

Json machine_json(const Machine &machine)
{
	Json devices = Json::array();

	for (const MeasuredDevice &device : machine.devices)
		devices.push_back(
			{{"name", device.name},
			 {"kind", name_of(device.kind)},
			 {"packet", device.packet != 0 ? Json(device.packet) : Json(nullptr)}});
	return {{"release", machine.release},
		{"processors", machine.processors},
		{"memory", machine.memory},
		{"devices", std::move(devices)}};
}

} // namespace

std::string workloads_as_text()
{
	std::string text;

	for (const Workload &workload : workloads())
		text += fmt::format("{:12} {}\n", workload.name, workload.meaning);
	return text;
}

std::string workloads_as_json()
{
	Json list = Json::array();

	for (const Workload &workload : workloads())
		list.push_back({{"name", workload.name}, {"meaning", workload.meaning}});
	return sdpstat::dump({{"workloads", std::move(list)}});
}

std::vector<Change> changes_of(const Judgements &judgements)
{
	std::vector<Change> changes;

	for (const Judgement &judgement : judgements)
		if (judgement.is_change())
			changes.push_back(
				{judgement.setting, judgement.present, judgement.proposed});
	return changes;
}

std::string tuning_as_text(const Tuning &tuning)
{
	std::string text = comment(fmt::format("net.sdp for {}: {}.", tuning.workload,
					       workload_of(tuning.workload).meaning)) +
			   comment(machine_text(tuning.machine));

	for (const Judgement &judgement : tuning.judgements)
		text += "\n" + setting_text(judgement);
	return text + "\n" + last_line(tuning);
}

std::string tuning_as_json(const Tuning &tuning)
{
	Json settings = Json::array();

	for (const Judgement &judgement : tuning.judgements)
		settings.push_back({{"name", "net.sdp." + judgement.setting},
				    {"present", judgement.present},
				    {"proposed", judgement.proposed},
				    {"reason", judgement.reason},
				    {"source", judgement.source}});
	return sdpstat::dump({{"workload", tuning.workload},
			      {"machine", machine_json(tuning.machine)},
			      {"settings", std::move(settings)},
			      {"set", tuning.is_set}});
}

const Workload &workload_of(const std::string &name)
{
	const auto found =
		std::find_if(workloads().begin(), workloads().end(),
			     [&](const Workload &workload) { return workload.name == name; });

	if (found == workloads().end())
		throw std::runtime_error(
			fmt::format("no workload: '{}'; sdpctl tune lists them", name));
	return *found;
}

Tuning tune(const Places &places, const Machine &machine, const TuneOptions &options)
{
	const std::filesystem::path directory = settings_of(places);
	const Facts facts = {.machine = machine,
			     .present = read_settings(directory),
			     .connections = options.connections};
	Tuning tuning = {.workload = options.workload,
			 .machine = machine,
			 .judgements = workload_of(options.workload).judge(facts)};
	const auto changes = changes_of(tuning.judgements);

	if (options.dry_run)
		return tuning;
	make_changes(directory, changes);
	tuning.is_set = !changes.empty();
	return tuning;
}

void report(const Places &places, const Tuning &tuning, const std::function<void()> &write)
{
	try {
		write();
	} catch (const std::exception &error) {
		if (!tuning.is_set)
			throw;
		throw ChangeError(error.what() +
				  undo_changes(settings_of(places), changes_of(tuning.judgements)));
	}
}

} // namespace sdpctl
