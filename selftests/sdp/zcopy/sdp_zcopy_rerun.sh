#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs about calls, data and failures once more with zero copy, wherever it
# can be, for each engine of flow control.  SDP_ZCOPY_PROGRAMS names them.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

# with ENGINE MODE PROGRAM...
with() {
	local engine=$1 mode=$2 program
	shift 2
	begin_zcopy "$mode"
	set_sysctl flow_control "$engine"
	# shellcheck disable=SC2086
	set -- ${SDP_ZCOPY_PROGRAMS:-"$@"}
	for program in "$@"; do rerun "$program"; done
}

# Programs that touch their memory too early wait.
# with_block ENGINE PROGRAM...
with_block() {
	local engine=$1
	shift
	set_sysctl zcopy_fault block
	with "$engine" async "$@"
}

credit_sync() { with credit sync sdp_data sdp_close sdp_zcopy; }
rdma_sync() { with rdma sync sdp_zcopy; }
nic_sync() { with nic sync sdp_zcopy; }
credit_async() { with credit async sdp_data sdp_close sdp_zasync sdp_zmsg; }
# The others run by themselves with this engine.
credit_calls() { with credit async sdp_data sdp_close; }
rdma_async() { with rdma async sdp_zasync sdp_zmsg; }
nic_async() { with nic async sdp_zasync sdp_zmsg; }
credit_block() { with_block credit sdp_zasync sdp_zasync_stream; }
rdma_block() { with_block rdma sdp_zasync sdp_zasync_stream; }
nic_block() { with_block nic sdp_zasync sdp_zasync_stream; }
# These choose between waiting and copies themselves.
rdma_choice() { with rdma async sdp_zblock; }
nic_choice() { with nic async sdp_zblock; }

# Straight from their pages, whatever their length.
# with_direct ENGINE PROGRAM...
with_direct() {
	local engine=$1
	shift
	export SDP_TEST_ZCOPY_DIRECT=1073741824
	with "$engine" async "$@"
}

credit_direct() { with_direct credit sdp_zasync sdp_zasync_stream sdp_zreuse sdp_zmsg; }
rdma_direct() { with_direct rdma sdp_zasync sdp_zasync_stream sdp_zdirect; }
nic_direct() { with_direct nic sdp_zasync sdp_zasync_stream sdp_zdirect; }
block_direct() {
	set_sysctl zcopy_fault block
	with_direct nic sdp_zasync sdp_zasync_stream sdp_zdirect
}

have_family || skip_all "no AF_SDP sockets in this kernel"
# Nobody has named the programs: the most telling choice.  What the engine carries in a ring
# does not depend on how memory is protected.
if [ -z "${SDP_ZCOPY_PROGRAMS:-}" ]; then
	run_cases credit_sync rdma_sync nic_sync credit_calls rdma_async nic_async \
		credit_block rdma_choice credit_direct block_direct
else
	run_cases credit_sync rdma_sync nic_sync credit_async rdma_async nic_async \
		credit_block rdma_block nic_block rdma_choice nic_choice \
		credit_direct rdma_direct nic_direct block_direct
fi
