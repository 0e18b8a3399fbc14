#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fallback to TCP between two machines, of which one has no SDP or no RDMA device.
# Environment as for sdp_data_two_node.sh. Node b serves over plain TCP, node a
# connects a socket that prefers RDMA. Needs root; what node b takes away from
# itself it gives back.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

self=${SELF:-} other=${PEER:-}
bytes=1000000
port=4796
# More than it may cost to have asked for RDMA in vain, in milliseconds: this is
# for the order of magnitude, since emulated machines are slow.
dear=$((1000 * SCALE))

asked_in_vain() { echo $(($(counter FallbackTimeout) + $(counter FallbackRefused))); }

# ---- node b ----

address_is_gid() {
	local parts
	IFS=. read -ra parts <<< "$self"
	grep -qs "$(printf ':%02x%02x:%02x%02x' "${parts[@]}")\$" "/sys/class/infiniband/$1/ports/1/gids/"*
}

# Takes all connections, and closes them.
greet() {
	python3 -c "
import socket
s = socket.create_server(('$self', $port))
open('$work/greets', 'w').close()
while True:
    s.accept()[0].close()" &
	wait_for "$BOUND" exists "$work/greets" || fail "no server"
}

# ---- node a ----

# The milliseconds that the quickest of some connect() took.
# connect_ms FAMILY
connect_ms() {
	python3 - <<- EOF
		import ctypes, os, socket, time
		libc = ctypes.CDLL(None, use_errno=True)
		def connect():
		    fd = libc.socket($1, socket.SOCK_STREAM, 0)
		    assert fd >= 0, os.strerror(ctypes.get_errno())
		    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=fd) as s:
		        start = time.monotonic()
		        s.connect(("$other", $port))
		        return time.monotonic() - start
		print(round(1000 * min(connect() for _ in range(5))))
	EOF
}

check_cost() {
	local tcp both
	tcp=$(connect_ms 2) || fail "no connection over TCP"
	both=$(connect_ms 27) || fail "no connection with fallback"
	diag "connect: $tcp ms over TCP, $both ms with an attempt over RDMA before"
	((both - tcp < dear)) || fail "the attempt cost $((both - tcp)) ms"
}

# ---- cases ----

# serve_over_tcp: on node b, once it is as the case wants it
serve_over_tcp() {
	SDP_TEST_FAMILY=tcp start_server server both "$self" --bytes $bytes
	greet
	meet serves
	expect_orderly server "sent=$bytes received=$bytes "
	meet served
}

# use_fallback: on node a
use_fallback() {
	local before
	meet serves
	sysctl -qw net.sdp.tcp_fallback=1
	before=$(asked_in_vain)
	start_client client both "$other" --bytes $bytes
	expect_orderly client "sent=$bytes received=$bytes "
	[ "$(asked_in_vain)" = $((before + 1)) ] ||
		fail "not counted: $(grep Fallback /proc/net/sdpstats)"
	check_cost
	[ "$(asked_in_vain)" = $((before + 6)) ] ||
		fail "not counted: $(grep Fallback /proc/net/sdpstats)"
	sysctl -qw net.sdp.tcp_fallback=0
	meet served
}

server_without_module() {
	if [ "$ROLE" = a ]; then
		use_fallback
		return
	fi
	unload_sdp
	trap 'end_children; load_module' EXIT
	serve_over_tcp
}

server_without_device() {
	if [ "$ROLE" = a ]; then
		use_fallback
		return
	fi
	# For the trap, which comes when the function has returned.
	netdev=$(netdev_of "$self")
	device=$(rdma_of "$netdev")
	type=${device%%[0-9]*}
	rdma link delete "$device"
	trap 'end_children; rdma link add "$device" type "$type" netdev "$netdev"; wait_for "$BOUND" address_is_gid "$device"' EXIT
	serve_over_tcp
}

# All is as it was, and RDMA is preferred again.
rdma_is_back() {
	if [ "$ROLE" = b ]; then
		start_server server both "$self" --bytes $bytes
		meet listens
		expect_orderly server "sent=$bytes received=$bytes "
	else
		meet listens
		start_client client both "$other" --bytes $bytes
		expect_orderly client "sent=$bytes received=$bytes "
	fi
	meet end
}

[ -n "${ROLE:-}" ] || skip_all "needs two machines: ROLE is not set"
[ "${SDP_TEST_FAMILY:-sdp}" = sdp ] || skip_all "TCP does not fall back"
[ "$(id -u)" = 0 ] || skip_all "needs root"
have_family || skip_all "no AF_SDP sockets in this kernel"
trap 'sysctl -qw net.sdp.tcp_fallback=0 2> /dev/null || true; rm -rf "$work"' EXIT
run_cases server_without_module server_without_device rdma_is_back
