// SPDX-License-Identifier: GPL-2.0
/*
 * What our own iWARP devices send to an end that is made of a TCP socket, which sees the
 * segments as they are. Needs our own devices, and the module of AF_SDP.
 */
#define _GNU_SOURCE
#include <unistd.h>

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

static const struct sdp_case cases[] = {
	CASE(segments_long, 0),
	CASE(segments_short, 0),
	CASE(segments_with_checksums, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
