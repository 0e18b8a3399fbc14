#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The other machine loses its power for good. Environment as for
# sdp_data_two_node.sh, and a command 'vm-poweroff' for node a that takes it from
# node b, which therefore has nothing to say.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

self=${SELF:-} other=${PEER:-}

no_sockets() { [ "$(wc -l < /proc/net/sdp)" = 1 ]; }

serve_until_the_end() {
	start_server busy recv "$self" --port 4801
	start_server watched idle "$self" --port 4802
	start_server idle idle "$self" --port 4803
	meet listens
	wait
}

# One connection with data on its way, one that asks, one that does not.
connect_all() {
	meet listens
	start_client busy send "$other" --port 4801
	start_client watched idle "$other" --port 4802 --keepalive 2
	start_client idle idle "$other" --port 4803
	wait_moving busy
	wait_moving watched
	wait_moving idle
}

peer_power_off() {
	local start
	[ "${SDP_TEST_FAMILY:-sdp}" = sdp ] || skip "TCP tries for a quarter of an hour"
	[ "$ROLE" = a ] || serve_until_the_end
	connect_all
	vm-poweroff
	start=$SECONDS
	expect_error busy 'ETIMEDOUT|EPIPE'
	ended_within "$silence" "$start"
	expect_error watched ETIMEDOUT
	ended_within "$silence" "$start"
	! gone "${pid[idle]}" || fail "the idle connection has ended"
	kill -KILL "${pid[idle]}"
	end_of idle
	wait_for "$BOUND" no_sockets || fail "left behind: $(< /proc/net/sdp)"
	server=$self
	check_works
}

[ -n "${ROLE:-}" ] || skip_all "needs two machines: ROLE is not set"
have_family || skip_all "no AF_SDP sockets in this kernel"
run_cases peer_power_off
