# SPDX-License-Identifier: GPL-2.0
#
# The engines of flow control, and how two ends agree on one.

TEST_GEN_PROGS += sdp_flow sdp_flow_choice sdp_flow_auto sdp_clock
# Need a wire that takes its time.
WITH_DELAY += sdp_clock
TEST_SCRIPTS += sdp_flow_rerun.sh
