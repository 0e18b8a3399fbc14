// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * A program that knows nothing of SDP: probe WHERE DOMAIN TYPE PROTOCOL opens
 * a socket from a given place in its life and reports what it got.
 */
#include "probe.h"

#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

int domain, type, protocol;
volatile sig_atomic_t signal_fd = -1, signal_error;

probe::Result open_here()
{
	return probe::open_socket(domain, type, protocol);
}

void from_main()
{
	probe::report(open_here());
}

void on_signal(int)
{
	const probe::Result result = open_here();

	signal_fd = result.fd;
	signal_error = result.error;
}

void from_signal_handler()
{
	std::signal(SIGUSR1, on_signal);
	std::raise(SIGUSR1);
	probe::report({signal_fd, signal_error});
}

// The child runs in the parent's memory, so the parent sees what it got.  More
// than exec() after vfork() is frowned upon, but programs do it.
// NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
void from_vfork_child()
{
	static volatile int fd = -1, error = 0;
	const pid_t child = vfork();

	if (child == 0) {
		const probe::Result result = open_here();

		fd = result.fd;
		error = result.error;
		_exit(0);
	}
	int status = -1;
	if (waitpid(child, &status, 0) != child || status != 0)
		std::exit(EXIT_FAILURE);
	std::printf("%s %d\n", fd >= 0 ? "opened" : "failed", error);
}
// NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)

void from_fork_child()
{
	const pid_t child = fork();

	if (child == 0) {
		from_main();
		std::fflush(stdout);
		_exit(0);
	}
	int status = -1;
	if (waitpid(child, &status, 0) != child || status != 0)
		std::exit(EXIT_FAILURE);
}

void from_threads()
{
	constexpr int threads = 8, sockets_each = 25;
	std::vector<std::vector<probe::Result>> results(threads);
	std::vector<std::thread> running;

	running.reserve(threads);
	for (auto &mine : results)
		running.emplace_back([&mine] {
			for (int i = 0; i < sockets_each; i++)
				mine.push_back(open_here());
		});
	for (auto &thread : running)
		thread.join();
	for (const auto &mine : results)
		for (const auto &result : mine)
			probe::report(result);
}

// The library of PROBE_LIBRARY opens its socket while it is loaded.
void from_dlopened_library()
{
	const char *name = std::getenv("PROBE_LIBRARY");
	void *library = name == nullptr ? nullptr : dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (library == nullptr)
		std::exit(EXIT_FAILURE);
	const auto socket_of =
		reinterpret_cast<probe::Result (*)()>(dlsym(library, "_Z14library_socketv"));

	probe::report(socket_of());
}

const std::map<std::string, std::function<void()>> places = {
	{"main", from_main},	     {"signal", from_signal_handler},
	{"vfork", from_vfork_child}, {"fork", from_fork_child},
	{"threads", from_threads},   {"dlopen", from_dlopened_library},
};

} // namespace

int main(int argc, char **argv)
{
	if (argc != 5 || !places.contains(argv[1])) {
		std::fprintf(stderr, "Usage: probe PLACE DOMAIN TYPE PROTOCOL\n");
		return EXIT_FAILURE;
	}
	domain = std::atoi(argv[2]);
	type = std::atoi(argv[3]);
	protocol = std::atoi(argv[4]);
	places.at(argv[1])();
	return EXIT_SUCCESS;
}
