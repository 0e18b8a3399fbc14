# SPDX-License-Identifier: GPL-2.0
#
# Writes without a copy, and the memory that they lend out.

TEST_GEN_PROGS += sdp_uring_zc sdp_zcopy sdp_zcopy_memory \
	sdp_zcopy_offers sdp_zchoice sdp_zmsg sdp_zmsg_life sdp_zasync \
	sdp_zasync_stream sdp_zdirect sdp_zblock sdp_zreuse sdp_zthread sdp_zusers \
	sdp_zmap sdp_sink sdp_sink_rogue sdp_zread sdp_zread_rogue
TEST_SMP += sdp_zwriters
TEST_SCRIPTS += sdp_zcopy_rerun.sh sdp_zread_rerun.sh
WITH_URING += sdp_uring_zc sdp_zwriters
WITH_VERBS += sdp_zcopy_offers sdp_sink_rogue sdp_zread_rogue
WITH_KINDS += sdp_zwriters
WITH_DELAY += sdp_zread
