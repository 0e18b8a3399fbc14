/* SPDX-License-Identifier: GPL-2.0 */
/* Kinds of memory (sdp_zkinds.c), for sdp_zwriters. */
#ifndef SDP_ZKINDS_H
#define SDP_ZKINDS_H

#include "sdp_test.h"

/**
 * struct kind - a kind of memory
 * @advice: what the kernel is told of it
 * @enabled: for which memory there are huge pages; NULL: no matter
 * @folio: file that says so for large folios, if these are wanted instead
 * @sends: how often memory is sent before it is replaced by new one, because large
 *	pages do not stay large with stores to what is sent; 0: it is never replaced
 */
struct kind {
	int advice;
	const char *enabled;
	const char *folio;
	unsigned int sends;
};

extern const struct kind small, huge, huge_always, folios;

/* Let the kernel give us memory of a kind; skips the case if it cannot. */
void choose_kind(const struct kind *kind);
/* Set what restore() sets back. */
void change(const char *path, const char *value);
void restore(void);
/* Whether a page is part of a huge page or a large folio. */
bool is_large(const unsigned char *page);

#endif /* SDP_ZKINDS_H */
