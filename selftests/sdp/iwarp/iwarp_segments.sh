#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How our own iWARP devices use TCP: segments that are longer than TCP's, where both ends
# take them and nothing speaks against it; and how much may be on its way. Needs root, two
# devices in this node, iwarp0 and iwarp1, and the module of AF_SDP.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

# shellcheck disable=SC2034 # both of the library
server=10.0.0.2
# More than a window is that nobody has widened.
window=$((256 * 1024))

over_the_wire() {
	ask_iwarp local N
	ask_iwarp long_fpdus Y
}

# A hundred messages of 64 KiB are two hundred segments, as the longest is a little less.
long_ones() {
	over_the_wire
	segments_of 65536
	((sent >= 200 && sent < 230)) || fail "$sent segments"
	rerun iwarp_data
}

# Then each fits one of TCP's.
short_ones() {
	segments_of 65536
	((sent >= 100 * 65536 / ($(device_says iwarp0 segment) + 40))) || fail "$sent segments"
}

# They are placed before others have come.
not_with_markers() {
	over_the_wire
	ask_iwarp markers Y
	short_ones
}

# They are verified before they are placed.
not_with_checksums() {
	over_the_wire
	ask_iwarp crc Y
	short_ones
}

# They are placed in its memory one by one.
not_from_an_engine() {
	over_the_wire
	trap host_again EXIT
	use_design iwarp0 assisted
	short_ones
}

not_to_an_engine() {
	over_the_wire
	trap host_again EXIT
	use_design iwarp1 assisted
	short_ones
}

not_if_refused() {
	over_the_wire
	ask_iwarp long_fpdus N
	short_ones
}

# What the sender knows of the end that has accepted.
windows() { ss -Htin state established dst $server | grep -o 'snd_wnd:[0-9]*'; }

has_window() {
	windows | awk -F: -v want=$window '
		$2 >= want { found = 1 }
		END { exit !found }'
}

wire_again() {
	restore_iwarp
	restore_sysctls
}

# Of queue pairs that hold, whose buffers TCP does not choose.
window_is_wide() {
	over_the_wire
	trap wire_again EXIT
	set_sysctl local 0
	start_server to recv $server
	start_client from send $server
	wait_moving to
	wait_for "$BOUND" has_window || fail "$(windows)"
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e "$iwarp_design" ] || skip_all "no iWARP devices of our own"
[ -e /proc/net/sdp_devices ] || skip_all "the module is not loaded"

run_cases long_ones not_with_markers not_with_checksums not_from_an_engine not_to_an_engine \
	not_if_refused window_is_wide
