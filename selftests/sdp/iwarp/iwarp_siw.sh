#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Our own iWARP device and one of the kernel's own software iWARP, siw, at the two
# ends of a wire. Needs root, iwarp0 and iwarp1, and a kernel that has siw.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

ours=10.0.0.1 siw=10.0.0.2

# The device of the second end becomes siw's. Its module stays, since with it would
# go our devices, which have its driver's number.
set_up() {
	netdev=$(rdma link show iwarp1/1 | sed -n 's/.* netdev \([^ ]*\).*/\1/p')
	rdma link delete iwarp1
	rdma link add siw1 type siw netdev "$netdev"
	wait_for "$BOUND" active siw1
}

tear_down() {
	rdma link delete siw1
	rdma link add iwarp1 type iwarp netdev "$netdev"
	wait_for "$BOUND" active iwarp1
	rm -rf "$work"
}

# No stock kernel has it, which is no reason to fail.
skip_without_siw() {
	echo "TAP version 13"
	echo "1..0 # SKIP this kernel has no siw"
	exit $KTAP_SKIP
}

# rping_between SERVER CLIENT
rping_between() {
	both 7174 rping -s -a "$1" -C 20 -V -S 5000 -- rping -c -a "$1" -I "$2" -C 20 -V -S 5000
}

rping_to_siw() { rping_between $siw $ours; }
rping_from_siw() { rping_between $ours $siw; }

checksums() {
	ask_iwarp crc Y
	rping_between $siw $ours
	rping_between $ours $siw
}

# perftest PROGRAM SIZE
perftest() {
	perftest_between siw1 iwarp0 $siw "$1" -n 50 -s "$2"
	perftest_between iwarp0 siw1 $ours "$1" -n 50 -s "$2"
}

sends() { perftest ib_send_bw 65536; }
writes() { perftest ib_write_bw 65536; }
reads() { perftest ib_read_bw 65536; }

sdp_between() { rerun sdp_data; }

# siw has none, and says so when the connection is set up.
markers_are_refused() {
	ask_iwarp markers Y
	timeout "$BOUND" rping -s -a $siw -C 1 > "$work/server.out" 2>&1 &
	wait_for "$BOUND" listening 7174 || fail "the server does not listen"
	! timeout "$BOUND" rping -c -a $siw -I $ours -C 1 > "$work/client.out" 2>&1 ||
		fail "siw has accepted what it has not"
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e /sys/class/infiniband/iwarp1 ] || skip_all "no iWARP devices of our own"
modprobe siw 2> /dev/null || skip_without_siw
set_up
trap tear_down EXIT

run_cases rping_to_siw rping_from_siw checksums sends writes reads sdp_between \
	markers_are_refused
