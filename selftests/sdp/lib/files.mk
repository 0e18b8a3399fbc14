# SPDX-License-Identifier: GPL-2.0
#
# What the tests are made of: linked into each program, or included by some.

TEST_LIB := sdp_run sdp_sock sdp_pattern sdp_task sdp_account sdp_engine \
	sdp_transfer sdp_words
# A control group of their own.
WITH_CGROUP := iwarp_listen sdp_gates
LOCAL_HDRS += $(wildcard lib/*.h)
TEST_GEN_FILES += sdp_group.sh sdp_lib.sh sdp_link.sh
