// SPDX-License-Identifier: GPL-2.0
/* Statements about how a connection is set up, and what the peer sees of its end. */
#define _GNU_SOURCE
#include <poll.h>
#include <unistd.h>

#include "play.h"
#include "sdp_bytes.h"

/* Private data of a request, as the connection manager leaves it to SDP. */
#define REQUEST_MAX	56
#define REJECT_LEN	8

#define BSDH_FIELDS	"mid flags bufs len mseq mseqack "
#define HELLO_FIELDS	BSDH_FIELDS "version ip cap adverts wish size port magic extversion " \
			"extlen features token bytes post"
#define ACK_FIELDS	BSDH_FIELDS "version cap adverts size magic extversion extlen features " \
			"bytes post"

/* Where a number is. */
struct place {
	const char *name;
	uint8_t at, size;
};

static const struct place bsdh_places[] = {
	{ "mid", 0, 1 }, { "flags", 1, 1 }, { "bufs", 2, 2 }, { "len", 4, 4 },
	{ "mseq", 8, 4 }, { "mseqack", 12, 4 }, { "version", 16, 1 }, { "adverts", 19, 1 },
	{ }
};

static const struct place hello_places[] = {
	{ "wish", 20, 4 }, { "size", 24, 4 }, { "port", 28, 2 }, { "magic", 32, 4 },
	{ "extversion", 36, 1 }, { "extlen", 37, 1 }, { "features", 38, 2 }, { }
};

static const struct place ack_places[] = {
	{ "cap", 17, 1 }, { "size", 20, 4 }, { "magic", 24, 4 }, { "extversion", 28, 1 },
	{ "extlen", 29, 1 }, { "features", 30, 2 }, { }
};

static void put_places(const struct script *s, const struct script_line *l,
		       const struct place *place, unsigned char *buf)
{
	unsigned char bytes[8];

	for (; place->name; place++) {
		if (!script_has(l, place->name))
			continue;
		put64(bytes, script_field(s, l, place->name, 0));
		memcpy(buf + place->at, bytes + 8 - place->size, place->size);
	}
}

/* What may be named in a message from now on. */
static void peer_is_ready(struct script *s, const struct script_line *l)
{
	struct verbs_end *v = &play.peer;

	play.ready = true;
	play.posts = !script_has(l, "post");
	v->bufs = script_field(s, l, "bufs", PLAY_BUFS);
	script_set(s, "own", "rkey", v->mr->rkey);
	script_set(s, "own", "addr", (uintptr_t)v->ring);
	script_set(s, "own", "size", VERBS_RING);
	script_set(s, "own", "piece", VERBS_PIECE);
}

/* ---- the peer connects ---- */

static void run_hello(struct script *s, const struct script_line *l)
{
	struct verbs_offer offer = { .features = FEAT_ALL, .adverts = 1 };
	unsigned char hello[REQUEST_MAX] = { 0 };
	size_t len;

	offer.cap = script_field(s, l, "cap", 0);
	offer.token = script_field(s, l, "token", 0);
	len = verbs_encode_hello(hello, PLAY_BUFS, offer);
	hello[17] = script_field(s, l, "ip", 4) << 4 | offer.cap;
	put_places(s, l, bsdh_places, hello);
	put_places(s, l, hello_places, hello);
	play.met = true;
	verbs_request(&play.peer, &play.address, hello, script_field(s, l, "bytes", len));
	verbs_post(&play.peer, script_field(s, l, "post", PLAY_POSTED));
	peer_is_ready(s, l);
}

static void note_ack(struct script *s)
{
	script_set(s, "ack", "bufs", get16(play.peer.heard + 2));
	script_set(s, "ack", "cap", play.peer.heard[17]);
	script_set(s, "ack", "adverts", play.peer.heard[19]);
	script_set(s, "ack", "size", get32(play.peer.heard + 20));
	script_set(s, "ack", "features", get16(play.peer.heard + 30));
}

/*
 * The module says nothing over iWARP before it was spoken to, and answers. What comes behind
 * that acknowledges the answer, so that nothing is under way when a script goes on.
 */
static void greet(struct script *s)
{
	struct verbs_end *v = &play.peer;

	script_set(s, NULL, "greetings", over_iwarp() ? 2 : 0);
	if (!over_iwarp())
		return;
	verbs_send(v, MID_DATA, NULL, 0);
	CHECK_EQ(verbs_next(v).len, 0);
	verbs_post(v, 1);
	verbs_send(v, MID_DATA, NULL, 0);
}

static void run_connect(struct script *s, const struct script_line *l)
{
	run_hello(s, l);
	verbs_established(&play.peer);
	note_ack(s);
	greet(s);
	play_socket_is(CHECK_OK(accept(play.listener, NULL, NULL)));
}

static void run_established(struct script *s, const struct script_line *l)
{
	verbs_established(&play.peer);
	note_ack(s);
	(void)l;
}

static void run_refused(struct script *s, const struct script_line *l)
{
	verbs_event(&play.peer, RDMA_CM_EVENT_REJECTED);
	if (script_has(l, "reason"))
		CHECK_EQ(get16(play.peer.heard + 6), script_field(s, l, "reason", 0));
}

/* ---- the peer is connected to ---- */

static void run_listen(struct script *s, const struct script_line *l)
{
	play.met = true;
	play.address = verbs_listen(&play.peer);
	(void)s;
	(void)l;
}

static void run_asked(struct script *s, const struct script_line *l)
{
	struct verbs_offer offer = verbs_asked(&play.peer);

	script_set(s, "hello", "features", offer.features);
	script_set(s, "hello", "adverts", offer.adverts);
	script_set(s, "hello", "cap", offer.cap);
	script_set(s, "hello", "token", offer.token);
	if (script_has(l, "features"))
		CHECK_EQ(offer.features, script_field(s, l, "features", 0));
}

static void run_answer(struct script *s, const struct script_line *l)
{
	unsigned char ack[HELLO_ACK_LEN];
	size_t len = verbs_encode_ack(ack, PLAY_BUFS, FEAT_ALL);

	put_places(s, l, bsdh_places, ack);
	put_places(s, l, ack_places, ack);
	verbs_answer_with(&play.peer, ack, script_field(s, l, "bytes", len),
			  script_field(s, l, "post", PLAY_POSTED));
	peer_is_ready(s, l);
}

static void run_reject(struct script *s, const struct script_line *l)
{
	unsigned char why[REJECT_LEN] = "SDPX\1\10";

	put16(why + 6, script_field(s, l, "reason", 0));
	CHECK_OK(rdma_reject(play.peer.id, why, sizeof(why)));
}

/* ---- the end ---- */

/* Whatever else the connection manager has to say before. */
static void run_closed(struct script *s, const struct script_line *l)
{
	struct pollfd p = { .fd = play.peer.channel->fd, .events = POLLIN };
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;

	do {
		if (!CHECK_OK(poll(&p, 1, wait_limit_ms())))
			FAIL("the connection has not ended");
		CHECK_OK(rdma_get_cm_event(play.peer.channel, &event));
		type = event->event;
		CHECK_OK(rdma_ack_cm_event(event));
	} while (type == RDMA_CM_EVENT_ESTABLISHED);
	if (type != RDMA_CM_EVENT_DISCONNECTED && type != RDMA_CM_EVENT_REJECTED)
		FAIL("expected the end, got %s", rdma_event_str(type));
	(void)s;
	(void)l;
}

static void run_leave(struct script *s, const struct script_line *l)
{
	CHECK_OK(rdma_disconnect(play.peer.id));
	(void)s;
	(void)l;
}

static void run_skip_iwarp(struct script *s, const struct script_line *l)
{
	if (over_iwarp())
		sdp_skip("this cannot be said over iWARP");
	(void)s;
	(void)l;
}

const struct statement meet_statements[] = {
	{ "hello", 0, 0, HELLO_FIELDS, run_hello },
	{ "connect", 0, 0, HELLO_FIELDS, run_connect },
	{ "expect established", 0, 0, NULL, run_established },
	{ "expect refused", 0, 0, "reason", run_refused },
	{ "listen", 0, 0, NULL, run_listen },
	{ "expect hello", 0, 0, "features", run_asked },
	{ "helloack", 0, 0, ACK_FIELDS, run_answer },
	{ "reject", 0, 0, "reason", run_reject },
	{ "expect closed", 0, 0, NULL, run_closed },
	{ "leave", 0, 0, NULL, run_leave },
	{ "not iwarp", 0, 0, NULL, run_skip_iwarp },
	{ }
};
