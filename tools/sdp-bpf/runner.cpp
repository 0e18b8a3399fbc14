// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "runner.h"
#include "cgroup.h"
#include "converter.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>

#include <sys/wait.h>
#include <unistd.h>

namespace sdpbpf
{

namespace
{

// The exit codes of env(1), nohup(1) and their kin.
constexpr int exit_own_failure = 125;
constexpr int exit_not_executable = 126;
constexpr int exit_not_found = 127;
constexpr int exit_by_signal = 128;

// Signals that are for the command are held back while it runs. Whoever has
// started us may have had SIGCHLD ignored; then none would ever come.
class HeldSignals
{
public:
	HeldSignals()
	{
		struct sigaction usual {
		};

		usual.sa_handler = SIG_DFL;
		sigaction(SIGCHLD, &usual, &child_before_);
		sigemptyset(&held_);
		for (const int signal : {SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM})
			sigaddset(&held_, signal);
		sigprocmask(SIG_BLOCK, &held_, &before_);
	}
	~HeldSignals()
	{
		release();
	}
	HeldSignals(const HeldSignals &) = delete;
	HeldSignals &operator=(const HeldSignals &) = delete;
	HeldSignals(HeldSignals &&) = delete;
	HeldSignals &operator=(HeldSignals &&) = delete;

	void release() const
	{
		sigaction(SIGCHLD, &child_before_, nullptr);
		sigprocmask(SIG_SETMASK, &before_, nullptr);
	}

	[[nodiscard]] siginfo_t next() const
	{
		siginfo_t info{};

		while (sigwaitinfo(&held_, &info) < 0)
			;
		return info;
	}

private:
	sigset_t held_{};
	sigset_t before_{};
	struct sigaction child_before_ {
	};
};

[[noreturn]] void fail_child(const char *what, int error, int status)
{
	std::fprintf(stderr, "sdp-bpf: %s: %s\n", what, std::strerror(error));
	_exit(status);
}

[[noreturn]] void become(const OwnGroup &group, const HeldSignals &signals,
			 std::vector<char *> &arguments)
{
	if (const int error = group.enter(); error != 0)
		fail_child(group.directory().c_str(), error, exit_own_failure);
	signals.release();
	execvp(arguments[0], arguments.data());
	fail_child(arguments[0], errno, errno == ENOENT ? exit_not_found : exit_not_executable);
}

// What the terminal sends goes to the command as well, without our help.
int wait_for(pid_t child, const HeldSignals &signals)
{
	int status = 0;

	for (;;) {
		const siginfo_t signal = signals.next();

		if (signal.si_signo != SIGCHLD) {
			if (signal.si_code != SI_KERNEL)
				kill(child, signal.si_signo);
			continue;
		}
		if (waitpid(child, &status, WNOHANG) == child)
			return WIFSIGNALED(status) ? exit_by_signal + WTERMSIG(status)
						   : WEXITSTATUS(status);
	}
}

} // namespace

int run_converted(const std::vector<std::string> &command, const std::optional<Policy> &policy)
{
	std::vector<std::string> copy = command;
	std::vector<char *> arguments;
	arguments.reserve(copy.size() + 1);
	for (std::string &argument : copy)
		arguments.push_back(argument.data());
	arguments.push_back(nullptr);

	require_support(policy);
	const OwnGroup group;
	const Converter converter(policy ? Programs::all : Programs::converting);
	converter.groups().add(group_id(group.directory()), policy);

	const HeldSignals signals;
	const pid_t child = fork();
	if (child < 0)
		throw std::system_error(errno, std::generic_category(), "fork");
	if (child == 0)
		become(group, signals, arguments);
	const int status = wait_for(child, signals);
	signals.release();
	group.wait_until_empty();
	return status;
}

} // namespace sdpbpf
