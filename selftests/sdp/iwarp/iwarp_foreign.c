// SPDX-License-Identifier: GPL-2.0
/*
 * What our own iWARP devices send to an end that is made of a TCP socket, which sees the
 * segments as they are. Needs our own devices, and the module of AF_SDP.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <unistd.h>

#include "iwarp_end.h"
#include "sdp_mpa.h"

/* Of TCP's segments, some of which a message takes. */
#define MSS	1000
#define SEED	11

/* The longest segment of a full message; others, without payload, may come before. */
static size_t longest_segment(struct mpa_end *m)
{
	unsigned char message[VERBS_SLOT];
	size_t got = 0, longest = 0;
	bool last = false;

	while (!last || got <= BSDH_LEN) {
		size_t len;

		if (last)
			got = 0;
		len = mpa_receive(m, message, sizeof(message), &last);
		got += len;
		longest = len > longest ? len : longest;
	}
	CHECK_EQ(message[0], MID_DATA);
	CHECK_EQ(got, VERBS_SLOT);
	pattern_verify(message + BSDH_LEN, VERBS_PAYLOAD, SEED, 0);
	return longest;
}

/* Whether the device grants what is asked for, and makes use of it. */
static void ask(uint8_t flags, bool granted, bool used)
{
	struct verbs_offer offer = { .adverts = 4 };
	int fd, listener = new_listener(1);
	struct addr addr = local_addr(listener);
	unsigned char buf[VERBS_PAYLOAD];
	struct mpa_end m;
	size_t longest;

	CHECK_EQ(!!(mpa_connect_as(&m, &addr, offer, flags, MSS) & MPA_LONG_FPDUS), granted);
	fd = mpa_accept(&m, listener);
	CHECK_OK(close(listener));
	pattern_fill(buf, sizeof(buf), SEED, 0);
	CHECK_EQ(send(fd, buf, sizeof(buf), 0), sizeof(buf));
	longest = longest_segment(&m);
	CHECK_EQ(longest > MSS, used);
	CHECK(used ? longest == VERBS_SLOT : longest > MSS / 2);
	CHECK_OK(close(fd));
	mpa_close(&m);
}

static void segments_long(void)
{
	ask(MPA_LONG_FPDUS, true, true);
}

static void segments_short(void)
{
	ask(0, false, false);
}

/* They are verified before they are placed. */
static void segments_with_checksums(void)
{
	ask(MPA_LONG_FPDUS | MPA_CRC, true, false);
}

/* Who has connected says that an empty RDMA Write comes first, and each depth is 1 (RFC 6581). */
static void ask_peer_to_peer(struct mpa_end *m, const struct addr *to)
{
	static const unsigned char request[] = "MPA ID Req Frame\x10\2\0\4\x80\1\x80\1";
	struct addr from = client_addr(0);

	memset(m, 0, sizeof(*m));
	m->fd = CHECK_OK(socket(AF_INET, SOCK_STREAM, IPPROTO_TCP));
	CHECK_OK(bind(m->fd, &from.sa, from.len));
	CHECK_OK(connect(m->fd, &to->sa, to->len));
	CHECK_EQ(send(m->fd, request, sizeof(request) - 1, 0), sizeof(request) - 1);
}

static void say_first(struct mpa_end *m)
{
	/* Its length, DDP's and RDMAP's header, STag 1; the rest are zeros. */
	static const unsigned char fpdu[20] = { 0, 14, 0xc1, 0x40, 0, 0, 0, 1 };

	CHECK_EQ(send(m->fd, fpdu, sizeof(fpdu), 0), sizeof(fpdu));
}

/* Before it has come, nothing is sent to who may not be ready yet. */
static void first_message_awaited(void)
{
	struct iwarp_end server = {};
	struct rdma_cm_id *listener;
	unsigned char message[1];
	struct mpa_end m;
	struct pollfd p = { .events = POLLIN };
	struct addr addr;
	bool last;

	iwarp_read_depth(1);
	iwarp_channel(&server);
	listener = iwarp_listen(&server, &addr, 0);
	ask_peer_to_peer(&m, &addr);
	iwarp_accept(&server);
	mpa_reply(&m);
	iwarp_wait_event(&server, RDMA_CM_EVENT_ESTABLISHED);
	server.mem[0] = SEED;
	CHECK_EQ(iwarp_send(&server, 0, 1, 1), 0);
	p.fd = m.fd;
	CHECK_EQ(poll(&p, 1, quiet_ms()), 0);
	say_first(&m);
	CHECK_EQ(mpa_receive(&m, message, sizeof(message), &last), 1);
	CHECK(last && message[0] == SEED);
	iwarp_expect(server.scq, IBV_WC_SUCCESS);
	CHECK_OK(rdma_destroy_id(listener));
	iwarp_end_close(&server);
	mpa_close(&m);
}

static const struct sdp_case cases[] = {
	CASE(segments_long, 0),
	CASE(segments_short, 0),
	CASE(segments_with_checksums, 0),
	CASE(first_message_awaited, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
