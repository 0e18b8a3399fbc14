#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What keepalive and the user timeout do about a peer that does not answer any
# more: the wire between two Soft-RoCE devices of this machine loses everything.
# Needs root and changes (and restores) queueing disciplines.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

server=${SDP_TEST_SERVER:-10.0.0.2}
client=${SDP_TEST_CLIENT:-10.0.0.1}
# A device gives a silent peer up by itself, but not before this time, in ms.
DEVICE_GIVES_UP=7500

now_ms() { date +%s%3N; }
# When a process wrote its last word.
wrote_ms() { date -r "$1" +%s%3N; }

silence() {
	silent_since=$(now_ms)
	wire_silence "$server_dev"
	wire_silence "$client_dev"
}

end_silence() {
	wire_end_silence "$server_dev"
	wire_end_silence "$client_dev"
}

# A connection, and then silence.
# connect_and_silence MODE-OF-CLIENT OPTION-OF-CLIENT...
connect_and_silence() {
	local mode=$1
	shift
	start_server server "$([ "$mode" = send ] && echo recv || echo idle)" "$server"
	start_client client "$mode" "$server" "$@"
	wait_moving client
	wait_moving server
	trap 'end_silence; end_children' EXIT
	silence
}

# The client has to end in ETIMEDOUT, this long after the silence began.
# expect_timeout MIN-MS MAX-MS
expect_timeout() {
	local took
	expect_error client ETIMEDOUT
	took=$(($(wrote_ms "$work/client.out") - silent_since))
	diag "ended $took ms after the silence began"
	((took >= $1 && took <= $2)) || fail "expected $1 to $2 ms"
}

keepalive_ends_idle_connection() {
	connect_and_silence idle --keepalive 2
	# The last sign of life may be some time ago.
	expect_timeout 1000 $DEVICE_GIVES_UP
}

idle_connection_without_keepalive_lives() {
	connect_and_silence idle
	sleep $((DEVICE_GIVES_UP * 3 / 2000))
	! gone "${pid[client]}" || fail "the client has ended: $(< "$work/client.out")"
	! gone "${pid[server]}" || fail "the server has ended: $(< "$work/server.out")"
}

user_timeout_ends_transfer() {
	connect_and_silence send --user-timeout 2000
	expect_timeout 1500 $DEVICE_GIVES_UP
}

# The question is asked while the connection is idle.
user_timeout_limits_keepalive() {
	connect_and_silence idle --keepalive 1 --probes 30 --user-timeout 3000
	expect_timeout 1000 $DEVICE_GIVES_UP
}

# Less than the time until it is asked: there is one interval for an answer.
user_timeout_below_keepalive() {
	connect_and_silence idle --keepalive 2 --probes 30 --user-timeout 1500
	expect_timeout 1000 $DEVICE_GIVES_UP
}

device_ends_transfer() {
	connect_and_silence send
	expect_timeout 5000 $((BOUND * 1000))
}

# Nobody answers a request either; the connection manager would ask for a minute.
connect_gives_up() {
	local took
	patience=$(sysctl -n net.sdp.connect_timeout)
	sysctl -qw net.sdp.connect_timeout=3
	trap 'end_silence; sysctl -qw net.sdp.connect_timeout=$patience; end_children' EXIT
	silence
	start_client client idle "$server"
	end_of client
	took=$(($(wrote_ms "$work/client.out") - silent_since))
	grep -q 'got ETIMEDOUT' "$work/client.out" || fail "expected ETIMEDOUT"
	((took >= 2500 && took <= 30000)) || fail "it took $took ms"
}

[ "${SDP_TEST_FAMILY:-sdp}" = sdp ] || skip_all "TCP is more patient"
[ "$(id -u)" = 0 ] || skip_all "needs root"
have_family || skip_all "no AF_SDP sockets in this kernel"
server_dev=$(netdev_of "$server")
[ -n "$server_dev" ] || skip_all "$server is no address of this machine"
client_dev=$(netdev_of "$client")
[ "$server_dev" != "$client_dev" ] || skip_all "$server and $client are on one interface"
modprobe -q sch_netem || skip_all "no netem in this kernel"
wire_add "$server_dev"
wire_add "$client_dev"
trap 'wire_del "$server_dev"; wire_del "$client_dev"; rm -rf "$work"' EXIT

# The last of these shows that the devices were left in order.
run_cases keepalive_ends_idle_connection idle_connection_without_keepalive_lives \
	user_timeout_ends_transfer user_timeout_limits_keepalive user_timeout_below_keepalive \
	device_ends_transfer connect_gives_up check_works
