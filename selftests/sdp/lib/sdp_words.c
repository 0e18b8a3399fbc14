// SPDX-License-Identifier: GPL-2.0
/* Words of the error queue, for the AF_SDP selftests of MSG_ZEROCOPY. */
#define _GNU_SOURCE
#include <poll.h>
#include <time.h>

#include <linux/errqueue.h>
#include <linux/sdp.h>

#include "sdp_words.h"

/* Kernels that know the families of SO_ZEROCOPY by name do not know ours. */
void want_words(int fd)
{
	int one = 1;

	if (!setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)))
		return;
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK(!opts.tcp);
	set_int(fd, SOL_SDP, SDP_ZEROCOPY, 1);
}

struct pair words_pair(void)
{
	struct pair p = new_pair();

	want_words(p.client);
	return p;
}

bool read_word(int fd, struct word *word)
{
	char control[CMSG_SPACE(128)] = "";
	struct msghdr m = { .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct sock_extended_err err;
	struct cmsghdr *c;

	if (recvmsg(fd, &m, MSG_ERRQUEUE) < 0) {
		CHECK_EQ(errno, EAGAIN);
		return false;
	}
	CHECK_EQ(m.msg_flags, MSG_ERRQUEUE);
	c = CMSG_FIRSTHDR(&m);
	CHECK(c && !CMSG_NXTHDR(&m, c));
	if (opts.ipv6) {
		CHECK_EQ(c->cmsg_level, SOL_IPV6);
		CHECK_EQ(c->cmsg_type, IPV6_RECVERR);
		CHECK_EQ(c->cmsg_len, CMSG_LEN(sizeof(err) +
					       sizeof(struct sockaddr_in6)));
	} else {
		CHECK_EQ(c->cmsg_level, SOL_IP);
		CHECK_EQ(c->cmsg_type, IP_RECVERR);
		CHECK_EQ(c->cmsg_len, CMSG_LEN(sizeof(err) +
					       sizeof(struct sockaddr_in)));
	}
	memcpy(&err, CMSG_DATA(c), sizeof(err));
	CHECK_EQ(err.ee_errno, 0);
	CHECK_EQ(err.ee_origin, SO_EE_ORIGIN_ZEROCOPY);
	CHECK_EQ(err.ee_type, 0);
	CHECK_EQ(err.ee_code & ~SO_EE_CODE_ZEROCOPY_COPIED, 0);
	*word = (struct word){ err.ee_info, err.ee_data, err.ee_code };
	return true;
}

void take_words(int fd, struct words *words)
{
	struct word word;
	uint32_t i;

	while (read_word(fd, &word)) {
		CHECK(word.first <= word.last);
		CHECK(word.last < MAX_WRITES);
		for (i = word.first; i <= word.last; i++) {
			CHECK(!words->seen[i]);
			words->seen[i] = true;
			words->writes++;
			words->copied += word.copied;
		}
		words->words++;
	}
}

void await_words_of(int fd, struct words *words, unsigned int writes)
{
	uint64_t end = now_ms() + wait_limit_ms();
	struct pollfd pfd = { .fd = fd };
	unsigned int i;

	for (take_words(fd, words); words->writes < writes;
	     take_words(fd, words)) {
		if (now_ms() > end)
			FAIL("expected words of %u writes, got %u", writes,
			     words->writes);
		CHECK_OK(poll(&pfd, 1, wait_limit_ms()));
	}
	CHECK_EQ(words->writes, writes);
	for (i = 0; i < writes; i++)
		CHECK(words->seen[i]);
}

void await_words(int fd, struct words *words, unsigned int writes)
{
	await_words_of(fd, words, writes);
	CHECK(!(poll_now(fd) & POLLERR));
}

void write_all_zerocopy(int fd, const unsigned char *buf, size_t len,
			unsigned int *writes)
{
	while (len) {
		ssize_t n = CHECK_OK(send(fd, buf, len, MSG_ZEROCOPY));

		(*writes)++;
		buf += n;
		len -= n;
	}
}
