#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Our own iWARP devices on two paths of different delay, which packets take in
# turn: half of all data arrives out of order, without any loss. Needs root.
set -euo pipefail

# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/sdp_lib.sh"

a=10.78.0.1 b=10.78.0.2
devices=(iwarp-pa iwarp-pb)

# Each end has two wires, and one device over both.
make_ends() {
	local end
	for end in a b; do ip link add sdp-p$end mtu 4500 type bond mode balance-rr; done
	for path in 0 1; do
		ip link add sdp-p${path}a mtu 4500 type veth peer name sdp-p${path}b mtu 4500
		for end in a b; do
			ip link set sdp-p$path$end gso_max_segs 1 master sdp-p$end
		done
	done
}

neighbour() { ip neigh replace "$1" lladdr "$(< "/sys/class/net/$2/address")" dev "$3" nud permanent; }

# What is sent to the other end crosses the wires, although both are here.
make_routes() {
	local end
	for end in a b; do
		sysctl -qw net.ipv4.conf.sdp-p$end.accept_local=1 net.ipv4.conf.sdp-p$end.rp_filter=0
		ip link set sdp-p$end gso_max_segs 1 up
		ip addr add "${!end}/24" dev sdp-p$end
		ip rule add pref 20 iif sdp-p$end lookup local
	done
	ip rule add pref 21 to $b lookup 202
	ip rule add pref 21 to $a lookup 201
	ip route add $b dev sdp-pa src $a table 202
	ip route add $a dev sdp-pb src $b table 201
	neighbour $b sdp-pb sdp-pa
	neighbour $a sdp-pa sdp-pb
}

set_up() {
	make_ends
	make_routes
	rdma link add iwarp-pa type iwarp netdev sdp-pa
	rdma link add iwarp-pb type iwarp netdev sdp-pb
}

tear_down() {
	local end
	for end in a b; do
		ip rule del pref 20 iif sdp-p$end 2> /dev/null || true
		ip rule del pref 21 2> /dev/null || true
		ip link del sdp-p$end 2> /dev/null || true
	done
	for path in 0 1; do ip link del sdp-p${path}a 2> /dev/null || true; done
	rm -rf "$work"
}

# count COUNTER
count() {
	local device sum=0
	for device in "${devices[@]}"; do
		sum=$((sum + $(< "/sys/class/infiniband/$device/ports/1/hw_counters/$1")))
	done
	echo $sum
}

# paths DELAY DELAY
paths() {
	local end path=0 delay
	for delay in "$@"; do
		for end in a b; do
			tc qdisc replace dev sdp-p$path$end root netem delay "$delay" limit 10000
		done
		path=$((path + 1))
	done
}

# The content is the program's affair, what was early is ours.
transfer() {
	local before
	before=$(count rx_early_bytes)
	"$here/iwarp_early" --client $a --server $b --case as_it_is 2>&1 | sed 's/^/# /' || fail "iwarp_early fails"
	[ "$(count rx_early_bytes)" -gt "$before" ] || fail "nothing was placed early"
}

slightly_different() {
	paths 1ms 1500us
	transfer
}

very_different() {
	paths 1ms 3ms
	transfer
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e /sys/class/infiniband/iwarp1 ] || skip_all "no iWARP devices of our own"
modprobe -a bonding sch_netem || skip_all "no bonding, or no netem"
trap tear_down EXIT
set_up

run_cases slightly_different very_different
