#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run test programs as the kernel tree's runner does: their KTAP indented as
# comments, one line of verdict for each program.
#	run_tests.sh PROGRAM...
#
# With SDP_ULP=0 the module is loaded anew, and then knows of all devices only the verbs.

set -uo pipefail
cd "$(dirname "$0")" || exit 1

limit=$(sed -n 's/^timeout=//p' settings)
limit=$((limit * ${SDP_TEST_SCALE:-1}))
failed=0
number=0

# What is tested is the wire, even where both ends are here; and devices are asked when
# they come to the module.
switch=/proc/sys/net/sdp/local
was=$(cat $switch 2> /dev/null)
load() { modprobe -r sdp && modprobe sdp "$@"; }
trap '[ -z "${SDP_ULP:-}" ] || load; [ -z "$was" ] || echo "$was" > $switch' EXIT
[ -z "${SDP_ULP:-}" ] || load ulp="$SDP_ULP" || exit 1
[ ! -w $switch ] || echo 0 > $switch

run() { timeout --foreground "$limit" "$@" 2>&1 | sed 's/^/# /'; return "${PIPESTATUS[0]}"; }

echo "TAP version 13"
echo "1..$#"
for program in "$@"; do
	name=${program##*/}
	number=$((number + 1))
	[[ $program == */* ]] || program=./$program
	echo "# selftests: sdp: $name"
	run "$program"
	status=$?
	case $status in
	0) echo "ok $number selftests: sdp: $name" ;;
	4) echo "ok $number selftests: sdp: $name # SKIP" ;;
	124) echo "not ok $number selftests: sdp: $name # TIMEOUT $limit seconds" ;;
	*) echo "not ok $number selftests: sdp: $name # exit=$status" ;;
	esac
	[ $status = 0 ] || [ $status = 4 ] || failed=1
done
exit $failed
