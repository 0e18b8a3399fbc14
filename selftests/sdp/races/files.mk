# SPDX-License-Identifier: GPL-2.0
#
# Calls that several threads make at the same time, of the same sockets.

TEST_GEN_PROGS += sdp_races
