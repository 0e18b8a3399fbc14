/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel's trace says of AF_SDP sockets (sdp_events.c). */
#ifndef SDP_EVENTS_H
#define SDP_EVENTS_H

#include "sdp_test.h"

/* One line: which event, and its fields, each with a blank before and behind it. */
struct event {
	char name[24];
	char fields[240];
};

/* One end of a connection, as the fields have it. */
struct end {
	char ports[48];
};

struct end end_of_fd(int fd);

/*
 * Run a function with all events on, in a process of its own, and turn them off
 * however that ends.  Skips the case if the kernel has no tracefs.
 */
void traced(void (*run)(void));
void trace_clear(void);
/* From here on without one kind of event: the trace has room for so many only. */
void trace_without(const char *name);
/* Take what the trace has by now; the functions below look at that. */
void trace_read(void);

/* A field's text, until the next call but three; and what number it is. */
const char *word_of(const struct event *e, const char *field);
uint64_t number_of(const struct event *e, const char *field);

/*
 * The next event of a kind from an index on, of one end, with a field of one value
 * ("field=value").  NULL stands for any end, and for whatever it says.
 */
const struct event *event_from(size_t *from, const char *name,
			       const struct end *end, const char *what);
/* The first of these, how many there are, and the sum of one of their fields. */
const struct event *first_event(const char *name, const struct end *end,
				const char *what);
uint64_t count_of(const char *name, const struct end *end, const char *what);
uint64_t sum_of(const char *name, const struct end *end, const char *what,
		const char *field);
/* Likewise of what the trace has now. */
uint64_t count_now(const char *name, const struct end *end, const char *what);
uint64_t sum_now(const char *name, const struct end *end, const char *what,
		 const char *field);

#endif /* SDP_EVENTS_H */
