// SPDX-License-Identifier: GPL-2.0
#include "run.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace conformance
{

namespace
{

constexpr int signal_count = 65;
std::array<std::atomic<int>, signal_count> seen;

void note_signal(int number)
{
	seen.at(number)++;
}

} // namespace

// ---- blocked calls ----

Blocked::Blocked(Run &run, std::string what, std::function<long()> call)
	: run_(run), what_(std::move(what)), call_(std::move(call))
{
	run_.require(pthread_create(&thread_, nullptr, main, this) == 0, "pthread_create()");
	settle();
}

// A case that fails in between ends by _exit(), so that this is never reached.
Blocked::~Blocked()
{
	if (!joined_)
		pthread_join(thread_, nullptr);
}

void *Blocked::main(void *self)
{
	auto *blocked = static_cast<Blocked *>(self);

	blocked->tid_ = gettid();
	errno = 0;
	blocked->result_ = blocked->call_();
	blocked->error_ = errno;
	blocked->done_ = true;
	return nullptr;
}

bool Blocked::sleeps() const
{
	if (!tid_)
		return false;
	std::ifstream file(fmt::format("/proc/self/task/{}/stat", tid_.load()));
	std::string text;
	std::getline(file, text);
	const std::size_t paren = text.rfind(')');
	return paren != std::string::npos && paren + 2 < text.size() && text[paren + 2] == 'S';
}

void Blocked::settle()
{
	run_.until(what_ + " sleeps", [&] { return done_ || sleeps(); });
}

long Blocked::join()
{
	return join([&](long) { return shown(); });
}

long Blocked::join(const std::function<std::string(long)> &show)
{
	return run_.call(
		what_,
		[&] {
			pthread_join(thread_, nullptr);
			joined_ = true;
			errno = error_;
			return result_;
		},
		show);
}

void Blocked::wait()
{
	run_.trace().enter(what_);
	pthread_join(thread_, nullptr);
	run_.trace().enter({});
	joined_ = true;
}

std::string Blocked::shown() const
{
	return show_result(result_, error_);
}

void Blocked::signal(int number)
{
	const int before = signals_seen(number);

	pthread_kill(thread_, number);
	run_.until("the signal was handled", [&] { return signals_seen(number) > before; });
	settle();
}

void Blocked::look()
{
	settle();
	run_.note("{} {}", what_, done_ ? "has returned" : "sleeps");
}

// ---- signals ----

void count_signal(int number, int flags)
{
	struct sigaction action = {};

	action.sa_handler = note_signal;
	action.sa_flags = flags;
	sigaction(number, &action, nullptr);
}

int signals_seen(int number)
{
	return seen.at(number);
}

// ---- children ----

std::string show_exit(pid_t pid)
{
	int status = 0;

	if (waitpid(pid, &status, 0) != pid)
		return "no such child";
	if (WIFSIGNALED(status))
		return fmt::format("the child was ended by signal {}", WTERMSIG(status));
	return fmt::format("the child ended with {}", WEXITSTATUS(status));
}

void in_child(Run &run, const std::function<void()> &function)
{
	const pid_t pid = fork();
	int status = 0;

	run.require(pid >= 0, "fork()");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		function();
		_exit(0);
	}
	run.require(waitpid(pid, &status, 0) == pid, "waitpid()");
	if (status)
		run.fail(fmt::format("a child ended with status {:#x}", status));
}

} // namespace conformance
