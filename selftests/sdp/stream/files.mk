# SPDX-License-Identifier: GPL-2.0
#
# The stream of bytes: what arrives and how, the memory it takes, and peers and
# programs that want to disturb it.

TEST_GEN_PROGS += sdp_data sdp_flags sdp_oob sdp_splice sdp_stream sdp_unread \
	sdp_memory sdp_scale sdp_stall sdp_join sdp_pieces sdp_rogue sdp_neighbour \
	sdp_immediate sdp_frozen sdp_busy_poll sdp_answer sdp_local
TEST_SCRIPTS += sdp_local_rerun.sh
WITH_VERBS += sdp_rogue sdp_neighbour sdp_immediate sdp_local
WITH_MPA += sdp_neighbour
WITH_NEIGH += sdp_stall sdp_frozen
WITH_OWNERS += sdp_frozen
