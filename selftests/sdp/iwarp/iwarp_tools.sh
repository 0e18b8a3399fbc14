#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tools of Debian's rdma-core and perftest on our own iWARP devices, and
# devices that come and go. Needs root and two devices in this node, iwarp0
# and iwarp1.
set -euo pipefail

# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/sdp_lib.sh"

server=10.0.0.2 client=10.0.0.1
server6=fd00::2 client6=fd00::1

rping_ipv4() {
	both 7174 rping -s -a $server -C 20 -V -S 5000 -- \
		rping -c -a $server -I $client -C 20 -V -S 5000
}

rping_ipv6() {
	both 7174 rping -s -a $server6 -C 20 -V -S 5000 -- \
		rping -c -a $server6 -I $client6 -C 20 -V -S 5000
}

# perftest PROGRAM OPTION...
perftest() { perftest_between iwarp1 iwarp0 $server "$@"; }

send_bw() { perftest ib_send_bw -n 100 -s 65536; }
write_bw() { perftest ib_write_bw -n 100 -s 65536; }
read_bw() { perftest ib_read_bw -n 50 -s 65536; }
send_lat() { perftest ib_send_lat -n 100 -s 64; }

# By a shared receive queue. Of one connection all messages find a request; more of them
# would have to be told by RoCE's "receiver not ready" to wait for those posted later.
send_bw_shared() {
	perftest ib_send_bw -n 100 -s 65536 --use-srq
	perftest ib_send_bw -n 100 -s 65536 --use-srq -b
}

send_lat_shared() { perftest ib_send_lat -n 100 -s 64 --use-srq; }

captures() { grep -q '^File: ' "$work/dumpcap.out"; }

# It is written some time after it has passed; behind the last FIN nothing comes.
has_all() { [ "$(tshark -r "$work/capture" -Y tcp.flags.fin==1 2> /dev/null | wc -l)" -ge 2 ]; }

begin_capture() {
	ask_iwarp local N
	rm -f "$work/capture" "$work/dumpcap.out"
	dumpcap -i v0 -f tcp -w "$work/capture" > "$work/dumpcap.out" 2>&1 &
	dumpcap=$!
	wait_for "$BOUND" captures || fail "dumpcap does not begin"
}

# end_capture CONDITION...: when all that counts is written
end_capture() {
	wait_for "$BOUND" "$@" || fail "the capture has no end"
	kill "$dumpcap"
	wait "$dumpcap" || true
}

# What is on the wire, as tshark reads it.
# capture_with MARKERS
capture_with() {
	ask_iwarp crc Y
	ask_iwarp markers "$1"
	begin_capture
	rping_ipv4
	end_capture has_all
	tshark -r "$work/capture" -Y iwarp_mpa.fpdu -O iwarp_mpa > "$work/text" 2> /dev/null
	grep 'CRC check: ' "$work/text" > "$work/sums" || fail "there are no FPDUs"
	! grep -v '(Good CRC32' "$work/sums" > "$work/wrong.out" || fail "checksums are wrong"
}

capture_without_markers() {
	capture_with N
	! grep -q 'FPDU back pointer' "$work/text" || fail "there are markers"
}

capture_with_markers() {
	capture_with Y
	grep -q 'FPDU back pointer' "$work/text" || fail "there are no markers"
}

# Of perftest, or ucmatose, with that type of service, or traffic class.
# packets_from_client TYPE
packets_from_client() {
	tshark -r "$work/capture" -Y "(tcp.dstport == 18515 || tcp.dstport == 7471) && tcp.len > 64 &&
		(ip.dsfield == $1 || ipv6.tclass == $1)" 2> /dev/null | wc -l
}

packets_have() { (($(packets_from_client "$1"))); }
has_ten() { (($(packets_from_client "$1") >= 10)); }

# It is the consumer's, and no connection's that does not ask for it.
type_of_service() {
	begin_capture
	perftest ib_send_lat -n 10 -s 64 --tos=72
	end_capture has_ten 72
	begin_capture
	perftest ib_send_lat -n 10 -s 64
	end_capture has_ten 0
	! packets_have 72 || fail "nobody has asked for it"
}

traffic_class() {
	begin_capture
	both 7471 ucmatose -f ipv6 -b $server6 -C 20 -S 1000 -- \
		ucmatose -f ipv6 -s $server6 -b $client6 -C 20 -S 1000 -t 72
	end_capture packets_have 72
}

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

# The name of another device is refused, and the network device may have another one.
name_is_taken() {
	trap remove_other EXIT
	ip link add sdp-iw0 type veth peer name sdp-iw1
	! rdma link add iwarp1 type iwarp netdev sdp-iw0 2> /dev/null || fail "there are two iwarp1"
	[ -z "$(rdma_of sdp-iw0)" ] || fail "iwarp1 is another"
	rdma link add iwarp-other type iwarp netdev sdp-iw0 || fail "no other name is left"
}

# told WORDS COUNT
told() { [ "$(grep -ic "$1" "$work/watch.out")" = "$2" ]; }
state_is() { rdma link show iwarp-other/1 | grep -q "state $1 "; }

# Who watches the device hears of its network device's state.
port_follows_netdev() {
	local watcher
	trap remove_other EXIT
	other_netdev
	ip link set sdp-iw1 up
	wait_for "$BOUND" state_is ACTIVE || fail "it is not active"
	stdbuf -oL ibv_asyncwatch -d iwarp-other > "$work/watch.out" 2>&1 &
	watcher=$!
	wait_for "$BOUND" opened $watcher || fail "the device cannot be opened"
	ip link set sdp-iw0 down
	wait_for "$BOUND" told PORT_ERR 1 || fail "nobody is told of its end"
	state_is DOWN || fail "it is not down"
	ip link set sdp-iw0 up
	wait_for "$BOUND" told PORT_ACTIVE 1 || fail "nobody is told that it is back"
	wait_for "$BOUND" state_is ACTIVE || fail "it is not active again"
	kill $watcher
	wait $watcher || true
}

gone_with_netdev() {
	trap remove_other EXIT
	other_netdev
	ip link delete sdp-iw0
	wait_for "$BOUND" has_no_other || fail "the device outlives its network device"
}

is_over() { ! kill -0 "$1" 2> /dev/null; }
opened() { find "/proc/$1/fd" -lname '*/uverbs*' 2> /dev/null | grep -q .; }

# A program that keeps it open holds nothing up, and may close it later.
gone_while_open() {
	local watcher deleter
	trap remove_other EXIT
	other_netdev
	ibv_asyncwatch -d iwarp-other > "$work/watch.out" 2>&1 &
	watcher=$!
	wait_for "$BOUND" opened $watcher || fail "the device cannot be opened"
	rdma link delete iwarp-other &
	deleter=$!
	if ! wait_for "$BOUND" is_over $deleter; then
		kill $watcher
		fail "the device stays as long as it is open"
	fi
	wait $deleter || fail "the device cannot be deleted"
	! has_other || fail "the device is still there"
	kill $watcher
	wait $watcher || true
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e /sys/class/infiniband/iwarp1 ] || skip_all "no iWARP devices of our own"

run_cases rping_ipv4 rping_ipv6 send_bw write_bw read_bw send_lat send_bw_shared \
	send_lat_shared one_device_each name_is_taken port_follows_netdev gone_with_netdev gone_while_open \
	capture_without_markers capture_with_markers type_of_service traffic_class
