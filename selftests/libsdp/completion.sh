#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# completion.sh COMPLETION MANUALS TOOL...: what bash completes behind the names of the
# tools, that each option of a tool is completed and in its manual page, and that this
# has no others.
set -euo pipefail

completion=$1 manuals=$2
shift 2
tools=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

bad() {
	echo "$*" >&2
	status=1
}

# completed WORD...: what the last one may become
completed() {
	local -a COMP_WORDS=("$@") COMPREPLY=()
	local COMP_CWORD=$(($# - 1))
	_sdp_tool "$1" "${*: -1}" "${COMP_WORDS[COMP_CWORD - 1]}"
	printf '%s\n' "${COMPREPLY[@]}"
}

# expect WANTED WORD...: exactly this, with blanks between
expect() {
	local wanted=$1 found
	shift
	found=$(completed "$@" | sort -u | paste -s -d ' ')
	[ "$found" = "$wanted" ] || bad "${*##*/}: expected '$wanted', found '$found'"
}

# Lines that begin with a blank describe an option, or go on with that.
options() { "$@" --help | grep '^ ' | grep -oE -- '(^|[ ,[])--[a-z-]+' | sed 's/.*--/--/' | sort -u; }

# each_option TOOL [COMMAND]
each_option() {
	local option page
	for option in $(options "$@"); do
		grep -qx -- "$option" < <(completed "$@" "${option:0:4}") || bad "${*##*/}: $option is not completed"
		page=$(echo "$manuals/${1##*/}".[18])
		grep -qE -- "$option([^a-z-]|\$)" < <(sed 's/\\-/-/g' "$page") || bad "$page has no $option"
	done
	[ -n "$(options "$@")" ] || bad "${*##*/} --help says nothing"
}

# The options that a manual page has in its synopsis, and in front of what it explains.
# documented PAGE
documented() {
	sed -n 's/\\-/-/g; /^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/p; /^\.T[PQ]/{n; s/\\-/-/g; p}' "$1" |
		grep -oE -- '--[a-z][a-z-]*' | sort -u
}

# no_others TOOL: a manual page names no option that neither the tool nor a command of it has
no_others() {
	local command option page known
	page=$(echo "$manuals/${1##*/}".[18])
	known=$(options "$1"; for command in $(_sdp_commands "$1"); do options "$1" "$command"; done)
	for option in $(documented "$page"); do
		grep -qx -- "$option" <<< "$known" || bad "$page has $option, and ${1##*/} --help has not"
	done
	[ -n "$(documented "$page")" ] || bad "$page has no options"
}

for tool in "${tools[@]}"; do
	cp "$completion" "$work/${tool##*/}"
	# shellcheck source=../../tools/completion/sdp.bash
	. "$work/${tool##*/}"
	complete -p "${tool##*/}" > "$work/said" || bad "nothing completes ${tool##*/}"
	each_option "$tool"
	for command in $(_sdp_commands "$tool"); do each_option "$tool" "$command"; done
	no_others "$tool"
done

touch "$work/one.conf" "$work/two.conf"
mkdir "$work/proc"
for tool in "${tools[@]}"; do
	case ${tool##*/} in
	sdp-run)
		expect "--check --config" "$tool" --c
		expect "$work/one.conf" "$tool" --config "$work/o"
		expect "$work/one.conf" "$tool" --config = "$work/o"
		expect paste "$tool" --config = "$work/one.conf" past
		expect paste "$tool" --config/x past
		expect paste "$tool" --why past
		expect paste "$tool" --why 10.0.0.1 : 80 past
		expect "$work/two.conf" "$tool" --check "$work/tw"
		expect paste "$tool" past
		expect paste "$tool" --config "$work/one.conf" past
		expect paste "$tool" -- past
		expect paste "$tool" --explain past
		expect "" "$tool" --explain paste 1
		expect "client server" "$tool" --explain --json paste 10.0.0.1 80 ""
		expect "$work/one.conf" "$tool" cat "$work/o"
		expect "" "$tool" cat --c
		;;
	sdp-bpf)
		expect "attach check detach run status" "$tool" ""
		expect attach "$tool" --verbose at
		expect --all "$tool" detach --a
		expect "" "$tool" attach --a
		expect "$work/one.conf" "$tool" attach --config "$work/o"
		expect "$work/two.conf" "$tool" check "$work/tw"
		expect --config "$tool" run --c
		expect "$work/one.conf" "$tool" run --config "$work/o"
		expect paste "$tool" run --config "$work/one.conf" past
		expect paste "$tool" run --config "$work/one.conf" -- past
		expect paste "$tool" run past
		expect paste "$tool" run -- past
		expect "" "$tool" run cat --h
		;;
	sdpctl)
		expect "doctor top tune" "$tool" ""
		expect "bulk connections latency local messages" "$tool" tune ""
		expect bulk "$tool" tune --dry-run b
		expect "" "$tool" tune --connections ""
		expect "--rounds" "$tool" top --r
		expect paste "$tool" doctor --program past
		;;
	sdpstat)
		expect "$work/proc" "$tool" --proc "$work/"
		expect "" "$tool" --port ""
		expect "--address --all" "$tool" --listening --a
		;;
	esac
done
exit "$status"
