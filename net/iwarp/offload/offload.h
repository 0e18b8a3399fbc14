/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which parts of iWARP the host does, and which a modelled offload engine.
 */
#ifndef _IWP_DESIGN_H
#define _IWP_DESIGN_H

#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct attribute_group;
struct iwp_qp;

/**
 * enum iwp_design - who does what
 * @IWP_DESIGN_HOST: the host everything
 * @IWP_DESIGN_ASSISTED: the host puts markers in, with one copy; the engine
 *	does checksums, demultiplexing and placement
 * @IWP_DESIGN_OFFLOADED: the engine everything; it moves the data once more to
 *	put markers in
 * @IWP_DESIGN_OFFLOADED_SG: the engine everything; it gathers data and markers
 */
enum iwp_design {
	IWP_DESIGN_HOST,
	IWP_DESIGN_ASSISTED,
	IWP_DESIGN_OFFLOADED,
	IWP_DESIGN_OFFLOADED_SG,
};

/**
 * struct iwp_engine - the model of an offload engine; each device has one
 * @lock: of @free_at
 * @free_at: when it has done all that it was given, nanoseconds
 * @busy_ns: how long it has worked, by its own clock
 * @cpu_ns: how long processors have done its work
 * @dma_ns: cost of each transfer, nanoseconds
 * @byte_ps: cost of each byte of a transfer, picoseconds
 * @move_ps: cost of each byte that it moves in its own memory
 * @crc_ps: cost of each byte that it sums
 */
struct iwp_engine {
	spinlock_t lock; /* of free_at */
	u64 free_at;
	atomic64_t busy_ns;
	atomic64_t cpu_ns;
	u32 dma_ns;
	u32 byte_ps;
	u32 move_ps;
	u32 crc_ps;
};

/* Whether the engine puts markers in, and so makes segments. */
static inline bool iwp_design_offloaded(enum iwp_design design)
{
	return design >= IWP_DESIGN_OFFLOADED;
}

extern const struct attribute_group iwp_device_group;

/* engine.c */
void iwp_engine_init(struct iwp_engine *engine);
u64 iwp_engine_take(struct iwp_engine *engine, enum iwp_design design,
		    u32 len, u32 dmas);
void iwp_engine_enter(struct iwp_qp *qp);
void iwp_engine_leave(struct iwp_qp *qp);

#endif /* _IWP_DESIGN_H */
