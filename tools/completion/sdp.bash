# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Completion for the tools of SDP. It is installed once for each tool, under the tool's
# name, which it takes from there; what the tool takes it says itself, by --help.

# _sdp_options WORDS...: what a tool, or a command of it, says that it takes
_sdp_options() { "$@" --help 2> /dev/null | sed 's/Excludes:.*//' | grep -oE -- '--[a-z][a-z-]*' | sort -u; }

_sdp_commands() { "$1" --help 2> /dev/null | sed -n '/^Subcommands:/,$s/^  \([a-z][a-z-]*\) .*/\1/p'; }

# What stands behind an option: FILE, DIRECTORY, PROGRAM, or another name; or {one,or,other}.
# _sdp_value OPTION WORDS...
_sdp_value() {
	[[ $1 =~ ^--?[a-zA-Z-]+$ ]] || return 0
	"${@:2}" --help 2> /dev/null | sed -nE "s/^ *(-[a-zA-Z],)?$1 ([^ =]+)[ =].*/\2/p" | head -n 1
}

# _sdp_reply ACTION...: what compgen knows for the word under the cursor
_sdp_reply() { mapfile -t COMPREPLY < <(compgen "$@" -- "$cur"); }

_sdp_files() {
	compopt -o filenames 2> /dev/null
	_sdp_reply "$1"
}

# A control group, as a path within the hierarchy.
_sdp_groups() {
	compopt -o filenames 2> /dev/null
	mapfile -t COMPREPLY < <(cd /sys/fs/cgroup 2> /dev/null && compgen -d -- "$cur")
}

# The command that a tool runs, which begins at this word, and all behind it.
_sdp_program() {
	if ((COMP_CWORD == $1)); then
		_sdp_reply -c
	elif declare -F _command_offset > /dev/null; then
		_command_offset "$1"
	else
		_sdp_files -f
	fi
}

# _sdp_behind OPTION: the value of an option, if it has one
_sdp_behind() {
	local value
	[[ $1 == --?* ]] || return
	value=$(_sdp_value "$1" "${said[@]}")
	case $value in
	'') return 1 ;;
	FILE*) _sdp_files -f ;;
	DIRECTORY*) _sdp_files -d ;;
	PROGRAM) _sdp_reply -c ;;
	*'{'*'}'*)
		value=${value#*\{} value=${value%%\}*}
		_sdp_reply -W "${value//,/ }"
		;;
	esac
	return 0
}

# What sdpctl tune lists.
_sdp_workload() { _sdp_reply -W "$("${COMP_WORDS[0]}" tune 2> /dev/null | sed 's/ .*//')"; }

# Where a word is that is no option and no option's value; 0 if there is none.
# _sdp_first FROM: sets $first
_sdp_first() {
	local i
	first=0
	for ((i = $1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--) i=$((i + 1)) ;;
		-*)
			[ -z "$(_sdp_value "${COMP_WORDS[i]}" "${said[@]}")" ] || i=$((i + 1))
			# bash takes "=" for a word of its own, and the value for another.
			[ "${COMP_WORDS[i]:-}" != = ] || i=$((i + 1))
			continue
			;;
		esac
		first=$i
		return
	done
	return 0
}

# sdp-run: a program, or what --check, --explain and --why take.
_sdp_run() {
	local i
	for ((i = 1; i < COMP_CWORD && (first == 0 || i < first); i++)); do
		case ${COMP_WORDS[i]} in
		--check) _sdp_files -f && return ;;
		# Addresses, of which bash makes several words, and then a program.
		--why) _sdp_reply -c && return ;;
		--explain)
			case $((first ? COMP_CWORD - first : 0)) in
			0) _sdp_reply -c ;;
			3) _sdp_reply -W "server client" ;;
			esac
			return
			;;
		esac
	done
	_sdp_program $((first ? first : COMP_CWORD))
}

_sdp_tool() {
	local cur=${COMP_WORDS[COMP_CWORD]} first said commands
	COMPREPLY=()
	said=("$1")
	commands=$(_sdp_commands "$1")
	_sdp_first 1
	if [[ -n $commands && $first -gt 0 ]]; then
		said+=("${COMP_WORDS[first]}")
		commands=
		[ "${said[1]}" != run ] || _sdp_first $((first + 1))
	fi
	if [[ $cur == = ]]; then
		cur=
		_sdp_behind "${COMP_WORDS[COMP_CWORD - 1]}"
		return 0
	elif [ "${COMP_WORDS[COMP_CWORD - 1]}" = = ]; then
		_sdp_behind "${COMP_WORDS[COMP_CWORD - 2]}"
		return 0
	fi
	! _sdp_behind "${COMP_WORDS[COMP_CWORD - 1]}" || return 0
	if [[ $cur == -* && (${1##*/} != sdp-run && ${said[1]:-} != run || $first == 0) ]]; then
		_sdp_reply -W "$(_sdp_options "${said[@]}")"
	elif [ -n "$commands" ]; then
		_sdp_reply -W "$commands"
	else
		case ${1##*/}:${said[1]:-} in
		sdp-run:) _sdp_run ;;
		sdp-bpf:run) _sdp_program $((first ? first : COMP_CWORD)) ;;
		sdp-bpf:attach | sdp-bpf:detach) _sdp_groups ;;
		sdpctl:tune) _sdp_workload ;;
		sdp-bpf:check) _sdp_files -f ;;
		esac
	fi
}

complete -F _sdp_tool "${BASH_SOURCE[0]##*/}"
