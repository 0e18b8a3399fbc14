#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run test programs as the kernel tree's runner does: their KTAP indented as
# comments, one line of verdict for each program.
#	run_tests.sh PROGRAM...

set -uo pipefail
cd "$(dirname "$0")" || exit 1

limit=$(sed -n 's/^timeout=//p' settings)
limit=$((limit * ${SDP_TEST_SCALE:-1}))
failed=0
number=0

# What is tested is the wire, even where both ends are here.
switch=/proc/sys/net/sdp/local
if [ -w $switch ]; then
	was=$(< $switch)
	echo 0 > $switch
	trap 'echo "$was" > $switch' EXIT
fi

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
