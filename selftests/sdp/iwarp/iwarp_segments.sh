#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How our own iWARP devices use TCP: segments that are longer than TCP's, where both ends
# have agreed on that and nothing speaks against it; and how much may be on its way. The
# bytes are compared meanwhile. Needs root, and two devices in this node, iwarp0 and iwarp1.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

# shellcheck disable=SC2034 # both of the library
server=10.0.0.2
design=/sys/class/infiniband/iwarp0/design
# More than TCP's buffers have where nobody changes them.
window=$((256 * 1024))

set_design() { echo "$1" 2> /dev/null > $design; }
use_design() { wait_for "$BOUND" set_design "$1" || fail "cannot set $1"; }

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

short_ones() {
	segments_of 65536
	((sent >= 1400)) || fail "$sent segments"
}

long_with_checksums() {
	ask_iwarp crc Y
	long_ones
}

# They are placed before others have come.
not_with_markers() {
	over_the_wire
	ask_iwarp markers Y
	short_ones
}

host_again() {
	restore_iwarp
	use_design host
}

# What it has is placed in its memory one by one.
not_from_an_engine() {
	over_the_wire
	trap host_again EXIT
	use_design assisted
	short_ones
}

not_if_refused() {
	over_the_wire
	ask_iwarp long_fpdus N
	short_ones
}

has_window() {
	ss -Htin | grep -o 'snd_wnd:[0-9]*' | awk -F: -v want=$window '
		$2 >= want { found = 1 }
		END { exit !found }'
}

# Of queue pairs that hold, whose buffers TCP does not choose.
window_is_wide() {
	over_the_wire
	set_sysctl local 0
	start_server to recv $server
	start_client from send $server
	wait_moving to
	wait_for "$BOUND" has_window || fail "windows: $(ss -Htin | grep -o 'snd_wnd:[0-9]*')"
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e $design ] || skip_all "no iWARP devices of our own"

run_cases long_ones long_with_checksums not_with_markers not_from_an_engine not_if_refused \
	window_is_wide
