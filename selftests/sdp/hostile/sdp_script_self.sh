#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Scripts that expect what does not come fail, and say in which line; and what is said of
# scripts with mistakes. Those in wrong_scripts begin with where and why they have to fail.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

scripts=wrong_scripts
[ -d $scripts ] || scripts=hostile/wrong_scripts

# What is said of a script, before its verdict.
said_of() {
	awk -v name="$1" '!/^(not )?ok / { said = said $0 "\n"; next }
		$3 == name || $4 == name { print said $0 }
		{ said = "" }' "$work/all.out"
}

# fails_as_told FILE
fails_as_told() {
	local name=${1##*/} where why said
	name=${name%.script}
	where=$(sed -n 's/^# fails \(line \)\?\([^:]*\): .*/\2/p' "$1")
	why=$(sed -n 's/^# fails [^:]*: //p' "$1")
	said=$(said_of "$name")
	[[ $said != *" # SKIP "* ]] || return 0
	[[ $said == *"not ok "* ]] || fail "$name has not failed: $said"
	[[ $said == *"# $name.script:$where: "* || $where == "at the end" ]] ||
		fail "$name does not fail in line $where: $said"
	grep -q -e "$why" <<< "$said" || fail "$name does not say '$why': $said"
}

wrong_scripts_fail() {
	local file
	# What waits in vain does not wait for long, and has as long for all else.
	! SDP_TEST_DEADLINE=$((12 + 8 * SCALE)) SDP_TEST_SCRIPTS=$scripts ./sdp_script > "$work/all.out" 2>&1 ||
		fail "they pass"
	for file in "$scripts"/*.script; do fails_as_told "$file"; done
}

# Of scripts that all fail, if nothing else is told.
first_is_last() {
	! SDP_STOP=case SDP_TEST_DEADLINE=$((12 + 8 * SCALE)) SDP_TEST_SCRIPTS=$scripts \
		./sdp_script > "$work/first.out" 2>&1 || fail "they pass"
	[ "$(grep -c '^not ok ' "$work/first.out")" = 1 ] || fail "not one has failed: $(< "$work/first.out")"
	! sed '1,/^not ok /d' "$work/first.out" | grep '^ok ' || fail "others were run behind it"
}

have_family || skip_all "no AF_SDP sockets in this kernel"
run_cases wrong_scripts_fail first_is_last
