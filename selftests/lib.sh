# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the scripts that boot nodes have in common.

# Whether it is too late to begin anything: after SDP_LATEST, in seconds since 1970.
too_late() { [ -n "${SDP_LATEST:-}" ] && ((EPOCHSECONDS >= SDP_LATEST)); }

# Say that something was not begun, as a test that was skipped.
# report_late NAME DIRECTORY
report_late() {
	mkdir -p "$2"
	printf 'KTAP version 1\n1..1\nok 1 %s # SKIP it would have begun too late\n' "$1" > "$2/$1.ktap"
	echo 0 > "$2/$1.status"
}

# Say how a boot itself ended, as a test of its own: a splat or a hang is a
# failure even if every program was content. What the kernel complained of
# becomes the test's diagnostics.
# report_boot NAME STATUS LOGS RESULTS
report_boot() {
	local name=$1 status=$2 logs=$3 results=$4 verdict="ok 1 $1"
	[ "$status" = 0 ] || verdict="not ok 1 $name # status $status, see build/vm/${logs##*/}"
	{
		printf 'KTAP version 1\n1..1\n'
		[ ! -e "$logs/splat.txt" ] || sed 's/^/# /' "$logs/splat.txt"
		echo "$verdict"
	} > "$results/$name.ktap"
	echo 0 > "$results/$name.status"
}

# Print a time in seconds: seconds, or a number with s, m or h behind it.
# in_seconds TIME
in_seconds() {
	[[ $1 =~ ^([0-9]+)([smh]?)$ ]] || { echo "'$1' is no time: give seconds, or a number with m or h behind it" >&2; return 2; }
	case ${BASH_REMATCH[2]} in
	m) echo $((BASH_REMATCH[1] * 60)) ;;
	h) echo $((BASH_REMATCH[1] * 3600)) ;;
	*) echo "${BASH_REMATCH[1]}" ;;
	esac
}
