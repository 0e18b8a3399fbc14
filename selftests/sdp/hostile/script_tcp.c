// SPDX-License-Identifier: GPL-2.0
/*
 * Statements about an iWARP device's peer that is a TCP socket: MPA's frames, and segments
 * of DDP and RDMAP as they are.
 */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "play.h"
#include "sdp_bytes.h"
#include "sdp_mpa.h"

/* MPA (RFC 5044): the frames that set up, and what is around a segment. */
#define FRAME_LEN	20
#define LENGTH_LEN	2
#define CRC_LEN		4
/* DDP and RDMAP (RFC 5041, 5040). */
#define DDP_TAGGED	0x80
#define TAGGED_LEN	14
#define UNTAGGED_LEN	18
#define RDMAP_WRITE	0x40
#define RDMAP_SEND	0x43
#define RDMAP_TERMINATE	0x47
#define READ_LEN	28
#define SEGMENT_MAX	4096
#define BUFS		8
#define PRIVATE_MAX	512
/* Peer-to-peer setup (RFC 6581): its flag and the first message's, each with a depth of 1. */
#define MPA_ENHANCED	0x10
#define DEPTHS_LEN	4
#define PEER_TO_PEER	0x8001
#define FIRST_IS_WRITE	0x8001

/* The socket, and the numbers of what it has sent; and one that has been listening. */
static struct mpa_end end = { .fd = -1 };
static int listener = -1;

/* Its calls do not wait for ever. */
static int new_tcp(struct addr at)
{
	int fd = CHECK_OK(socket(AF_INET, SOCK_STREAM, IPPROTO_TCP));

	set_timeout(fd, SO_RCVTIMEO, wait_limit_ms());
	CHECK_OK(bind(fd, &at.sa, at.len));
	return fd;
}

static void begin(int fd)
{
	if (end.fd >= 0)
		CHECK_OK(close(end.fd));
	end = (struct mpa_end){ .fd = fd };
	set_int(fd, SOL_TCP, TCP_NODELAY, 1);
}

static void run_connects(struct script *s, const struct script_line *l)
{
	begin(new_tcp(client_addr(0)));
	CHECK_OK(connect(end.fd, &play.address.sa, play.address.len));
	(void)s;
	(void)l;
}

static void run_listens(struct script *s, const struct script_line *l)
{
	if (listener >= 0)
		CHECK_OK(close(listener));
	listener = new_tcp(server_addr(0));
	CHECK_OK(listen(listener, 1));
	play.address = local_addr(listener);
	(void)s;
	(void)l;
}

/* All at once, or byte by byte; or without what is last. */
static void put_bytes(struct script *s, const struct script_line *l, const unsigned char *data,
		      size_t len)
{
	size_t piece = script_field(s, l, "drip", len), n;

	for (len -= script_field(s, l, "cut", 0); len; len -= n, data += n) {
		n = len < piece ? len : piece;
		CHECK_EQ(send(end.fd, data, n, MSG_NOSIGNAL), n);
	}
}

static void run_raw(struct script *s, const struct script_line *l)
{
	unsigned char raw[256];

	put_bytes(s, l, raw, script_bytes(l->words[0], raw, sizeof(raw)));
}

/* ---- MPA's frames ---- */

static void run_sends_request(struct script *s, const struct script_line *l)
{
	unsigned char frame[FRAME_LEN + HELLO_LEN] = "MPA ID Req Frame";
	struct verbs_offer offer = { .features = FEAT_ALL, .adverts = 1 };

	frame[0] = script_field(s, l, "first", frame[0]);
	frame[16] = script_field(s, l, "flags", MPA_CRC);
	frame[17] = script_field(s, l, "rev", 1);
	put16(frame + 18, script_field(s, l, "len", HELLO_LEN));
	verbs_encode_hello(frame + FRAME_LEN, BUFS, offer);
	put_bytes(s, l, frame, sizeof(frame));
}

/* The next frame, with this key; returns how much private data it has. */
static size_t take_frame(struct script *s, const struct script_line *l, const char *key,
			 unsigned char data[PRIVATE_MAX])
{
	unsigned char frame[FRAME_LEN];
	size_t len;

	mpa_get(&end, frame, sizeof(frame));
	CHECK(!memcmp(frame, key, 16));
	len = get16(frame + 18);
	CHECK(len <= PRIVATE_MAX);
	mpa_get(&end, data, len);
	CHECK_EQ(frame[16], script_field(s, l, "flags", frame[16]));
	CHECK_EQ(frame[17], script_field(s, l, "rev", frame[17]));
	return len;
}

static void run_takes_reply(struct script *s, const struct script_line *l)
{
	unsigned char data[PRIVATE_MAX];
	size_t len = take_frame(s, l, "MPA ID Rep Frame", data);

	if (!script_has(l, "reason"))
		return;
	CHECK(len >= 8);
	CHECK_EQ(get16(data + 6), script_field(s, l, "reason", 0));
}

/* Somebody connects. */
static void run_takes_request(struct script *s, const struct script_line *l)
{
	unsigned char data[PRIVATE_MAX];

	begin(CHECK_OK(accept(listener, NULL, NULL)));
	CHECK(take_frame(s, l, "MPA ID Req Frame", data) >= DEPTHS_LEN + HELLO_LEN);
	CHECK_EQ(get16(data), script_field(s, l, "ird", get16(data)));
	CHECK_EQ(get16(data + 2), script_field(s, l, "ord", get16(data + 2)));
}

static void run_sends_reply(struct script *s, const struct script_line *l)
{
	unsigned char frame[FRAME_LEN + DEPTHS_LEN + HELLO_ACK_LEN] = "MPA ID Rep Frame";
	unsigned char *data = frame + FRAME_LEN;

	frame[0] = script_field(s, l, "first", frame[0]);
	frame[16] = script_field(s, l, "flags", MPA_CRC | MPA_ENHANCED);
	frame[17] = script_field(s, l, "rev", 2);
	if (frame[16] & MPA_ENHANCED) {
		put16(data, script_field(s, l, "ird", PEER_TO_PEER));
		put16(data + 2, script_field(s, l, "ord", FIRST_IS_WRITE));
		data += DEPTHS_LEN;
	}
	data += verbs_encode_ack(data, BUFS, FEAT_ALL);
	put16(frame + 18, script_field(s, l, "len", data - frame - FRAME_LEN));
	put_bytes(s, l, frame, data - frame);
}

/* ---- segments ---- */

/* The next SDP message, if nothing else is in the segment. */
static size_t put_message(struct script *s, const struct script_line *l, unsigned char *body)
{
	uint32_t payload = script_field(s, l, "payload", 0);

	CHECK(payload <= SEGMENT_MAX - 256);
	memset(body, 0, BSDH_LEN);
	body[0] = MID_DATA;
	put16(body + 2, BUFS);
	put32(body + 4, BSDH_LEN + payload);
	put32(body + 8, ++end.mseq);
	pattern_fill(body + BSDH_LEN, payload, SEED_PEER, play.up);
	play.up += payload;
	return BSDH_LEN + payload;
}

/* Memory of the module that is to be read. */
static size_t put_read(struct script *s, const struct script_line *l, unsigned char *body)
{
	memset(body, 0, READ_LEN);
	put32(body + 12, script_field(s, l, "size", 1));
	put32(body + 16, script_field(s, l, "rkey", 0));
	put64(body + 20, script_field(s, l, "addr", 0));
	return READ_LEN;
}

static size_t put_body(struct script *s, const struct script_line *l, unsigned char *body)
{
	size_t len;

	if (script_has(l, "rkey"))
		return put_read(s, l, body);
	if (!script_has(l, "zeros"))
		return put_message(s, l, body);
	len = script_field(s, l, "zeros", 0);
	CHECK(len <= SEGMENT_MAX - 256);
	memset(body, 0, len);
	return len;
}

/* The header of DDP and RDMAP; returns its length. */
static size_t put_header(struct script *s, const struct script_line *l, unsigned char *ddp)
{
	ddp[0] = script_field(s, l, "ddp", 0x41);
	ddp[1] = script_field(s, l, "rdmap", RDMAP_SEND);
	if (ddp[0] & DDP_TAGGED) {
		put32(ddp + 2, script_field(s, l, "stag", 0));
		put64(ddp + 6, script_field(s, l, "to", 0));
		return TAGGED_LEN;
	}
	put32(ddp + 2, script_field(s, l, "stag", 0));
	put32(ddp + 6, script_field(s, l, "qn", 0));
	end.msn++;
	script_set(s, NULL, "msn", end.msn);
	put32(ddp + 10, script_field(s, l, "msn", end.msn));
	put32(ddp + 14, script_field(s, l, "mo", 0));
	return UNTAGGED_LEN;
}

static void run_segment(struct script *s, const struct script_line *l)
{
	unsigned char fpdu[SEGMENT_MAX] = { 0 };
	size_t len = LENGTH_LEN;
	uint32_t crc;

	len += put_header(s, l, fpdu + len);
	len += put_body(s, l, fpdu + len);
	put16(fpdu, script_field(s, l, "len", len - LENGTH_LEN));
	len = (len + 3) & ~3UL;
	crc = htole32(mpa_crc32c(fpdu, len) ^ script_field(s, l, "crc", 0));
	memcpy(fpdu + len, &crc, CRC_LEN);
	put_bytes(s, l, fpdu, len + CRC_LEN);
}

/* The next segment that comes, from DDP's header on; returns its length. */
static size_t take_segment(unsigned char *fpdu)
{
	size_t len;
	uint32_t crc;

	mpa_get(&end, fpdu, LENGTH_LEN);
	len = LENGTH_LEN + get16(fpdu);
	CHECK(len >= LENGTH_LEN + TAGGED_LEN && len <= SEGMENT_MAX - 8);
	len = (len + 3) & ~3UL;
	mpa_get(&end, fpdu + LENGTH_LEN, len - LENGTH_LEN);
	mpa_get(&end, &crc, CRC_LEN);
	if (crc)
		CHECK_EQ(le32toh(crc), mpa_crc32c(fpdu, len));
	return get16(fpdu);
}

/* Data that comes next, in segments of which each is a message. */
static void run_data(struct script *s, const struct script_line *l)
{
	uint64_t stop = play.down + script_field(s, l, "payload", 0);
	unsigned char fpdu[SEGMENT_MAX], *ddp = fpdu + LENGTH_LEN, *msg = ddp + UNTAGGED_LEN;

	while (play.down < stop) {
		size_t len = take_segment(fpdu) - UNTAGGED_LEN;

		CHECK_EQ(ddp[1], RDMAP_SEND);
		if (msg[0] != MID_DATA)
			continue;
		pattern_verify(msg + BSDH_LEN, len - BSDH_LEN, SEED_SOCKET, play.down);
		play.down += len - BSDH_LEN;
	}
	CHECK_EQ(play.down, stop);
}

/* Who has connected sends first, and nothing: an RDMA Write without data, to wherever. */
static void run_first(struct script *s, const struct script_line *l)
{
	unsigned char fpdu[SEGMENT_MAX];

	CHECK_EQ(take_segment(fpdu), TAGGED_LEN);
	CHECK(fpdu[LENGTH_LEN] & DDP_TAGGED);
	CHECK_EQ(fpdu[LENGTH_LEN + 1], RDMAP_WRITE);
	(void)s;
	(void)l;
}

/* What was sent before it may come before. */
static void run_terminate(struct script *s, const struct script_line *l)
{
	unsigned char fpdu[SEGMENT_MAX], *ddp = fpdu + LENGTH_LEN, *why = ddp + UNTAGGED_LEN;

	do {
		take_segment(fpdu);
	} while (ddp[1] == RDMAP_SEND);
	CHECK_EQ(ddp[1], RDMAP_TERMINATE);
	CHECK_EQ(get32(ddp + 6), 2);
	if (why[0] >> 4 != (int)script_field(s, l, "layer", 0) ||
	    (why[0] & 0xf) != (int)script_field(s, l, "type", 0) ||
	    why[1] != script_field(s, l, "code", 0))
		FAIL("got layer=%d type=%d code=%d", why[0] >> 4, why[0] & 0xf, why[1]);
}

static void run_closed(struct script *s, const struct script_line *l)
{
	unsigned char byte;
	ssize_t n;

	do {
		n = recv(end.fd, &byte, 1, 0);
	} while (n > 0);
	if (n < 0 && errno != ECONNRESET)
		FAIL("the connection has not ended: %s", strerrorname_np(errno));
	(void)s;
	(void)l;
}

static void run_leaves(struct script *s, const struct script_line *l)
{
	CHECK_OK(close(end.fd));
	end.fd = -1;
	(void)s;
	(void)l;
}

static void run_shuts(struct script *s, const struct script_line *l)
{
	CHECK_OK(shutdown(end.fd, SHUT_WR));
	(void)s;
	(void)l;
}

#define SEGMENT_FIELDS	"ddp rdmap stag to qn msn mo len payload zeros size rkey addr crc cut drip"

const struct statement tcp_statements[] = {
	{ "tcp connects", 0, 0, NULL, run_connects },
	{ "tcp listens", 0, 0, NULL, run_listens },
	{ "tcp raw", 1, 1, "drip", run_raw },
	{ "tcp request", 0, 0, "first flags rev len cut drip", run_sends_request },
	{ "tcp segment", 0, 0, SEGMENT_FIELDS, run_segment },
	{ "expect reply", 0, 0, "flags rev reason", run_takes_reply },
	{ "expect request", 0, 0, "flags rev ird ord", run_takes_request },
	{ "tcp reply", 0, 0, "first flags rev len ird ord cut drip", run_sends_reply },
	{ "expect first", 0, 0, NULL, run_first },
	{ "expect data", 0, 0, "payload", run_data },
	{ "expect terminate", 0, 0, "layer type code", run_terminate },
	{ "tcp closed", 0, 0, NULL, run_closed },
	{ "tcp leaves", 0, 0, NULL, run_leaves },
	{ "tcp shuts", 0, 0, NULL, run_shuts },
	{ }
};
