#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs about data and ends once more with reads that return before their bytes are
# there (net.sdp.zcopy_recv).

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

# with MODE THRESHOLD PROGRAM...
with() {
	local mode=$1 threshold=$2 program
	shift 2
	set_sysctl zcopy_recv async 2> /dev/null ||
		skip "page faults of this kernel would stop other threads"
	begin_zcopy "$mode" "$threshold"
	for program in "$@"; do rerun "$program"; done
}

sync_writes() { with sync 4096 sdp_data sdp_close sdp_zcopy; }
async_writes() { with async 4096 sdp_zasync sdp_zasync_stream sdp_zmsg; }
written_reads() { with sync 65536 sdp_sink; }

have_family || skip_all "no AF_SDP sockets in this kernel"
run_cases sync_writes async_writes written_reads
