#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Conversion inside the kernel, by sdp-bpf: of programs that no library can
# convert because they are linked statically, of all that a process starts, and
# of nobody else. SDP_BPF names the tool.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh
# shellcheck source=../lib/sdp_group.sh source-path=SCRIPTDIR
. ./sdp_group.sh

server=${SDP_TEST_SERVER:-10.0.0.2}
client=${SDP_TEST_CLIENT:-10.0.0.1}
bytes=3000000

# A program that says which protocol the kernel gave it for TCP.
ask='
import socket, sys
for family in socket.AF_INET, socket.AF_INET6:
	for flags in 0, socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC:
		for protocol in 0, socket.IPPROTO_TCP:
			s = socket.socket(family, socket.SOCK_STREAM | flags, protocol)
			print(s.getsockopt(socket.SOL_SOCKET, socket.SO_PROTOCOL))
'
protocols() { python3 -c "$ask" | sort -u | tr '\n' ' '; }

# expect_protocols WANT GOT
expect_protocols() { [ "$2" = "$1 " ] || fail "expected protocol $1, got: $2"; }

# start_server and start_client run what $peer names.
use_static() {
	export SDP_TEST_FAMILY=tcp
	peer=$static
}

use_converted() {
	use_static
	printf '#!/bin/sh\nexec "%s" run -- "%s" "$@"\n' "$tool" "$static" > "$work/converted"
	chmod +x "$work/converted"
	peer=$work/converted
}

# The ends check what they receive.
upload() {
	start_server receiver recv "$server"
	start_client sender send "$server" --bytes "$bytes"
	expect_orderly receiver "received=$bytes"
	expect_orderly sender "sent=$bytes"
}

download() {
	start_server server send "$server" --bytes "$bytes"
	start_client client recv "$server"
	expect_orderly server "sent=$bytes"
	expect_orderly client "received=$bytes"
}

# ---- sdp-bpf run ----

static_transfer() {
	local before
	needs_hook
	! ldd "$static" > /dev/null 2>&1 || fail "$static is not static"
	before=$(counter PassiveOpens)
	use_converted
	upload
	download
	[ "$(counter PassiveOpens)" = $((before + 2)) ] || fail "the data did not travel over SDP"
}

others_stay_with_tcp() {
	local before
	needs_hook
	before=$(counter ActiveOpens)
	"$tool" run -- sh -c "touch $work/runs; until [ -e $work/end ]; do sleep 0.05; done" &
	pid[run]=$!
	wait_for "$BOUND" exists "$work/runs"
	use_static
	upload
	expect_protocols 6 "$(protocols)"
	touch "$work/end"
	end_of_run
	[ "$(counter ActiveOpens)" = "$before" ] || fail "the data travelled over SDP"
}

# What is converted is not reached by what is not.
server_left_alone() {
	needs_hook
	use_converted
	start_server server recv "$server"
	use_static
	start_client client send "$server"
	end_of client
	[ "$status" != 0 ] || fail "a TCP client reached a converted server"
	grep -q ECONNREFUSED "$work/client.out" || fail "expected ECONNREFUSED"
	kill -TERM "${pid[server]}"
	end_of server
	[ "$status" = 143 ] || fail "expected the command's death by SIGTERM, got $status"
}

every_form_of_tcp() {
	needs_hook
	expect_protocols 259 "$("$tool" run -- python3 -c "$ask" | sort -u | tr '\n' ' ')"
	ask=${ask/in 0, socket.IPPROTO_TCP:/in 262,:}
	expect_protocols 259 "$("$tool" run -- python3 -c "$ask" | sort -u | tr '\n' ' ')"
	expect_protocols 262 "$(protocols)"
}

nothing_but_tcp() {
	local got
	needs_hook
	# With SCTP's module loaded, which stays, socket() gives other errors.
	loader=$(sysctl -n kernel.modprobe)
	trap 'sysctl -qw kernel.modprobe=$loader' EXIT
	sysctl -qw kernel.modprobe=/bin/false
	got=$("$tool" run -- python3 -c '
import socket
print(socket.socket(socket.AF_INET, socket.SOCK_DGRAM).proto, end=" ")
a, b = socket.socketpair()
a.send(b"x")
print(b.recv(1), end=" ")
try:
	socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_SCTP)
except OSError as error:
	print(error.errno == 93)
else:
	print("SCTP")
')
	[[ $got == "0 b'x' "@(True|SCTP) ]] || fail "got: $got"
}

# It ends with the last of what the command has left behind.
descendants() {
	needs_hook
	"$tool" run sh -c "(until [ -e $work/go ]; do sleep 0.05; done
		setsid python3 -c '$ask' | sort -u | tr '\\n' ' ' > $work/answer) & exit 5" &
	pid[run]=$!
	wait_for "$BOUND" eval "ls -d $groups/sdp-bpf-* > /dev/null 2>&1"
	kill -0 "${pid[run]}" || fail "it ended before its descendants"
	touch "$work/go"
	end_of_run
	[ "$status" = 5 ] || fail "expected the command's status 5, got $status"
	expect_protocols 259 "$(< "$work/answer")"
	! ls -d "$groups"/sdp-bpf-* 2> /dev/null || fail "its control group is still there"
}

end_of_run() {
	wait_for "$BOUND" gone "${pid[run]}" || fail "sdp-bpf has not ended within $BOUND s"
	status=0
	wait "${pid[run]}" || status=$?
}

exit_status() {
	needs_hook
	[ "$(status_of "$tool" run true)" = 0 ] || fail "true: $(< "$work/said")"
	[ "$(status_of "$tool" run -- sh -c 'exit 7')" = 7 ] || fail "exit 7"
	[ "$(status_of "$tool" run sh -c 'kill -9 $$')" = 137 ] || fail "SIGKILL"
	[ "$(status_of "$tool" run /nonexistent)" = 127 ] || fail "/nonexistent"
	[ "$(status_of "$tool" run /etc/passwd)" = 126 ] || fail "/etc/passwd"
	[ "$(status_of "$tool" run)" = 2 ] || fail "no command"
}

# The command finds the signal as it was.
started_with_sigchld_ignored() {
	needs_hook
	python3 -c '
import signal, subprocess, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
sys.exit(subprocess.Popen(sys.argv[1:], restore_signals=False).wait())
' "$tool" run -- grep SigIgn /proc/self/status > "$work/said" &
	pid[run]=$!
	end_of_run
	(( 0x$(awk '{ print $2 }' "$work/said") & 0x10000 )) || fail "not as before: $(< "$work/said")"
}

# ---- attach, detach, status ----

attached_group() {
	needs_hook
	make_group sdp_test/below
	make_group sdp_other
	[ "$(json "s['attached']")" = False ] || fail "something is attached already"
	"$tool" attach "$groups/sdp_test" || fail "cannot attach"
	expect_protocols 259 "$(in_group sdp_test protocols)"
	expect_protocols 259 "$(in_group sdp_test/below protocols)"
	expect_protocols 6 "$(in_group sdp_other protocols)"
	[ "$(json "s")" = "{'attached': True, 'groups': [{'converted': 16, 'id': $(stat -c %i \
		"$groups/sdp_test"), 'path': '/sdp_test', 'refused': 0, 'rules': False}]}" ] ||
		fail "status: $("$tool" status --json)"

	"$tool" attach sdp_other || fail "cannot attach another"
	expect_protocols 259 "$(in_group sdp_other protocols)"
	"$tool" detach sdp_test || fail "cannot detach"
	expect_protocols 6 "$(in_group sdp_test protocols)"
	expect_protocols 259 "$(in_group sdp_other protocols)"
	[ "$(status_of "$tool" detach sdp_test)" = 1 ] || fail "detached twice"
	"$tool" detach sdp_other || fail "cannot detach the last"
	expect_protocols 6 "$(in_group sdp_other protocols)"
	[ "$(json "s['attached']")" = False ] || fail "it does not go with the last group"
	rmdir "$groups/sdp_test/below" "$groups/sdp_test" "$groups/sdp_other"
}

# Else the table that one adds to could be the one that the other takes away.
one_at_a_time() {
	needs_hook
	make_group sdp_test
	exec 7< /sys/fs/bpf
	flock 7
	"$tool" attach sdp_test 7<&- &
	pid[run]=$!
	wait_for "$BOUND" eval 'grep -q -- "-> FLOCK" /proc/locks' || fail "it does not wait"
	[ "$(json "s['attached']")" = False ] || fail "it has not waited"
	exec 7<&-
	end_of_run
	[ "$status" = 0 ] || fail "cannot attach: $status"
	expect_protocols 259 "$(in_group sdp_test protocols)"
	"$tool" detach sdp_test
	rmdir "$groups/sdp_test"
}

removed_group() {
	needs_hook
	make_group sdp_test
	"$tool" attach sdp_test
	rmdir "$groups/sdp_test"
	[ "$(json "s['groups'][0]['path']")" = None ] || fail "status: $("$tool" status)"
	[ "$(status_of "$tool" detach sdp_test)" = 1 ] || fail "detached what is not there"
	"$tool" detach --all
	[ "$(json "s['groups']")" = "[]" ] || fail "status: $("$tool" status)"
}

# ---- the unit of systemd ----

# A slice within another, as systemd makes them, and its rules.
slice=sdptest-fast.slice

# Its lines have no quotes.
# unit_does SETTING
unit_does() {
	local -a words
	read -ra words <<< "$(sed -n "s/^$1=//p" "$unit")"
	[[ ${words[0]:-} == /*/sdp-bpf ]] || fail "$1 is no command: ${words[*]:-}"
	words=("${words[@]/#*\/sdp-bpf\/%i.conf/$work/$slice.conf}")
	words=("${words[@]//%i/$slice}")
	"$tool" "${words[@]:1}" > "$work/unit.out" 2>&1 || fail "$1: status $?"
}

unit_keeps_rules_in_place() {
	local unit=${tool%/*}/sdp-bpf@.service
	needs_hook
	[ -e "$unit" ] || unit=/lib/systemd/system/sdp-bpf@.service
	[ -e "$unit" ] || skip "the unit is not here"
	make_group sdptest.slice/$slice
	echo 'use sdp * * *:*' > "$work/$slice.conf"
	unit_does ExecStart
	expect_protocols 259 "$(in_group sdptest.slice/$slice protocols)"
	expect_protocols 6 "$(in_group sdptest.slice protocols)"
	echo 'use tcp * * *:*' > "$work/$slice.conf"
	unit_does ExecReload
	expect_protocols 6 "$(in_group sdptest.slice/$slice protocols)"
	[ "$(json "s['groups'][0]['path']")" = "/sdptest.slice/$slice" ] || fail "status: $("$tool" status --json)"
	unit_does ExecStop
	[ "$(json "s['attached']")" = False ] || fail "it is still attached"
	rmdir "$groups/sdptest.slice/$slice" "$groups/sdptest.slice"
}

# ---- what it says when it cannot ----

kernel_without_hook() {
	local reason='no hook update_socket_protocol'
	! kernel_can || skip "this kernel has the hook"
	[ -e /sys/kernel/btf/vmlinux ] || reason=CONFIG_DEBUG_INFO_BTF
	says 3 "$reason" "$tool" attach "$groups"
	says 125 "$reason" "$tool" run true
	says 0 'No control group is attached' "$tool" status
}

without_rights() {
	needs_hook
	says 1 'CAP_BPF' setpriv --reuid 65534 --clear-groups "$tool" attach "$groups"
}

wrong_use() {
	says 1 "no control group '/nonexistent'" "$tool" attach /nonexistent
	says 1 "no control group '/etc'" "$tool" attach /etc
	says 1 'no control group is attached' "$tool" detach "$groups"
	says 0 'No control group is attached' "$tool" status
	says 2 'required' "$tool" attach
	says 2 'required' "$tool" detach
}

needs_tool
export SDP_TEST_CLIENT=$client

run_cases static_transfer others_stay_with_tcp server_left_alone every_form_of_tcp \
	nothing_but_tcp descendants exit_status \
	started_with_sigchld_ignored attached_group one_at_a_time removed_group \
	unit_keeps_rules_in_place \
	kernel_without_hook without_rights wrong_use
