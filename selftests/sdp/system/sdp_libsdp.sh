#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Conversion by libsdp and its rules: which transport carries a program's
# connections is asked of the sockets and of the module's counters. SDP_RUN
# names sdp-run, beside which the library is; SDP_MODULE the module, for the
# case without it.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

server=${SDP_TEST_SERVER:-10.0.0.2}
run=${SDP_RUN:-$(command -v sdp-run || true)}
program=$here/sdp_converted
bytes=1000000

# rules LINE...: the configuration of what follows
rules() {
	printf '%s\n' "$@" > "$work/libsdp.conf"
	export LIBSDP_CONFIG_FILE=$work/libsdp.conf
}

bytes_in() { counter BytesIn; }

# expect_cases TRANSPORT [CASES]: all cases of the program use it
expect_cases() {
	local before
	before=$(bytes_in)
	SDP_EXPECT=$1 SDP_TEST_FAMILY=tcp "$run" "$program" --case "${2:-*}" > "$work/cases.out" 2>&1 ||
		fail "not all cases use $1"
	! awk '/SKIP/ && !/filters no system calls/ { skip = 1 } END { exit !skip }' "$work/cases.out" ||
		fail "cases were skipped"
	moved=$(($(bytes_in) - before))
}

# Each case moves 300 KiB each way, but for those that are about something else.
# over_sdp CASES
over_sdp() { ((moved >= $1 * 600 * 1024)) || fail "$moved bytes over SDP"; }
not_over_sdp() { ((moved == 0)) || fail "$moved bytes over SDP"; }

# ---- one program at both ends ----

no_file() {
	unset LIBSDP_CONFIG_FILE
	SIMPLE_LIBSDP=1 expect_cases sdp blocking
	over_sdp 1
}

sdp_for_all() {
	rules 'use sdp * * *:*'
	expect_cases sdp
	over_sdp 15
}

both_for_all() {
	rules 'use both * * *:*'
	expect_cases sdp
	over_sdp 15
}

tcp_for_all() {
	rules 'use tcp * * *:*'
	expect_cases plain
	not_over_sdp
}

tcp_by_address() {
	rules 'use tcp client * 10.0.0.0/8:*' 'use tcp client * [fd00::]/16:*' \
		'use both server * *:*' 'use sdp * * *:*'
	expect_cases tcp
	not_over_sdp
}

tcp_listener() {
	rules 'use tcp server * *:*' 'use both client * *:*'
	expect_cases tcp '*_before_*'
	not_over_sdp
}

first_match_wins() {
	rules 'use sdp * nobody *:*' 'use tcp * sdp_conv* *:*' 'use sdp * * *:*'
	expect_cases plain blocking
	rules 'use sdp * sdp_conv* *:*' 'use tcp * * *:*'
	expect_cases sdp blocking
}

error_in_file() {
	rules 'use sdp * nobody *:*' 'use sdp everywhere' 'use tcp * * *:*'
	expect_cases sdp blocking
	grep -q 'libsdp.conf:2:9: expected' "$work/cases.out" || fail "the error is not reported"
}

log_says_why() {
	rules "log min-level 7 destination file $scope" 'use tcp client * *:*'
	rm -f "/var/log/$scope"
	expect_cases tcp blocking
	grep -q 'connect 10\..*: tcp, by line 2' "/var/log/$scope" || fail "no word on connect()"
	grep -q 'listen .*: both, since no rule' "/var/log/$scope" || fail "no word on listen()"
	rm -f "/var/log/$scope"
}

# ---- converted and unconverted programs ----

use_rules() {
	via=("$run")
	export SDP_TEST_FAMILY=tcp
}

use_tcp() {
	via=()
	export SDP_TEST_FAMILY=tcp
}

# To a server that is there already; so many bytes have to go over SDP.
# expect_transfer BYTES [PORT]
expect_transfer() {
	local before port=${2:-4791}
	before=$(bytes_in)
	start_client client both "$server" --bytes $bytes --port "$port"
	expect_orderly server "sent=$bytes received=$bytes "
	expect_orderly client "sent=$bytes received=$bytes "
	[ $(($(bytes_in) - before)) = "$1" ] ||
		fail "port $port: $(($(bytes_in) - before)) bytes over SDP, expected $1"
}

tcp_client_of_both() {
	rules 'use both server * *:*'
	use_rules
	start_server server both "$server" --bytes $bytes
	use_tcp
	expect_transfer 0
}

converted_client_of_both() {
	rules 'use both * * *:*'
	use_rules
	start_server server both "$server" --bytes $bytes
	expect_transfer $((2 * bytes))
}

both_client_of_tcp() {
	rules 'use both client * *:*'
	use_tcp
	start_server server both "$server" --bytes $bytes
	use_rules
	expect_transfer 0
}

# The argument says what is wrong if the client gets through.
expect_refusal() {
	start_client client both "$server" --bytes $bytes
	end_of client
	[ "$status" != 0 ] || fail "$1"
	grep -q ECONNREFUSED "$work/client.out" || fail "expected ECONNREFUSED"
}

sdp_client_of_tcp() {
	rules 'use sdp client * *:*'
	use_tcp
	start_server server both "$server" --bytes $bytes
	use_rules
	expect_refusal "a client for SDP only reached a TCP server"
}

tcp_client_of_sdp() {
	rules 'use sdp server * *:*'
	use_rules
	start_server server both "$server" --bytes $bytes
	use_tcp
	expect_refusal "a TCP client reached a server for SDP only"
}

# The library is told by port, and the port by bind().
port_decides() {
	rules 'use tcp server * *:4791' 'use sdp server * *:4792' 'use both client * *:*'
	use_rules
	start_server server both "$server" --bytes $bytes --port 4791
	expect_transfer 0 4791
	start_server server both "$server" --bytes $bytes --port 4792
	expect_transfer $((2 * bytes)) 4792
}

# ---- other places ----

unprivileged() {
	rules 'use both * * *:*'
	chmod 711 "$work"
	chmod 644 "$work/libsdp.conf"
	SDP_EXPECT=sdp SDP_TEST_FAMILY=tcp setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$run" "$program" --case blocking > "$work/cases.out" 2>&1 || fail "as nobody"
}

# The dynamic loader leaves the library out of a program that has more rights
# than its user.
setuid_program() {
	rules 'use sdp * * *:*'
	chmod 711 "$work"
	chmod 644 "$work/libsdp.conf"
	install -m 4755 "$program" "$work/setuid"
	bytes_before=$(bytes_in)
	SDP_EXPECT=plain SDP_TEST_FAMILY=tcp setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$run" "$work/setuid" --case blocking > "$work/cases.out" 2>&1 || fail "does not use TCP"
	[ "$(bytes_in)" = "$bytes_before" ] || fail "bytes went over SDP"
	grep -qF "($work/setuid is set-user-ID): $work/setuid uses TCP" "$work/cases.out" ||
		fail "sdp-run does not say so"
}

# Unless the library is installed as it wants it. Then it is not the user who says
# what to convert. A library that nothing here needs lends its name.
trusted_in_setuid_program() {
	local lent
	lent=$(ldconfig -p | awk '/libanl\.so\.1 .*x86-64/ { path = $NF } END { print path }')
	[ -n "$lent" ] || skip "no libanl.so.1"
	[ ! -e /usr/local/etc/libsdp.conf ] || skip "this machine has rules of its own"
	rules 'use tcp * * *:*'
	chmod 711 "$work"
	chmod 644 "$work/libsdp.conf"
	install -m 4755 "$program" "$work/setuid"
	install -m 4755 "$(dirname "$run")/libsdp.so" "$work/trusted.so"
	# shellcheck disable=SC2016
	SDP_EXPECT=sdp SDP_TEST_FAMILY=tcp unshare --mount bash -ec '
		mount --bind "$1" "$2"
		shift 2
		LD_PRELOAD=libanl.so.1 exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"' - \
		"$work/trusted.so" "$lent" "$work/setuid" --case blocking > "$work/cases.out" 2>&1 ||
		fail "does not use SDP"
}

# The file is read before the root directory changes.
in_chroot() {
	rules 'use tcp client * *:*'
	use_tcp
	start_server server both "$server" --bytes $bytes
	use_rules
	mkdir "$work/root"
	LD_PRELOAD="$(dirname "$run")/libsdp.so" python3 - "$work/root" "$server" <<- 'EOF' > "$work/chroot.out" 2>&1 || fail "in a chroot"
		import os, socket, sys
		family, kind = socket.AF_INET, socket.SOCK_STREAM
		os.chroot(sys.argv[1])
		os.chdir("/")
		s = socket.socket(family, kind)
		s.connect((sys.argv[2], 4791))
		reason = s.getsockopt(1025, 2)
		s.close()
		sys.exit(0 if reason == 7 else 1)
	EOF
	end_of server
	rmdir "$work/root"
}

# No RDMA device of this namespace has the addresses that the cases use.
without_device() {
	# shellcheck disable=SC2016
	unshare --net bash -ec '
		ip link add v0 type veth peer name v1
		for link in lo v0 v1; do ip link set $link up; done
		for n in 1 2; do
			ip addr add 10.0.0.$n/24 dev v0
			ip addr add fd00::$n/64 dev v0 nodad
		done
		exec "$@"' - "$@"
}

device_absent() {
	rules 'log min-level 8' 'use both * * *:*'
	SDP_EXPECT=tcp SDP_TEST_FAMILY=tcp without_device "$run" "$program" > "$work/cases.out" 2>&1 ||
		fail "not all cases use TCP"
	# Two cases are about a kernel that refuses these sockets.
	! grep 'libsdp:' "$work/cases.out" | grep -qv 'no SDP sockets here' || fail "a word in the log"
}

module_absent() {
	[ -n "${SDP_MODULE:-}" ] || skip "SDP_MODULE does not name the module"
	unload_sdp
	trap 'end_children; load_module' EXIT
	rules 'log min-level 8' 'use both * * *:*'
	SDP_EXPECT=plain SDP_TEST_FAMILY=tcp "$run" "$program" > "$work/cases.out" 2>&1 ||
		fail "not all cases use TCP"
	rules 'log min-level 8' 'use sdp * * *:*'
	SDP_EXPECT=plain SDP_TEST_FAMILY=tcp "$run" "$program" --case blocking > "$work/cases.out" 2>&1 ||
		fail "rules for SDP keep a program from TCP"
	[ "$(grep -c 'no SDP sockets here' "$work/cases.out")" = 1 ] || fail "expected one line"
}

[ -x "$run" ] || skip_all "no sdp-run: neither in PATH nor named by SDP_RUN"
[ "$(id -u)" = 0 ] || skip_all "needs root"
have_family || skip_all "no AF_SDP sockets in this kernel"
patience=$(sysctl -n net.sdp.fallback_timeout)
# A slow machine must not look like a peer without SDP.
sysctl -qw net.sdp.fallback_timeout=20000
trap 'sysctl -qw net.sdp.fallback_timeout=$patience 2> /dev/null || true; rm -rf "$work"' EXIT
run_cases no_file sdp_for_all both_for_all tcp_for_all tcp_by_address tcp_listener \
	first_match_wins error_in_file log_says_why tcp_client_of_both \
	converted_client_of_both both_client_of_tcp sdp_client_of_tcp tcp_client_of_sdp \
	port_decides unprivileged setuid_program trusted_in_setuid_program in_chroot device_absent \
	module_absent
