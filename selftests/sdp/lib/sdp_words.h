/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of MSG_ZEROCOPY have in common (sdp_words.c). */
#ifndef SDP_WORDS_H
#define SDP_WORDS_H

#include "sdp_test.h"

/* How many writes a case makes at most. */
#define MAX_WRITES	4096

/* A word of the error queue: memory of these writes is free. */
struct word {
	uint32_t first, last;
	bool copied;
};

/* Which writes were spoken of, and how. */
struct words {
	bool seen[MAX_WRITES];
	unsigned int writes, copied, words;
};

/* SO_ZEROCOPY, by the name that the kernel has for it. */
void want_words(int fd);
/* Two ends, and the client wants words. */
struct pair words_pair(void);
/* The next word, if there is one. */
bool read_word(int fd, struct word *word);
/* All that there are. */
void take_words(int fd, struct words *words);
/* Sleep until there are words of so many writes in all. */
void await_words_of(int fd, struct words *words, unsigned int writes);
/* Likewise, and then nothing is left in the error queue. */
void await_words(int fd, struct words *words, unsigned int writes);
/* Write all, and count the calls. */
void write_all_zerocopy(int fd, const unsigned char *buf, size_t len,
			unsigned int *writes);

#endif /* SDP_WORDS_H */
