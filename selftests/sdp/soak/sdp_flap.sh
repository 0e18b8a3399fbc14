#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Links that go down and come again, for a moment or longer, below transfers in both
# directions: each comes to its end, or both ends hear that it cannot, and then new
# connections work. SDP_SOAK_SECONDS says for how long. Needs root and changes (and
# restores) devices and links.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh
# shellcheck source=../lib/sdp_link.sh source-path=SCRIPTDIR
. ./sdp_link.sh

server=${SDP_TEST_SERVER:-10.0.0.2}
client=${SDP_TEST_CLIENT:-10.0.0.1}
TRANSFERS=4
connections=0 whole=0 rounds=0

# Under way until somebody says that it is over, however slow the machine is.
start_transfers() {
	local i
	rm -f "$work/over"
	for ((i = 1; i <= TRANSFERS; i++)); do
		start_server server$i both "$server" --port $((4800 + i)) --until "$work/over"
		start_client client$i both "$server" --port $((4800 + i)) --until "$work/over"
	done
	for ((i = 1; i <= TRANSFERS; i++)); do
		wait_moving server$i
		wait_moving client$i
	done
}

# All bytes, or an error that failures.rst names.
# expect_end_of NAME
expect_end_of() {
	end_of "$1"
	[ "$status" = 0 ] || [ "$status" = 3 ] || fail "$1: status $status"
	[ "$status" = 0 ] || grep -Eq 'error=(ECONNRESET|ETIMEDOUT|EPIPE) ' "$work/$1.out" ||
		fail "$1: not an error of a broken connection"
	[ "$status" != 0 ] || whole=$((whole + 1))
}

# says NAME KEY
says() { sed -n "s/.*\b$2=\([^ ]*\).*/\1/p" "$work/$1.out"; }

# Who ends without an error has all that its peer has sent.
# expect_all_of NAME PEER
expect_all_of() {
	[ "$(says "$1" error)" != none ] || [ "$(says "$1" received)" = "$(says "$2" sent)" ] ||
		fail "$1 has not got all that $2 has sent"
}

all_ended() {
	local i
	for ((i = 1; i <= TRANSFERS; i++)); do
		gone "${pid[client$i]}" && gone "${pid[server$i]}" || return 1
	done
}

# go_on_or_end BYTES: that many had been read when the link was there again
go_on_or_end() { (($(counter BytesIn) > $1 + 1000000)) || all_ended; }

end_transfers() {
	local i
	wait_for "$BOUND" go_on_or_end "$(counter BytesIn)" || fail "nothing moves, and nothing ends"
	touch "$work/over"
	for ((i = 1; i <= TRANSFERS; i++)); do
		expect_end_of client$i
		expect_end_of server$i
		expect_all_of client$i server$i
		expect_all_of server$i client$i
	done
	connections=$((connections + TRANSFERS))
}

say() {
	diag "soak $1: case=flap seconds=$((SECONDS - since)) rounds=$rounds" \
		"connections=$connections bytes=$(counter BytesIn) whole_ends=$whole"
}

# flap SECONDS
flap() {
	save_link
	start_transfers
	ip link set "$server_dev" down
	sleep "$1"
	restore_link || fail "the devices are not active again"
	end_transfers
	renew_devices || fail "the devices could not be made anew"
	check_works
	rounds=$((rounds + 1))
}

flap_once_or_for_long() {
	local since=$SECONDS
	flap 0.1
	while ((SECONDS - since < ${SDP_SOAK_SECONDS:-0})); do
		flap 1
		say progress
		flap 9
		say progress
	done
	say total
}

find_devices
run_cases flap_once_or_for_long
