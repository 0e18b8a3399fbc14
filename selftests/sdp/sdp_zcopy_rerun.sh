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

# with ENGINE PROGRAM...
with() {
	local engine=$1 program
	shift
	trap restore EXIT
	keep_order
	set_sysctl zcopy sync
	set_sysctl zcopy_threshold 4096
	set_sysctl flow_control "$engine"
	# shellcheck disable=SC2086
	set -- ${SDP_ZCOPY_PROGRAMS:-"$@"}
	for program in "$@"; do rerun "$program"; done
}

credit() { with credit sdp_data sdp_close; }
rdma() { with rdma sdp_zcopy; }
nic() { with nic sdp_zcopy; }

have_family || skip_all "no AF_SDP sockets in this kernel"
run_cases credit rdma nic
