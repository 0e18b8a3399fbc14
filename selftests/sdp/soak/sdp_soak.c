// SPDX-License-Identifier: GPL-2.0
/*
 * Long load: connections that come and go, traffic of all kinds, wires that lose and
 * machines without memory.  Every byte is looked at, nothing grows, and nothing stands
 * still.  See soak.h for how long.
 */
#include "soak.h"

static const struct sdp_case cases[] = {
	CASE(churn, CASE_SDP_ONLY | CASE_LONG),
	CASE(traffic, CASE_SDP_ONLY | CASE_LONG),
	CASE(lossy, CASE_SDP_ONLY | CASE_LONG),
	CASE(pressure, CASE_SDP_ONLY | CASE_LONG),
	CASE(clock_leaps, CASE_SDP_ONLY | CASE_LONG),
	CASE(fairness_credit, CASE_SDP_ONLY | CASE_LONG),
	CASE(fairness_auto, CASE_TCP | CASE_LONG),
	CASE(rate, CASE_SDP_ONLY | CASE_LONG),
};

int main(int argc, char **argv)
{
	return zcopy_main("off", argc, argv, cases, ARRAY_SIZE(cases));
}
