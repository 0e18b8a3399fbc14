#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The settings below net.sdp and the parameters of both modules: each is documented, with
# the default that it has and the values that it takes, and each that is documented is
# there; the manual pages say the same in short. Examples of Debian's packages are taken as
# they are. Needs root; loads sdp.ko anew.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

# The name of a setting begins its description: "NAME - TYPE" and indented text below.
declare -A text

# read_settings: from the standard input
read_settings() {
	local line name=
	text=()
	while IFS= read -r line; do
		if [[ $line =~ ^([a-z0-9_]+)\ -\ [A-Za-z] ]]; then
			name=${BASH_REMATCH[1]}
			text[$name]="${line#* - }:"
		elif [[ $line == [!\ ]* ]]; then
			name=
		elif [ -n "$name" ]; then
			text[$name]+=" ${line#"${line%%[! ]*}"}"
		fi
	done
	[ ${#text[@]} -gt 0 ] || fail "the documentation has no settings"
}

read_sysctls() { read_settings < <(sed '/^Parameter of the module/,$d' sysctl.rst); }

# read_parameters MODULE
read_parameters() {
	case $1 in
	sdp) read_settings < <(sed -n '/^Parameter of the module/,$p' sysctl.rst) ;;
	iwarp) read_settings < iwarp-devices.rst ;;
	esac
}

# Slow kernels have no time for a process for each question, so that these answer by
# variables.

# What follows a word, up to the end of the sentence, without marks: sets $says.
# said NAME WORD
said() {
	says=
	[[ ${text[$1]} =~ \ $2:\ ([^.:]*(\.[0-9][^.:]*)*)\. ]] || return 0
	says=${BASH_REMATCH[1]//\`/}
}

# Sets $low and $high, empty if there is no range.
# range_of NAME
range_of() {
	low='' high=''
	said "$1" Range
	if [[ ${text[$1]} == BOOLEAN* ]]; then
		low=0 high=1
	elif [[ $says =~ ^([0-9]+)\ to\ ([0-9]+)$ ]]; then
		low=${BASH_REMATCH[1]} high=${BASH_REMATCH[2]}
	fi
}

# same_names WHAT: the documented ones are those of the standard input and no others
same_names() {
	local odd
	odd=$(comm -3 <(sort) <(printf '%s\n' "${!text[@]}" | sort))
	[ -z "$odd" ] || fail "$1 only there, or, behind a tab, only documented: $odd"
}

# Sets $value. Parameters show themselves by letters.
# value_of FILE
value_of() {
	read -r value < "$1"
	case $value in Y) value=1 ;; N) value=0 ;; esac
}

# Sets $why, if it is refused.
# write_to FILE VALUE
write_to() {
	local status=0
	LC_ALL=C printf '%s\n' "$2" 2> "$work/why" > "$1" || status=$?
	read -r why < "$work/why" || why=
	return $status
}

# takes FILE VALUE
takes() {
	local value why
	write_to "$1" "$2" || fail "${1##*/} does not take the documented $2: $why"
	value_of "$1"
	[ "$value" = "$2" ] || fail "${1##*/} is $value instead of $2"
}

# refuses FILE VALUE
refuses() {
	local was value why
	value_of "$1"
	was=$value
	! write_to "$1" "$2" || fail "${1##*/} takes $2"
	[[ $why == *"Invalid argument"* ]] || fail "${1##*/}, given $2: $why"
	value_of "$1"
	[ "$value" = "$was" ] || fail "${1##*/} is $value after $2 was refused"
}

# takes_range DIRECTORY NAME: the ends of its range, and nothing beyond; sets $low and $high
takes_range() {
	range_of "$2"
	[ -n "$low" ] || return 0
	ranges=$((ranges + 1))
	takes "$1/$2" "$low"
	takes "$1/$2" "$high"
	refuses "$1/$2" $((low - 1))
	refuses "$1/$2" $((high + 1))
}

# has_default DIRECTORY NAME
has_default() {
	local value says
	said "$2" Default
	value_of "$1/$2"
	[ "$value" = "$says" ] || fail "$2 is $value, documented is '$says'"
}

load_again() {
	end_children
	unload_sdp
	load_module
}

# Without what the test bed sets.
load_sdp() {
	trap load_again EXIT
	unload_sdp
	insert_module
}

# put_back: the sysctls, after the case
put_back() {
	local name
	for name in "${!text[@]}"; do
		[ ! -w "$sysctls/$name" ] || read -r "sysctl_default[$name]" < "$sysctls/$name"
	done
	trap restore_sysctls EXIT
}

# in_manual PAGE NAME: a line of it, which is in $manual, gives default and range
in_manual() {
	local line low high says
	[[ $manual =~ $'\n'".IR $2 \""([^$'\n']*) ]] || fail "$1 has no $2"
	line=${BASH_REMATCH[1]}
	range_of "$2"
	said "$2" Default
	case $1:$2:$says in
	sdp.7:mem:* | sdp.7:available_flow_control:*) return ;;
	iwarp.7:marker_interval:*) low='' ;;
	iwarp.7:*:0) says=N ;;
	iwarp.7:*:1) says=Y ;;
	esac
	[[ $line == *"default: $says"[\;\)]* ]] || fail "$1 has not the default $says: $line"
	[[ -z $low || ${text[$2]} == BOOLEAN* || $line == *"; $low to $high)"* ]] ||
		fail "$1 has not the range $low to $high: $line"
}

# ---- net.sdp ----

sysctls_are_documented() {
	local name manual
	manual=$(< sdp.7)
	read_sysctls
	same_names sysctls < <(ls $sysctls)
	for name in "${!text[@]}"; do
		in_manual sdp.7 "$name"
		if [[ ${text[$name]} == *"Read only."* ]]; then
			[ ! -w "$sysctls/$name" ] || fail "$name is not read only"
		else
			[ -w "$sysctls/$name" ] || fail "$name is read only"
		fi
	done
}

# parts VALUE PERCENT: the value is about this share of the memory
parts() {
	awk -v value="$1" -v percent="$2" '$1 == "MemTotal:" {
		share = 100 * value / ($2 / 4); exit !(share > percent * 0.8 && share < percent * 1.2) }' \
		/proc/meminfo || fail "$1 pages are not about $2 % of $(grep MemTotal /proc/meminfo)"
}

# Shares of the memory that are written in words.
memory_defaults() {
	local shares pages i says
	said mem Default
	[[ $says =~ ^([0-9.]+)\ %,\ ([0-9.]+)\ %\ and\ ([0-9.]+)\ %\ of ]] || fail "mem: no shares in '$says'"
	shares=("${BASH_REMATCH[@]:1}")
	read -ra pages < $sysctls/mem
	for i in 0 1 2; do parts "${pages[i]}" "${shares[i]}"; done
	said zcopy_mem Default
	[ "$says" = "an eighth of the memory" ] || fail "zcopy_mem: another share"
	parts "$(< $sysctls/zcopy_mem)" 12.5
}

sysctls_have_their_defaults() {
	local name
	read_sysctls
	load_sdp
	memory_defaults
	for name in "${!text[@]}"; do
		case $name in
		mem | zcopy_mem | available_flow_control) ;;
		*) has_default $sysctls "$name" ;;
		esac
	done
}

sysctls_take_their_ranges() {
	local name ranges=0 low high
	read_sysctls
	put_back
	for name in "${!text[@]}"; do
		takes_range $sysctls "$name"
		# Whatever is no name and no vector has a range.
		[[ -n $low || ${text[$name]} == @(STRING|vector)* ]] || fail "$name has no range"
	done
	[ $ranges -gt 0 ] || fail "there are no ranges"
}

# takes_or_cannot FILE VALUE: some kernels cannot do it, and say so
takes_or_cannot() {
	local why
	[[ ${1##*/} != zcopy_recv ]] || write_to "$1" "$2" || [[ $why != *"not supported"* ]] || return 0
	takes "$1" "$2"
}

sysctls_take_their_names() {
	local name says value values flows
	read_sysctls
	put_back
	for name in "${!text[@]}"; do
		[[ ${text[$name]} == STRING* && ${text[$name]} != *"Read only."* ]] || continue
		said "$name" Values
		read -ra values <<< "${says//,/}"
		[ ${#values[@]} -gt 0 ] || fail "$name has no values"
		for value in "${values[@]}"; do takes_or_cannot "$sysctls/$name" "$value"; done
		refuses "$sysctls/$name" none
	done
	said flow_control Values
	read -ra flows < $sysctls/available_flow_control
	read_settings < <(printf '%s - NAME\n' "${flows[@]}")
	same_names engines < <(tr -d , <<< "$says" | tr ' ' '\n')
}

# ---- parameters ----

# have_iwarp: its parameters are there for the time of the case
have_iwarp() {
	is_loaded iwarp && return
	trap 'remove_module iwarp' EXIT
	insert_iwarp
}

# check_parameters MODULE FILE
check_parameters() {
	local name value ranges=0 low high parameters=/sys/module/$1/parameters
	read_parameters "$1"
	same_names parameters < <(ls "$parameters")
	same_names "parameters of the file" < <(modinfo -p "$2" | sed 's/:.*//')
	for name in "${!text[@]}"; do
		read -r value < "$parameters/$name"
		has_default "$parameters" "$name"
		takes_range "$parameters" "$name"
		echo "$value" > "$parameters/$name"
	done
	[ $ranges = ${#text[@]} ] || fail "$ranges of ${#text[@]} have ranges"
}

sdp_parameters() {
	local name manual
	manual=$(< sdp.7)
	load_sdp
	check_parameters sdp "${SDP_MODULE:-sdp}"
	for name in "${!text[@]}"; do in_manual sdp.7 "$name"; done
}

iwarp_parameters() {
	local name manual
	manual=$(< iwarp.7)
	have_iwarp
	check_parameters iwarp "$(iwarp_file)"
	for name in "${!text[@]}"; do in_manual iwarp.7 "$name"; done
}

# ---- examples ----

# Its settings are there as comments, in front of which is no blank.
example_of_settings() {
	local line name
	[ -e sdp.sysctl.conf ] || skip "the examples are not here"
	read_sysctls
	put_back
	sed 's/^#\([^ ]\)/\1/' sdp.sysctl.conf > "$work/sysctl.conf"
	grep '^[^#]' "$work/sysctl.conf" > "$work/lines" || fail "it has no settings"
	sysctl -p "$work/sysctl.conf" > "$work/sysctl.out" 2>&1 || fail "sysctl -p: status $?"
	while read -r line; do
		[[ $line =~ ^net\.sdp\.([a-z_]+)\ =\ (.+)$ ]] || fail "no setting: $line"
		name=${BASH_REMATCH[1]}
		[ "$(< "$sysctls/$name")" = "${BASH_REMATCH[2]}" ] || fail "$name is $(< "$sysctls/$name"): $line"
	done < "$work/lines"
}

example_of_modules() {
	local name count=0
	[ -e sdp.modules-load.conf ] || skip "the examples are not here"
	while read -r name; do
		[[ $name == [!#]* ]] || continue
		count=$((count + 1))
		is_loaded "$name" || modinfo "$name" > "$work/modinfo.out" 2>&1 || fail "there is no module $name"
	done < sdp.modules-load.conf
	[ $count -gt 0 ] || fail "it names no module"
}

[ "${SDP_TEST_FAMILY:-sdp}" = sdp ] || skip_all "this is about AF_SDP"
[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e $sysctls ] || skip_all "the module is not loaded"
[[ -e sysctl.rst && -e iwarp-devices.rst && -e sdp.7 && -e iwarp.7 ]] || skip_all "the documentation is not here"

run_cases sysctls_are_documented sysctls_have_their_defaults sysctls_take_their_ranges \
	sysctls_take_their_names sdp_parameters iwarp_parameters example_of_settings \
	example_of_modules
