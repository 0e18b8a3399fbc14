#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Our own iWARP devices belong to the network namespace of their network devices:
# who is in another one, and shares them as the RDMA core allows it by default,
# opens no sockets there. And a request belongs to the device that has its address,
# whichever it comes to. Needs root, iwarp0 and iwarp1; makes and removes a
# namespace.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

ns=iwarp-test
server=10.0.0.2 client=10.0.0.1
port=7199
near=10.0.8.1 far=10.0.9.1 remote=10.0.8.2

in_ns() { ip netns exec $ns "$@"; }

remove_ns() { ip netns delete $ns 2> /dev/null || true; }

# A namespace of its own that has the client's address, even that of its hardware.
set_up() {
	local wire mac
	wire=$(ip -o -4 addr show to $client | awk '{ print $2; exit }')
	mac=$(< "/sys/class/net/$wire/address")
	trap 'end_children; remove_ns' EXIT
	ip netns add $ns
	in_ns ip link set lo up
	in_ns ip link add sdp-test-d type dummy
	in_ns ip link set sdp-test-d address "$mac" up
	in_ns ip addr add $client/24 dev sdp-test-d
}

in_cm() { rdma resource show cm_id 2> /dev/null | grep -q "state LISTEN.*:$port\b"; }

# Every device is asked to listen on all addresses.
listens_in_its_own() {
	local pid
	set_up
	in_ns rping -s -p $port > "$work/server.out" 2>&1 &
	pid=$!
	wait_for "$BOUND" in_cm || fail "the server does not listen"
	! listening $port || fail "who is in another namespace listens here"
	! gone $pid || fail "the server has given up"
	rping -s -a $server -p $port -C 1 > "$work/other.out" 2>&1 &
	wait_for "$BOUND" listening $port || fail "the port is not free here"
}

connects_from_its_own() {
	set_up
	rping -s -a $server -p $port -C 1 > "$work/server.out" 2>&1 &
	wait_for "$BOUND" listening $port || fail "the server does not listen"
	! in_ns timeout "$BOUND" rping -c -a $server -I $client -p $port -C 1 \
		> "$work/client.out" 2>&1 || fail "who is in another namespace connects here"
	rping -c -a $server -I $client -p $port -C 1 > "$work/client.out" 2>&1 ||
		fail "nobody can connect any more"
}

remove_near_and_far() {
	end_children
	ip link delete sdp-near 2> /dev/null || true
	ip link delete sdp-far 2> /dev/null || true
	remove_ns
}

# A namespace with a device, whose way to the far one's address leads to the near one.
near_and_far() {
	trap remove_near_and_far EXIT
	ip netns add $ns
	in_ns ip link set lo up
	ip link add sdp-near type veth peer name sdp-peer netns $ns
	ip link add sdp-far type veth peer name sdp-other netns $ns
	ip addr add $near/24 dev sdp-near
	ip addr add $far/24 dev sdp-far
	in_ns ip addr add $remote/24 dev sdp-peer
	ip link set sdp-near up
	ip link set sdp-far up
	in_ns ip link set sdp-peer up
	in_ns ip link set sdp-other up
	in_ns ip route add $far/32 via $near dev sdp-peer src $remote
	rdma link add iwarp-near type iwarp netdev sdp-near
	rdma link add iwarp-far type iwarp netdev sdp-far
	in_ns rdma link add iwarp-remote type iwarp netdev sdp-peer
}

asks() {
	in_ns timeout "$BOUND" rping -c -a "$1" -I $remote -p $port -C 1 \
		> "$work/client.out" 2>&1
}

# The server ends with the first who gets through to it.
asks_at_the_wrong_device() {
	local pid
	near_and_far
	timeout "$BOUND" rping -s -p $port -C 1 > "$work/server.out" 2>&1 &
	pid=$!
	wait_for "$BOUND" waits_for_clients $pid || fail "the server does not listen"
	! asks $far || fail "the near device answers for the far one"
	grep -q RDMA_CM_EVENT_REJECTED "$work/client.out" || fail "the request is not refused"
	! gone $pid || fail "the server has been asked"
	asks $near || fail "the near device does not answer for itself"
	wait $pid || fail "the server's status is $?"
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e /sys/class/infiniband/iwarp1 ] || skip_all "no iWARP devices of our own"
rdma system show | grep -q 'netns shared' || skip_all "namespaces do not share RDMA devices"

run_cases listens_in_its_own connects_from_its_own asks_at_the_wrong_device
