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

/* Connect to a listener of the module, and say Hello. */
void mpa_connect(struct mpa_end *m, const struct addr *to,
		 struct verbs_offer offer);
/* Send an empty Data message. */
void mpa_send(struct mpa_end *m);
/* The same, and have the peer's device invalidate a key. */
void mpa_send_ending(struct mpa_end *m, uint32_t key);
void mpa_close(struct mpa_end *m);

#endif /* SDP_MPA_H */
