#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tools of Debian's rdma-core and perftest on our own iWARP devices, and
# devices that come and go. Needs root and two devices in this node, iwarp0
# and iwarp1.
set -euo pipefail

. "$(dirname "$0")/sdp_lib.sh"

server=10.0.0.2 client=10.0.0.1
server6=fd00::2 client6=fd00::1

listening() { rdma resource show cm_id 2> /dev/null | grep -q "state LISTEN.*$1"; }

# The server ends with its client, and both have to be content.
# both PORT SERVER-COMMAND... -- CLIENT-COMMAND...
both() {
	local port=$1 first=() server_pid status=0
	shift
	while [ "$1" != -- ]; do first+=("$1"); shift; done
	shift
	timeout "$BOUND" "${first[@]}" > "$work/server.out" 2>&1 &
	server_pid=$!
	wait_for "$BOUND" listening "$port" || fail "the server does not listen"
	timeout "$BOUND" "$@" > "$work/client.out" 2>&1 || fail "$1: status $?"
	wait $server_pid || status=$?
	[ $status = 0 ] || fail "the server's status is $status"
}

rping_ipv4() {
	both 7174 rping -s -a $server -C 20 -V -S 5000 -- \
		rping -c -a $server -I $client -C 20 -V -S 5000
}

rping_ipv6() {
	both 7174 rping -s -a $server6 -C 20 -V -S 5000 -- \
		rping -c -a $server6 -I $client6 -C 20 -V -S 5000
}

# perftest PROGRAM OPTION...
perftest() { both 18515 "$1" -d iwarp1 -R -F "${@:2}" -- "$1" -d iwarp0 -R -F "${@:2}" $server; }

send_bw() { perftest ib_send_bw -n 100 -s 65536; }
write_bw() { perftest ib_write_bw -n 100 -s 65536; }
read_bw() { perftest ib_read_bw -n 50 -s 65536; }
send_lat() { perftest ib_send_lat -n 100 -s 64; }

other_netdev() {
	ip link add sdp-iw0 type veth peer name sdp-iw1
	ip link set sdp-iw0 up
	rdma link add iwarp-other type iwarp netdev sdp-iw0
}

remove_other() {
	rdma link delete iwarp-other 2> /dev/null || true
	ip link delete sdp-iw0 2> /dev/null || true
}

has_other() { rdma link show iwarp-other/1 > /dev/null 2>&1; }
has_no_other() { ! has_other; }

one_device_each() {
	trap remove_other EXIT
	other_netdev
	! rdma link add iwarp-more type iwarp netdev sdp-iw0 2> /dev/null ||
		fail "a network device has got two RDMA devices"
	rdma link delete iwarp-other
	! has_other || fail "the device is still there"
}

gone_with_netdev() {
	trap remove_other EXIT
	other_netdev
	ip link delete sdp-iw0
	wait_for "$BOUND" has_no_other || fail "the device outlives its network device"
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e /sys/class/infiniband/iwarp1 ] || skip_all "no iWARP devices of our own"

run_cases rping_ipv4 rping_ipv6 send_bw write_bw read_bw send_lat one_device_each \
	gone_with_netdev
