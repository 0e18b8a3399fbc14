/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scripts that play the peer of a socket: the language is described in
 * Documentation/quality/testing.rst, section "Scripts".
 */
#ifndef SCRIPT_H
#define SCRIPT_H

#include "sdp_test.h"

#define SCRIPT_LINES	100
#define SCRIPT_WORDS	8
#define SCRIPT_FIELDS	20
#define SCRIPT_VALUES	48

struct script;
struct script_line;

/**
 * struct statement - what a line may say
 * @name: its first word, or its first two
 * @min: words behind that, at least
 * @max: and at most
 * @fields: names that may stand before a '=', with blanks between them; "*" for any
 * @run: does it
 */
struct statement {
	const char *name;
	unsigned int min, max;
	const char *fields;
	void (*run)(struct script *s, const struct script_line *l);
};

/**
 * struct script_line - a line that has something to say
 * @number: in the file
 * @text: as it stands there
 * @st: its statement
 * @words: what is behind the statement's name
 * @nr_words: how many
 * @fields: names and values, "name=value"
 * @nr_fields: how many
 * @as: the name that what comes is kept by, or NULL
 */
struct script_line {
	unsigned int number;
	const char *text;
	const struct statement *st;
	char *words[SCRIPT_WORDS];
	unsigned int nr_words;
	struct script_field {
		char *name, *value;
	} fields[SCRIPT_FIELDS];
	unsigned int nr_fields;
	char *as;
};

/**
 * struct script - a file, and what has a name while it runs
 * @file: its name
 * @lines: what it says
 * @nr_lines: how many
 * @doing: of the line that runs: file, number and text
 * @values: by name
 * @nr_values: how many
 */
struct script {
	const char *file;
	struct script_line lines[SCRIPT_LINES];
	unsigned int nr_lines;
	char doing[256];
	struct script_value {
		char name[32];
		uint64_t value;
	} values[SCRIPT_VALUES];
	unsigned int nr_values;
};

/* Take a file apart; what is wrong with it is said with its line. */
void script_load(struct script *s, const char *file, const struct statement *const tables[]);
/* Do what its lines say, one after the other. */
void script_run(struct script *s);

/* A name for a number, new or not: @name, or "@of.@name". */
void script_set(struct script *s, const char *of, const char *name, uint64_t value);
/* What an expression comes to: numbers, names, '+' and '-'. */
uint64_t script_value(const struct script *s, const char *text);
bool script_has(const struct script_line *l, const char *field);
/* The value of a field, or else another one. */
uint64_t script_field(const struct script *s, const struct script_line *l, const char *field,
		      uint64_t otherwise);
/* The same as a word, or NULL. */
const char *script_word(const struct script_line *l, const char *field);
/* Bytes in hexadecimal; returns how many. */
size_t script_bytes(const char *hex, unsigned char *bytes, size_t size);
/* An errno by its name, which must be one. */
int script_errno(const char *name);

#endif /* SCRIPT_H */
