#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The other machine's end dies. Environment as for sdp_data_two_node.sh; with
# SDP_TEST_POWEROFF=1 node b switches itself off in the last case, so whoever
# runs the nodes has to expect that.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

self=${SELF:-} other=${PEER:-}

# Node b serves in the given mode, node a connects in the other.
# connect_nodes CASE MODE-OF-A MODE-OF-B
connect_nodes() {
	if [ "$ROLE" = b ]; then
		start_server mine "$3" "$self"
		vm-barrier "$1-listens"
	else
		vm-barrier "$1-listens"
		start_client mine "$2" "$other"
	fi
	wait_moving mine
	vm-barrier "$1-moves"
}

# kill -9 closes the socket, so the news travels at once.
peer_process_killed() {
	connect_nodes killed send recv
	if [ "$ROLE" = b ]; then
		kill -KILL "${pid[mine]}"
		end_of mine
	else
		expect_error mine 'ECONNRESET|EPIPE'
	fi
	vm-barrier killed-end
}

# The sender dies: its receiver sees the end, a clean one or a reset.
peer_sender_killed() {
	connect_nodes sender recv send
	if [ "$ROLE" = b ]; then
		kill -KILL "${pid[mine]}"
		end_of mine
	else
		end_of mine
		[ "$status" = 0 ] || grep -q 'error=ECONNRESET ' "$work/mine.out" ||
			fail "expected the end of the stream or ECONNRESET"
	fi
	vm-barrier sender-end
}

# Without a word: the wire is cut at node b, node a can only time out.
peer_unreachable() {
	[ "${SDP_TEST_FAMILY:-sdp}" = sdp ] || skip "TCP tries for a quarter of an hour"
	connect_nodes cut send recv
	# A wire that carries nothing from b: taking b's link down would let the
	# packets pile up before it, and nobody could free them.
	if [ "$ROLE" = b ]; then
		tc qdisc add dev "$(netdev_of "$self")" root netem loss 100%
		expect_error mine
	else
		expect_error mine 'ETIMEDOUT|ECONNRESET|EHOSTUNREACH|EPIPE'
	fi
	vm-barrier cut-end
	[ "$ROLE" = a ] || tc qdisc del dev "$(netdev_of "$self")" root
}

peer_powered_off() {
	[ "${SDP_TEST_FAMILY:-sdp}" = sdp ] || skip "TCP tries for a quarter of an hour"
	connect_nodes power send recv
	if [ "$ROLE" = b ]; then
		echo o > /proc/sysrq-trigger
		wait_for "$BOUND" false
	fi
	expect_error mine 'ETIMEDOUT|ECONNRESET|EHOSTUNREACH|EPIPE'
}

[ -n "${ROLE:-}" ] || skip_all "needs two machines: ROLE is not set"
have_family || skip_all "no AF_SDP sockets in this kernel"
cases=(peer_process_killed peer_sender_killed)
if [ "${SDP_TEST_POWEROFF:-0}" = 1 ]; then
	cases+=(peer_powered_off)
else
	cases+=(peer_unreachable)
fi
run_cases "${cases[@]}"
