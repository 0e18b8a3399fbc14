#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What computes the checksums of our own iWARP devices: the processor's instruction if
# there is one, even if the kernel's library has settled for its table before; and the
# same bytes by either. Needs root, iwarp0 and iwarp1.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

parameters=/sys/module/iwarp/parameters
device=/sys/class/infiniband/iwarp0
config=/etc/modprobe.d/sdp-test.conf
wires=()

computed_by() { sed -n 's/^crc32c (\(.*\))$/\1/p' $device/checksum; }

loaded() { [ -e "/sys/module/$1" ]; }

unload() {
	local module
	end_children
	for module in sdp iwarp libcrc32c crc32c_intel; do
		wait_for "$BOUND" gone $module || fail "$module is in use"
	done
}

load() {
	local i
	insmod "$SDP_IWARP"
	for i in 0 1; do rdma link add iwarp$i type iwarp netdev "${wires[i]}"; done
	for i in 0 1; do wait_for "$BOUND" active iwarp$i || fail "iwarp$i is not active"; done
	loaded sdp || load_module
}

gone() { ! loaded "$1" || rmmod "$1" 2> /dev/null; }

# The module's parameters as well are then as they were.
restore() {
	local module
	rm -f $config
	end_children
	for module in sdp iwarp libcrc32c crc32c_intel; do
		wait_for "$BOUND" gone $module || fail "$module is in use"
	done
	load
}

transfers() {
	echo Y > $parameters/crc
	rerun iwarp_data
}

uses_instruction() {
	[ "$(computed_by)" = crc32c-intel ] || fail "it is $(computed_by)"
	transfers
}

by_instruction() {
	trap restore EXIT
	uses_instruction
	# What computes a checksum does not see whether there are markers: once is enough.
	echo Y > $parameters/markers
	rerun iwarp_data
}

# As an initial RAM file system does that has only what is named: the library takes what
# is there, and asks for nothing more.
library_was_first() {
	trap restore EXIT
	unload
	modprobe crc32c_generic
	insmod "$(modinfo -n libcrc32c)"
	! loaded crc32c_intel || fail "the instruction is already used"
	load
	uses_instruction
}

by_table() {
	trap restore EXIT
	unload
	echo "install crc32c_intel /bin/false" > $config
	load
	[ "$(computed_by)" = crc32c-generic ] || fail "it is $(computed_by)"
	transfers
}

# Neither every processor nor every kernel has it, which is no reason to fail.
skip_without_instruction() {
	echo "TAP version 13"
	echo "1..0 # SKIP $1"
	exit $KTAP_SKIP
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e $device/checksum ] || skip_all "no iWARP devices of our own"
[ -e "${SDP_IWARP:-}" ] || skip_all "no module to load"
grep -qw sse4_2 /proc/cpuinfo || skip_without_instruction "this processor has no instruction"
modinfo crc32c_intel > /dev/null 2>&1 ||
	skip_without_instruction "this kernel does not use the instruction"
for end in 10.0.0.1 10.0.0.2; do wires+=("$(netdev_of $end)"); done

run_cases by_instruction library_was_first by_table
