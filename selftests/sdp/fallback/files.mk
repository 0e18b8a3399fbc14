# SPDX-License-Identifier: GPL-2.0
#
# Fallback to TCP, and the TCP sockets that SDP sockets have.

TEST_GEN_PROGS += sdp_fallback sdp_fallback_io sdp_gone sdp_carry sdp_choice \
	sdp_frozen_tcp
TEST_SCRIPTS += sdp_fallback_net.sh sdp_fallback_rerun.sh
TEST_TWO_NODE += sdp_fallback_two_node.sh
