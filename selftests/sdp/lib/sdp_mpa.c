// SPDX-License-Identifier: GPL-2.0
/* An end of an SDP connection over iWARP made of a TCP socket. */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include "sdp_bytes.h"
#include "sdp_mpa.h"

/* MPA (RFC 5044): the frames that set up, and what is around a segment. */
#define FRAME_LEN	20
#define LENGTH_LEN	2
#define CRC_LEN		4
/* DDP and RDMAP (RFC 5041, 5040): the only segment of a message, version 1. */
#define DDP_UNTAGGED	0x41
#define DDP_LAST	0x40
#define RDMAP_SEND	0x43
#define RDMAP_SEND_INV	0x44
#define UNTAGGED_LEN	18
#define FPDU_MAX	256
#define BUFS		8

/* The Castagnoli polynomial, bits reflected. */
uint32_t mpa_crc32c(const unsigned char *data, size_t len)
{
	uint32_t crc = -1U;
	int bit;

	while (len--) {
		crc ^= *data++;
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
	}
	return ~crc;
}

static void mpa_put(struct mpa_end *m, const void *data, size_t len)
{
	CHECK_EQ(send(m->fd, data, len, MSG_NOSIGNAL), len);
}

void mpa_get(const struct mpa_end *m, void *data, size_t len)
{
	if (len)
		CHECK_EQ(recv(m->fd, data, len, MSG_WAITALL), len);
}

static void mpa_request(struct mpa_end *m, struct verbs_offer offer, uint8_t flags)
{
	unsigned char frame[FRAME_LEN + HELLO_LEN] = "MPA ID Req Frame";

	frame[16] = flags;
	frame[17] = 1;
	put16(frame + 18, HELLO_LEN);
	verbs_encode_hello(frame + FRAME_LEN, BUFS, offer);
	mpa_put(m, frame, sizeof(frame));
}

uint8_t mpa_reply(struct mpa_end *m)
{
	unsigned char frame[FRAME_LEN], rest[512];
	size_t len;

	mpa_get(m, frame, sizeof(frame));
	CHECK(!memcmp(frame, "MPA ID Rep Frame", 16));
	CHECK(!(frame[16] & MPA_REJECT));
	if (frame[16] & MPA_MARKERS)
		sdp_skip("the device wants markers");
	len = frame[18] << 8 | frame[19];
	CHECK(len <= sizeof(rest));
	mpa_get(m, rest, len);
	return frame[16];
}

uint8_t mpa_connect_as(struct mpa_end *m, const struct addr *to, struct verbs_offer offer,
		       uint8_t flags, int mss)
{
	struct addr from = client_addr(0);

	memset(m, 0, sizeof(*m));
	m->fd = CHECK_OK(socket(AF_INET, SOCK_STREAM, IPPROTO_TCP));
	if (mss)
		CHECK_OK(setsockopt(m->fd, IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof(mss)));
	CHECK_OK(bind(m->fd, &from.sa, from.len));
	CHECK_OK(connect(m->fd, &to->sa, to->len));
	mpa_request(m, offer, flags);
	return mpa_reply(m);
}

void mpa_connect(struct mpa_end *m, const struct addr *to,
		 struct verbs_offer offer)
{
	/* What nobody has offered is not granted. */
	CHECK(!(mpa_connect_as(m, to, offer, MPA_CRC, 0) & MPA_LONG_FPDUS));
}

size_t mpa_receive(struct mpa_end *m, unsigned char *message, size_t size, bool *last)
{
	unsigned char length[LENGTH_LEN], ddp[UNTAGGED_LEN], rest[3 + CRC_LEN];
	size_t len, at;

	mpa_get(m, length, sizeof(length));
	len = length[0] << 8 | length[1];
	CHECK(len >= sizeof(ddp));
	mpa_get(m, ddp, sizeof(ddp));
	CHECK_EQ(ddp[0] & ~DDP_LAST, DDP_UNTAGGED & ~DDP_LAST);
	CHECK_EQ(ddp[1], RDMAP_SEND);
	*last = ddp[0] & DDP_LAST;
	at = get32(ddp + 14);
	len -= sizeof(ddp);
	CHECK(at + len <= size);
	mpa_get(m, message + at, len);
	mpa_get(m, rest, (-(LENGTH_LEN + sizeof(ddp) + len) & 3) + CRC_LEN);
	return len;
}

/* Puts what is around the segment that is in place; its length is with it. */
static void mpa_put_fpdu(struct mpa_end *m, unsigned char *fpdu, size_t segment)
{
	size_t len = LENGTH_LEN + segment;
	uint32_t crc;

	put16(fpdu, segment);
	len = (len + 3) & ~3UL;
	crc = htole32(mpa_crc32c(fpdu, len));
	memcpy(fpdu + len, &crc, CRC_LEN);
	mpa_put(m, fpdu, len + CRC_LEN);
}

static void mpa_message(struct mpa_end *m, uint8_t control, uint32_t key)
{
	unsigned char fpdu[FPDU_MAX] = { 0 };
	unsigned char *ddp = fpdu + LENGTH_LEN, *bsdh = ddp + UNTAGGED_LEN;

	ddp[0] = DDP_UNTAGGED;
	ddp[1] = control;
	put32(ddp + 2, key);
	put32(ddp + 10, ++m->msn);
	bsdh[0] = MID_DATA;
	put16(bsdh + 2, BUFS);
	put32(bsdh + 4, BSDH_LEN);
	put32(bsdh + 8, ++m->mseq);
	mpa_put_fpdu(m, fpdu, UNTAGGED_LEN + BSDH_LEN);
}

void mpa_send(struct mpa_end *m)
{
	mpa_message(m, RDMAP_SEND, 0);
}

void mpa_send_ending(struct mpa_end *m, uint32_t key)
{
	mpa_message(m, RDMAP_SEND_INV, key);
}

int mpa_accept(struct mpa_end *m, int listener)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };

	do
		mpa_send(m);
	while (!poll(&p, 1, quiet_ms()));
	return CHECK_OK(accept(listener, NULL, NULL));
}

void mpa_close(struct mpa_end *m)
{
	CHECK_OK(close(m->fd));
}
