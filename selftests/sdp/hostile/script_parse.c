// SPDX-License-Identifier: GPL-2.0
/* Lines of a script: taken apart, found in the tables of statements, and run. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "script.h"

#define FILE_MAX	(16 * KIB)
#define BLANKS		" \t"

/* ---- values ---- */

void script_set(struct script *s, const char *of, const char *name, uint64_t value)
{
	struct script_value *v = s->values;
	char full[sizeof(v->name)];

	CHECK((size_t)snprintf(full, sizeof(full), "%s%s%s", of ? of : "", of ? "." : "", name) <
	      sizeof(full));
	while (v < s->values + s->nr_values && strcmp(v->name, full))
		v++;
	CHECK(v < s->values + SCRIPT_VALUES);
	if (v == s->values + s->nr_values)
		s->nr_values++;
	strcpy(v->name, full);
	v->value = value;
}

static bool find_value(const struct script *s, const char *name, size_t len, uint64_t *value)
{
	unsigned int i;

	for (i = 0; i < s->nr_values; i++) {
		if (strlen(s->values[i].name) != len || strncmp(s->values[i].name, name, len))
			continue;
		*value = s->values[i].value;
		return true;
	}
	return false;
}

static size_t name_length(const char *text)
{
	size_t len = 0;

	while (isalnum(text[len]) || text[len] == '.' || text[len] == '_')
		len++;
	return len;
}

/* A number, with K for 1024 behind it, or a name that has a value. */
static uint64_t take_term(const struct script *s, const char **text)
{
	const char *start = *text;
	uint64_t value = 0;
	char *end;

	if (isdigit(*start)) {
		value = strtoull(start, &end, 0);
		*text = end;
		if (*end != 'K')
			return value;
		(*text)++;
		return value * KIB;
	}
	*text += name_length(start);
	if (*text == start)
		FAIL("expected a number or a name: '%s'", start);
	if (!find_value(s, start, *text - start, &value))
		FAIL("nothing has the name '%.*s'", (int)(*text - start), start);
	return value;
}

uint64_t script_value(const struct script *s, const char *text)
{
	const char *at = text;
	uint64_t value = *at == '-' ? 0 : take_term(s, &at);

	while (*at == '+' || *at == '-') {
		bool plus = *at++ == '+';
		uint64_t term = take_term(s, &at);

		value += plus ? term : -term;
	}
	if (*at)
		FAIL("expected the end of a value: '%s'", at);
	return value;
}

const char *script_word(const struct script_line *l, const char *field)
{
	unsigned int i;

	for (i = 0; i < l->nr_fields; i++)
		if (!strcmp(l->fields[i].name, field))
			return l->fields[i].value;
	return NULL;
}

bool script_has(const struct script_line *l, const char *field)
{
	return script_word(l, field);
}

uint64_t script_field(const struct script *s, const struct script_line *l, const char *field,
		      uint64_t otherwise)
{
	const char *text = script_word(l, field);

	return text ? script_value(s, text) : otherwise;
}

size_t script_bytes(const char *hex, unsigned char *bytes, size_t size)
{
	size_t len = 0;
	int used;

	for (; *hex && len < size; hex += used, len++)
		if (sscanf(hex, "%2hhx%n", &bytes[len], &used) != 1 || used != 2)
			FAIL("expected two hexadecimal digits: '%s'", hex);
	return len;
}

int script_errno(const char *name)
{
	int err;

	for (err = 1; err < 4096; err++)
		if (strerrorname_np(err) && !strcmp(strerrorname_np(err), name))
			return err;
	FAIL("'%s' is no errno", name);
}

/* ---- lines ---- */

/* What is said with a failure of this line. */
static void is_doing(struct script *s, const struct script_line *l)
{
	const char *slash = strrchr(s->file, '/');

	snprintf(s->doing, sizeof(s->doing), "%s:%u: %s", slash ? slash + 1 : s->file, l->number,
		 l->text);
	sdp_doing = s->doing;
}

/* Whether a list of words has this one. */
static bool listed(const char *list, const char *word)
{
	size_t len = strlen(word);
	const char *at = list;

	if (!list || !strcmp(list, "*"))
		return list;
	while ((at = strstr(at, word))) {
		if ((at == list || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
		at += len;
	}
	return false;
}

static const struct statement *find_statement(const struct statement *const tables[],
					      const char *name)
{
	const struct statement *st;

	for (; *tables; tables++)
		for (st = *tables; st->name; st++)
			if (!strcmp(st->name, name))
				return st;
	return NULL;
}

/* Its name is the first two words, or the first one. */
static void name_line(struct script_line *l, const struct statement *const tables[])
{
	unsigned int words = 2;
	char name[64];

	if (l->nr_words > 1) {
		snprintf(name, sizeof(name), "%s %s", l->words[0], l->words[1]);
		l->st = find_statement(tables, name);
	}
	if (!l->st && l->nr_words) {
		words = 1;
		l->st = find_statement(tables, l->words[0]);
	}
	if (!l->st)
		FAIL("there is no such statement");
	l->nr_words -= words;
	memmove(l->words, l->words + words, l->nr_words * sizeof(l->words[0]));
}

static void check_line(const struct script_line *l)
{
	unsigned int i;

	if (l->nr_words < l->st->min || l->nr_words > l->st->max)
		FAIL("'%s' takes %u to %u words, not %u", l->st->name, l->st->min, l->st->max,
		     l->nr_words);
	for (i = 0; i < l->nr_fields; i++)
		if (strcmp(l->fields[i].name, "times") &&
		    !listed(l->st->fields, l->fields[i].name))
			FAIL("'%s' has no field '%s'", l->st->name, l->fields[i].name);
}

static void add_token(struct script_line *l, char *token)
{
	char *value = strchr(token, '=');

	if (!value) {
		if (l->nr_words == SCRIPT_WORDS)
			FAIL("too many words");
		l->words[l->nr_words++] = token;
		return;
	}
	if (l->nr_fields == SCRIPT_FIELDS)
		FAIL("too many fields");
	*value++ = 0;
	if (!*token || !*value)
		FAIL("a field is a name and a value, name=value");
	l->fields[l->nr_fields++] = (struct script_field){ token, value };
}

static void split_line(struct script_line *l, char *text)
{
	char *token;

	while ((token = strsep(&text, BLANKS))) {
		if (!*token)
			continue;
		if (strcmp(token, "as")) {
			add_token(l, token);
			continue;
		}
		l->as = strsep(&text, BLANKS);
		if (!l->as || !*l->as)
			FAIL("a name must follow 'as'");
	}
}

static void load_line(struct script *s, unsigned int number, char *text,
		      const struct statement *const tables[])
{
	struct script_line *l = &s->lines[s->nr_lines];

	text[strcspn(text, "#")] = 0;
	text += strspn(text, BLANKS);
	if (!*text)
		return;
	*l = (struct script_line){ .number = number, .text = strdup(text) };
	CHECK(l->text);
	is_doing(s, l);
	if (s->nr_lines == SCRIPT_LINES - 1)
		FAIL("a script has no more than %d lines", SCRIPT_LINES - 1);
	split_line(l, text);
	name_line(l, tables);
	check_line(l);
	s->nr_lines++;
}

void script_load(struct script *s, const char *file, const struct statement *const tables[])
{
	static char text[FILE_MAX];
	char *line, *rest = text;
	unsigned int number = 0;
	FILE *f = fopen(file, "re");
	size_t len;

	*s = (struct script){ .file = file };
	if (!f)
		FAIL("%s: %s", file, strerror(errno));
	len = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	if (len == sizeof(text) - 1)
		FAIL("%s: a script has less than %zu bytes", file, sizeof(text));
	while ((line = strsep(&rest, "\n")))
		load_line(s, ++number, line, tables);
	sdp_doing = NULL;
	if (!s->nr_lines)
		FAIL("%s: says nothing", file);
}

void script_run(struct script *s)
{
	const struct script_line *l;

	for (l = s->lines; l < s->lines + s->nr_lines; l++) {
		uint64_t times;

		is_doing(s, l);
		for (times = script_field(s, l, "times", 1); times; times--)
			l->st->run(s, l);
	}
	sdp_doing = "at the script's end";
}
