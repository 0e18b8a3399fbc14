# SPDX-License-Identifier: GPL-2.0
#
# Scripts that play the peer, most of them one that breaks the protocol, and what runs them.

TEST_GEN_PROGS += sdp_script
TEST_SCRIPTS += sdp_script_self.sh
# On our own iWARP devices alone.
TEST_GEN_FILES += iwarp_script
WITH_VERBS += sdp_script
WITH_MPA += sdp_script
SCRIPT_SOURCES := $(addprefix hostile/script_,$(addsuffix .c,parse meet message memory socket tcp))
# Stand beside the programs once they are installed.
TEST_FOLDERS := $(addprefix hostile/,sdp_scripts iwarp_scripts wrong_scripts)
