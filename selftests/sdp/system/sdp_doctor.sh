#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What "sdpctl doctor" says of a host that is well, and of what is wrong with it; and what
# "sdp-run --why" says of its addresses. SDPCTL and SDP_RUN name the programs, SDP_MODULE
# the module, for the case without it. Needs root; makes and removes a device.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

server=${SDP_TEST_SERVER:-10.0.0.2}
tool=${SDPCTL:-$(command -v sdpctl || true)}
run=${SDP_RUN:-$(command -v sdp-run || true)}
device=sdp-test-rxe
netdev=sdp-test-d

# read_report: of each check in the report a line with its name, a tab, status and words
read_report() {
	python3 - "$work/report.out" <<- 'EOF' > "$work/checks" || fail "no list of checks"
		import json, sys
		report = json.load(open(sys.argv[1]))
		members = ["check", "status", "what", "advice"]
		assert all(list(item) in (members, members + ["decision"]) for item in report)
		print("\n".join("{check}\t{status}: {what}".format(**item) for item in report))
	EOF
}

# doctor STATUS [OPTION...] [PEER]
doctor() {
	local wanted=$1 got=0
	shift
	"$tool" doctor --json "$@" > "$work/report.out" || got=$?
	[ "$got" = "$wanted" ] || fail "sdpctl doctor $*: status $got, expected $wanted"
	read_report
}

# As somebody who is not root, and to whom nothing looks wrong.
doctor_as_nobody() {
	setpriv --reuid 65534 --clear-groups "$tool" doctor --json > "$work/report.out" ||
		fail "as nobody: status $?"
	read_report
}

# expect CHECK PATTERN: what a check says, after its status
expect() {
	grep -Eq "^$1"$'\t'"$2" "$work/checks" ||
		fail "$1: expected '$2', got '$(grep "^$1"$'\t' "$work/checks")'"
}

well() {
	local name
	trap restore_sysctls EXIT
	set_sysctl local 1
	[ "${SDP_ULP:-1}" = 1 ] || diag "the module was told to leave providers alone"
	doctor 0
	for name in module version devices memlock memory firewall fallbacks; do
		expect "$name" 'ok: .'
	done
	expect settings "$([ "${SDP_ULP:-1}" = 1 ] && echo ok || echo warning): "
	expect version "ok: module and tools are $(< /sys/module/sdp/version)"
	for name in /sys/class/infiniband/*; do
		name=${name##*/}
		expect devices "ok: .*$name"
		expect "port $name/1" 'ok: ACTIVE'
		expect "gid $name/1" 'ok: .*10\.0\.0\.[12] on .* \(GID [0-9]+\)'
		expect "mtu $name/1" 'ok: [0-9]+ of '
	done
	"$tool" doctor > "$work/text.out" || fail "in plain words: status $?"
	grep -q '^ok       module: sdp is loaded$' "$work/text.out" || fail "no word on the module"
}

settings_that_turn_things_off() {
	trap restore_sysctls EXIT
	set_sysctl max_orphans 0
	doctor 0
	expect settings 'warning: .*net.sdp.max_orphans=0'
}

memory_is_used_up() {
	local before
	before=$(< $sysctls/mem)
	# shellcheck disable=SC2064
	trap "end_children; echo '$before' > $sysctls/mem" EXIT
	start_server server both "$server"
	start_client client both "$server"
	wait_moving client
	echo 1 1 1 > $sysctls/mem
	doctor 1
	expect memory 'wrong: .*new connections are refused'
}

little_may_be_locked() {
	(
		ulimit -l 16
		doctor_as_nobody
	)
	expect memlock 'warning: this user may lock 16 KiB, less than the shortest transfer'
}

peer_by_sdp() {
	start_server server both "$server"
	doctor 0 "$server:4791"
	expect route "ok: by .*: .* port 1, GID "
	expect sdp 'ok: connected in [0-9.]+ ms'
	expect tcp 'ok: does not connect: Connection refused; the peer listens for SDP alone'
}

peer_of_a_program() {
	export LIBSDP_CONFIG_FILE=$work/libsdp.conf
	echo 'use sdp client curl *:4791' > "$LIBSDP_CONFIG_FILE"
	start_server server both "$server"
	doctor 0 --program curl "$server:4791"
	expect rules "ok: $LIBSDP_CONFIG_FILE, 1 rules"
	expect "connect $server:4791" \
		'ok: curl: sdp, by line 1: use sdp client curl \*:4791; result: sdp, on .* port 1 \(ACTIVE\), GID '
	expect "listen $server:4791" 'ok: curl: both, since no rule matches; result: sdp-and-tcp, on .* port 1 '
}

# listen_by_tcp PORT: whoever connects is left alone
listen_by_tcp() {
	python3 - "$server" "$1" "$work/ready" <<- 'EOF' > "$work/listener.out" 2>&1 &
		import socket, sys, time
		listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
		open(sys.argv[3], "w").close()
		time.sleep(3600)
	EOF
	wait_for "$BOUND" exists "$work/ready" || fail "nobody listens"
}

restore() {
	end_children
	restore_sysctls
}

peer_by_tcp_only() {
	trap restore EXIT
	set_sysctl fallback_timeout 20000
	listen_by_tcp 4800
	doctor 1 "$server:4800"
	expect sdp 'wrong: does not connect: Connection refused; nobody listens for SDP there'
	expect tcp 'ok: connected in '
	expect fallback 'warning: a socket with a fallback uses TCP, because of refused: '
	expect route 'ok: '
	doctor 0
	expect fallbacks 'ok: so far: .*FallbackRefused [1-9]'
}

no_peer() {
	doctor 1 "$server:4801"
	expect sdp 'wrong: does not connect: Connection refused'
	expect tcp 'wrong: does not connect: Connection refused'
	doctor 1 127.0.0.1:4801
	expect route 'wrong: .* no RDMA device has a GID'
	expect sdp 'wrong: does not connect: Network is unreachable; no RDMA device leads'
}

clean_up() {
	end_children
	rdma link delete $device 2> /dev/null || true
	ip link delete $netdev 2> /dev/null || true
}

# port_is STATE
port_is() { grep -q "$1" /sys/class/infiniband/$device/ports/1/state; }
has_gid_of() { grep -qs "$1" /sys/class/infiniband/$device/ports/1/gids/*; }

link_down() {
	trap clean_up EXIT
	modprobe rdma_rxe || skip "no Soft-RoCE in this kernel"
	ip link add $netdev type dummy
	ip link set $netdev up
	rdma link add $device type rxe netdev $netdev
	wait_for "$BOUND" port_is ACTIVE || fail "the device does not work"
	ip addr add 192.0.2.1/24 dev $netdev
	wait_for "$BOUND" has_gid_of 'ffff:c000:0201' || fail "the device does not have the address"
	doctor 0
	expect "port $device/1" 'ok: ACTIVE'
	expect "gid $device/1" "ok: .*192\.0\.2\.1 on $netdev \(GID "
	ip link set $netdev mtu 700
	doctor 0
	expect "mtu $device/1" "warning: 700 of $netdev: packets of RoCE carry up to 512 bytes"
	ip link set $netdev down
	wait_for "$BOUND" port_is DOWN || fail "the port stays up"
	doctor 0
	expect "port $device/1" 'warning: DOWN, physically .*: nothing comes through'
}

chain=(inet sdp_test in)

filter() {
	command -v nft > /dev/null || skip "there is no nft"
	modprobe nf_tables || skip "no nftables in this kernel"
	trap 'nft delete table inet sdp_test' EXIT
	nft add table inet sdp_test
	nft add chain "${chain[@]}" '{ type filter hook input priority 0; policy accept; }'
	nft add rule "${chain[@]}" udp dport 4792 drop
	doctor 0
	expect firewall 'ok: no rule of nft says that it drops UDP to port 4791'
	nft add rule "${chain[@]}" udp dport 4790-4791 counter drop
	doctor 1
	expect firewall 'wrong: UDP to port 4791 \(RoCE\) is dropped by: inet sdp_test in, rule '
	nft insert rule "${chain[@]}" udp dport 4791 accept
	doctor 0
	expect firewall 'ok: '
	doctor_as_nobody
	expect firewall 'unknown: cannot see the rules of packet filters: only root may'
}

# Nothing is sent while the chain is there: the rules are for what it says of them.
filter_that_is_closed() {
	command -v nft > /dev/null || skip "there is no nft"
	modprobe nf_tables || skip "no nftables in this kernel"
	trap 'nft delete table inet sdp_test' EXIT
	nft -f - <<- 'EOF'
		table inet sdp_test {
			chain in {
				type filter hook input priority 0; policy drop;
				ct state established accept
				iifname lo accept
				tcp dport 22 accept
				meta l4proto icmp accept
			}
		}
	EOF
	doctor 0
	expect firewall 'warning: what they do not accept is dropped by: inet sdp_test in; no rule'
}

wrong_arguments() {
	local status=0
	"$tool" doctor nowhere > "$work/usage.out" 2>&1 || status=$?
	[ "$status" = 2 ] || fail "status $status"
	grep -q "^sdpctl: .*not HOST:PORT: 'nowhere'" "$work/usage.out" || fail "no word on it"
}

# why PATTERN ARGUMENT...
why() {
	local pattern=$1
	shift
	"$run" --why "$@" > "$work/why.out" || fail "sdp-run --why $*: status $?"
	tr '\n' '|' < "$work/why.out" | grep -Eq "$pattern" || fail "expected '$pattern'"
}

why_names_rule_and_device() {
	local route='\|  route: [^|]*, from 10\.0\.0\.[12]' on='on [^|]* port 1 \(ACTIVE\), GID [0-9]+ '
	export LIBSDP_CONFIG_FILE=$work/libsdp.conf
	[ -x "$run" ] || skip "no sdp-run: neither in PATH nor named by SDP_RUN"
	printf '%s\n' 'use tcp * ssh *:*' 'use sdp client * *:80' > "$LIBSDP_CONFIG_FILE"
	why "connect to $server:80\|  libsdp: sdp, by line 2: use sdp client \* \*:80$route\|  result: sdp, $on" \
		"$server:80" curl
	why "connect to $server:81\|  libsdp: both, since no rule matches$route\|  result: sdp-or-tcp, $on" \
		"$server:81" curl
	why "result: tcp, the rule says so" "$server:80" ssh
	why 'connect to 127.0.0.1:80\|.*result: error, no RDMA device is on lo; connect\(\) gives ENETUNREACH' \
		127.0.0.1:80 curl
	why 'listen at 0.0.0.0:81\|.*result: sdp-and-tcp, on all RDMA devices: ' 0.0.0.0:81 nginx
	: > "$LIBSDP_CONFIG_FILE"
	why "kernel: has SDP sockets, net.sdp.tcp_fallback=0\|.*there are no rules.*$route\|  result: sdp, $on" \
		"$server:81" curl
}

# What the manual page lists of the kernel and of a route, with a device in it.
why_speaks_json() {
	local device port state index gid
	[ -x "$run" ] || skip "no sdp-run: neither in PATH nor named by SDP_RUN"
	trap 'end_children; sysctl -qw net.sdp.tcp_fallback=0' EXIT
	sysctl -qw net.sdp.tcp_fallback=1
	"$run" --why --json "$server:81" > "$work/why.out" || fail "sdp-run --why --json: status $?"
	python3 - "$work/why.out" > "$work/route.out" << 'EOF' || fail "expected other members"
import json, sys
told = json.load(open(sys.argv[1]))
route = told["endpoints"][0]["decisions"][0]["route"]
assert told["kernel"] == {"sdp": True, "error": None, "tcp_fallback": True}, told["kernel"]
assert sorted(route) == ["device", "gid", "netdev", "port", "source", "state"], route
assert sorted(route["gid"]) == ["gid", "index", "type"], route
print(route["device"], route["port"], route["state"], route["gid"]["index"], route["gid"]["gid"])
EOF
	read -r device port state index gid < "$work/route.out"
	[ "$port $state" = "1 ACTIVE" ] || fail "port $port is $state"
	[ "$(< "/sys/class/infiniband/$device/ports/1/gids/$index")" = "$gid" ] || fail "GID $index is not $gid"
}

module_absent() {
	[ -n "${SDP_MODULE:-}" ] || skip "SDP_MODULE does not name the module"
	unload_sdp
	trap 'end_children; load_module' EXIT
	listen_by_tcp 4802
	doctor 3 "$server:4802"
	expect module 'wrong: the module sdp is not loaded'
	expect devices 'ok: '
	expect sdp 'wrong: there are no SDP sockets here'
	expect tcp 'ok: connected in '
}

[ "${SDP_TEST_FAMILY:-sdp}" = sdp ] || skip_all "this is about AF_SDP"
[ -x "$tool" ] || skip_all "no sdpctl: neither in PATH nor named by SDPCTL"
[ "$(id -u)" = 0 ] || skip_all "needs root"
have_family || skip_all "no AF_SDP sockets in this kernel"
run_cases well settings_that_turn_things_off memory_is_used_up little_may_be_locked peer_by_sdp peer_of_a_program \
	peer_by_tcp_only no_peer link_down filter filter_that_is_closed wrong_arguments \
	why_names_rule_and_device why_speaks_json module_absent
