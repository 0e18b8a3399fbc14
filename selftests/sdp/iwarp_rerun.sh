#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Both ends of a connection of our own iWARP devices are in this node, and so
# they are joined: once more without that, and what was over the wire, joined.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=sdp_lib.sh source-path=SCRIPTDIR
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

in_use() { rdma resource show qp 2> /dev/null | grep -q 'state RTS'; }
listens() { rdma resource show cm_id 2> /dev/null | grep -q "state LISTEN.*7174"; }

# A process that has one of the ends dies in the middle of its transfers.
client_killed() {
	local server_pid client_pid
	for _ in 1 2 3; do
		rping -s -a $server -S 60000 > "$work/server.out" 2>&1 &
		server_pid=$!
		wait_for "$BOUND" listens || fail "the server does not listen"
		rping -c -a $server -I $client -S 60000 > "$work/client.out" 2>&1 &
		client_pid=$!
		wait_for "$BOUND" in_use || fail "nothing moves"
		kill -KILL $client_pid
		wait_for "$BOUND" gone $server_pid || fail "the server waits for the dead"
	done
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e $parameter ] || skip_all "no iWARP devices of our own"

run_cases data_joined tools_apart sdp_apart client_killed
