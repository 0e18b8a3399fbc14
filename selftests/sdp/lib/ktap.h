/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Minimal KTAP output (Documentation/dev-tools/ktap.rst) and the exit codes
 * of the kselftest runner.
 */
#ifndef KTAP_H
#define KTAP_H

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#ifndef __printf
#define __printf(a, b)	__attribute__((format(printf, a, b)))
#endif
#ifndef __noreturn
#define __noreturn	__attribute__((noreturn))
#endif

#define KTAP_EXIT_PASS	0
#define KTAP_EXIT_FAIL	1
#define KTAP_EXIT_SKIP	4

struct ktap_counts {
	unsigned int passed;
	unsigned int failed;
	unsigned int skipped;
};

/*
 * Every line leaves in one write(), so that lines of several processes and
 * threads never mix.
 */
static inline void ktap_vline(const char *prefix, const char *fmt, va_list ap)
{
	char line[1024];
	int len, room;

	len = snprintf(line, sizeof(line) - 1, "%s", prefix);
	room = sizeof(line) - 1 - len;
	len += vsnprintf(line + len, room, fmt, ap);
	if (len > (int)sizeof(line) - 2)
		len = sizeof(line) - 2;
	line[len++] = '\n';
	if (write(STDOUT_FILENO, line, len) != len)
		_exit(KTAP_EXIT_FAIL);
}

static inline void __printf(1, 2)
ktap_line(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ktap_vline("", fmt, ap);
	va_end(ap);
}

static inline void __printf(1, 2)
ktap_diag(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ktap_vline("# ", fmt, ap);
	va_end(ap);
}

static inline void ktap_plan(unsigned int count)
{
	ktap_line("TAP version 13");
	ktap_line("1..%u", count);
}

static inline unsigned int ktap_next(const struct ktap_counts *c)
{
	return c->passed + c->failed + c->skipped + 1;
}

static inline void ktap_pass(struct ktap_counts *c, const char *name)
{
	ktap_line("ok %u %s", ktap_next(c), name);
	c->passed++;
}

static inline void ktap_fail(struct ktap_counts *c, const char *name,
			     const char *why)
{
	ktap_line("not ok %u %s%s%s", ktap_next(c), name,
		  why ? " # " : "", why ? why : "");
	c->failed++;
}

static inline void ktap_skip(struct ktap_counts *c, const char *name,
			     const char *why)
{
	ktap_line("ok %u %s # SKIP %s", ktap_next(c), name, why);
	c->skipped++;
}

static inline int ktap_finish(const struct ktap_counts *c)
{
	ktap_diag("Totals: pass:%u fail:%u xfail:0 xpass:0 skip:%u error:0",
		  c->passed, c->failed, c->skipped);
	if (c->failed)
		return KTAP_EXIT_FAIL;
	return c->passed ? KTAP_EXIT_PASS : KTAP_EXIT_SKIP;
}

#endif /* KTAP_H */
