/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults that the kernel injects on request: an allocation that fails, or a copy from or to
 * the program's memory (CONFIG_FAILSLAB, FAIL_PAGE_ALLOC, FAULT_INJECTION_USERCOPY).
 */
#ifndef SDP_INJECT_H
#define SDP_INJECT_H

#include "sdp_test.h"

/* Bytes of a call's data, unless it has its own. */
#define SCENE_LEN	20000

/**
 * struct scene - what a call is made with
 * @fd: what it is called of
 * @p: a connection
 * @listener: or a listener
 * @address: where that listens
 * @buf: data
 */
struct scene {
	int fd;
	struct pair p;
	int listener;
	struct addr address;
	unsigned char buf[SCENE_LEN];
};

/**
 * struct op - a call
 * @prepare: makes what it needs; NULL = nothing
 * @call: calls it once, and nothing else
 * @after: has seen what it returned, -1 if it has failed; ends the scene
 */
struct op {
	void (*prepare)(struct scene *s);
	long (*call)(struct scene *s);
	void (*after)(struct scene *s, long ret);
};

/* What most are prepared with: a connection, over which @buf is to go, or has gone. */
void scene_pair(struct scene *s);
void scene_written(struct scene *s);
/* The connection works, and is closed. */
void scene_end(struct scene *s);
/* The other end of a client; attempts before it that have failed are closed. */
int accept_peer_of(int listener, int client);

/*
 * Calls it once with each fault that it meets, and once without, each time in a new scene;
 * returns how many faults it meets.  Skips where the kernel injects none.
 */
unsigned int inject_each(const struct op *op);
/*
 * The same with the last so many faults of a call that meets more than one can wait for.
 */
void inject_last(const struct op *op, unsigned int count);

/* What fails: small allocations, or those of whole pages. */
enum inject_kind {
	INJECT_SLAB,
	INJECT_PAGES,
};

/*
 * What a module asks for, or others for it, in whatever context, fails so often of a hundred
 * times, until it has failed so many times; not Soft-RoCE's queues.  Skips where the
 * kernel injects no faults.
 */
void inject_in_module(const char *module, enum inject_kind kind, unsigned int percent,
		      unsigned int times);
/* The same below one function, of whatever module. */
void inject_in_function(const char *function, enum inject_kind kind, unsigned int percent,
			unsigned int times);
/* How many of these are left. */
unsigned int inject_left(enum inject_kind kind);
void inject_no_more(void);

/* Whether it is the debug kernel, whose checkers of locks and objects allocate, too. */
bool kernel_has_checkers(void);

/*
 * The nth call of a function fails with an error (CONFIG_FAIL_FUNCTION); returns false if that
 * is none of those that the kernel may make fail.  Skips where it makes none fail.
 */
bool inject_call(const char *function, int err, unsigned int nth);
/* Whether there was such a call.  None fails any more. */
bool inject_call_met(void);

/*
 * What iwarp.ko's devices do wrong, once: the nth completion, event or frame is late, lost or
 * failed, by the folder's name in debugfs.  Skips where they are not to be had.
 */
void inject_in_device(const char *fault, unsigned int nth);
/* With "cqe_error", which completions fail, and how: ib_wc_opcode and ib_wc_status. */
void inject_status(unsigned int opcode, unsigned int status);
/* Whether it has gone wrong by now. */
bool inject_in_device_met(const char *fault);
/* Nothing goes wrong any more. */
void inject_in_device_no_more(const char *fault);

#endif /* SDP_INJECT_H */
