// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * Calls that block in a thread of their own, signals, and child processes.
 */
#ifndef CONFORMANCE_TASK_H
#define CONFORMANCE_TASK_H

#include <atomic>
#include <functional>
#include <string>

#include <pthread.h>
#include <sys/types.h>

namespace conformance
{

class Run;

/** A call in another thread. The constructor returns when it sleeps, or is done. */
class Blocked
{
public:
	Blocked(Run &run, std::string what, std::function<long()> call);
	~Blocked();
	Blocked(const Blocked &) = delete;
	Blocked &operator=(const Blocked &) = delete;

	/** Wait for the call's end; write down the result, or leave that to SHOW. */
	long join();
	long join(const std::function<std::string(long)> &show);
	/** Wait for the call's end; nothing is written down. */
	void wait();
	/** The result as the trace would show it. */
	[[nodiscard]] std::string shown() const;
	/** Send a signal to the thread and wait until it was handled. */
	void signal(int number);
	/** Write down whether the call has returned or sleeps. */
	void look();
	/** Whether the call has returned. */
	[[nodiscard]] bool done() const
	{
		return done_;
	}

private:
	static void *main(void *self);
	[[nodiscard]] bool sleeps() const;
	void settle();

	Run &run_;
	std::string what_;
	std::function<long()> call_;
	pthread_t thread_{};
	bool joined_ = false;
	std::atomic<pid_t> tid_{0};
	std::atomic<bool> done_{false};
	long result_ = 0;
	int error_ = 0;
};

/** Count a signal from now on, with the flags of sigaction(). */
void count_signal(int number, int flags = 0);
/** How often it has come. */
int signals_seen(int number);

/** Wait for a child and say how it ended. */
std::string show_exit(pid_t pid);

/** Run FUNCTION in a child; write down how it ended, if not well. */
void in_child(Run &run, const std::function<void()> &function);

} // namespace conformance

#endif
