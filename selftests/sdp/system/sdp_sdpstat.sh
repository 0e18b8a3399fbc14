#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sdpstat on sockets that are there: by netlink it says what /proc/net/sdp does, of those
# that are asked for, how fast they are, and figures for monitoring. What sdpctl makes of
# them: top, and tune, which sets what it says or nothing. Needs root.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

tool=${SDPSTAT:-$(command -v sdpstat || true)}
control=${SDPCTL:-$(command -v sdpctl || true)}
server=${SDP_TEST_SERVER:-10.0.0.2}

# A listener and the two ends of a connection, in which nothing moves any more.
begin_idle() {
	start_server waiting idle "$server" --port 4795
	start_server server idle "$server"
	start_client client idle "$server"
	# The server has taken the connection, and closed its listener.
	wait_moving server
	wait_moving client
}

listed() { "$tool" "$@" > "$work/listed" || fail "sdpstat $*: status $?"; awk 'NR > 1' "$work/listed"; }
count() { listed "$@" | wc -l; }

# expect_count NUMBER OPTION...
expect_count() {
	wait_for "$BOUND" counts "$@" || fail "sdpstat ${*:2} does not list $1 sockets: $(< "$work/listed")"
}

# Those of who has just ended take a moment to go.
counts() { [ "$(count "${@:2}")" = "$1" ]; }

same_as_the_table() {
	"$tool" --all "$@" > "$work/netlink" || fail "sdpstat $*: status $?"
	"$tool" --all "$@" --proc /proc/net > "$work/table" || fail "sdpstat $* --proc: status $?"
	cmp -s "$work/netlink" "$work/table"
}

says_what_the_table_does() {
	begin_idle
	for options in "" --extended --info --json; do
		# Credits may be returned between the two looks.
		# shellcheck disable=SC2086
		wait_for "$BOUND" same_as_the_table $options ||
			fail "$options: $(diff "$work/netlink" "$work/table")"
	done
	[ "$(wc -l < "$work/netlink")" -gt 50 ] || fail "JSON: $(< "$work/netlink")"
}

lists_what_is_asked_for() {
	begin_idle
	expect_count 2
	expect_count 2 --state established
	expect_count 1 --state listening
	expect_count 3 --state listening --state established
	expect_count 0 --state fin-wait-1
	expect_count 2 --process sdp_peer
	expect_count 1 --process "${pid[client]}"
	expect_count 0 --process init
	expect_count 2 --engine credit --engine rdma --engine nic
	expect_count 0 --engine tcp
	expect_count 3 --all --process sdp_peer --address "$server"
}

# The other way round, "rdma" says whose they are.
names_queue_pairs() {
	local device qp where state
	begin_idle
	listed --extended > "$work/rows"
	awk '{ print $8, $NF }' "$work/rows" > "$work/numbers"
	while read -r device qp; do
		where=(link "$device/1") state=RTS
		# What the kernel carries by itself is of either device.
		[ "$device" != local ] || where=() state=ERR
		rdma resource show qp "${where[@]}" lqpn "$qp" > "$work/shown"
		grep -q "state $state .*comm \\[sdp\\]" "$work/shown" ||
			fail "queue pair $qp: $(rdma resource show qp)"
	done < "$work/numbers"
	[ "$(wc -l < "$work/rows")" = 2 ] || fail "there are others: $(< "$work/rows")"
}

end_stream() {
	end_children
	restore_sysctls
}

# has_resource KIND PATTERN
has_resource() {
	rdma resource show "$1" > "$work/shown" || fail "rdma resource show $1: status $?"
	grep -Eq "$2" "$work/shown"
}

# The pool that has the completion queues is ib_core's, and so is the name. Some versions of
# rdma(8) say DIRECT of those that are polled by softirqs.
names_other_resources() {
	local kind pattern
	trap end_stream EXIT
	set_sysctl flow_control rdma
	start_server waiting idle "$server" --port 4795
	start_server server recv "$server"
	start_client client send "$server"
	wait_moving server
	while read -r kind pattern; do
		# A ring, which has a memory region, comes with data that has found no room.
		wait_for "$BOUND" has_resource "$kind" "$pattern" || fail "$kind: no '$pattern': $(< "$work/shown")"
	done <<- EOF
		pd comm \[sdp\]
		mr mrlen [1-9].* comm \[sdp\]
		cm_id state LISTEN .*comm \[sdp\] .*:4795
		cm_id state CONNECT .*comm \[sdp\]
		cq users [1-9][0-9]* poll-ctx (DIRECT|SOFTIRQ) .*comm \[ib_core\]
	EOF
}

as_nobody() {
	setpriv --reuid 65534 --clear-groups "$tool" "$@" > "$work/nobody" || fail "nobody may not: status $?"
}

same_for_nobody() {
	as_nobody "$@"
	"$tool" "$@" > "$work/root"
	cmp -s "$work/root" "$work/nobody"
}

anybody_may_ask() {
	begin_idle
	wait_for "$BOUND" same_for_nobody --all --extended || fail "nobody sees: $(< "$work/nobody")"
	listed --memory | grep -q ' r[0-9]*,rb[1-9][0-9]*,t' || fail "no memory: $(< "$work/listed")"
	as_nobody --memory
	grep -q ESTABLISHED "$work/nobody" || fail "nobody sees: $(< "$work/nobody")"
	! grep ',rb' "$work/nobody" || fail "nobody sees memory"
}

counts_sockets() {
	begin_idle
	expect_count 3 --all
	"$tool" --all --summary > "$work/summary"
	grep -q '^ESTABLISHED  *2$' "$work/summary" || fail "summary: $(< "$work/summary")"
	grep -q '^LISTEN  *1$' "$work/summary" || fail "summary: $(< "$work/summary")"
}

# What watches ends when nobody listens any more.
# moves NAME in|out
moves() {
	grep -m 1 "\"$2\": [1-9]" > /dev/null \
		< <(timeout "$BOUND" "$tool" --watch 0.2 --json --process "${pid[$1]}")
}

shows_how_fast() {
	start_server server recv "$server"
	start_client client send "$server"
	moves client out || fail "nothing goes out"
	moves server in || fail "nothing comes in"
}

# ---- sdpctl top ----

# in_top NAME CONDITION: which is Python's, of its one connection c among all of the table
in_top() {
	timeout "$BOUND" "$control" top --json --watch 0.2 --rounds 1 > "$work/top.out" || fail "sdpctl top: status $?"
	python3 - "$work/top.out" "${pid[$1]}" "$2" <<- 'EOF'
		import json, sys
		table = json.load(open(sys.argv[1]))["connections"]
		c, = [c for c in table for process in c["processes"] if process["pid"] == int(sys.argv[2])]
		sys.exit(not eval(sys.argv[3]))
	EOF
}

# Of several tables each has first what moves most; in one at least both ends move.
top_is_sorted() {
	timeout "$BOUND" "$control" top --json --watch 0.2 --rounds 10 > "$work/rounds.out" || fail "sdpctl top: status $?"
	python3 - "$work/rounds.out" <<- 'EOF'
		import json, sys
		tables = [json.loads(line)["connections"] for line in open(sys.argv[1])]
		sums = [[c["rate"]["in"] + c["rate"]["out"] if c["rate"] else -1 for c in table] for table in tables]
		assert len(sums) == 10 and any(len(table) == 2 and min(table) > 0 for table in sums), sums
		assert all(table == sorted(table, reverse=True) for table in sums), sums
	EOF
}

top_says_in_words() {
	"$control" top --watch 0.2 --rounds 1 > "$work/text.out" || fail "status $?"
	grep -q '^Connections: 2, of which 2 move data: ' "$work/text.out" &&
		grep -q "[1-9].* sdp_peer(pid=${pid[client]},fd=" "$work/text.out"
}

top_shows_a_busy_connection() {
	[ -x "$control" ] || skip "no sdpctl: neither in PATH nor named by SDPCTL"
	start_server server recv "$server"
	start_client client send "$server"
	wait_moving server
	wait_for "$BOUND" in_top client 'c["rate"] and c["rate"]["out"] > c["rate"]["in"]' || fail "nothing goes out"
	wait_for "$BOUND" in_top server 'c["rate"] and c["rate"]["in"] > c["rate"]["out"]' || fail "nothing comes in"
	in_top client 'c["processes"][0]["name"] == "sdp_peer"' || fail "another process"
	top_is_sorted || fail "not sorted"
	wait_for "$BOUND" top_says_in_words || fail "it says: $(< "$work/text.out")"
}

# What a program does not read is at one end unread, and at the other has no room.
top_tells_what_is_waited_for() {
	[ -x "$control" ] || skip "no sdpctl: neither in PATH nor named by SDPCTL"
	start_server server idle "$server"
	start_client client send "$server"
	wait_moving server
	kill -STOP "${pid[server]}"
	wait_for "$BOUND" in_top server 'c["waits_for"] == ["reader"]' || fail "not for the reader"
	wait_for "$BOUND" in_top client 'c["waits_for"] == ["peer"]' || fail "not for the peer"
}

# ---- sdpctl tune ----

# settings NAME...: their values
settings() { for name in "$@"; do cat "$sysctls/$name"; done | paste -s -d ' '; }

# That credit is worse for small messages than auto does not depend on the device. That sync is
# worse for latency than copying was measured with Soft-RoCE.
tune_sets_what_it_says() {
	[ -x "$control" ] || skip "no sdpctl: neither in PATH nor named by SDPCTL"
	local best=sync
	! grep -qw roce /proc/net/sdp_devices || best=off
	trap restore_sysctls EXIT
	set_sysctl zcopy sync
	set_sysctl flow_control credit
	"$control" tune messages --dry-run > "$work/dry.out" || fail "status $?"
	[ "$(settings zcopy flow_control)" = "sync credit" ] || fail "it is $(settings zcopy flow_control) after a dry run"
	"$control" tune latency > "$work/latency.out" || fail "status $?"
	[ "$(settings zcopy flow_control)" = "$best credit" ] || fail "it is $(settings zcopy flow_control)"
	"$control" tune messages > "$work/messages.out" || fail "status $?"
	[ "$(settings zcopy flow_control)" = "$best auto" ] || fail "it is $(settings zcopy flow_control)"
	"$control" tune messages > "$work/again.out" || fail "status $?"
	grep -q '^# Nothing to set' "$work/again.out" || fail "there is more to set"
	# It is a file for sysctl, whenever it is made.
	for file in dry messages again; do
		set_sysctl flow_control credit
		sysctl -qp "$work/$file.out" || fail "sysctl does not take $file.out"
		[ "$(settings flow_control)" = auto ] || fail "it is $(settings flow_control) by $file.out"
	done
}

# The limit on memory is no number, as the others are.
begin_mem() {
	local before
	[ -x "$control" ] || skip "no sdpctl: neither in PATH nor named by SDPCTL"
	before=$(< $sysctls/mem)
	# shellcheck disable=SC2064
	trap "echo '$before' > $sysctls/mem; restore_sysctls" EXIT
	echo 100 200 300 > $sysctls/mem
}

tune_makes_room_for_connections() {
	local low pressure high
	begin_mem
	"$control" tune connections --connections 1000 > "$work/mem.out" || fail "status $?"
	read -r low pressure high < $sysctls/mem
	[[ $high -ge 12000 && $low -lt $pressure && $pressure -lt $high ]] || fail "mem is $low $pressure $high"
	! "$control" tune connections --connections 90000000 2> "$work/many.out" || fail "so many fit"
	grep -q '^sdpctl: 90000000 idle connections take [0-9]* MiB, ' "$work/many.out" || fail "no word on it"
}

# What a mount namespace has in the place of a setting.
# refuse FILE SETTING COMMAND...
refuse() {
	set -e
	mount --bind "$1" "$2"
	mount -o remount,bind,ro "$2"
	exec "${@:3}"
}

# To a reader that has gone, for one.
to_nobody() {
	python3 -c 'import os, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
sys.exit(subprocess.run(sys.argv[1:], stdout=writer).returncode)' "$@"
}

# What nobody has been told of is not left set.
tune_sets_what_it_reports() {
	local status=0
	[ -x "$control" ] || skip "no sdpctl: neither in PATH nor named by SDPCTL"
	trap restore_sysctls EXIT
	set_sysctl flow_control credit
	"$control" tune messages > /dev/full 2> "$work/full.out" || status=$?
	[ $status = 1 ] || fail "status $status"
	grep -qx 'sdpctl: standard output: No space left on device; nothing is changed' "$work/full.out" ||
		fail "no word on it"
	[ "$(settings flow_control)" = credit ] || fail "it is set"
	status=0
	to_nobody "$control" tune messages 2> "$work/gone.out" || status=$?
	[ $status = 1 ] || fail "without a reader: status $status"
	grep -qx 'sdpctl: standard output: Broken pipe; nothing is changed' "$work/gone.out" || fail "no word on it"
	[ "$(settings flow_control)" = credit ] || fail "it is set without a reader"
}

# Of two settings the second cannot be written to, although it is there.
tune_sets_all_or_nothing() {
	local status=0
	begin_mem
	set_sysctl flow_control nic
	echo nic > "$work/readonly"
	unshare -m bash -c "$(declare -f refuse); refuse \"\$@\"" bash "$work/readonly" $sysctls/flow_control \
		"$control" tune connections --connections 1000 > "$work/refused.out" 2>&1 || status=$?
	[ $status = 1 ] || fail "status $status"
	grep -qx 'sdpctl: net.sdp.flow_control = auto: Read-only file system; nothing is changed' "$work/refused.out" ||
		fail "no word on it"
	[ "$(tr '\t' ' ' < $sysctls/mem)" = "100 200 300" ] || fail "mem is $(< $sysctls/mem)"
	status=0
	setpriv --reuid 65534 --clear-groups "$control" tune connections > "$work/nobody.out" 2>&1 || status=$?
	[ $status = 1 ] || fail "as nobody: status $status"
	grep -qx 'sdpctl: net.sdp.flow_control = auto: Permission denied: only root may set it; nothing is changed' \
		"$work/nobody.out" || fail "no word on it"
	[ "$(settings flow_control)" = nic ] || fail "nobody has set it"
}

# A line that is no comment has a name with a type, labels that end, and a number.
writes_for_prometheus() {
	begin_idle
	expect_count 3 --all
	"$tool" --prometheus > "$work/figures" || fail "status $?"
	grep -qx 'sdp_sockets_by_state{state="ESTABLISHED"} 2' "$work/figures" || fail "$(< "$work/figures")"
	grep -qx 'sdp_sockets_by_state{state="LISTEN"} 1' "$work/figures" || fail "$(< "$work/figures")"
	grep -qx "sdp_active_opens_total $(counter ActiveOpens)" "$work/figures" || fail "$(< "$work/figures")"
	awk '/^# TYPE / { if (type[$3]++) bad = $0; next } /^# HELP / { next }
		!/^[a-z_0-9]+({[a-z]+="[^"]*"(,[a-z]+="[^"]*")*})? -?[0-9]+$/ { bad = $0 }
		{ sub(/[{ ].*/, ""); if (!type[$0]) bad = $0 }
		END { if (bad) print bad; exit bad != "" }' "$work/figures" || fail "not in the format"
}

[ "${SDP_TEST_FAMILY:-sdp}" = sdp ] || skip_all "this is about AF_SDP"
[ "$(id -u)" = 0 ] || skip_all "needs root"
have_family || skip_all "no AF_SDP sockets in this kernel"
[ -x "$tool" ] || skip_all "no sdpstat: neither in PATH nor named by SDPSTAT"

run_cases says_what_the_table_does lists_what_is_asked_for names_queue_pairs names_other_resources anybody_may_ask \
	counts_sockets shows_how_fast writes_for_prometheus top_shows_a_busy_connection \
	top_tells_what_is_waited_for tune_sets_what_it_says tune_sets_what_it_reports \
	tune_makes_room_for_connections tune_sets_all_or_nothing
