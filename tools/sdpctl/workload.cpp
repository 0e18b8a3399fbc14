// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "workload.h"

#include "../common/number.h"

#include <algorithm>
#include <initializer_list>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

namespace sdpctl
{
namespace
{

// What an idle connection is charged, and takes in all with its device (architecture.rst).
constexpr std::uint64_t charged_bytes = std::uint64_t(12) * 4096;
constexpr std::uint64_t idle_bytes = 84'000;

// By how much the kernel's account may lag behind, for each processor (sysctl.rst).
constexpr std::uint64_t lag_bytes = 1 << 20;

std::string present(const Facts &facts, const std::string &name)
{
	const auto found = facts.present.find(name);

	return found == facts.present.end() ? std::string() : found->second;
}

bool is_one_of(std::string_view value, std::initializer_list<std::string_view> values)
{
	return std::find(values.begin(), values.end(), value) != values.end();
}

/** Gathers judgements of settings that are there. */
class Judge
{
public:
	explicit Judge(const Facts &facts) : facts_(facts)
	{
	}

	[[nodiscard]] std::string value(const std::string &setting) const
	{
		return present(facts_, setting);
	}

	[[nodiscard]] DeviceKind device() const
	{
		return facts_.machine.kind();
	}

	void propose(const std::string &setting, const std::string &proposed,
		     const std::string &reason, const std::string &source)
	{
		const std::string now = value(setting);

		if (!now.empty())
			judgements_.push_back({setting, now, proposed, reason, source});
	}

	void keep(const std::string &setting, const std::string &reason, const std::string &source)
	{
		propose(setting, value(setting), reason, source);
	}

	/** What it will be: as proposed, or as it is. */
	[[nodiscard]] std::string outcome(const std::string &setting) const
	{
		for (const Judgement &judgement : judgements_)
			if (judgement.setting == setting)
				return judgement.proposed;
		return value(setting);
	}

	[[nodiscard]] Judgements take()
	{
		return std::move(judgements_);
	}

private:
	const Facts &facts_;
	Judgements judgements_;
};

// ---- settings that several workloads have to do with ----

// What is as it should be is judged as well, so that it is in the file whenever that is made.
void judge_early_reads(Judge &judge)
{
	if (judge.device() == DeviceKind::soft_roce)
		judge.propose(
			"zcopy_recv", "sync",
			"reads that return early take 643 microseconds one way for 64 KiB, and "
			"stream 1552 Mbit/s of 1 MiB; those that wait 593 and 1763 (Linux "
			"6.12, AZ-SDP both and offer)",
			"benchmarks.rst, figures z6a and z6b");
}

// Soft-RoCE's own work, which is the same either way, hides what is lost from 64 KiB on; an
// adapter has none.
void judge_threshold(Judge &judge)
{
	const bool adapter = judge.device() == DeviceKind::adapter;
	const std::string now = judge.value("zcopy_threshold");
	const std::uint64_t least = adapter ? 262144 : 65536;
	const bool is_low = sdp::parse_number<std::uint64_t>(now).value_or(0) < least;

	if ((adapter || judge.device() == DeviceKind::soft_roce) && judge.outcome("zcopy") != "off")
		judge.propose(
			"zcopy_threshold", is_low ? std::to_string(least) : now,
			"without a copy the sending host takes 1.31 of the instructions that "
			"copying takes at 16 KiB, 1.05 at 64 KiB and 0.69 at 256 KiB, the device's "
			"own left out (Linux 6.1, Soft-RoCE)",
			"benchmarks.rst, figure zcpu");
}

// ---- latency ----

void judge_latency_on_soft_roce(Judge &judge)
{
	const std::string source = "benchmarks.rst, figure z6a";

	if (judge.value("zcopy") == "sync")
		judge.propose(
			"zcopy", "off",
			"64 KiB take 234 microseconds one way by copy, and 486 with sync "
			"(Linux 6.1, credit, zcopy_threshold=4096, a wire of 50 microseconds)",
			source);
	else
		judge.keep("zcopy",
			   "off and async take the same for 16 KiB and less, and async 1.05 of off "
			   "at 64 KiB (Linux 6.1, credit, a wire of 50 microseconds)",
			   source);
	if (judge.value("zcopy") == "async")
		judge.propose(
			"zcopy_direct",
			judge.value("zcopy_direct") == "0" ? "262144" : judge.value("zcopy_direct"),
			"64 KiB take 593 microseconds one way if they are offered to be read, "
			"and 297 straight from their pages (Linux 6.12)",
			source);
	judge_early_reads(judge);
}

void judge_latency_zcopy(Judge &judge)
{
	switch (judge.device()) {
	case DeviceKind::soft_roce:
		return judge_latency_on_soft_roce(judge);
	case DeviceKind::iwarp:
		return judge.keep("zcopy",
				  "on one machine 1 MiB takes 507 microseconds by copy, 259 with "
				  "sync and 260 with async, and 64 KiB and less the same within 5 "
				  "% (Linux 6.1); over a wire it was not measured",
				  "benchmarks.rst, figure here-lat");
	default:
		return judge.keep("zcopy", "with such a device it was not measured",
				  "benchmarks.rst, figure z6a");
	}
}

Judgements judge_latency(const Facts &facts)
{
	Judge judge(facts);

	judge.keep("flow_control",
		   "all engines are within 1 % of each other to 4 KiB, and within 4 % to 64 KiB "
		   "(Linux 6.1, by copy)",
		   "benchmarks.rst, figure 4a");
	judge_latency_zcopy(judge);
	return judge.take();
}

// ---- streams of small messages ----

Judgements judge_messages(const Facts &facts)
{
	Judge judge(facts);
	const std::string now = judge.value("flow_control");

	if (now == "credit")
		judge.propose(
			"flow_control", "auto",
			"nic has 10.3 times the bandwidth of credit at 64 B, 4.1 times at 1 KiB "
			"and 1.5 times at 4 KiB (Linux 6.1, 8 buffers of 8 KiB), and auto is "
			"within 5 % of the best engine",
			"benchmarks.rst, figure 4b");
	else if (now == "rdma")
		judge.propose("flow_control", "auto",
			      "with 1 ms and more of computation between bursts rdma takes 1.09 to "
			      "1.13 times as long as nic (Linux 6.1, 8 buffers of 8 KiB), and auto "
			      "is within 5 % of the best engine",
			      "benchmarks.rst, figure 5");
	else
		judge.keep("flow_control",
			   "auto is within 5 % of the best engine from 64 B to 1 MiB (qperf and "
			   "iperf3, all else by default), which for small messages is nic",
			   "benchmarks.rst, The figures in short");
	return judge.take();
}

// ---- large writes ----

void judge_bulk_on_soft_roce(Judge &judge)
{
	const std::string source = "benchmarks.rst, The figures in short";

	if (is_one_of(judge.value("zcopy"), {"off", "sync"}))
		judge.propose(
			"zcopy", "async",
			"async has 1.01, 1.06, 1.02 and 1.05 of off's throughput at 64, 128 and "
			"256 KiB and 1 MiB, and 1.72 to 1.07 of sync's (Linux 6.1, credit, "
			"zcopy_fault_limit=100, a wire of 50 microseconds)",
			source);
	else
		judge.keep("zcopy", "async is 1 to 6 % ahead of off from 64 KiB on (Linux 6.1)",
			   source);
}

void judge_bulk_on_threaded_soft_roce(Judge &judge)
{
	const std::string source = "benchmarks.rst, figure z6b";

	if (judge.value("zcopy") == "sync")
		judge.propose("zcopy", "off",
			      "by copy 64 KiB have 1753 Mbit/s and 1 MiB 1801, with sync 1024 and "
			      "1660 (Linux 6.12, credit, a wire of 50 microseconds)",
			      source);
	else
		judge.keep("zcopy",
			   "off and async are within 3 % of each other (Linux 6.12): Soft-RoCE "
			   "copies all bytes by the processor, whichever way they go",
			   source);
}

void judge_bulk_on_adapter(Judge &judge)
{
	const std::string source = "benchmarks.rst, figure zcpu";

	if (judge.value("zcopy") == "off")
		judge.propose(
			"zcopy", "async",
			"the sending host takes 0.69 of the instructions for a byte at 256 KiB "
			"and 0.26 at 1 MiB, the device's own left out (Linux 6.1, Soft-RoCE; no "
			"adapter was measured); both ends need it",
			source);
	else if (judge.value("zcopy") == "sync")
		judge.propose(
			"zcopy", "async",
			"the sending host takes 0.26 of the instructions that copying takes for "
			"a byte at 1 MiB, and with sync 0.41, the device's own left out (Linux "
			"6.1, Soft-RoCE; no adapter was measured)",
			source);
	else
		judge.keep(
			"zcopy",
			"async takes 0.26 of the sending host's instructions for a byte at 1 MiB",
			source);
}

void judge_bulk_zcopy(const Machine &machine, Judge &judge)
{
	switch (judge.device()) {
	case DeviceKind::adapter:
		return judge_bulk_on_adapter(judge);
	case DeviceKind::soft_roce:
		return machine.has_threaded_soft_roce() ? judge_bulk_on_threaded_soft_roce(judge)
							: judge_bulk_on_soft_roce(judge);
	default:
		return judge.keep("zcopy", "over the wire of such devices it was not measured",
				  "benchmarks.rst, figure z6b");
	}
}

void judge_bulk_flow(const Machine &machine, Judge &judge)
{
	const std::string source = "benchmarks.rst, figure peers";
	const std::string now = judge.value("flow_control");
	const std::string threaded =
		"from 64 KiB on buffers, which auto keeps for long messages, have 1.01 to 1.02 of "
		"the bandwidth of ib_send_bw, and rings 0.98 (Linux 6.12)";

	if (machine.has_threaded_soft_roce())
		judge.propose("flow_control", is_one_of(now, {"nic", "rdma"}) ? "auto" : now,
			      threaded, source);
	else if (judge.device() != DeviceKind::soft_roce)
		judge.keep("flow_control", "over such a device it was not measured", source);
	else
		judge.keep("flow_control",
			   "credit and nic have both 2419 Mbit/s at 64 KiB, and 2429 and 2519 at 1 "
			   "MiB (Linux 6.1, 16 buffers of 64 KiB); auto is within 5 % of the best "
			   "engine",
			   source);
}

Judgements judge_bulk(const Facts &facts)
{
	Judge judge(facts);

	judge_bulk_flow(facts.machine, judge);
	judge_bulk_zcopy(facts.machine, judge);
	judge_threshold(judge);
	judge_early_reads(judge);
	return judge.take();
}

// ---- many connections ----

std::uint64_t third_number(const std::string &mem)
{
	std::istringstream words(mem);
	std::uint64_t low = 0;
	std::uint64_t pressure = 0;
	std::uint64_t high = 0;

	words >> low >> pressure >> high;
	return high;
}

std::uint64_t pages_for(const Facts &facts)
{
	const Machine &machine = facts.machine;

	return (facts.connections * charged_bytes + machine.processors * lag_bytes) / machine.page;
}

std::uint64_t connections_for(const Machine &machine, std::uint64_t pages)
{
	const std::uint64_t bytes = pages * machine.page;
	const std::uint64_t lag = machine.processors * lag_bytes;

	return bytes < lag ? 0 : (bytes - lag) / charged_bytes;
}

// In the proportion of the default, 3 to 4 to 6.
std::string mem_of(std::uint64_t high)
{
	return fmt::format("{} {} {}", high / 2, high / 3 * 2, high);
}

// Programs have to have memory as well, and connections that are busy.
void check_memory_for(const Facts &facts)
{
	const std::uint64_t wanted = facts.connections * idle_bytes;

	if (wanted > facts.machine.memory / 2)
		throw std::runtime_error(fmt::format(
			"{} idle connections take {} MiB, 84 kB each with Soft-RoCE "
			"(architecture.rst, Memory), which is more than half of this machine's {} "
			"MiB",
			facts.connections, wanted >> 20, facts.machine.memory >> 20));
}

void check_mem_is_here(const Facts &facts)
{
	if (facts.connections != 0 && present(facts, "mem").empty())
		throw std::runtime_error("--connections is about net.sdp.mem, which only the "
					 "initial network namespace has");
}

void judge_mem(const Facts &facts, Judge &judge)
{
	const std::string source = "sysctl.rst, Memory";
	const std::uint64_t high = third_number(judge.value("mem"));
	const std::string what = fmt::format(
		"an idle connection is charged 12 pages, and the account lags behind by up to 1 "
		"MiB "
		"for each of {} processors: the third number is for {} connections now",
		facts.machine.processors, connections_for(facts.machine, high));

	if (high < pages_for(facts) && facts.connections != 0)
		judge.propose("mem", mem_of(pages_for(facts)), what, source);
	else
		judge.keep("mem",
			   facts.connections != 0
				   ? what
				   : what + "; --connections says how many there shall be",
			   source);
}

Judgements judge_connections(const Facts &facts)
{
	Judge judge(facts);

	check_mem_is_here(facts);
	check_memory_for(facts);
	judge_mem(facts, judge);
	const std::string source = "architecture.rst, Memory";

	if (is_one_of(judge.value("flow_control"), {"rdma", "nic"}))
		judge.propose(
			"flow_control", "auto",
			"an idle end takes 112 kB with rdma and 109 kB with nic, and with auto "
			"what it takes with credit, 84 kB (Linux 6.1, Soft-RoCE)",
			source);
	else
		judge.keep("flow_control",
			   "an idle end takes 84 kB with auto and credit, the least that there is "
			   "(Linux 6.1, Soft-RoCE)",
			   source);
	return judge.take();
}

// ---- both programs on this machine ----

void judge_local_iwarp(Judge &judge)
{
	const std::string source = "benchmarks.rst, On one machine";

	if (is_one_of(judge.value("zcopy"), {"off", "sync"}))
		judge.propose(
			"zcopy", "async",
			"async has 35885 Mbit/s at 1 MiB, sync 32736 and off 16201; at 64 KiB "
			"14770, 13139 and 14669 (Linux 6.1, iwarp.ko)",
			source);
	else
		judge.keep("zcopy", "async has 35885 Mbit/s at 1 MiB, and off 16201", source);
}

Judgements judge_local(const Facts &facts)
{
	Judge judge(facts);

	if (judge.device() == DeviceKind::iwarp)
		judge_local_iwarp(judge);
	else
		judge.propose("local", "1",
			      "without the device redis-benchmark has 1.36 of TCP's answers, and "
			      "qperf 2.48 of its bandwidth at 64 KiB; over it redis has 0.63 "
			      "(Linux 6.1, Soft-RoCE, all else by default)",
			      "benchmarks.rst, On one machine, without a device");
	return judge.take();
}

} // namespace

const std::vector<Workload> &workloads()
{
	static const std::vector<Workload> all = {
		{"latency", "questions and answers, one at a time", judge_latency},
		{"messages", "streams of messages of up to 4 KiB", judge_messages},
		{"bulk", "writes of 64 KiB and more, whose memory is not written to at once",
		 judge_bulk},
		{"connections", "thousands of connections, most of them idle", judge_connections},
		{"local", "both programs on this machine", judge_local},
	};

	return all;
}

} // namespace sdpctl
