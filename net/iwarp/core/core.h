/* SPDX-License-Identifier: GPL-2.0 */
/* Devices, their counters and faults; queue pairs and endpoints, and references to them. */
#ifndef _IWP_CORE_H
#define _IWP_CORE_H

#include "crc.h"
#include "device.h"
#include "fault.h"
#include "object.h"
#include "stats.h"

#endif /* _IWP_CORE_H */
