#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs about calls and data once more with each engine of flow control that
# uses rings, and in rings of several sizes.  SDP_FLOW_PROGRAMS names them.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

programs=${SDP_FLOW_PROGRAMS:-sdp_data sdp_oob sdp_close}

# with ENGINE RING WINDOW
with() {
	local program
	trap restore_sysctls EXIT
	set_sysctl flow_control "$1"
	set_sysctl ring_size "$2"
	set_sysctl window_size "$3"
	for program in $programs; do rerun "$program"; done
}

rdma() { with rdma 262144 32768; }
rdma_tiny() { programs=sdp_data with rdma 4096 4096; }
nic() { with nic 262144 32768; }
nic_tiny() { programs=sdp_data with nic 4096 512; }
# A window that is larger than the ring.
nic_large_window() { programs=sdp_data with nic 8192 65536; }

have_family || skip_all "no AF_SDP sockets in this kernel"
# Nobody has named the programs: the most telling choice.
if [ -z "${SDP_FLOW_PROGRAMS:-}" ]; then
	run_cases rdma nic nic_tiny
else
	run_cases rdma rdma_tiny nic nic_tiny nic_large_window
fi
