# SPDX-License-Identifier: GPL-2.0
#
# What the kernel fails on request: allocations, and copies of a program's memory.

TEST_INJECT += sdp_fail_any sdp_fail_connect sdp_fail_data sdp_fail_device sdp_fail_load sdp_fail_zerocopy iwarp_fail_verbs
# Only over devices of iwarp.ko.
TEST_INJECT += sdp_fail_completion sdp_fail_events sdp_fail_handshake
WITH_INJECT += $(TEST_INJECT)
WITH_URING += sdp_fail_zerocopy
