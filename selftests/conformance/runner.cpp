// SPDX-License-Identifier: GPL-2.0
#include "runner.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace conformance
{

namespace
{

/*
 * Of a run at scale 1, of which five share the machine; longer than conditions are
 * waited for.
 */
constexpr long watchdog_ms = 60000;

/** A run in a process group of its own. */
class Child
{
public:
	Child(const Case &test, Family family, Door door, const Options &options)
		: limit_(now_ms() + watchdog_ms * options.scale)
	{
		pid_ = fork();
		if (pid_ == 0)
			run(test, family, door, options);
		setpgid(pid_, pid_);
	}
	Outcome finish();

private:
	[[noreturn]] void run(const Case &test, Family family, Door door, const Options &options);
	bool wait_until(long end, int &status) const;
	void describe_hang();
	void describe_end(int status);

	Trace trace_;
	pid_t pid_;
	long limit_;
	Outcome outcome_;
};

void Child::run(const Case &test, Family family, Door door, const Options &options)
{
	Run context(family, door, test.ipv6, options, trace_);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	count_signal(SIGPIPE, SA_RESTART);
	try {
		test.body(context);
	} catch (const std::exception &e) {
		context.fail(e.what());
	}
	_exit(0);
}

bool Child::wait_until(long end, int &status) const
{
	const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
	pollfd p = {.fd = fd, .events = POLLIN, .revents = 0};
	const long left = end - now_ms();

	::poll(&p, 1, left > 0 ? static_cast<int>(left) : 0);
	close(fd);
	return waitpid(pid_, &status, WNOHANG) == pid_;
}

// Where the tasks of a process are, as far as the kernel tells.
void Child::describe_hang()
{
	const std::string tasks = fmt::format("/proc/{}/task", pid_);
	const std::string current = trace_.current();
	std::error_code ignored;

	outcome_.failure = "hangs in " + (current.empty() ? "the case itself" : current);
	for (const auto &entry : std::filesystem::directory_iterator(tasks, ignored)) {
		std::ifstream file(entry.path() / "stack");
		std::string line;

		while (std::getline(file, line))
			outcome_.failure +=
				fmt::format("\n{}: {}", entry.path().filename().string(), line);
	}
}

void Child::describe_end(int status)
{
	outcome_.failure = trace_.failure();
	if (!outcome_.failure.empty())
		return;
	if (WIFSIGNALED(status))
		outcome_.failure = fmt::format("ended by signal {}", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		outcome_.failure = fmt::format("exit status {}", WEXITSTATUS(status));
	if (!outcome_.failure.empty() && !trace_.current().empty())
		outcome_.failure += " in " + trace_.current();
}

Outcome Child::finish()
{
	int status = 0;

	if (wait_until(limit_, status)) {
		describe_end(status);
	} else {
		describe_hang();
		kill(-pid_, SIGKILL);
		if (!wait_until(now_ms() + 5000, status))
			outcome_.failure += "\nand cannot be killed";
	}
	/* What it has left behind must not disturb the next one. */
	kill(-pid_, SIGKILL);
	while (waitpid(-pid_, nullptr, WNOHANG) > 0)
		continue;
	outcome_.lines = trace_.lines();
	return std::move(outcome_);
}

constexpr const char *sides[2] = {"tcp", "sdp"};

std::string line_at(const Outcome &run, std::size_t i)
{
	return i < run.lines.size() ? run.lines[i] : "(nothing)";
}

void add_reason(Comparison &result, const std::string &reason)
{
	if (result.why.find(reason) == std::string::npos)
		result.why += (result.why.empty() ? "" : "; ") + reason;
}

void compare_lines(Comparison &result, const AcceptedTable &accepted)
{
	const std::size_t count =
		std::max(result.runs[0].lines.size(), result.runs[1].lines.size());

	for (std::size_t i = 0; i < count; i++) {
		const std::string tcp = line_at(result.runs[0], i);
		const std::string sdp = line_at(result.runs[1], i);

		if (tcp == sdp)
			continue;
		if (const Accepted *entry =
			    accepted.find(result.name, door_name(result.door), tcp, sdp)) {
			add_reason(result, entry->reason);
			if (result.verdict == Verdict::equal)
				result.verdict = Verdict::accepted;
			continue;
		}
		if (result.verdict != Verdict::different)
			result.why = fmt::format("line {} differs", i + 1);
		result.verdict = Verdict::different;
		result.details.push_back(fmt::format("line {}, {}: {}", i + 1, sides[0], tcp));
		result.details.push_back(fmt::format("line {}, {}: {}", i + 1, sides[1], sdp));
	}
}

void split_into(std::vector<std::string> &lines, const std::string &text)
{
	std::size_t begin = 0;

	while (begin <= text.size()) {
		const std::size_t end = std::min(text.find('\n', begin), text.size());
		lines.push_back(text.substr(begin, end - begin));
		begin = end + 1;
	}
}

void judge(Comparison &result, const AcceptedTable &accepted)
{
	accepted.tried(result.name, door_name(result.door));
	for (int i = 0; i < 2; i++) {
		const Outcome &run = result.runs[i];
		const std::string what = fmt::format("{}: {}", sides[i], run.failure);

		if (run.failure.empty())
			continue;
		add_reason(result, what.substr(0, what.find('\n')));
		result.verdict = Verdict::failed;
		split_into(result.details, what);
		if (!run.lines.empty())
			result.details.push_back("after: " + run.lines.back());
	}
	if (result.verdict != Verdict::failed)
		compare_lines(result, accepted);
}

// TCP's sockets that those of a door are compared with.
Door measure_of(Door door)
{
	return door == Door::inet6 ? Door::inet6 : Door::inet;
}

} // namespace

std::vector<Comparison> compare(const Case &test, Family other, const std::vector<Door> &doors,
				const Options &options, const AcceptedTable &accepted)
{
	std::map<Door, std::unique_ptr<Child>> tcp;
	std::map<Door, std::unique_ptr<Child>> others;
	std::map<Door, Outcome> measures;
	std::vector<Comparison> results;

	for (const Door door : doors) {
		auto &measure = tcp[measure_of(door)];

		if (test.ipv6 && door == Door::inet6 && doors.size() > 1)
			continue;
		if (!measure)
			measure = std::make_unique<Child>(test, Family::tcp, measure_of(door),
							  options);
		others[door] = std::make_unique<Child>(test, other, door, options);
	}
	for (auto &[door, child] : tcp) {
		if (child)
			measures[door] = child->finish();
	}
	for (auto &[door, child] : others) {
		Comparison result;

		result.name = test.name;
		result.door = door;
		result.runs[0] = measures[measure_of(door)];
		result.runs[1] = child->finish();
		judge(result, accepted);
		results.push_back(std::move(result));
	}
	return results;
}

} // namespace conformance
