#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs about calls, data and failures once more with zero copy, wherever it
# can be, for each engine of flow control.  SDP_ZCOPY_PROGRAMS names them.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

# As in sdp_engine.c: a cable keeps the order of packets.
keep_order() {
	local queue
	for queue in /sys/class/net/*/queues/rx-*/rps_cpus; do
		was[$queue]=$(< "$queue")
		echo 1 > "$queue"
	done
}

restore() {
	local queue
	for queue in "${!was[@]}"; do
		[ ! -e "$queue" ] || echo "${was[$queue]}" > "$queue"
	done
	restore_sysctls
}

declare -A was
programs=${SDP_ZCOPY_PROGRAMS:-sdp_zcopy sdp_zcopy_memory sdp_data sdp_close}

# with ENGINE
with() {
	local program
	trap restore EXIT
	keep_order
	set_sysctl zcopy sync
	set_sysctl zcopy_threshold 4096
	set_sysctl flow_control "$1"
	for program in $programs; do rerun "$program"; done
}

credit() { with credit; }
rdma() { with rdma; }
nic() { with nic; }

have_family || skip_all "no AF_SDP sockets in this kernel"
run_cases credit rdma nic
