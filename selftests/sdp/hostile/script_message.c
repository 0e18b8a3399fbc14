// SPDX-License-Identifier: GPL-2.0
/* Statements about messages: '>' is what the peer sends, '<' what it receives. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "play.h"
#include "sdp_bytes.h"

#define HEADER_FIELDS	"mid flags bufs len mseq mseqack payload pos cut key "
#define OTHER_FIELDS	"bytes size value service piece rkey addr tail count "

/* A message, and the numbers behind its base header. */
struct message {
	const char *name;
	uint8_t mid, ext_len;
	struct {
		const char *name;
		uint8_t at, size;
	} fields[4];
};

static const struct message messages[] = {
	{ "hello", 0x00, 16, },
	{ "helloack", 0x01, 8, },
	{ "disconn", 0x02, 0, },
	{ "abortconn", 0x03, 0, },
	{ "sendsm", 0x04, 0, },
	{ "rdmawrcompl", 0x05, 4, { { "bytes", 0, 4 } } },
	{ "rdmardcompl", 0x06, 4, { { "bytes", 0, 4 } } },
	{ "modechange", 0x07, 4, { { "value", 0, 4 } } },
	{ "srcavailcancel", 0x08, 0, },
	{ "sinkavailcancel", 0x09, 0, },
	{ "sinkcancelack", 0x0a, 0, },
	{ "chrcvbuf", 0x0b, 4, { { "size", 0, 4 } } },
	{ "chrcvbufack", 0x0c, 4, { { "size", 0, 4 } } },
	{ "suspcomm", 0x0d, 8, { { "service", 0, 8 } } },
	{ "suspcommack", 0x0e, 0, },
	{ "ringavail", 0x80, 20,
	  { { "size", 0, 4 }, { "piece", 4, 4 }, { "rkey", 8, 4 }, { "addr", 12, 8 } } },
	{ "ringspace", 0x81, 4, { { "tail", 0, 4 } } },
	{ "ringdata", 0x82, 4, { { "bytes", 0, 4 } } },
	{ "sinkavail", 0xfd, 20,
	  { { "size", 0, 4 }, { "rkey", 4, 4 }, { "addr", 8, 8 }, { "count", 16, 4 } } },
	{ "srcavail", 0xfe, 16, { { "size", 0, 4 }, { "rkey", 4, 4 }, { "addr", 8, 8 } } },
	{ "data", 0xff, 0, },
};

/* Which are passed over. */
static bool ignored[256];

static const struct message *find_message(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(messages); i++)
		if (!strcmp(messages[i].name, name))
			return &messages[i];
	FAIL("there is no message '%s'", name);
}

static const char *message_name(uint8_t mid)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(messages); i++)
		if (messages[i].mid == mid)
			return messages[i].name;
	return "an unknown message";
}

/* What may be named, as it is before this message. */
static void name_numbers(struct script *s)
{
	script_set(s, NULL, "mseq", play.peer.mseq);
	script_set(s, NULL, "mseqack", play.peer.mseq_ack);
	script_set(s, NULL, "bufs", play.peer.bufs);
	script_set(s, NULL, "up", play.up);
	script_set(s, NULL, "down", play.down);
}

/* ---- sending ---- */

/* What a field is if nothing is said of it: memory is the peer's own. */
static uint64_t usual(struct script *s, const char *name)
{
	char own[32];

	if (strcmp(name, "rkey") && strcmp(name, "addr") && strcmp(name, "size") &&
	    strcmp(name, "piece"))
		return 0;
	snprintf(own, sizeof(own), "own.%s", name);
	return script_value(s, own);
}

static void put_extension(struct script *s, const struct script_line *l,
			  const struct message *m, unsigned char *ext)
{
	unsigned char bytes[8];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(m->fields) && m->fields[i].name; i++) {
		const char *name = m->fields[i].name;

		put64(bytes, script_field(s, l, name, usual(s, name)));
		memcpy(ext + m->fields[i].at, bytes + 8 - m->fields[i].size, m->fields[i].size);
	}
}

/* Memory that is offered has what comes next in the stream, as far as it is the peer's. */
static uint32_t fill_offered(struct script *s, const struct script_line *l)
{
	uint64_t from = script_field(s, l, "addr", usual(s, "addr")) - usual(s, "addr");
	uint32_t size = script_field(s, l, "size", VERBS_RING);

	if (from < VERBS_RING)
		pattern_fill(play.peer.ring + from, size < VERBS_RING - from ?
			     size : VERBS_RING - from, SEED_PEER, play.up);
	return size;
}

static void run_send(struct script *s, const struct script_line *l)
{
	const struct message *m = find_message(l->words[0]);
	uint32_t payload = script_field(s, l, "payload", 0);
	uint32_t len = BSDH_LEN + m->ext_len + payload;
	struct verbs_end *v = &play.peer;
	unsigned char msg[VERBS_SLOT];
	uint32_t key;

	name_numbers(s);
	CHECK(len <= sizeof(msg));
	play.up = script_field(s, l, "pos", play.up);
	v->mseq++;
	msg[0] = script_field(s, l, "mid", m->mid);
	msg[1] = script_field(s, l, "flags", 0);
	put16(msg + 2, script_field(s, l, "bufs", v->bufs));
	put32(msg + 4, script_field(s, l, "len", len));
	put32(msg + 8, script_field(s, l, "mseq", v->mseq));
	put32(msg + 12, script_field(s, l, "mseqack", v->mseq_ack));
	put_extension(s, l, m, msg + BSDH_LEN);
	pattern_fill(msg + BSDH_LEN + m->ext_len, payload, SEED_PEER, play.up);
	play.up += m->mid == MID_SRCAVAIL ? fill_offered(s, l) : payload;
	key = script_field(s, l, "key", 0);
	verbs_send_bytes(v, msg, len - script_field(s, l, "cut", 0),
			 script_has(l, "key") ? &key : NULL);
}

static void run_send_raw(struct script *s, const struct script_line *l)
{
	unsigned char raw[256];

	verbs_send_bytes(&play.peer, raw, script_bytes(l->words[0], raw, sizeof(raw)), NULL);
	(void)s;
}

/* The header of what has none, for this one message. */
static struct verbs_end header_of(struct script *s, const struct script_line *l)
{
	struct verbs_end was = play.peer;

	name_numbers(s);
	play.peer.bufs = script_field(s, l, "bufs", was.bufs);
	play.peer.mseq_ack = script_field(s, l, "mseqack", was.mseq_ack);
	play.peer.peer.rkey = script_field(s, l, "rkey", was.peer.rkey);
	play.up = script_field(s, l, "pos", play.up);
	return was;
}

static void header_again(const struct verbs_end *was)
{
	play.peer.bufs = was->bufs;
	play.peer.mseq_ack = was->mseq_ack;
	play.peer.peer.rkey = was->peer.rkey;
}

/* The header's bytes are the last of the payload, which go first. */
static void run_immediate(struct script *s, const struct script_line *l)
{
	uint32_t len = script_field(s, l, "payload", 0);
	struct verbs_end was = header_of(s, l);
	unsigned char payload[VERBS_SLOT], msg[VERBS_SLOT];
	uint32_t head = len < BSDH_LEN ? len : BSDH_LEN;

	CHECK(len <= sizeof(msg));
	pattern_fill(payload, len, SEED_PEER, play.up);
	memcpy(msg, payload + len - head, head);
	memcpy(msg + head, payload, len - head);
	verbs_send_immediate(&play.peer, msg, len);
	play.up += len;
	header_again(&was);
}

/* The windows that it takes are the peer's to know. */
static void run_written(struct script *s, const struct script_line *l)
{
	uint32_t len = script_field(s, l, "payload", 0);
	const struct verbs_ring *ring = &play.peer.peer;
	uint64_t at = ring->size ? ring->vaddr + play.ring_at % ring->size : 0;
	struct verbs_end was = header_of(s, l);
	uint32_t mseq = was.mseq;

	verbs_write(&play.peer, script_field(s, l, "addr", at), SEED_PEER, play.up, len);
	if (script_has(l, "windows"))
		play.peer.mseq = mseq + script_field(s, l, "windows", 1);
	play.up += len;
	play.ring_at += len;
	header_again(&was);
}

static void run_post(struct script *s, const struct script_line *l)
{
	verbs_post(&play.peer, script_value(s, l->words[0]));
}

/* What its messages say of receive buffers from now on. */
static void run_bufs(struct script *s, const struct script_line *l)
{
	play.peer.bufs = script_value(s, l->words[0]);
}

/* ---- receiving ---- */

static bool passed_over(const struct verbs_msg *msg)
{
	return ignored[msg->mid] || (msg->mid == MID_DATA && !msg->len && !msg->written);
}

static struct verbs_msg take(void)
{
	struct verbs_msg msg = verbs_next(&play.peer);

	if (play.posts)
		verbs_post(&play.peer, 1);
	return msg;
}

static struct verbs_msg take_next(void)
{
	struct verbs_msg msg;

	do {
		msg = take();
	} while (passed_over(&msg));
	return msg;
}

static void expect_message(const struct message *m, const struct verbs_msg *msg)
{
	if (msg->mid != m->mid)
		FAIL("expected %s, got %s (%#x) with %u bytes behind its header", m->name,
		     message_name(msg->mid), msg->mid, msg->len);
}

/* Payload, be it sent or written into the peer's ring, is the next of the stream. */
static void take_payload(const struct verbs_msg *msg)
{
	if (!msg->written) {
		pattern_verify(msg->payload, msg->len, SEED_SOCKET, play.down);
	} else {
		CHECK(play.down % VERBS_RING + msg->len <= VERBS_RING);
		pattern_verify(play.peer.ring + play.down % VERBS_RING, msg->len, SEED_SOCKET,
			       play.down);
	}
	play.down += msg->len;
}

static void take_data(struct script *s, const struct script_line *l, const struct message *m)
{
	uint64_t end = play.down + script_field(s, l, "payload", 0);
	struct verbs_msg msg;

	while (play.down < end) {
		msg = take_next();
		expect_message(m, &msg);
		take_payload(&msg);
	}
	CHECK_EQ(play.down, end);
}

static uint64_t number_at(const unsigned char *from, size_t size)
{
	return size == 8 ? get64(from) : get32(from);
}

static void take_fields(struct script *s, const struct script_line *l, const struct message *m,
			const struct verbs_msg *msg)
{
	uint64_t got, want;
	size_t i;

	CHECK_EQ(msg->len, m->ext_len);
	for (i = 0; i < ARRAY_SIZE(m->fields) && m->fields[i].name; i++) {
		got = number_at(msg->payload + m->fields[i].at, m->fields[i].size);
		want = script_field(s, l, m->fields[i].name, got);
		if (got != want)
			FAIL("%s: expected %s %#llx, got %#llx", m->name, m->fields[i].name,
			     (unsigned long long)want, (unsigned long long)got);
		if (l->as)
			script_set(s, l->as, m->fields[i].name, got);
	}
}

/* What is offered stands for as many bytes of the stream. */
static void take_offer(struct script *s, const struct script_line *l)
{
	if (l->as)
		script_set(s, l->as, "pos", play.down);
	play.down += play.peer.source.len;
}

static void run_receive(struct script *s, const struct script_line *l)
{
	const struct message *m = find_message(l->words[0]);
	struct verbs_msg msg;

	name_numbers(s);
	play.down = script_field(s, l, "pos", play.down);
	if (m->mid == MID_DATA) {
		take_data(s, l, m);
		return;
	}
	msg = take_next();
	expect_message(m, &msg);
	take_fields(s, l, m, &msg);
	if (m->mid == MID_SRCAVAIL)
		take_offer(s, l);
}

/* One that only returns credits, or answers. */
static void run_update(struct script *s, const struct script_line *l)
{
	struct verbs_msg msg = take();

	expect_message(find_message("data"), &msg);
	CHECK_EQ(msg.len, 0);
	(void)s;
	(void)l;
}

static void run_ignore(struct script *s, const struct script_line *l)
{
	unsigned int i;

	for (i = 0; i < l->nr_words; i++)
		ignored[find_message(l->words[i])->mid] = true;
	(void)s;
}

static void run_silence(struct script *s, const struct script_line *l)
{
	uint64_t end = now_ms() + script_value(s, l->words[0]);
	struct verbs_msg msg;

	while (now_ms() < end) {
		if (!play.ready || !verbs_pending(&play.peer)) {
			pause_a_bit();
			continue;
		}
		msg = take();
		if (!passed_over(&msg))
			FAIL("expected nothing, got %s", message_name(msg.mid));
	}
}

const struct statement message_statements[] = {
	{ "> raw", 1, 1, NULL, run_send_raw },
	{ "> immediate", 0, 0, "payload pos bufs mseqack", run_immediate },
	{ "> written", 0, 0, "payload pos bufs mseqack rkey addr windows", run_written },
	{ ">", 1, 1, HEADER_FIELDS OTHER_FIELDS, run_send },
	{ "< update", 0, 0, NULL, run_update },
	{ "<", 1, 1, "payload pos " OTHER_FIELDS, run_receive },
	{ "post", 1, 1, NULL, run_post },
	{ "bufs", 1, 1, NULL, run_bufs },
	{ "ignore", 1, SCRIPT_WORDS, NULL, run_ignore },
	{ "silence", 1, 1, NULL, run_silence },
	{ }
};
