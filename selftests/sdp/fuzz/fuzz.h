/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fuzzer of the calls of AF_SDP sockets.
 *
 * A program is a list of calls with numbers for arguments.  Any list is one that can be run:
 * what a number means is up to the call, which takes whatever comes.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "sdp_test.h"

#define FUZZ_ARGS	5
#define FUZZ_CALLS	40
/* The first makes its calls alone, then two threads and a process make theirs at once. */
#define FUZZ_ACTORS	4
#define FUZZ_PROCESS	3
/* Bytes of a program's text, all of which a page and a half hold. */
#define FUZZ_TEXT	6000

struct fuzz_call {
	unsigned char kind;
	unsigned char actor;
	uint32_t arg[FUZZ_ARGS];
};

struct fuzz_program {
	unsigned int count;
	struct fuzz_call calls[FUZZ_CALLS];
};

/* What an argument is, so that chance makes sane ones as well. */
enum fuzz_arg {
	ARG_NONE,
	ARG_SLOT,		/* a descriptor of fuzz_slot() */
	ARG_DOOR,		/* how a socket is made, see fuzz_open() */
	ARG_ADDRESS,		/* of fuzz_address() */
	ARG_WORD,		/* of fuzz_words */
	ARG_BUFFER,
	ARG_OFFSET,
	ARG_LENGTH,
	ARG_VALUE,
	ARG_SMALL,		/* up to 15 */
	ARG_SEND_FLAGS,
	ARG_RECV_FLAGS,
	ARG_OPTION,		/* level << 16 | name */
	ARG_OPTION_LENGTH,
	ARG_IOCTL,
	ARG_EVENTS,
};

/* Who makes calls; shared by all of them. */
struct fuzz_actor {
	pid_t tid;
	bool done;
};

typedef void (*fuzz_fn)(const uint32_t *arg);

struct fuzz_kind {
	const char *name;
	fuzz_fn run;
	unsigned char weight;
	unsigned char args[FUZZ_ARGS];
};

extern const struct fuzz_kind fuzz_kinds[];
extern const unsigned int fuzz_kind_count;
unsigned int fuzz_kind_args(const struct fuzz_kind *kind);

/* ---- programs (fuzz_program.c) ---- */

uint32_t fuzz_below(uint32_t *state, uint32_t below);
void fuzz_generate(struct fuzz_program *p, uint32_t *state);
/* Insert, delete, or replace, or join with another. */
void fuzz_mutate(struct fuzz_program *p, const struct fuzz_program *other, uint32_t *state);
size_t fuzz_print(const struct fuzz_program *p, char *text, size_t size);
/* A line of it; false if that is none. */
bool fuzz_parse_call(const char *line, struct fuzz_call *call);

/* ---- a corpus (fuzz_corpus.c) ---- */

struct fuzz_corpus {
	struct fuzz_program *programs;
	unsigned int count;
};

void fuzz_corpus_add(struct fuzz_corpus *corpus, const struct fuzz_program *p);
/* The file of SDP_FUZZ_CORPUS, or the one beside the program. */
void fuzz_corpus_load(struct fuzz_corpus *corpus);
/* To the end of a file that the host sees, if there is a host. */
void fuzz_keep(const struct fuzz_program *p, const char *name);
/* That file has another name from now on. */
void fuzz_keep_as(const char *from, const char *to);
/* Where the host finds it if the kernel does not survive it. */
void fuzz_announce(const struct fuzz_program *p);
void fuzz_announce_stream(unsigned int number);

/* ---- coverage (fuzz_cover.c) ---- */

/* Whether the kernel says which of the module's code is run. */
bool fuzz_cover_open(void);
/* What this thread runs is counted for the actor. */
void fuzz_cover_start(unsigned int actor);
void fuzz_cover_reset(void);
/* How much of what was run since the reset had not been run before. */
unsigned int fuzz_cover_new(void);
unsigned int fuzz_cover_total(void);
/* From now on all is new once more. */
void fuzz_cover_forget(void);

/* ---- running (fuzz_run.c) ---- */

extern struct fuzz_actor *fuzz_actors;

/* Fails if it cannot be ended. */
void fuzz_run(const struct fuzz_program *p);

/* ---- what calls have in common ---- */

#define FUZZ_SLOTS	8
#define FUZZ_BUFFERS	4
#define FUZZ_BUFFER	(2 * MIB)

int fuzz_slot(uint32_t number);
/* Let it stand for this descriptor, or leave it if there is none. */
void fuzz_put(int fd, uint32_t slot);
/* Descriptors that are always there. */
int fuzz_pipe(bool write);
int fuzz_file(void);
int fuzz_epoll(void);
unsigned char *fuzz_memory(uint32_t buffer, uint32_t offset);
void fuzz_map_all(void);
void fuzz_open_ring(void);

extern const char *const fuzz_words[];
extern const unsigned int fuzz_word_count;
const char *fuzz_word(uint32_t number);
int fuzz_open(uint32_t door, int type_flags);
void fuzz_set_word(int fd, int name, const char *word);
/* An engine, a mode of zero copy, and words of writes that are done; all of them there are. */
void fuzz_want(int fd, uint32_t flow, uint32_t zcopy);

/* Settings of the system are as they were when this was first called. */
void fuzz_settings_restore(void);
bool fuzz_changes_settings(const struct fuzz_program *p);

/* ---- what is left (fuzz_account.c) ---- */

/* How much there is of all that connections use, before there is any of this program's. */
void fuzz_account_first(void);
/* The same once what came before is gone. */
void fuzz_account_begin(void);
/* There is no more of it, or soon will not be. */
void fuzz_account_end(void);

/* ---- streams (fuzz_stream.c) ---- */

/* A connection, whose bytes are verified, with what chance makes of it. */
void fuzz_stream(uint32_t seed);

/* ---- calls ---- */

void fuzz_do_socket(const uint32_t *arg);
void fuzz_do_pair(const uint32_t *arg);
void fuzz_do_serve(const uint32_t *arg);
void fuzz_do_bind(const uint32_t *arg);
void fuzz_do_listen(const uint32_t *arg);
void fuzz_do_connect(const uint32_t *arg);
void fuzz_do_accept(const uint32_t *arg);
void fuzz_do_shutdown(const uint32_t *arg);
void fuzz_do_close(const uint32_t *arg);
void fuzz_do_dup(const uint32_t *arg);
void fuzz_do_name(const uint32_t *arg);
void fuzz_do_poll(const uint32_t *arg);
void fuzz_do_epoll(const uint32_t *arg);
void fuzz_do_ioctl(const uint32_t *arg);
void fuzz_do_block(const uint32_t *arg);

void fuzz_do_set(const uint32_t *arg);
void fuzz_do_set_word(const uint32_t *arg);
void fuzz_do_get(const uint32_t *arg);
void fuzz_do_map_receive(const uint32_t *arg);
void fuzz_do_sysctl(const uint32_t *arg);

void fuzz_do_send(const uint32_t *arg);
void fuzz_do_sendmsg(const uint32_t *arg);
void fuzz_do_writev(const uint32_t *arg);
void fuzz_do_recv(const uint32_t *arg);
void fuzz_do_recvmsg(const uint32_t *arg);
void fuzz_do_readv(const uint32_t *arg);
void fuzz_do_sendfile(const uint32_t *arg);
void fuzz_do_splice_in(const uint32_t *arg);
void fuzz_do_splice_out(const uint32_t *arg);
void fuzz_do_tee(const uint32_t *arg);
void fuzz_do_vmsplice(const uint32_t *arg);
void fuzz_do_uring_send(const uint32_t *arg);
void fuzz_do_uring_recv(const uint32_t *arg);
void fuzz_do_uring_accept(const uint32_t *arg);
void fuzz_do_uring_poll(const uint32_t *arg);
void fuzz_do_uring_cancel(const uint32_t *arg);

void fuzz_do_store(const uint32_t *arg);
void fuzz_do_protect(const uint32_t *arg);
void fuzz_do_unmap(const uint32_t *arg);
void fuzz_do_advise(const uint32_t *arg);
void fuzz_do_userfault(const uint32_t *arg);
void fuzz_do_fork(const uint32_t *arg);
void fuzz_do_signal(const uint32_t *arg);
void fuzz_do_pause(const uint32_t *arg);
void fuzz_do_netns(const uint32_t *arg);
void fuzz_do_read_proc(const uint32_t *arg);

#endif /* FUZZ_H */
