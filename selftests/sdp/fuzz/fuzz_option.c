// SPDX-License-Identifier: GPL-2.0
/* Options of sockets, and settings of the network namespace. */
#define _GNU_SOURCE
#include <glob.h>
#include <linux/sdp.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/sdp_memory.h"
#include "fuzz.h"

#define SETTINGS	"/proc/sys/net/sdp/"
#define MAX_SETTINGS	64

/* Names of engines, of modes, and what is neither; fuzz_want() knows where they are. */
const char *const fuzz_words[] = {
	"auto", "credit", "rdma", "nic", "off", "sync", "async", "async", "copy", "block", "",
	"async\n", "creditcreditcredit", "lo",
};

const unsigned int fuzz_word_count = ARRAY_SIZE(fuzz_words);

const char *fuzz_word(uint32_t number)
{
	return fuzz_words[number % ARRAY_SIZE(fuzz_words)];
}

/* arg: slot, level and name, value, length */
void fuzz_do_set(const uint32_t *arg)
{
	uint32_t value[16] = { arg[2], arg[2] >> 3 };
	const void *from = arg[3] > sizeof(value) ? (void *)fuzz_memory(arg[2], 0) : value;

	setsockopt(fuzz_slot(arg[0]), arg[1] >> 16, arg[1] & 0xffff, from, arg[3]);
}

void fuzz_do_set_word(const uint32_t *arg)
{
	static const int names[][2] = {
		{ SOL_SDP, SDP_FLOW_CONTROL }, { SOL_SDP, SDP_ZCOPY }, { SOL_SDP, SDP_ZCOPY_FAULT },
		{ SOL_SDP, SDP_ZCOPY_RECV }, { SOL_SOCKET, SO_BINDTODEVICE },
		{ IPPROTO_TCP, TCP_CONGESTION },
	};
	const int *name = names[arg[1] % ARRAY_SIZE(names)];
	const char *word = fuzz_word(arg[2]);

	setsockopt(fuzz_slot(arg[0]), name[0], name[1], word, strlen(word));
}

void fuzz_do_get(const uint32_t *arg)
{
	unsigned char value[1024];
	socklen_t len = arg[2];

	if (len == 4)
		len = sizeof(value);
	else if (len > sizeof(value))
		len = -1;
	getsockopt(fuzz_slot(arg[0]), arg[1] >> 16, arg[1] & 0xffff, value, &len);
}

/* Pages that have arrived appear in a mapping. */
void fuzz_do_map_receive(const uint32_t *arg)
{
	size_t len = (arg[1] & 0xfffff) + 4096;
	struct tcp_zerocopy_receive zc = { .length = arg[2] };
	socklen_t old = offsetof(struct tcp_zerocopy_receive, copybuf_address);
	socklen_t size = arg[1] & 1 ? sizeof(zc) : old;
	void *at = mmap(NULL, len, PROT_READ, MAP_SHARED, fuzz_slot(arg[0]), 0);

	if (at == MAP_FAILED)
		return;
	zc.address = (uintptr_t)at;
	zc.copybuf_address = (uintptr_t)fuzz_memory(arg[2], 0);
	zc.copybuf_len = arg[1] & 0xffff;
	getsockopt(fuzz_slot(arg[0]), IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &zc, &size);
	if (arg[2] & 1)
		munmap(at, len);
}

/* ---- settings ---- */

static struct {
	unsigned int count;
	char *paths[MAX_SETTINGS];
	char values[MAX_SETTINGS][64];
} settings;

/* What limits memory for all is left alone. */
static void settings_note(void)
{
	glob_t files;
	size_t i;

	/* TCP has none of them. */
	if (glob(SETTINGS "*", 0, NULL, &files))
		return;
	for (i = 0; i < files.gl_pathc && settings.count < MAX_SETTINGS; i++) {
		char *path = files.gl_pathv[i];

		if (strstr(path, "available") || !strcmp(path, SETTINGS "mem"))
			continue;
		settings.paths[settings.count] = path;
		file_read(path, settings.values[settings.count++], sizeof(settings.values[0]));
	}
}

void fuzz_settings_restore(void)
{
	unsigned int i;

	if (!settings.count)
		settings_note();
	for (i = 0; i < settings.count; i++)
		file_write(settings.paths[i], settings.values[i]);
}

bool fuzz_changes_settings(const struct fuzz_program *p)
{
	unsigned int i;

	for (i = 0; i < p->count; i++)
		if (fuzz_kinds[p->calls[i].kind].run == fuzz_do_sysctl)
			return true;
	return false;
}

void fuzz_do_sysctl(const uint32_t *arg)
{
	unsigned int i = (arg[0] * 16 + arg[1]) % (settings.count ?: 1);
	char text[32];

	snprintf(text, sizeof(text), "%d", (int)arg[2]);
	if (settings.count && !file_write(settings.paths[i], text))
		file_write(settings.paths[i], fuzz_word(arg[3]));
}
