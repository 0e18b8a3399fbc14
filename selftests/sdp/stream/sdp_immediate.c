// SPDX-License-Identifier: GPL-2.0
/*
 * Data messages whose header travels as immediate data: when they are used, what
 * they look like, what arrives, and peers that use them wrongly.
 */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_verbs.h"

#define SEED	53
/* Payload of a packet, on the wire between the test's interfaces. */
#define PACKET	4096
#define BUFFERS	8

/* ---- two sockets ---- */

/* How many packets so many messages of a length take, their echo included. */
static long packets_for(struct pair p, size_t len, int messages)
{
	static uint64_t pos;
	long before;
	int i;

	WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
	WAIT_FOR(ioctl_int(p.server, SIOCOUTQ) == 0);
	before = device_counters("sent_pkts");
	for (i = 0; i < messages; i++, pos += len) {
		send_pattern(p.client, SEED, pos, len, len);
		recv_pattern(p.server, SEED, pos, len, len);
		send_pattern(p.server, SEED + 1, pos, len, len);
		recv_pattern(p.client, SEED + 1, pos, len, len);
	}
	return device_counters("sent_pkts") - before;
}

/* A page takes as many packets as what is shorter by a header. */
static void pages_take_no_packet_more(void)
{
	struct pair p = new_nodelay_pair();
	long shorter, page;

	/* Buffers that are to grow have grown after that. */
	packets_for(p, PACKET, 50);
	shorter = packets_for(p, PACKET - BSDH_LEN, 100);
	page = packets_for(p, PACKET, 100);
	if (page > shorter + 100)
		FAIL("%ld packets for pages, %ld for less", page, shorter);
	close_pair(p);
}

/* Every length around a packet's end, at odd places of the send ring. */
static void lengths_around_packets(void)
{
	struct pair p = new_nodelay_pair();
	size_t packets, off, len;
	uint64_t pos = 0;

	for (packets = 1; packets <= 16; packets += 5) {
		for (off = 0; off <= 2 * BSDH_LEN + 2; off++) {
			len = packets * PACKET - BSDH_LEN - 1 + off;
			send_pattern(p.client, SEED, pos, len, len);
			recv_pattern(p.server, SEED, pos, len, len / 3 + 1);
			pos += len;
		}
	}
	close_pair(p);
}

/* Seen before it is read, and read in parts. */
static void page_is_peeked_at(void)
{
	struct pair p = new_nodelay_pair();
	unsigned char buf[PACKET];

	send_pattern(p.client, SEED, 0, PACKET, PACKET);
	wait_inq(p.server, PACKET);
	CHECK_EQ(CHECK_OK(recv(p.server, buf, PACKET, MSG_PEEK)), PACKET);
	pattern_verify(buf, PACKET, SEED, 0);
	recv_pattern(p.server, SEED, 0, PACKET - 5, 1000);
	CHECK_EQ(CHECK_OK(recv(p.server, buf, PACKET, 0)), 5);
	pattern_verify(buf, 5, SEED, PACKET - 5);
	close_pair(p);
}

static void last_byte_is_urgent(void)
{
	struct pair p = new_nodelay_pair();
	unsigned char buf[PACKET];

	pattern_fill(buf, PACKET, SEED, 0);
	CHECK_EQ(CHECK_OK(send(p.client, buf, PACKET, MSG_OOB)), PACKET);
	wait_poll(p.server, POLLPRI);
	expect_urgent(p.server, buf[PACKET - 1], 0);
	recv_pattern(p.server, SEED, 0, PACKET - 1, PACKET);
	close_pair(p);
}

/* ---- a socket, and a peer made of verbs ---- */

static struct rogue rogue_connect(uint16_t features)
{
	struct verbs_offer offer = { features, 1 };

	return rogue_accepted(new_listener(1), BUFFERS, BUFFERS, offer);
}

/* The payload's end comes first. */
static void rotate(unsigned char *out, const unsigned char *in, size_t len)
{
	memcpy(out, in + len - BSDH_LEN, BSDH_LEN);
	memcpy(out + BSDH_LEN, in, len - BSDH_LEN);
}

static struct verbs_msg next_data(struct verbs_end *peer)
{
	struct verbs_msg msg;

	do {
		msg = verbs_next(peer);
	} while (!msg.len);
	return msg;
}

static void looks_as_agreed(void)
{
	unsigned char page[PACKET], sent[PACKET];
	struct rogue r = rogue_connect(FEAT_IMMEDIATE);
	struct verbs_msg msg;

	pattern_fill(page, PACKET, SEED, 0);
	rotate(sent, page, PACKET);
	send_pattern(r.fd, SEED, 0, PACKET, PACKET);
	msg = next_data(&r.peer);
	CHECK(msg.immediate);
	CHECK_EQ(msg.len, PACKET);
	CHECK(!memcmp(msg.payload, sent, PACKET));
	/* It has more buffers than none, and nothing is urgent. */
	CHECK(msg.imm & 0xffff);
	CHECK_EQ(msg.imm >> 30, 0);

	/* A header that costs nothing stays. */
	send_pattern(r.fd, SEED, PACKET, PACKET - BSDH_LEN, PACKET);
	msg = next_data(&r.peer);
	CHECK(!msg.immediate);
	CHECK_EQ(msg.len, PACKET - BSDH_LEN);
	pattern_verify(msg.payload, msg.len, SEED, PACKET);
	rogue_close(&r);
}

static void old_peers_get_headers(void)
{
	struct rogue r = rogue_connect(FEAT_ALL);
	struct verbs_msg msg;

	send_pattern(r.fd, SEED, 0, PACKET, PACKET);
	msg = next_data(&r.peer);
	CHECK(!msg.immediate && !msg.written);
	CHECK_EQ(msg.len, PACKET);
	pattern_verify(msg.payload, msg.len, SEED, 0);
	rogue_close(&r);
}

static void any_length_is_taken(void)
{
	static const uint32_t lens[] = { BSDH_LEN, BSDH_LEN + 1, 1000, PACKET };
	struct rogue r = rogue_connect(FEAT_IMMEDIATE);
	unsigned char data[PACKET], out[PACKET];
	uint64_t pos = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		pattern_fill(data, lens[i], SEED, pos);
		rotate(out, data, lens[i]);
		verbs_send_immediate(&r.peer, out, lens[i]);
		recv_pattern(r.fd, SEED, pos, lens[i], PACKET);
		pos += lens[i];
	}
	rogue_close(&r);
}

/* Whoever breaks a rule is disconnected, and counted. */
static void expect_refusal(uint16_t features, uint32_t len)
{
	unsigned char data[VERBS_SLOT] = { 0 };
	struct rogue r = rogue_connect(features);
	long before = sdp_stat("ProtocolErrors");

	verbs_send_immediate(&r.peer, data, len);
	WAIT_FOR(sdp_stat("ProtocolErrors") == before + 1);
	CHECK_EQ(recv_until_end(r.fd), EPROTO);
	rogue_close(&r);
}

static void not_agreed_on(void)
{
	expect_refusal(FEAT_ALL, PACKET);
}

static void shorter_than_a_header(void)
{
	expect_refusal(FEAT_IMMEDIATE, 0);
	expect_refusal(FEAT_IMMEDIATE, BSDH_LEN - 1);
}

/* The device has room for it, its payload has none. */
static void longer_than_the_buffer(void)
{
	expect_refusal(FEAT_IMMEDIATE, PACKET + 1);
	expect_refusal(FEAT_IMMEDIATE, VERBS_SLOT);
}

static const struct sdp_case cases[] = {
	CASE(pages_take_no_packet_more, CASE_SDP_ONLY),
	CASE(lengths_around_packets, 0),
	CASE(page_is_peeked_at, 0),
	CASE(last_byte_is_urgent, 0),
	CASE(looks_as_agreed, CASE_SDP_ONLY),
	CASE(old_peers_get_headers, CASE_SDP_ONLY),
	CASE(any_length_is_taken, CASE_SDP_ONLY),
	CASE(not_agreed_on, CASE_SDP_ONLY),
	CASE(shorter_than_a_header, CASE_SDP_ONLY),
	CASE(longer_than_the_buffer, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
