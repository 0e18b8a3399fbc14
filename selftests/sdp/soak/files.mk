# SPDX-License-Identifier: GPL-2.0
#
# Load that goes on for a number of rounds, or, with SDP_SOAK_SECONDS, for a time.

TEST_GEN_PROGS += sdp_soak
TEST_SCRIPTS += sdp_flap.sh
WITH_SOAK := sdp_soak
WITH_DELAY += sdp_soak
# What it is made of.
SOAK_SOURCES := $(wildcard soak/soak*.c)
LOCAL_HDRS += soak/soak.h
# A page cache may forget it and read it again: three times what there is room for.
TEST_GEN_FILES += sdp_soak.pages
