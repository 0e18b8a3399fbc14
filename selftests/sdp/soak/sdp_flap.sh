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
# Enough to be under way when the link goes.
BYTES=$((60000000 / SCALE))
connections=0 whole=0 rounds=0

start_transfers() {
	local i
	for ((i = 1; i <= TRANSFERS; i++)); do
		start_server server$i both "$server" --port $((4800 + i)) --bytes $BYTES
		start_client client$i both "$server" --port $((4800 + i)) --bytes $BYTES
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

end_transfers() {
	local i
	for ((i = 1; i <= TRANSFERS; i++)); do
		expect_end_of client$i
		expect_end_of server$i
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
