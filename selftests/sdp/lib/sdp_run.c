// SPDX-License-Identifier: GPL-2.0
/*
 * Options and the runner of cases: each case in a process group of its own,
 * with a watchdog that shows where a hanging one hangs.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "sdp_test.h"

#define DEADLINE_S	30	/* of a case at scale 1 */
#define KILL_GRACE_MS	5000	/* for a killed case to go away */

struct sdp_opts opts = {
	.server = { "10.0.0.2", "fd00::2" },
	.client = { "10.0.0.1", "fd00::1" },
	.scale = 1,
	.seed = 1,
};

const char *sdp_case_name;
const char *sdp_doing;

/* Filled by a case that skips, read by the runner. */
static char *skip_reason;
#define SKIP_REASON_LEN 256

static uint64_t clock_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

uint64_t now_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

struct stopwatch start_watch(void)
{
	return (struct stopwatch){
		.exact = now_ms(),
		.ticks = clock_ms(CLOCK_MONOTONIC_COARSE),
	};
}

uint64_t watch_ms(struct stopwatch w)
{
	uint64_t exact = now_ms() - w.exact;
	uint64_t ticks = clock_ms(CLOCK_MONOTONIC_COARSE) - w.ticks;

	return exact > ticks ? exact : ticks;
}

/* Less than the watchdog's time, so that the case itself can say what failed. */
uint64_t wait_limit_ms(void)
{
	return opts.deadline * 1000ULL / 2;
}

int quiet_ms(void)
{
	return 150 * opts.scale;
}

void pause_a_bit(void)
{
	poll(NULL, 0, 1);
}

size_t scaled(size_t bytes)
{
	size_t less = bytes / opts.scale;

	return less < 64 * KIB ? 64 * KIB : less;
}

unsigned int scaled_count(unsigned int count)
{
	unsigned int less = count / opts.scale;

	return less < 10 ? 10 : less;
}

void sdp_fail(const char *file, int line, const char *fmt, ...)
{
	char what[768];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (sdp_doing)
		ktap_diag("%s", sdp_doing);
	ktap_diag("%s:%d: %s", file, line, what);
	_exit(KTAP_EXIT_FAIL);
}

void sdp_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(skip_reason, SKIP_REASON_LEN, fmt, ap);
	va_end(ap);
	_exit(KTAP_EXIT_SKIP);
}

/* ---- the watchdog's report ---- */

static void print_proc_file(pid_t pid, const char *tid, const char *file)
{
	char path[128], text[1024];
	char *line, *save;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/%s", pid, tid, file);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return;
	text[len] = 0;
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		ktap_diag("  %d/%s %s: %s", pid, tid, file, line);
}

static void print_tasks(pid_t pid)
{
	struct dirent *e;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		print_proc_file(pid, e->d_name, "wchan");
		print_proc_file(pid, e->d_name, "syscall");
		print_proc_file(pid, e->d_name, "stack");
	}
	closedir(dir);
}

void show_group(pid_t pgid)
{
	struct dirent *e;
	DIR *dir = opendir("/proc");

	while (dir && (e = readdir(dir))) {
		pid_t pid = atoi(e->d_name);

		if (pid > 0 && getpgid(pid) == pgid)
			print_tasks(pid);
	}
	if (dir)
		closedir(dir);
}

/* ---- running a case ---- */

static void __noreturn
run_child(const struct sdp_case *c)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	sdp_case_name = c->name;
	c->fn();
	_exit(KTAP_EXIT_PASS);
}

static bool reap_until(pid_t pid, int *status, uint64_t end)
{
	while (waitpid(pid, status, WNOHANG) == 0) {
		if (now_ms() > end)
			return false;
		pause_a_bit();
	}
	return true;
}

/*
 * The case is over: nothing of it may live on into the next one. Its orphans
 * are ours to reap, see PR_SET_CHILD_SUBREAPER.
 */
static void kill_group(pid_t pgid)
{
	uint64_t end = now_ms() + KILL_GRACE_MS;

	kill(-pgid, SIGKILL);
	while (kill(-pgid, 0) == 0 && now_ms() < end)
		if (waitpid(-pgid, NULL, WNOHANG) <= 0)
			pause_a_bit();
}

static void report(struct ktap_counts *counts, const char *name, int status)
{
	char why[64];

	if (WIFEXITED(status) && WEXITSTATUS(status) == KTAP_EXIT_PASS) {
		ktap_pass(counts, name);
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == KTAP_EXIT_SKIP) {
		ktap_skip(counts, name, skip_reason);
	} else if (WIFSIGNALED(status)) {
		snprintf(why, sizeof(why), "ended by signal %d",
			 WTERMSIG(status));
		ktap_fail(counts, name, why);
	} else {
		ktap_fail(counts, name, NULL);
	}
}

static void watch_case(struct ktap_counts *counts, const struct sdp_case *c,
		       const char *name, pid_t pid)
{
	unsigned int limit = opts.deadline * (c->flags & CASE_LONG ? 3 : 1);
	int status;

	if (reap_until(pid, &status, now_ms() + limit * 1000ULL)) {
		kill_group(pid);
		report(counts, name, status);
		return;
	}
	ktap_diag("no end after %u s; its tasks:", limit);
	show_group(pid);
	kill(-pid, SIGKILL);
	if (!reap_until(pid, &status, now_ms() + KILL_GRACE_MS))
		ktap_diag("process %d cannot be killed", pid);
	kill_group(pid);
	ktap_fail(counts, name, "timeout");
}

/* Why these sockets cannot use an address; NULL if they can. */
static const char *unusable(const char *address)
{
	struct addr a = make_addr(address, 0);
	const char *why = NULL;
	static char text[128];
	int fd;

	fd = socket(test_family(a.sa.sa_family == AF_INET6), SOCK_STREAM,
		    test_protocol());
	if (fd < 0) {
		snprintf(text, sizeof(text), "no %s sockets in this kernel: %s",
			 opts.tcp ? "TCP" : "SDP", strerror(errno));
		return text;
	}
	if (bind(fd, &a.sa, a.len)) {
		snprintf(text, sizeof(text), "cannot bind %s: %s", address,
			 strerror(errno));
		why = text;
	}
	close(fd);
	return why;
}

/* Why nothing can be tested here; NULL if all is there. */
static const char *missing(bool ipv6)
{
	const char *why = unusable(opts.server[ipv6]);

	return why ? why : unusable(opts.client[ipv6]);
}

static void run_case(struct ktap_counts *counts, const struct sdp_case *c,
		     const char *name)
{
	const char *why = missing(opts.ipv6);
	pid_t pid;

	if (opts.tcp && (c->flags & CASE_SDP_ONLY))
		why = "TCP has nothing like it";
	if (opts.inet && (c->flags & CASE_FAMILY))
		why = "is about family AF_SDP";
	if (why) {
		ktap_skip(counts, name, why);
		return;
	}
	skip_reason[0] = 0;
	pid = fork();
	if (pid == 0)
		run_child(c);
	if (pid < 0)
		ktap_fail(counts, name, "fork failed");
	else
		watch_case(counts, c, name, pid);
}

/* ---- options ---- */

static const char *env_or(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

static unsigned int number(const char *what, const char *text,
			   unsigned int min)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || end == text || value < min || value > 1000000) {
		fprintf(stderr, "%s: '%s' is not a number from %u to 1000000\n",
			what, text, min);
		exit(KTAP_EXIT_FAIL);
	}
	return value;
}

static void set_family(const char *text)
{
	opts.tcp = !strcmp(text, "tcp");
	opts.inet = !strcmp(text, "inet");
	if (!opts.tcp && !opts.inet && strcmp(text, "sdp")) {
		fprintf(stderr, "family '%s' is none of sdp, inet, tcp\n",
			text);
		exit(KTAP_EXIT_FAIL);
	}
}

/* An address replaces the one of its own kind, IPv4 or IPv6. */
static void set_address(const char **which, const char *text)
{
	if (make_addr(text, 0).sa.sa_family == AF_INET6)
		which[1] = text;
	else
		which[0] = text;
}

void sdp_opts_from_env(void)
{
	set_family(env_or("SDP_TEST_FAMILY", "sdp"));
	set_address(opts.server, env_or("SDP_TEST_SERVER", opts.server[0]));
	set_address(opts.client, env_or("SDP_TEST_CLIENT", opts.client[0]));
	set_address(opts.server, env_or("SDP_TEST_SERVER6", opts.server[1]));
	set_address(opts.client, env_or("SDP_TEST_CLIENT6", opts.client[1]));
	opts.scale = number("SDP_TEST_SCALE", env_or("SDP_TEST_SCALE", "1"), 1);
	opts.deadline = number("SDP_TEST_DEADLINE",
			       env_or("SDP_TEST_DEADLINE", "0"), 0);
	opts.without_tcp = getenv("SDP_TEST_WITHOUT_TCP");
	opts.stop = !strcmp(env_or("SDP_STOP", ""), "case");
}

static void __noreturn usage(const char *program, int status)
{
	printf("usage: %s [options]\n"
	       "  --family FAMILY    sockets to test: sdp (default) for AF_SDP; inet for\n"
	       "                     AF_INET, AF_INET6 with IPPROTO_SDP; tcp shows what is\n"
	       "                     expected\n"
	       "  --server ADDR      address the servers bind, once for IPv4, once for IPv6\n"
	       "  --client ADDR      address the clients bind, likewise\n"
	       "  --ipv6             run every case with the IPv6 addresses only\n"
	       "  --scale N          slow machine: deadlines times N, bytes divided by N\n"
	       "  --deadline SEC     for one case, as it is (%d times the scale)\n"
	       "  --seed N           of everything random (1)\n"
	       "  --case PATTERN     only the cases whose names match\n"
	       "  --list             name the cases and stop\n"
	       "Environment: SDP_TEST_FAMILY, _SERVER, _CLIENT, _SERVER6, _CLIENT6,\n"
	       "_SCALE, _DEADLINE; SDP_TEST_REQUIRE=1 fails where the program would skip;\n"
	       "SDP_STOP=case: the first that fails is the last; SDP_TEST_WITHOUT_TCP: no case\n"
	       "is compared with TCP.\n",
	       program, DEADLINE_S);
	exit(status);
}

static const struct option long_options[] = {
	{ "family", required_argument, NULL, 'f' },
	{ "server", required_argument, NULL, 's' },
	{ "client", required_argument, NULL, 'c' },
	{ "ipv6", no_argument, NULL, '6' },
	{ "scale", required_argument, NULL, 'x' },
	{ "deadline", required_argument, NULL, 'd' },
	{ "seed", required_argument, NULL, 'r' },
	{ "case", required_argument, NULL, 'o' },
	{ "list", no_argument, NULL, 'l' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

/* True if the cases shall only be named. */
static bool parse_options(int argc, char **argv)
{
	bool list = false;
	int c;

	sdp_opts_from_env();
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (c) {
		case 'f':
			set_family(optarg);
			break;
		case 's':
			set_address(opts.server, optarg);
			break;
		case 'c':
			set_address(opts.client, optarg);
			break;
		case '6':
			opts.ipv6 = true;
			break;
		case 'x':
			opts.scale = number("scale", optarg, 1);
			break;
		case 'd':
			opts.deadline = number("deadline", optarg, 1);
			break;
		case 'r':
			opts.seed = number("seed", optarg, 0);
			break;
		case 'o':
			opts.only = optarg;
			break;
		case 'l':
			list = true;
			break;
		case 'h':
			usage(argv[0], KTAP_EXIT_PASS);
		default:
			usage(argv[0], KTAP_EXIT_FAIL);
		}
	}
	if (optind < argc)
		usage(argv[0], KTAP_EXIT_FAIL);
	if (!opts.deadline)
		opts.deadline = DEADLINE_S * opts.scale;
	return list;
}

static bool selected(const struct sdp_case *c)
{
	return !opts.only || fnmatch(opts.only, c->name, 0) == 0;
}

/* How a case can be run. */
enum variant {
	AS_TOLD,
	ON_IPV6,
	ON_TCP,
	VARIANTS
};

/* "Also over IPv6", or TCP, is one more run, unless all is IPv6, or TCP. */
static bool runs(const struct sdp_case *c, enum variant v)
{
	if (!selected(c))
		return false;
	if (v == ON_IPV6)
		return !opts.ipv6 && (c->flags & CASE_IPV6);
	if (v == ON_TCP)
		return !opts.tcp && !opts.without_tcp && (c->flags & CASE_TCP);
	return true;
}

static void run_variant(struct ktap_counts *counts, const struct sdp_case *c,
			enum variant v)
{
	static const char * const suffix[] = { "", "_ipv6", "_tcp" };
	struct sdp_opts told = opts;
	char name[80];

	snprintf(name, sizeof(name), "%s%s%s", c->name,
		 opts.ipv6 ? suffix[ON_IPV6] : "", suffix[v]);
	opts.ipv6 |= v == ON_IPV6;
	opts.tcp |= v == ON_TCP;
	run_case(counts, c, name);
	opts = told;
}

static int skip_all(const char *why)
{
	bool required = !strcmp(env_or("SDP_TEST_REQUIRE", "0"), "1");

	ktap_line("TAP version 13");
	if (required) {
		ktap_line("Bail out! %s", why);
		return KTAP_EXIT_FAIL;
	}
	ktap_line("1..0 # SKIP %s", why);
	return KTAP_EXIT_SKIP;
}

int sdp_main(int argc, char **argv, const struct sdp_case *cases, size_t count)
{
	struct ktap_counts counts = { 0 };
	unsigned int total = 0;
	const char *why;
	bool list = parse_options(argc, argv);
	enum variant v;
	size_t i;

	for (i = 0; i < count; i++) {
		for (v = AS_TOLD; v < VARIANTS; v++)
			total += runs(&cases[i], v);
		if (list && selected(&cases[i]))
			printf("%s\n", cases[i].name);
	}
	if (list)
		return KTAP_EXIT_PASS;
	if (!total) {
		fprintf(stderr, "no case matches '%s'\n", opts.only);
		return KTAP_EXIT_FAIL;
	}
	why = missing(opts.ipv6);
	if (why)
		return skip_all(why);
	skip_reason = mmap(NULL, SKIP_REASON_LEN, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	ktap_plan(total);
	for (i = 0; i < count; i++)
		for (v = AS_TOLD; v < VARIANTS; v++)
			if (runs(&cases[i], v) && !(opts.stop && counts.failed))
				run_variant(&counts, &cases[i], v);
	return ktap_finish(&counts);
}
