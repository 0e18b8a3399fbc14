#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The other machine dies, in more or less haste, or only seems to. Environment
# as for sdp_data_two_node.sh, and a command 'vm-suspend SECONDS' that lets the
# other machine stand still.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

self=${SELF:-} other=${PEER:-}

# Node b serves in the given mode, node a connects in the other.
# connect_nodes MODE-OF-A MODE-OF-B [OPTION...]
connect_nodes() {
	local mode_a=$1 mode_b=$2
	shift 2
	if [ "$ROLE" = b ]; then
		start_server mine "$mode_b" "$self" "$@"
		meet listens
	else
		meet listens
		start_client mine "$mode_a" "$other" "$@"
	fi
	wait_moving mine
	meet moves
}

netdev() { netdev_of "$self"; }

# kill -9 closes the socket, so the news travels at once.
peer_process_killed() {
	connect_nodes send recv
	if [ "$ROLE" = b ]; then
		kill -KILL "${pid[mine]}"
		end_of mine
	else
		expect_error mine 'ECONNRESET|EPIPE'
	fi
	meet end
}

# The sender dies: its receiver sees the end, a clean one or a reset.
peer_sender_killed() {
	connect_nodes recv send
	if [ "$ROLE" = b ]; then
		kill -KILL "${pid[mine]}"
		end_of mine
	else
		end_of mine
		[ "$status" = 0 ] || grep -q 'error=ECONNRESET ' "$work/mine.out" ||
			fail "expected the end of the stream or ECONNRESET"
	fi
	meet end
}

# A process that stands still is no failure; that all buffers are full neither.
peer_process_stopped_then_killed() {
	connect_nodes send recv
	if [ "$ROLE" = b ]; then
		kill -STOP "${pid[mine]}"
		meet stopped
		meet waited
		kill -KILL "${pid[mine]}"
		end_of mine
	else
		meet stopped
		# Longer than it takes to notice a peer that is not there.
		! wait_for $silence gone "${pid[mine]}" || fail "the connection has ended"
		meet waited
		expect_error mine 'ECONNRESET|EPIPE'
	fi
	meet end
}

# Without a word: the wire is cut at node b, node a can only time out.
peer_unreachable() {
	local start
	[ "${SDP_TEST_FAMILY:-sdp}" = sdp ] || skip "TCP tries for a quarter of an hour"
	connect_nodes send recv
	start=$SECONDS
	# A wire that carries nothing from b: taking b's link down would let the
	# packets pile up before it, and nobody could free them.
	if [ "$ROLE" = b ]; then
		wire_silence "$(netdev)"
		expect_error mine 'ETIMEDOUT|ECONNRESET'
		# If b is the first to notice, a must not hear that from it.
		meet noticed
		wire_end_silence "$(netdev)"
	else
		expect_error mine 'ETIMEDOUT|EPIPE'
		ended_within $silence $start
		meet noticed
	fi
	meet end
}

# As unreachable, but it takes the whole machine, which then knows of nothing.
peer_machine_gone() {
	local start
	[ "${SDP_TEST_FAMILY:-sdp}" = sdp ] || skip "TCP tries for a quarter of an hour"
	connect_nodes send recv
	if [ "$ROLE" = a ]; then
		start=$SECONDS
		vm-suspend $silence &
		expect_error mine 'ETIMEDOUT|EPIPE'
		ended_within $silence $start
		wait $!
	else
		expect_error mine 'ETIMEDOUT|ECONNRESET'
	fi
	meet end
}

# A virtual machine that is moved, or saved and restored, keeps its connections.
peer_machine_suspended() {
	local bytes=$((128 * 1024 * 1024 / SCALE))
	connect_nodes both both --bytes $bytes
	[ "$ROLE" = b ] || vm-suspend 3
	expect_orderly mine "sent=$bytes received=$bytes "
	meet end
}

# Nothing moves and nobody asked, so nobody notices.
idle_connection_survives_silence() {
	connect_nodes idle idle
	if [ "$ROLE" = a ]; then
		vm-suspend $silence
		! gone "${pid[mine]}" || fail "the connection has ended"
		kill -KILL "${pid[mine]}"
		end_of mine
	else
		expect_orderly mine
	fi
	meet end
}

[ -n "${ROLE:-}" ] || skip_all "needs two machines: ROLE is not set"
have_family || skip_all "no AF_SDP sockets in this kernel"
modprobe -q sch_netem || skip_all "no netem in this kernel"
wire_add "$(netdev)"
trap 'wire_del "$(netdev)"; rm -rf "$work"' EXIT
run_cases peer_process_killed peer_sender_killed peer_process_stopped_then_killed \
	peer_machine_suspended idle_connection_survives_silence peer_unreachable peer_machine_gone
