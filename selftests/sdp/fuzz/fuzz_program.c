// SPDX-License-Identifier: GPL-2.0
/* Programs of calls: made by chance, changed by chance, and as text. */
#define _GNU_SOURCE
#include <linux/sdp.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "fuzz.h"

uint32_t fuzz_below(uint32_t *state, uint32_t below)
{
	return (random_next(state) >> 4) % below;
}

struct choices {
	const uint32_t *of;
	size_t count;
};

/* One of them, and seldom anything. */
static uint32_t one_of(const struct choices *choices, uint32_t *state)
{
	if (fuzz_below(state, 12) == 0)
		return random_next(state) >> fuzz_below(state, 32);
	return choices->of[fuzz_below(state, choices->count)];
}

/* Up to three of them together. */
static uint32_t some_of(const struct choices *choices, uint32_t *state)
{
	uint32_t flags = 0, n = fuzz_below(state, 4);

	while (n--)
		flags |= choices->of[fuzz_below(state, choices->count)];
	return fuzz_below(state, 50) ? flags : flags | 1U << fuzz_below(state, 32);
}

static const uint32_t offsets[] = { 0, 0, 0, 1, 100, 4095, 4096, 65536, 0x1ffff0, 0x1ff000 };

static const uint32_t lengths[] = {
	0, 1, 2, 16, 64, 255, 1000, 4095, 4096, 4097, 8192, 16000, 65535, 65536, 65537, 100000,
	131072, 262144, 1 << 20, 2 << 20, 0x7fffffff, 0xffffffff,
};

static const uint32_t values[] = {
	0, 0, 1, 1, 2, 3, 5, 10, 64, 100, 1000, 4096, 8192, 65536, 262144, 1 << 20, 16 << 20,
	-1, -2, 0x7fffffff, 0x80000000,
};

static const uint32_t send_flags[] = {
	MSG_OOB, MSG_DONTROUTE, MSG_DONTWAIT, MSG_DONTWAIT, MSG_EOR, MSG_MORE, MSG_MORE,
	MSG_ZEROCOPY, MSG_ZEROCOPY, MSG_FASTOPEN, MSG_CONFIRM, 0x8000000 /* MSG_SPLICE_PAGES */,
};

static const uint32_t recv_flags[] = {
	MSG_OOB, MSG_PEEK, MSG_PEEK, MSG_DONTWAIT, MSG_DONTWAIT, MSG_WAITALL, MSG_WAITALL,
	MSG_TRUNC, MSG_ERRQUEUE, MSG_CMSG_CLOEXEC,
};

static const uint32_t ioctls[] = {
	SIOCINQ, SIOCOUTQ, SIOCOUTQNSD, SIOCATMARK, SIOCSPGRP, SIOCGPGRP, FIOASYNC, FIONBIO,
	SIOCGIFNAME, SIOCGIFCONF, SIOCGSTAMP_OLD, SIOCADDRT, SIOCETHTOOL,
};

static const uint32_t events[] = {
	POLLIN, POLLOUT, POLLPRI, POLLRDHUP, 1U << 31 /* EPOLLET */, 1U << 30 /* EPOLLONESHOT */,
	1U << 28 /* EPOLLEXCLUSIVE */,
};

static const uint32_t option_lengths[] = { 4, 4, 4, 4, 8, 16, 0, 1, 3, 5, 64, 500, -1 };

#define SOCK(name) (SOL_SOCKET << 16 | (name))
#define TCP(name) (IPPROTO_TCP << 16 | (name))
#define SDP(name) (SOL_SDP << 16 | (name))
#define IP(name) (IPPROTO_IP << 16 | (name))
#define IP6(name) (IPPROTO_IPV6 << 16 | (name))

static const uint32_t options[] = {
	SOCK(SO_RCVBUF), SOCK(SO_SNDBUF), SOCK(SO_RCVBUFFORCE), SOCK(SO_SNDBUFFORCE),
	SOCK(SO_LINGER), SOCK(SO_KEEPALIVE), SOCK(SO_OOBINLINE), SOCK(SO_RCVLOWAT),
	SOCK(SO_RCVTIMEO), SOCK(SO_SNDTIMEO), SOCK(SO_REUSEADDR), SOCK(SO_REUSEPORT),
	SOCK(SO_ZEROCOPY), SOCK(SO_BUSY_POLL), SOCK(SO_INCOMING_CPU), SOCK(SO_PRIORITY),
	SOCK(SO_MARK), SOCK(SO_BINDTODEVICE), SOCK(SO_BINDTOIFINDEX), SOCK(SO_TIMESTAMPING),
	SOCK(SO_ERROR), SOCK(SO_ACCEPTCONN), SOCK(SO_TYPE), SOCK(SO_DOMAIN), SOCK(SO_PROTOCOL),
	SOCK(SO_MEMINFO), SOCK(SO_COOKIE), SOCK(SO_PEEK_OFF), SOCK(SO_MAX_PACING_RATE),
	SOCK(SO_LOCK_FILTER), SOCK(SO_DETACH_FILTER), SOCK(SO_PEERCRED), SOCK(SO_TXTIME),
	SOCK(SO_PREFER_BUSY_POLL), SOCK(SO_RCVMARK), SOCK(SO_BUF_LOCK), SOCK(SO_DONTROUTE),
	TCP(TCP_NODELAY), TCP(TCP_CORK), TCP(TCP_MAXSEG), TCP(TCP_KEEPIDLE), TCP(TCP_KEEPINTVL),
	TCP(TCP_KEEPCNT), TCP(TCP_USER_TIMEOUT), TCP(TCP_SYNCNT), TCP(TCP_LINGER2),
	TCP(TCP_DEFER_ACCEPT), TCP(TCP_NOTSENT_LOWAT), TCP(TCP_QUICKACK), TCP(TCP_WINDOW_CLAMP),
	TCP(TCP_INFO), TCP(TCP_ZEROCOPY_RECEIVE), TCP(TCP_CONGESTION), TCP(TCP_ULP),
	TCP(TCP_FASTOPEN), TCP(TCP_REPAIR), TCP(TCP_INQ),
	TCP(SDP_ZCOPY_THRESH), TCP(SDP_ZCOPY_THRESH), TCP(SDP_LAST_BIND_ERR),
	SDP(SDP_TCP_FALLBACK), SDP(SDP_FALLBACK_REASON), SDP(SDP_INFO), SDP(SDP_FLOW_CONTROL),
	SDP(SDP_ZCOPY), SDP(SDP_ZEROCOPY), SDP(SDP_ZEROCOPY), SDP(SDP_ZCOPY_FAULT),
	SDP(SDP_ZCOPY_RECV), SDP(99),
	IP(1 /* IP_TOS */), IP(2 /* IP_TTL */), IP(4 /* IP_OPTIONS */), IP(8 /* IP_PKTINFO */),
	IP(10 /* IP_MTU_DISCOVER */), IP(11 /* IP_RECVERR */), IP(14 /* IP_MTU */),
	IP(15 /* IP_FREEBIND */), IP(21 /* IP_MINTTL */), IP(24), IP(50), IP(51),
	IP6(26 /* V6ONLY */), IP6(67 /* TCLASS */), IP6(24 /* MTU */), IP6(16), IP6(25), IP6(54),
	IP6(57 /* RTHDR */), IP6(59), IP6(1 /* ADDRFORM */),
	27 << 16 | SO_KEEPALIVE, 288 << 16 | 1,
};

static const struct choices choices[] = {
	[ARG_OFFSET] = { offsets, ARRAY_SIZE(offsets) },
	[ARG_LENGTH] = { lengths, ARRAY_SIZE(lengths) },
	[ARG_VALUE] = { values, ARRAY_SIZE(values) },
	[ARG_SEND_FLAGS] = { send_flags, ARRAY_SIZE(send_flags) },
	[ARG_RECV_FLAGS] = { recv_flags, ARRAY_SIZE(recv_flags) },
	[ARG_OPTION] = { options, ARRAY_SIZE(options) },
	[ARG_OPTION_LENGTH] = { option_lengths, ARRAY_SIZE(option_lengths) },
	[ARG_IOCTL] = { ioctls, ARRAY_SIZE(ioctls) },
	[ARG_EVENTS] = { events, ARRAY_SIZE(events) },
};

static uint32_t any_argument(enum fuzz_arg what, uint32_t *state)
{
	switch (what) {
	case ARG_SLOT:
		/* Most calls are to meet others of the same socket. */
		return fuzz_below(state, fuzz_below(state, 4) ? 3 : FUZZ_SLOTS);
	case ARG_DOOR:
	case ARG_SMALL:
	case ARG_ADDRESS:
		return fuzz_below(state, 16);
	case ARG_WORD:
		return fuzz_below(state, fuzz_word_count);
	case ARG_BUFFER:
		return fuzz_below(state, FUZZ_BUFFERS);
	case ARG_SEND_FLAGS:
	case ARG_RECV_FLAGS:
	case ARG_EVENTS:
		return some_of(&choices[what], state);
	case ARG_NONE:
		return 0;
	default:
		return one_of(&choices[what], state);
	}
}

unsigned int fuzz_kind_args(const struct fuzz_kind *kind)
{
	unsigned int n = 0;

	while (n < FUZZ_ARGS && kind->args[n] != ARG_NONE)
		n++;
	return n;
}

static unsigned int any_kind(uint32_t *state)
{
	unsigned int i, sum = 0;
	uint32_t at;

	for (i = 0; i < fuzz_kind_count; i++)
		sum += fuzz_kinds[i].weight;
	at = fuzz_below(state, sum);
	for (i = 0; at >= fuzz_kinds[i].weight; i++)
		at -= fuzz_kinds[i].weight;
	return i;
}

static struct fuzz_call any_call(uint32_t *state)
{
	struct fuzz_call call = { .kind = any_kind(state) };
	unsigned int i;

	call.actor = fuzz_below(state, FUZZ_ACTORS);
	for (i = 0; i < FUZZ_ARGS; i++)
		call.arg[i] = any_argument(fuzz_kinds[call.kind].args[i], state);
	return call;
}

/* The first kinds of the table are those to begin with. */
static struct fuzz_call first_call(unsigned int kind, uint32_t *state)
{
	struct fuzz_call call = any_call(state);
	unsigned int i;

	call.kind = kind;
	call.actor = 0;
	for (i = 0; i < FUZZ_ARGS; i++)
		call.arg[i] = any_argument(fuzz_kinds[kind].args[i], state);
	return call;
}

void fuzz_generate(struct fuzz_program *p, uint32_t *state)
{
	unsigned int want = 4 + fuzz_below(state, FUZZ_CALLS - 8);

	memset(p, 0, sizeof(*p));
	while (fuzz_below(state, 3) == 0 && p->count < 4)
		p->calls[p->count++] = any_call(state);
	if (fuzz_below(state, 8)) {
		p->calls[p->count] = first_call(0, state);
		p->calls[p->count].arg[0] = 0;
		p->calls[p->count++].arg[1] = 1;
	}
	if (fuzz_below(state, 4) == 0)
		p->calls[p->count++] = first_call(1, state);
	while (p->count < want)
		p->calls[p->count++] = any_call(state);
}

static void insert(struct fuzz_program *p, struct fuzz_call call, uint32_t *state)
{
	unsigned int at = fuzz_below(state, p->count + 1);

	if (p->count == FUZZ_CALLS)
		return;
	memmove(&p->calls[at + 1], &p->calls[at], (p->count - at) * sizeof(call));
	p->calls[at] = call;
	p->count++;
}

static void delete(struct fuzz_program *p, uint32_t *state)
{
	unsigned int at;

	if (p->count < 2)
		return;
	at = fuzz_below(state, p->count);
	p->count--;
	memmove(&p->calls[at], &p->calls[at + 1], (p->count - at) * sizeof(p->calls[0]));
}

static void replace(struct fuzz_program *p, uint32_t *state)
{
	struct fuzz_call *call;
	unsigned int i;

	if (!p->count)
		return;
	call = &p->calls[fuzz_below(state, p->count)];
	i = fuzz_below(state, FUZZ_ARGS + 1);
	if (i == FUZZ_ARGS)
		call->actor = fuzz_below(state, FUZZ_ACTORS);
	else
		call->arg[i] = any_argument(fuzz_kinds[call->kind].args[i], state);
}

/* The beginning of one and the end of the other. */
static void join(struct fuzz_program *p, const struct fuzz_program *other, uint32_t *state)
{
	unsigned int from = fuzz_below(state, other->count + 1);

	p->count = fuzz_below(state, p->count + 1);
	while (from < other->count && p->count < FUZZ_CALLS)
		p->calls[p->count++] = other->calls[from++];
}

void fuzz_mutate(struct fuzz_program *p, const struct fuzz_program *other, uint32_t *state)
{
	unsigned int n = 1 + fuzz_below(state, 6);

	if (fuzz_below(state, 5) == 0)
		join(p, other, state);
	while (n--)
		switch (fuzz_below(state, 4)) {
		case 0:
			delete(p, state);
			break;
		case 1:
			insert(p, any_call(state), state);
			break;
		default:
			replace(p, state);
		}
}

/* ---- text ---- */

size_t fuzz_print(const struct fuzz_program *p, char *text, size_t size)
{
	unsigned int i, j;
	size_t len = 0;

	for (i = 0; i < p->count && len < size; i++) {
		const struct fuzz_call *call = &p->calls[i];
		const struct fuzz_kind *kind = &fuzz_kinds[call->kind];

		len += snprintf(text + len, size - len, "%u %s", call->actor, kind->name);
		for (j = 0; j < fuzz_kind_args(kind) && len < size; j++)
			len += snprintf(text + len, size - len, " %#x", call->arg[j]);
		if (len < size)
			len += snprintf(text + len, size - len, "\n");
	}
	CHECK(len < size);
	return len;
}

static bool kind_of(const char *name, unsigned char *kind)
{
	unsigned int i;

	for (i = 0; i < fuzz_kind_count; i++)
		if (!strcmp(fuzz_kinds[i].name, name)) {
			*kind = i;
			return true;
		}
	return false;
}

bool fuzz_parse_call(const char *line, struct fuzz_call *call)
{
	unsigned int actor;
	char name[32];
	int at, i;

	memset(call, 0, sizeof(*call));
	if (sscanf(line, "%u %31s%n", &actor, name, &at) != 2 || actor >= FUZZ_ACTORS ||
	    !kind_of(name, &call->kind))
		return false;
	call->actor = actor;
	line += at;
	for (i = 0; i < FUZZ_ARGS; i++) {
		char *end;

		call->arg[i] = strtoul(line, &end, 0);
		line = end;
	}
	return true;
}
