/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An end of an SDP connection over iWARP that is made of a TCP socket (sdp_mpa.c):
 * it can send what verbs do not let a process send.
 */
#ifndef SDP_MPA_H
#define SDP_MPA_H

#include "sdp_verbs.h"

struct mpa_end {
	int fd;
	/* Of messages to the peer's receive queue, and of SDP. */
	uint32_t msn, mseq;
};

/* Flags of MPA's Request and Reply. */
#define MPA_MARKERS	0x80
#define MPA_CRC		0x40
#define MPA_REJECT	0x20
#define MPA_LONG_FPDUS	0x08

/* Connect to a listener of the module, with checksums, and say Hello. */
void mpa_connect(struct mpa_end *m, const struct addr *to,
		 struct verbs_offer offer);
/*
 * The same, with other flags, and TCP's segments of no more than @mss bytes; returns the
 * flags of the answer.
 */
uint8_t mpa_connect_as(struct mpa_end *m, const struct addr *to, struct verbs_offer offer,
		       uint8_t flags, int mss);
/* Take the answer to an MPA Request, with what comes with it; returns its flags. */
uint8_t mpa_reply(struct mpa_end *m);
/*
 * Take the next segment that has come, and put its payload where it belongs in the message;
 * returns the length of that, and whether it is the message's last.
 */
size_t mpa_receive(struct mpa_end *m, unsigned char *message, size_t size, bool *last);
/* Send an empty Data message. */
void mpa_send(struct mpa_end *m);
/*
 * Have the listener accept: who has said something is accepted. What siw gets before it
 * has put its own functions in the place of the TCP socket's it only notices when more
 * comes.
 */
int mpa_accept(struct mpa_end *m, int listener);
/* The same, and have the peer's device invalidate a key. */
void mpa_send_ending(struct mpa_end *m, uint32_t key);
/* The checksum of a segment, and the next bytes that come, whatever they are. */
uint32_t mpa_crc32c(const unsigned char *data, size_t len);
void mpa_get(const struct mpa_end *m, void *data, size_t len);
void mpa_close(struct mpa_end *m);

#endif /* SDP_MPA_H */
