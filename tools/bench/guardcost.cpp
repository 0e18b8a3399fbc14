// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * guardcost: what it takes to copy a page of memory, to protect it while it is
 * sent, and to use it afterwards. The module guardcost.ko does and times the
 * kernel's part; without it, only what needs no module is measured.
 */
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../common/descriptor.h"
#include "guardcost/guardcost.h"
#include "stats.h"

namespace
{

using Clock = std::chrono::steady_clock;

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t length = GUARDCOST_PAGES * page;
// More than processors have of caches.
constexpr std::size_t evicting = std::size_t{64} << 20;

static_assert(length == huge_page);

[[noreturn]] void fail(const char *what)
{
	throw std::system_error(errno, std::generic_category(), what);
}

/** Memory of a program: a transparent huge page, or small ones. */
class Memory
{
public:
	explicit Memory(bool huge)
	{
		map_ = ::mmap(nullptr, 2 * huge_page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (map_ == MAP_FAILED)
			fail("cannot map memory");
		const auto address = reinterpret_cast<std::uintptr_t>(map_);
		begin_ = static_cast<char *>(map_) + (huge_page - address % huge_page);
		if (::madvise(begin_, length, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
			fail("cannot choose the size of pages");
		std::memset(begin_, 1, length);
	}
	Memory(const Memory &) = delete;
	Memory &operator=(const Memory &) = delete;
	Memory(Memory &&) = delete;
	Memory &operator=(Memory &&) = delete;
	~Memory()
	{
		::munmap(map_, 2 * huge_page);
	}

	[[nodiscard]] char *begin() const
	{
		return begin_;
	}

	/** Write to each page. @return nanoseconds. */
	[[nodiscard]] double write() const
	{
		const Clock::time_point start = Clock::now();

		for (std::size_t at = 0; at < length; at += page)
			*const_cast<volatile char *>(begin_ + at) = 2;
		return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
	}

private:
	void *map_;
	char *begin_;
};

/** Fill the caches with something else. */
void evict()
{
	static std::vector<char> other(evicting);
	static char value;

	std::memset(other.data(), ++value, other.size());
}

/** What is measured: named columns of nanoseconds for a page of 4 KiB. */
using Columns = std::map<std::string, std::vector<double>>;

void note(Columns &columns, const char *name, double nanoseconds)
{
	columns[name].push_back(nanoseconds / GUARDCOST_PAGES);
}

/** The module's device. */
class Device
{
public:
	explicit Device(std::string guard)
		: device_(::open("/dev/guardcost", O_RDWR | O_CLOEXEC)), guard_(std::move(guard))
	{
		if (device_.get() < 0)
			fail("cannot open /dev/guardcost");
	}

	[[nodiscard]] double copy(const Memory &memory) const
	{
		return step(GUARDCOST_COPY, memory, "cannot copy");
	}
	[[nodiscard]] double protect(const Memory &memory) const
	{
		return step(GUARDCOST_PROTECT, memory, "cannot protect");
	}
	[[nodiscard]] double release(const Memory &memory) const
	{
		return step(GUARDCOST_RELEASE, memory, "cannot let go");
	}
	[[nodiscard]] double give(const Memory &memory) const
	{
		return step(GUARDCOST_GIVE, memory, "cannot give back");
	}

private:
	[[nodiscard]] double step(unsigned long request, const Memory &memory,
				  const char *what) const
	{
		guardcost step{};

		step.addr = reinterpret_cast<std::uintptr_t>(memory.begin());
		guard_.copy(step.guard, sizeof(step.guard) - 1);
		if (::ioctl(device_.get(), request, &step))
			fail(what);
		return static_cast<double>(step.ns);
	}

	sdp::Descriptor device_;
	std::string guard_;
};

void measure_copy(Columns &columns, const Device &device, const Memory &memory)
{
	static_cast<void>(device.copy(memory));
	note(columns, "warm", device.copy(memory));
	evict();
	note(columns, "cold", device.copy(memory));
	note(columns, "after", memory.write());
}

// A program that writes to its memory when it is sent, and one that writes early.
void measure_guard(Columns &columns, const Device &device, bool huge, bool early)
{
	const Memory memory(huge);

	static_cast<void>(device.protect(memory));
	static_cast<void>(device.release(memory));
	static_cast<void>(memory.write());
	const double warm = device.protect(memory);
	note(columns, "warm", warm + device.release(memory));
	note(columns, "after", memory.write());
	evict();
	const double cold = device.protect(memory);
	evict();
	note(columns, "cold", cold + device.release(memory));
	note(columns, "given", device.give(memory));
	static_cast<void>(memory.write());
	if (!early)
		return;
	static_cast<void>(device.protect(memory));
	note(columns, "early", memory.write());
	static_cast<void>(device.release(memory));
}

double timed_protection(const Memory &memory)
{
	const Clock::time_point start = Clock::now();

	if (::mprotect(memory.begin(), length, PROT_READ) ||
	    ::mprotect(memory.begin(), length, PROT_READ | PROT_WRITE))
		fail("cannot protect memory");
	return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// Work on page tables that needs no module, to compare machines by.
void measure_mprotect(Columns &columns, const Memory &memory)
{
	static_cast<void>(timed_protection(memory));
	static_cast<void>(memory.write());
	note(columns, "warm", timed_protection(memory));
	note(columns, "after", memory.write());
	evict();
	note(columns, "cold", timed_protection(memory));
}

double timed_copy(const Memory &memory, std::vector<char> &to)
{
	const Clock::time_point start = Clock::now();

	std::memcpy(to.data(), memory.begin(), length);
	return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// As a copy by the kernel, for machines without the module.
void measure_memcpy(Columns &columns, const Memory &memory)
{
	std::vector<char> to(length);

	static_cast<void>(timed_copy(memory, to));
	note(columns, "warm", timed_copy(memory, to));
	evict();
	note(columns, "cold", timed_copy(memory, to));
}

void measure(Columns &columns, const std::string &what, bool huge)
{
	if (what == "mprotect")
		measure_mprotect(columns, Memory(huge));
	else if (what == "memcpy")
		measure_memcpy(columns, Memory(huge));
	else if (what == "off")
		measure_copy(columns, Device(what), Memory(huge));
	else
		measure_guard(columns, Device(what), huge, what == "copy");
}

void run(const std::string &what, bool huge, unsigned repeat, const std::string &json)
{
	Columns columns;
	nlohmann::ordered_json object;

	for (unsigned i = 0; i < repeat; i++)
		measure(columns, what, huge);
	for (const auto &[name, values] : columns) {
		object[name] = sdpbench::median(values);
		fmt::print("{:<10}{:<6}{:>10.1f} ns per 4 KiB\n", what, name,
			   sdpbench::median(values));
	}
	if (!json.empty())
		std::ofstream(json)
			<< nlohmann::ordered_json::array({object}).dump(1, '\t') << '\n';
}

} // namespace

int main(int argc, char **argv)
{
	try {
		CLI::App app(
			"Measure what it takes to copy memory, or to protect it while it is sent.");
		std::string what = "memcpy";
		std::string json;
		bool huge = false;
		unsigned repeat = 9;

		app.add_option("--guard", what,
			       "off: a copy; copy, block: a guard of net.sdp.zcopy_fault; these "
			       "need guardcost.ko; memcpy, mprotect: what needs no module")
			->check(CLI::IsMember({"off", "copy", "block", "memcpy", "mprotect"}))
			->capture_default_str();
		app.add_flag("--huge", huge, "transparent huge pages of 2 MiB");
		app.add_option("--repeat", repeat, "how often; the median counts")
			->check(CLI::Range(1, 10000))
			->capture_default_str();
		app.add_option("--json", json, "write the results to this file too")
			->type_name("FILE");
		CLI11_PARSE(app, argc, argv);
		run(what, huge, repeat, json);
		return EXIT_SUCCESS;
	} catch (const std::exception &error) {
		fmt::print(stderr, "guardcost: {}\n", error.what());
		return EXIT_FAILURE;
	}
}
