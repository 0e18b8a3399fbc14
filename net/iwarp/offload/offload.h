/* SPDX-License-Identifier: GPL-2.0 */
/* Work split between the host and a modelled offload engine. */
#ifndef _IWP_OFFLOAD_H
#define _IWP_OFFLOAD_H

#include "core/core.h"

/* Whether the engine inserts markers, and so builds segments. */
static inline bool iwp_design_offloaded(enum iwp_design design)
{
	return design >= IWP_DESIGN_OFFLOADED;
}

/* design.c */
const char *iwp_design_name(enum iwp_design design);
extern const struct ib_device_ops iwp_design_dev_ops;

/* engine.c */
void iwp_engine_init(struct iwp_engine *engine);
u64 iwp_engine_submit(struct iwp_engine *engine, enum iwp_design design,
		      u32 len, u32 dmas);
void iwp_engine_enter(struct iwp_qp *qp);
void iwp_engine_leave(struct iwp_qp *qp);

#endif /* _IWP_OFFLOAD_H */
