// SPDX-License-Identifier: GPL-2.0
/*
 * How a network namespace's part is found; the admin layer makes it.
 */
#include "base.h"

unsigned int sdp_net_id __read_mostly;
