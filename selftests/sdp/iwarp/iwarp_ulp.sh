#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What our own iWARP devices say to consumers in the kernel beyond the verbs, as
# /proc/net/sdp_devices shows it, for each way in which they can be set up; that it is
# true of the longest message in a segment; and AF_SDP where it is not asked for, over
# plain verbs. SDP_ULP_PROGRAMS names the programs for that. Needs root and two devices
# in this node, iwarp0 and iwarp1.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

programs=${SDP_ULP_PROGRAMS:-sdp_data sdp_close}
server=10.0.0.2
switch=/sys/module/sdp/parameters/ulp
# set_up MARKERS CRC EARLY DESIGN
set_up() {
	ask_iwarp markers "$1"
	ask_iwarp crc "$2"
	ask_iwarp early "$3"
	trap host_again EXIT
	use_design iwarp0 "$4"
}

# What no setting changes.
expect_always() {
	expect_device iwarp0 transport=iwarp interface=provider flags=hold,immediate,read,model,send_iter,recv_iter \
		tx_full=65536 tx_wake=65536 coalesce=software flow_control=software
}

host_plain() {
	set_up N N Y host
	expect_always
	expect_device iwarp0 markers=absent crc=absent demux=software early=absent \
		tx_buffer=software tx_zcopy=absent
}

host_markers() {
	set_up Y N Y host
	expect_always
	expect_device iwarp0 markers=software crc=absent early=software
}

host_checksums() {
	set_up N Y Y host
	expect_device iwarp0 markers=absent crc=software early=absent
}

host_in_order() {
	set_up Y Y N host
	expect_device iwarp0 markers=software crc=software early=absent
}

assisted() {
	set_up Y Y Y assisted
	expect_always
	expect_device iwarp0 markers=software crc=hardware demux=hardware early=software \
		tx_buffer=software tx_zcopy=absent
}

offloaded() {
	set_up Y Y Y offloaded
	expect_always
	expect_device iwarp0 markers=hardware crc=hardware demux=hardware early=software \
		tx_buffer=hardware tx_zcopy=hardware
}

offloaded_sg() {
	set_up Y Y Y offloaded-sg
	expect_always
	expect_device iwarp0 markers=hardware crc=hardware demux=hardware early=software \
		tx_buffer=absent tx_zcopy=hardware
}

# An engine does nothing that is off.
offloaded_plain() {
	set_up N N Y offloaded
	expect_device iwarp0 markers=absent crc=absent demux=hardware early=absent
}

remove_other() {
	rdma link delete iwarp-other 2> /dev/null || true
	ip link delete sdp-iw0 2> /dev/null || true
	[ ! -e $switch ] || echo Y > $switch
}

other_device() {
	trap remove_other EXIT
	ip link add sdp-iw0 type veth peer name sdp-iw1
	ip link set sdp-iw0 up
	rdma link add iwarp-other type iwarp netdev sdp-iw0
}

segment_follows_mtu() {
	local mtu
	other_device
	for mtu in 1500 9000 1280; do
		ip link set sdp-iw0 mtu $mtu
		# 72 bytes are IPv6's and TCP's, 18 the header's, 6 length and checksum.
		expect_device iwarp-other segment=$((mtu - 72 - 18 - 6))
	done
}

# There is room for 20 bytes more than over IPv6, and no marker may be in the wrong place.
# one_fpdu_each MARKERS SLACK
one_fpdu_each() {
	local segment sent
	ask_iwarp local N
	ask_iwarp long_fpdus N
	ask_iwarp markers "$1"
	segment=$(device_says iwarp0 segment)
	segments_of "$segment"
	((sent >= 100 && sent < 130)) || fail "$sent FPDUs"
	segments_of $((segment + 20 + $2))
	((sent >= 200)) || fail "one more byte would have been no more than $sent FPDUs"
}

segment_fills_one_of_tcp() { one_fpdu_each N 4; }
segment_with_markers() { one_fpdu_each Y 8; }

hidden_from_who_arrives() {
	[ -e $switch ] || skip "no parameter of the module"
	trap remove_other EXIT
	echo N > $switch
	other_device
	expect_device iwarp-other transport=iwarp
	expect_verbs iwarp-other
	rdma link delete iwarp-other
	echo Y > $switch
	rdma link add iwarp-other type iwarp netdev sdp-iw0
	expect_device iwarp-other interface=provider
}

load_again() {
	end_children
	rmmod sdp
	load_module
}

# Nothing is left but what any iWARP device does.
plain_verbs() {
	local program
	rmmod sdp || fail "the module is in use"
	trap load_again EXIT
	load_module ulp=0
	expect_verbs iwarp0
	expect_verbs iwarp1
	for program in $programs; do rerun "$program"; done
	grep -qx 'IntegratedBytesOut 0' /proc/net/sdpstats || fail "the provider was asked to copy"
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e "$iwarp_design" ] || skip_all "no iWARP devices of our own"
[ "${SDP_ULP:-1}" != 0 ] || skip_all "the module does not ask devices"
[ -e /proc/net/sdp_devices ] || skip_all "the module is not loaded"

run_cases host_plain host_markers host_checksums host_in_order assisted offloaded offloaded_sg \
	offloaded_plain segment_follows_mtu segment_fills_one_of_tcp segment_with_markers \
	hidden_from_who_arrives plain_verbs
