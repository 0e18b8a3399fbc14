#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Our own iWARP devices where each RDMA device belongs to one network namespace: a new
# one to that of its network device. Who may see, open and use it, what becomes of those
# who use it when it is moved, and of it when its namespace ends. Needs root and a kernel
# without other namespaces; makes and removes one.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

ns=iwarp-test
near=10.0.8.1 remote=10.0.8.2
port=7198

in_ns() { ip netns exec $ns "$@"; }

mode() { rdma system set netns "$1" 2> /dev/null; }

remove() {
	end_children
	ip link delete sdp-near 2> /dev/null || true
	ip netns delete $ns 2> /dev/null || true
	ip netns delete sdp-init 2> /dev/null || true
	wait_for "$BOUND" mode shared || fail "devices are not shared any more"
}

remote_active() { in_ns rdma link show iwarp-remote/1 2> /dev/null | grep -q 'state ACTIVE'; }
here() { rdma dev show "$1" > /dev/null 2>&1; }
not_here() { ! here "$1"; }
there() { in_ns rdma dev show "$1" > /dev/null 2>&1; }

# A wire between here and a namespace, with a device at each end.
set_up() {
	# Those of tests before may be a moment from their end.
	wait_for "$BOUND" mode exclusive || skip "there are other namespaces"
	trap remove EXIT
	make_other_host "$ns" "$near" "$remote"
	wait_for "$BOUND" active iwarp-near || fail "the near device is not active"
	wait_for "$BOUND" remote_active || fail "the remote device is not active in its namespace"
}

listens_there() { in_ns ss -Hltn "sport = :$1" | grep -q .; }

belongs_to_one() {
	set_up
	there iwarp-remote || fail "it is not in its namespace"
	not_here iwarp-remote || fail "it is here"
	! there iwarp-near || fail "ours is there"
	! ibv_devinfo -d iwarp-remote > /dev/null 2>&1 || fail "it can be opened here"
	in_ns ibv_devinfo -d iwarp-remote > "$work/info.out" 2>&1 ||
		fail "it cannot be opened there: $(< "$work/info.out")"
	ibv_devinfo -d iwarp-near > /dev/null || fail "ours cannot be opened"
}

# Each of both is asked by the other, and compares what comes back.
connects_both_ways() {
	set_up
	in_ns rping -s -a $remote -p $port -C 20 -V -S 5000 > "$work/server.out" 2>&1 &
	wait_for "$BOUND" listens_there $port || fail "the server there does not listen"
	rping -c -a $remote -I $near -p $port -C 20 -V -S 5000 > "$work/client.out" 2>&1 ||
		fail "nobody connects from here"
	rping -s -a $near -p $port -C 20 -V -S 5000 > "$work/server.out" 2>&1 &
	wait_for "$BOUND" listening $port || fail "the server does not listen"
	in_ns rping -c -a $near -I $remote -p $port -C 20 -V -S 5000 > "$work/client.out" 2>&1 ||
		fail "nobody connects from there"
}

in_use() { rdma resource show qp link iwarp-near/1 2> /dev/null | grep -q 'state RTS'; }

# Endless, from here to there: sets $server and $client.
transfer_on() {
	# Its own process, and not that of a function, as it may be killed.
	ip netns exec $ns rping -s -a $remote -p $port -S 60000 > "$work/server.out" 2>&1 &
	server=$!
	wait_for "$BOUND" listens_there $port || fail "the server there does not listen"
	rping -c -a $remote -I $near -p $port -S 60000 > "$work/client.out" 2>&1 &
	client=$!
	wait_for "$BOUND" in_use || fail "nothing moves"
}

moved_and_back() {
	local server client
	set_up
	ip netns attach sdp-init 1
	transfer_on
	rdma dev set iwarp-near netns $ns || fail "it cannot be moved"
	wait_for "$BOUND" gone "$client" || fail "who used it goes on"
	wait_for "$BOUND" gone "$server" || fail "the other end waits for the dead"
	there iwarp-near || fail "it is not where it was moved to"
	not_here iwarp-near || fail "it still is here"
	# Its network device is not there.
	! in_ns timeout "$BOUND" rping -s -a $near -p $port -C 1 > "$work/server.out" 2>&1 ||
		fail "it listens without its network device"
	in_ns rdma dev set iwarp-near netns sdp-init || fail "it cannot be moved back"
	here iwarp-near || fail "it has not come back"
	transfer_on
}

namespace_ends() {
	local server client
	set_up
	transfer_on
	ip netns delete $ns
	kill -KILL "$server"
	wait_for "$BOUND" gone "$client" || fail "the client waits for the dead"
	wait_for "$BOUND" not_here iwarp-near || fail "the near device outlives its network device"
	wait_for "$BOUND" not_here iwarp-remote || fail "the remote device outlives its network device"
}

# It is the other mode's again, with what has come since.
shared_again() {
	set_up
	remove
	set_up
	remove
	here iwarp0 || fail "the devices from before are not here"
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e /sys/class/infiniband/iwarp1 ] || skip_all "no iWARP devices of our own"
rdma system show | grep -q 'netns shared' || skip_all "devices are not shared"

run_cases belongs_to_one connects_both_ways moved_and_back namespace_ends shared_again
