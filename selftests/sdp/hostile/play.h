/* SPDX-License-Identifier: GPL-2.0 */
/* What a script plays with: a socket of the module, and a peer made of verbs. */
#ifndef PLAY_H
#define PLAY_H

#include "script.h"
#include "sdp_verbs.h"

/* Of what the peer sends, and of what the socket sends. */
#define SEED_PEER	31
#define SEED_SOCKET	32
/* Receive buffers that the peer tells of, and has posted, unless it says so. */
#define PLAY_BUFS	16
#define PLAY_POSTED	48

/**
 * struct play - who plays, in this process
 * @listener: of the module, or -1
 * @fd: socket of the module, or -1
 * @address: of who listens
 * @peer: the other end
 * @met: it has an identifier of the connection manager
 * @ready: and a queue pair
 * @posts: it posts each receive buffer again
 * @up: position in the stream that the peer sends
 * @down: in the one that it receives
 * @wrote: in the one that the socket sends
 * @read: in the one that it receives
 * @ring_at: how much was written into the socket's ring
 */
struct play {
	int listener;
	int fd;
	struct addr address;
	struct verbs_end peer;
	bool met, ready, posts;
	uint64_t up, down, wrote, read, ring_at;
};

extern struct play play;

/* The statements: of how they meet, of messages, of memory, and of the socket. */
extern const struct statement meet_statements[];
extern const struct statement message_statements[];
extern const struct statement memory_statements[];
extern const struct statement socket_statements[];
/* And of a TCP socket in the peer's place. */
extern const struct statement tcp_statements[];

/* The socket that connects to whoever listens, or has been accepted, does as scripts expect. */
void play_socket_is(int fd);
/* No call of the socket's is left, and it is closed. */
void play_socket_end(void);
/* No counter may have counted what the script has not said. */
void play_counters_begin(void);
void play_counters_end(void);

#endif /* PLAY_H */
