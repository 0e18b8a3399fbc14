// SPDX-License-Identifier: GPL-2.0
/* The kernel's trace, for tests of the tracepoints of AF_SDP. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mount.h>

#include "sdp_events.h"
#include "sdp_memory.h"

#define TRACEFS		"/sys/kernel/tracing"
#define EVENT_FOLDER	TRACEFS "/events/sdp"
#define EVENTS		EVENT_FOLDER "/enable"
#define TRACE		TRACEFS "/trace"

static struct event *events;
static size_t event_count;

static struct end end_of(uint16_t own, uint16_t peer)
{
	struct end e;

	snprintf(e.ports, sizeof(e.ports), " sport=%u dport=%u ", own, peer);
	return e;
}

struct end end_of_fd(int fd)
{
	struct addr peer = peer_addr(fd);

	return end_of(local_port(fd), addr_port(&peer));
}

static void find_events(void)
{
	if (access(TRACEFS "/events", F_OK) &&
	    (access(TRACEFS, F_OK) ||
	     mount("tracefs", TRACEFS, "tracefs", 0, NULL) ||
	     access(TRACEFS "/events", F_OK)))
		sdp_skip("the kernel has no tracefs with events");
}

void trace_clear(void)
{
	CHECK_OK(close(CHECK_OK(open(TRACE, O_WRONLY | O_TRUNC))));
}

void trace_without(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), EVENT_FOLDER "/%s/enable", name);
	CHECK(file_write(path, "0"));
	trace_clear();
}

static void trace_end(void)
{
	CHECK(file_write(EVENTS, "0"));
	trace_clear();
}

void traced(void (*run)(void))
{
	find_events();
	trace_clear();
	CHECK(file_write(TRACEFS "/tracing_on", "1"));
	CHECK(file_write(EVENTS, "1"));
	run_and_undo(run, trace_end);
}

/* A trace that has lost lines would prove nothing. */
static void check_whole(const char *line)
{
	unsigned long held, written;

	if (sscanf(line, "# entries-in-buffer/entries-written: %lu/%lu", &held, &written) == 2)
		CHECK_EQ(held, written);
}

/* Behind a task, a processor and a time: "name: fields". */
static void parse_line(const char *line)
{
	const char *name = strstr(line, ": sdp_"), *fields;
	struct event *e;

	if (!name)
		return;
	name += 2;
	fields = strstr(name, ": ");
	CHECK(fields && fields - name < (long)sizeof(e->name));
	events = realloc(events, (event_count + 1) * sizeof(*events));
	CHECK(events);
	e = &events[event_count++];
	snprintf(e->name, sizeof(e->name), "%.*s", (int)(fields - name), name);
	fields += 2;
	CHECK(strlen(fields) + 3 < sizeof(e->fields));
	snprintf(e->fields, sizeof(e->fields), " %.*s ", (int)strcspn(fields, "\n"),
		 fields);
}

void trace_read(void)
{
	FILE *f = fopen(TRACE, "r");
	char line[512];

	CHECK(f);
	event_count = 0;
	while (fgets(line, sizeof(line), f)) {
		if (line[0] == '#')
			check_whole(line);
		else
			parse_line(line);
	}
	fclose(f);
}

const char *word_of(const struct event *e, const char *field)
{
	static char words[4][64];
	static unsigned int turn;
	char *word = words[turn++ % ARRAY_SIZE(words)];
	char key[24];
	const char *at;

	snprintf(key, sizeof(key), " %s=", field);
	at = strstr(e->fields, key);
	if (!at)
		FAIL("no field %s in %s:%s", field, e->name, e->fields);
	at += strlen(key);
	snprintf(word, sizeof(words[0]), "%.*s", (int)strcspn(at, " "), at);
	return word;
}

uint64_t number_of(const struct event *e, const char *field)
{
	return strtoull(word_of(e, field), NULL, 0);
}

const struct event *event_from(size_t *from, const char *name,
			       const struct end *end, const char *what)
{
	char token[48];

	snprintf(token, sizeof(token), " %s ", what ? what : "");
	for (; *from < event_count; ++*from) {
		const struct event *e = &events[*from];

		if (!strcmp(e->name, name) &&
		    (!end || strstr(e->fields, end->ports)) &&
		    (!what || strstr(e->fields, token)))
			return &events[(*from)++];
	}
	return NULL;
}

const struct event *first_event(const char *name, const struct end *end,
				const char *what)
{
	size_t from = 0;

	return event_from(&from, name, end, what);
}

uint64_t count_of(const char *name, const struct end *end, const char *what)
{
	uint64_t count = 0;
	size_t from = 0;

	while (event_from(&from, name, end, what))
		count++;
	return count;
}

uint64_t sum_of(const char *name, const struct end *end, const char *what,
		const char *field)
{
	const struct event *e;
	uint64_t sum = 0;
	size_t from = 0;

	while ((e = event_from(&from, name, end, what)))
		sum += number_of(e, field);
	return sum;
}

uint64_t count_now(const char *name, const struct end *end, const char *what)
{
	trace_read();
	return count_of(name, end, what);
}

uint64_t sum_now(const char *name, const struct end *end, const char *what,
		 const char *field)
{
	trace_read();
	return sum_of(name, end, what, field);
}
