#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Both ends of a connection of our own iWARP devices are in this node, and so
# they are joined: once more without that, and what was over the wire, joined.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

parameter=/sys/module/iwarp/parameters/local
server=10.0.0.2 client=10.0.0.1

apart() {
	trap 'echo Y > $parameter' EXIT
	echo N > $parameter
}

data_joined() { SDP_TEST_JOINED=1 rerun iwarp_data; }

tools_apart() {
	apart
	rerun iwarp_tools.sh
}

sdp_apart() {
	local program
	apart
	for program in sdp_data sdp_oob sdp_close sdp_zcopy; do rerun $program; done
}

wire() { ip -o -4 addr show to "$1" | awk '{ print $2; exit }'; }

# Of this moment: the files in sysfs may be some milliseconds old.
early_bytes() {
	rdma statistic show | awk '{ for (i = 1; i < NF; i++) if ($i == "rx_early_bytes") sum += $(i + 1) }
		END { print sum + 0 }'
}

good_wire() {
	local end
	for end in $client $server; do
		tc qdisc del dev "$(wire "$end")" root 2> /dev/null || true
		ip link set dev "$(wire "$end")" gso_max_segs 65535
	done
	restore_sysctls
	restore_iwarp
}

# Requests of the kernel's own are placed early as well. What is lost is left to
# chance, but every few packets one overtakes those that wait before it.
# sdp_early ENGINE MODE
sdp_early() {
	local end before
	for end in local=N markers=Y crc=Y; do ask_iwarp "${end%=*}" "${end#*=}"; done
	trap good_wire EXIT
	set_sysctl flow_control "$1"
	set_sysctl zcopy "$2"
	set_sysctl zcopy_threshold 4096
	for end in $client $server; do
		ip link set dev "$(wire "$end")" gso_max_segs 1
		tc qdisc add dev "$(wire "$end")" root netem delay 1ms loss 1% \
			reorder 100% gap 7 limit 10000
	done
	before=$(early_bytes)
	rerun sdp_data
	diag "$(($(early_bytes) - before)) bytes were placed early"
	[ "$(early_bytes)" -gt "$before" ] || fail "nothing was placed early"
}

early_credit() { sdp_early credit sync; }
early_rdma() { sdp_early rdma async; }
early_nic() { sdp_early nic async; }

in_use() { rdma resource show qp 2> /dev/null | grep -q 'state RTS'; }

# A process that has one of the ends dies in the middle of its transfers.
client_killed() {
	local server_pid client_pid
	for _ in 1 2 3; do
		rping -s -a $server -S 60000 > "$work/server.out" 2>&1 &
		server_pid=$!
		wait_for "$BOUND" listening 7174 || fail "the server does not listen"
		rping -c -a $server -I $client -S 60000 > "$work/client.out" 2>&1 &
		client_pid=$!
		wait_for "$BOUND" in_use || fail "nothing moves"
		kill -KILL $client_pid
		wait_for "$BOUND" gone $server_pid || fail "the server waits for the dead"
	done
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e $parameter ] || skip_all "no iWARP devices of our own"

run_cases data_joined tools_apart sdp_apart early_credit early_rdma early_nic client_killed
