# SPDX-License-Identifier: GPL-2.0
#
# Our own software iWARP. The runner does not start these by itself.

# Both ends of an iWARP connection in one process.
WITH_ENDS := iwarp_data iwarp_early iwarp_foreign iwarp_gone iwarp_hold iwarp_integrated \
	iwarp_integrated_rx iwarp_life iwarp_limits iwarp_listen iwarp_local iwarp_memory \
	iwarp_removed iwarp_res iwarp_srq iwarp_srq_rogue iwarp_tcp
# And a shared receive queue at one of them.
WITH_SHARE := iwarp_srq iwarp_srq_rogue
# And what happens on the wire between them.
WITH_WIRE := iwarp_early iwarp_gone iwarp_integrated_rx iwarp_tcp
IWARP_SCRIPTS := iwarp_paths.sh iwarp_net.sh iwarp_tools.sh iwarp_siw.sh \
	iwarp_rerun.sh iwarp_design_rerun.sh iwarp_ulp.sh iwarp_crc.sh iwarp_exclusive.sh \
	iwarp_nvme.sh iwarp_segments.sh iwarp_loopback.sh
WITH_URING += iwarp_integrated
WITH_INJECT += iwarp_memory
WITH_VERBS += iwarp_foreign iwarp_local
WITH_MPA += iwarp_foreign
IWARP_PROGRAMS := $(WITH_ENDS) iwarp_zcopy
TEST_GEN_FILES += $(IWARP_PROGRAMS) $(IWARP_SCRIPTS)
