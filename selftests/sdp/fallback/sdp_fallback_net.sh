#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fallback to TCP where the network decides it: a peer without RDMA, which does
# not answer at all; a namespace without RDMA devices; a device that goes away
# under a listener. The other end is in a network namespace of its own behind a
# veth pair, of which only the near end has a Soft-RoCE device.
# Needs root.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

ns=sdpfb
near=10.7.0.1
far=10.7.0.2

counter_is() { [ "$(counter "$1")" = "$2" ]; }

fallback_is() { sysctl -qw net.sdp.tcp_fallback="$1"; }

# The programs started from now on run over there, with sockets of this family.
# over_there FAMILY
over_there() {
	cat > "$work/there.sh" <<- EOF
		#!/bin/sh
		export SDP_TEST_FAMILY=$1
		exec ip netns exec $ns "$here/sdp_peer" "\$@"
	EOF
	chmod +x "$work/there.sh"
	peer=$work/there.sh
}

over_here() { peer=$here/sdp_peer; }

near_is_gid() {
	grep -qs '0a07:0001$' "/sys/class/infiniband/$ns/ports/1/gids/"*
}

set_up() {
	ip netns add $ns
	ip link add ${ns}0 type veth peer name ${ns}1 netns $ns
	ip addr add $near/24 dev ${ns}0
	ip link set ${ns}0 up
	ip -n $ns addr add $far/24 dev ${ns}1
	ip -n $ns link set ${ns}1 up
	rdma link add $ns type rxe netdev ${ns}0
	wait_for "$BOUND" near_is_gid
	fallback_is 1
}

tear_down() {
	fallback_is 0
	rdma link delete $ns 2> /dev/null || true
	ip link delete ${ns}0 2> /dev/null || true
	ip netns delete $ns 2> /dev/null || true
	rm -rf "$work"
}

# A megabyte has gone from client to server, who has verified it.
check_transfer() {
	expect_orderly server received=1000000
	expect_orderly client sent=1000000
}

silent_peer() {
	local before
	before=$(counter FallbackTimeout)
	over_there tcp
	start_server server recv $far
	over_here
	start_client client send $far --bytes 1000000
	check_transfer
	counter_is FallbackTimeout $((before + 1)) ||
		fail "not counted as a timeout: $(grep Fallback /proc/net/sdpstats)"
}

namespace_without_device() {
	start_server server recv $near
	over_there sdp
	ip netns exec $ns sysctl -qw net.sdp.tcp_fallback=1
	start_client client send $near --bytes 1000000
	check_transfer
	ip netns exec $ns grep -q '^FallbackNoDevice 1$' /proc/net/sdpstats ||
		fail "not counted over there: $(ip netns exec $ns grep Fallback /proc/net/sdpstats)"
	[ "$(counter FallbackAccepts)" -ge 1 ] || fail "not counted here"
}

device_deleted_under_listener() {
	local before
	before=$(counter FallbackListens)
	start_server server recv $near
	rdma link delete $ns
	wait_for "$BOUND" counter_is FallbackListens $((before + 1)) || fail "the listener has not changed to TCP"
	over_there tcp
	start_client client send $near --bytes 1000000
	check_transfer
}

[ "${SDP_TEST_FAMILY:-sdp}" = sdp ] || skip_all "TCP does not fall back"
[ "$(id -u)" = 0 ] || skip_all "needs root"
have_family || skip_all "no AF_SDP sockets in this kernel"
trap tear_down EXIT
set_up || skip_all "cannot create a namespace with a Soft-RoCE device before it"

run_cases silent_peer namespace_without_device device_deleted_under_listener
