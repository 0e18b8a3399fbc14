#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The designs of our own iWARP devices: what may be set when, what it costs, and the
# programs about data once more in each. Needs root and two devices in this node, iwarp0
# and iwarp1.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

devices=(/sys/class/infiniband/iwarp0 /sys/class/infiniband/iwarp1)

# Queue pairs of what ran before may be a moment from their end.
# set_design DEVICE-DIRECTORY DESIGN
set_design() { echo "$2" 2> /dev/null > "$1/design"; }

use_design() {
	local device
	for device in "${devices[@]}"; do
		wait_for "$BOUND" set_design "$device" "$1" || fail "cannot set $1"
	done
}

host_again() { use_design host; }

# with CLIENT-DESIGN SERVER-DESIGN
with() {
	trap host_again EXIT
	use_design "$1"
	wait_for "$BOUND" set_design "${devices[1]}" "$2" || fail "cannot set $2"
	rerun iwarp_data
}

assisted() { with assisted assisted; }
offloaded() { with offloaded offloaded; }
offloaded_sg() { with offloaded-sg offloaded-sg; }
# Then checksums are real, for one end asks for them.
host_to_offloaded_sg() { with host offloaded-sg; }

values() {
	local value
	trap host_again EXIT
	for value in assisted offloaded offloaded-sg host; do
		use_design $value
		[ "$(< "${devices[0]}/design")" = $value ] || fail "it is not $value"
	done
	! set_design "${devices[0]}" hardware || fail "an unknown design is accepted"
}

engine_works() {
	trap host_again EXIT
	use_design offloaded
	rerun iwarp_data
	[ "$(< "${devices[0]}/engine_busy_ns")" -gt 0 ] || fail "the engine had nothing to do"
	[ "$(< "${devices[0]}/engine_cpu_ns")" -gt 0 ] || fail "nobody did its work"
}

declare -A cost

restore_costs() {
	local name
	restore_iwarp
	host_again
	for name in "${!cost[@]}"; do echo "${cost[$name]}" > "${devices[0]}/engine_$name"; done
}

keep_costs() {
	local name
	trap restore_costs EXIT
	for name in dma_ns byte_ps move_ps crc_ps; do cost[$name]=$(< "${devices[0]}/engine_$name"); done
}

# set_cost NAME VALUE
set_cost() { echo "$2" 2> /dev/null > "${devices[0]}/engine_$1"; }

costs() {
	local name value
	keep_costs
	for name in "${!cost[@]}"; do
		set_cost "$name" 0x11 || fail "$name: a number is refused"
		for value in fast -1 4294967296 1ns ""; do
			! set_cost "$name" "$value" || fail "$name: '$value' is accepted"
		done
		[ "$(< "${devices[0]}/engine_$name")" = 17 ] || fail "$name is not what was set"
	done
}

# What is sent costs what was set, and takes as long: ten messages of one transfer or more,
# of which the last may be on its way.
costs_count() {
	local began=$EPOCHREALTIME busy name
	ask_iwarp local N
	keep_costs
	use_design offloaded
	for name in "${!cost[@]}"; do set_cost "$name" 0; done
	set_cost dma_ns 20000000
	busy=$(< "${devices[0]}/engine_busy_ns")
	both 7174 rping -s -a 10.0.0.2 -C 5 -- rping -c -a 10.0.0.2 -I 10.0.0.1 -C 5
	busy=$(($(< "${devices[0]}/engine_busy_ns") - busy))
	((busy >= 10 * 20000000 && busy % 20000000 == 0)) || fail "busy for $busy ns"
	((${EPOCHREALTIME/./} - ${began/./} >= busy / 1000 - 40000)) || fail "it was faster than its cost"
}

intervals() {
	local value interval=$iwarp_parameters/marker_interval
	ask_iwarp marker_interval 512
	for value in 512 4096 32768; do
		echo $value > "$interval" || fail "$value is refused"
		[ "$(< "$interval")" = $value ] || fail "$value is not what it is"
	done
	for value in 0 1 256 511 513 65536 4294967808 often; do
		! echo $value 2> /dev/null > "$interval" || fail "$value is accepted"
	done
	[ "$(< "$interval")" = 32768 ] || fail "what is refused is set"
}

has_queue_pairs() { rdma resource show qp link iwarp0/1 2> /dev/null | grep -q "link iwarp0"; }

busy_with_queue_pairs() {
	local server client
	rping -s -a 10.0.0.2 > /dev/null 2>&1 &
	server=$!
	wait_for "$BOUND" listening 7174 || fail "the server does not listen"
	rping -c -a 10.0.0.2 -I 10.0.0.1 > /dev/null 2>&1 &
	client=$!
	# shellcheck disable=SC2064
	trap "kill $client $server 2> /dev/null || true; host_again" EXIT
	wait_for "$BOUND" has_queue_pairs || fail "there is no queue pair"
	! set_design "${devices[0]}" assisted || fail "it changes under a queue pair"
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e "${devices[0]}/design" ] || skip_all "no iWARP devices of our own"

run_cases values busy_with_queue_pairs assisted offloaded offloaded_sg host_to_offloaded_sg \
	engine_works costs costs_count intervals
