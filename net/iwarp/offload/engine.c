// SPDX-License-Identifier: GPL-2.0
/*
 * Model of an offload engine: how long an adapter would take for submitted work, and
 * what CPUs spend on doing it in its place.
 *
 * Documentation/internals/iwarp-devices.rst says what is modelled, and what is not.
 */
#include <linux/math64.h>
#include <linux/minmax.h>

#include "offload.h"

/* With these costs 2 KiB with markers take as long as in the paper. */
#define IWP_ENGINE_DMA_NS	500
#define IWP_ENGINE_BYTE_PS	1000
#define IWP_ENGINE_MOVE_PS	500
/* Checksums are computed during transfers. */
#define IWP_ENGINE_CRC_PS	0

/**
 * iwp_engine_init() - initialize an idle engine
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
 * iwp_engine_submit() - submit data to be sent
 * @engine: engine
 * @design: enum iwp_design
 * @len: bytes
 * @dmas: number of DMA transfers
 *
 * Return: ktime_get_ns() at which the engine is done.
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
 * iwp_engine_enter() - from now on the CPU does the engine's work
 * @qp: queue pair
 *
 * Context: socket lock held.
 */
void iwp_engine_enter(struct iwp_qp *qp)
{
	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	qp->engine_start = ktime_get_ns();
}

/**
 * iwp_engine_leave() - the CPU's time is the host's again
 * @qp: queue pair, after iwp_engine_enter()
 *
 * Context: socket lock held.
 */
void iwp_engine_leave(struct iwp_qp *qp)
{
	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	atomic64_add(ktime_get_ns() - qp->engine_start,
		     &qp->dev->engine.cpu_ns);
}
