# SPDX-License-Identifier: GPL-2.0
#
# A socket: its calls, options, addresses and limits, and who may do what with it.

TEST_GEN_PROGS += sdp_api sdp_option sdp_sockopt sdp_info sdp_timer sdp_route \
	sdp_connect sdp_attempt sdp_sigurg sdp_uring sdp_close sdp_fd sdp_stamp sdp_poll sdp_many \
	sdp_limits sdp_signal sdp_door_option sdp_port sdp_gates sdp_thread sdp_door \
	sdp_half_open sdp_share sdp_sockdiag
# See TEST_UP in the Makefile.
TEST_UP += sdp_label
TEST_SCRIPTS += sdp_door_rerun.sh
WITH_URING += sdp_uring
WITH_EVENTS += sdp_label
WITH_VERBS += sdp_half_open
