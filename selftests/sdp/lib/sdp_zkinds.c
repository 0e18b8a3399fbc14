// SPDX-License-Identifier: GPL-2.0
/* Small pages, huge ones, and large folios that are mapped page by page. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_zkinds.h"

#define PAGE	4096UL

const struct kind small = { MADV_NOHUGEPAGE };
const struct kind huge = { MADV_HUGEPAGE, "madvise", NULL, 2 };
const struct kind huge_always = { MADV_NORMAL, "always", NULL, 2 };
const struct kind folios = {
	MADV_HUGEPAGE, "madvise", HUGE_PAGES "/hugepages-64kB/enabled", 2,
};

/* As root may see. */
bool is_large(const unsigned char *page)
{
	int map = CHECK_OK(open("/proc/self/pagemap", O_RDONLY));
	int flags = CHECK_OK(open("/proc/kpageflags", O_RDONLY));
	uint64_t entry, flag;

	CHECK_EQ(pread(map, &entry, sizeof(entry),
		       (uintptr_t)page / PAGE * sizeof(entry)), sizeof(entry));
	entry &= (1ULL << 55) - 1;
	CHECK_EQ(pread(flags, &flag, sizeof(flag), entry * sizeof(flag)),
		 sizeof(flag));
	CHECK_OK(close(map));
	CHECK_OK(close(flags));
	/* KPF_COMPOUND_HEAD, KPF_COMPOUND_TAIL */
	return flag & (1ULL << 15 | 1ULL << 16);
}

/* What a case changes of the system, and how it was. */
static struct change {
	const char *path;
	char before[64];
} changes[8];

/* Of several words, the one in brackets is chosen. */
void change(const char *path, const char *value)
{
	struct change *c = changes;
	char *word;

	while (c->path)
		c++;
	c->path = path;
	read_sysctl(path, c->before, sizeof(c->before));
	word = strchr(c->before, '[');
	if (word)
		memmove(c->before, word + 1, strlen(word));
	c->before[strcspn(c->before, "]")] = 0;
	CHECK_EQ(write_sysctl(path, value), 0);
}

void restore(void)
{
	struct change *c;

	for (c = changes; c->path; c++)
		CHECK_EQ(write_sysctl(c->path, c->before), 0);
}

/* Huge pages would be preferred to folios. */
void choose_kind(const struct kind *kind)
{
	if (!kind->enabled)
		return;
	if (access(HUGE_PAGES "/enabled", W_OK))
		sdp_skip("the kernel has no huge pages");
	if (kind->folio && access(kind->folio, W_OK))
		sdp_skip("the kernel has no large folios of 64 KiB");
	change(HUGE_PAGES "/enabled", kind->enabled);
	if (!kind->folio)
		return;
	change(kind->folio, "always");
	change(HUGE_PAGES "/hugepages-2048kB/enabled", "never");
}
