// SPDX-License-Identifier: GPL-2.0
/*
 * The model of an offload engine: how long an adapter would take for what it
 * is given, and what processors spend on doing that in its place.
 *
 * Documentation/internals/iwarp-devices.rst says what is modelled, and what is not.
 */
#include <linux/math64.h>
#include <linux/minmax.h>

#include "offload.h"

/* With these, 2 KiB in pieces between markers take as long as in the paper. */
#define IWP_ENGINE_DMA_NS	500
#define IWP_ENGINE_BYTE_PS	1000
#define IWP_ENGINE_MOVE_PS	500
/* It sums what passes by. */
#define IWP_ENGINE_CRC_PS	0

/**
 * iwp_engine_init() - an engine that has nothing to do
 * @engine: engine
 */
void iwp_engine_init(struct iwp_engine *engine)
{
	spin_lock_init(&engine->lock);
	engine->dma_ns = IWP_ENGINE_DMA_NS;
	engine->byte_ps = IWP_ENGINE_BYTE_PS;
	engine->move_ps = IWP_ENGINE_MOVE_PS;
	engine->crc_ps = IWP_ENGINE_CRC_PS;
}

/**
 * iwp_engine_submit() - give an engine something to send
 * @engine: engine
 * @design: how it does it
 * @len: bytes
 * @dmas: in so many transfers
 *
 * Return: when it is done, by ktime_get_ns().
 */
u64 iwp_engine_submit(struct iwp_engine *engine, enum iwp_design design,
		      u32 len, u32 dmas)
{
	u64 per_byte = READ_ONCE(engine->byte_ps) + READ_ONCE(engine->crc_ps);
	u64 cost, done;

	if (design == IWP_DESIGN_OFFLOADED)
		per_byte += READ_ONCE(engine->move_ps);
	cost = (u64)dmas * READ_ONCE(engine->dma_ns) +
	       div_u64(len * per_byte, 1000);
	atomic64_add(cost, &engine->busy_ns);
	spin_lock_bh(&engine->lock);
	engine->free_at = max(engine->free_at, ktime_get_ns()) + cost;
	done = engine->free_at;
	spin_unlock_bh(&engine->lock);
	return done;
}

/**
 * iwp_engine_enter() - what is done from here on is an engine's work
 * @qp: queue pair
 *
 * Context: socket's lock held.
 */
void iwp_engine_enter(struct iwp_qp *qp)
{
	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	qp->engine_start = ktime_get_ns();
}

/**
 * iwp_engine_leave() - the host works again
 * @qp: queue pair that has entered
 *
 * Context: socket's lock held.
 */
void iwp_engine_leave(struct iwp_qp *qp)
{
	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	atomic64_add(ktime_get_ns() - qp->engine_start,
		     &qp->dev->engine.cpu_ns);
}
