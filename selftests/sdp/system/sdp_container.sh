#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Rules for the control group of a container: what speaks SDP in it, or may not, what is
# refused, and that nobody outside notices. SDP_BPF names the tool. On kernels that cannot
# convert, rules that only refuse.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh
# shellcheck source=../lib/sdp_group.sh source-path=SCRIPTDIR
. ./sdp_group.sh

server=${SDP_TEST_SERVER:-10.0.0.2}
bytes=3000000
box=sdp_box
# Whoever has used their kernel before does so by its name.
peer=$static

# A container, but for the root file system. It shares the network of the host, as with
# "docker run --network host", which has the devices.
make_box() {
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel does not describe its types"
	trap end_box EXIT
	make_group $box/below
	cat > "$work/box" <<- END
		#!/bin/sh
		echo 0 > $groups/\${BOX:-$box}/cgroup.procs &&
			exec \${NETWORK:+ip netns exec \$NETWORK} unshare --mount --uts --ipc --pid --cgroup --fork --kill-child "\$@"
	END
	chmod +x "$work/box"
	export SDP_TEST_FAMILY=tcp
}

box_empty() { grep -q 'populated 0' "$groups/$box/cgroup.events"; }

end_box() {
	"$tool" detach --all 2> /dev/null || true
	end_children
	wait_for "$BOUND" box_empty || true
	rmdir $groups/$box/below $groups/$box
}

inside() { via=("$work/box"); }
outside() { via=(); }

# attach_rules GROUP LINE...
attach_rules() {
	local group=$1
	shift
	printf '%s\n' "$@" > "$work/rules"
	"$tool" attach --config "$work/rules" -- "$group" || fail "cannot attach: $(< "$work/rules")"
}

# The ends check what they receive.
# transfer [PORT]
transfer() {
	start_server receiver both "$server" --port "${1:-4791}" --bytes "$bytes"
	start_client sender both "$server" --port "${1:-4791}" --bytes "$bytes"
	expect_orderly receiver "sent=$bytes received=$bytes"
	expect_orderly sender "sent=$bytes received=$bytes"
}

# by_sdp CONNECTIONS COMMAND...: so many of its connections go over SDP
by_sdp() {
	local want=$1 before
	shift
	before=$(counter PassiveOpens)
	"$@"
	[ $(($(counter PassiveOpens) - before)) = "$want" ] || fail "not $want connections over SDP"
}

# refused NAME: it ends with the error of a call that the rules refuse
refused() {
	end_of "$1"
	[ "$status" != 0 ] || fail "$1 was not refused"
	grep -q EPERM "$work/$1.out" || fail "$1: expected EPERM"
}

# expect_refusals COUNT: of the box
expect_refusals() {
	local got
	got=$(json "[g['refused'] for g in s['groups'] if g['path'] == '/$box'][0]")
	[ "$got" = "$1" ] || fail "expected $1 refusals, got $got"
}

# What Python says of calls, one word for each.
# calls LINE...
calls() {
	"${via[@]}" python3 - "$@" <<- 'END'
		import concurrent.futures, ctypes, errno, os, socket, struct, sys
		libc = ctypes.CDLL(None, use_errno=True)
		UNSPEC, INET, INET6, SDP = socket.AF_UNSPEC, socket.AF_INET, socket.AF_INET6, 27
		def sdp():
		    fd = libc.socket(SDP, socket.SOCK_STREAM, 0)
		    if fd < 0:
		        raise OSError(ctypes.get_errno(), "socket")
		    return socket.socket(INET, socket.SOCK_STREAM, fileno=fd)
		def door():
		    return socket.socket(INET, socket.SOCK_STREAM, 259)
		def tcp(family=INET):
		    return socket.socket(family, socket.SOCK_STREAM)
		def mptcp():
		    return socket.socket(INET, socket.SOCK_STREAM, 262)
		def smc():
		    return socket.socket(43, socket.SOCK_STREAM)
		def bind_as(family, s, address, port):
		    place = struct.pack("=H", family) + struct.pack("!H4s8x", port, socket.inet_aton(address))
		    if libc.bind(s.fileno(), place, len(place)):
		        raise OSError(ctypes.get_errno(), "bind")
		    return s
		def enter():
		    open("/sys/fs/cgroup/sdp_box/cgroup.procs", "w").write("0")
		def bound(s, *address):
		    s.bind(address)
		    return s
		def in_thread(name, function):
		    def run():
		        libc.prctl(15, name.encode())
		        return function()
		    with concurrent.futures.ThreadPoolExecutor(1) as pool:
		        pool.submit(run).result()
		for line in sys.argv[1:]:
		    try:
		        exec(line)
		        print("ok", end=" ")
		    except OSError as e:
		        print(errno.errorcode[e.errno], end=" ")
	END
}

# expect_calls WORDS LINE...
expect_calls() {
	local want=$1 got
	shift
	got=$(calls "$@")
	[ "$got" = "$want " ] || fail "expected $want, got $got"
}

# ---- rules that convert ----

sdp_inside_tcp_outside() {
	needs_hook
	make_box
	attach_rules $box "use sdp * sdp_peer* *:*" "use tcp * * *:*"
	[ "$(json "[g['rules'] for g in s['groups'] if g['path'] == '/$box']")" = "[True]" ] ||
		fail "status: $("$tool" status --json)"
	inside
	by_sdp 1 transfer
	expect_calls "6" 'print(tcp().getsockopt(socket.SOL_SOCKET, socket.SO_PROTOCOL), end=" "); raise SystemExit'
	outside
	by_sdp 0 transfer
	# One end each: they are not the same.
	start_server server recv "$server"
	inside
	start_client client send "$server"
	end_of client
	grep -q ECONNREFUSED "$work/client.out" || fail "a converted client reached a TCP server"
}

sdp_but_not_there() {
	needs_hook
	make_box
	attach_rules $box "use none client * $server:4792" "use none server * *:4793" "use sdp * * *:*"
	inside
	by_sdp 1 transfer
	start_server server recv "$server" --port 4792
	start_client client send "$server" --port 4792
	refused client
	start_refused_listener 4793
	expect_refusals 2
	# Its own address, by another name.
	expect_calls "EPERM" "bound(tcp(), '$server', 0).connect(('0.0.0.0', 4792))"
	expect_refusals 3
}

start_refused_listener() {
	"${via[@]}" "$peer" --role server --mode recv --address "$server" --port "$1" > "$work/listener.out" 2>&1 &
	pid[listener]=$!
	refused listener
}

# Sockets of TCP that come from elsewhere, and those by which SDP would fall back.
sdp_or_nothing() {
	needs_hook
	make_box
	attach_rules $box "use sdp * * *:*"
	python3 -c "
import errno, socket
def error_of(call, *arguments):
    try:
        call(*arguments)
    except OSError as error:
        return error.errno
tcp = socket.socket()
open('$groups/$box/cgroup.procs', 'w').write('0')
assert tcp.connect_ex(('$server', 4791)) == errno.EPERM
assert error_of(tcp.sendto, b'x', socket.MSG_FASTOPEN, ('$server', 4791)) == errno.EPERM
assert socket.socket().connect_ex(('$server', 4791)) == errno.ECONNREFUSED
"
	expect_refusals 2
}

# With a way back to TCP, which is refused, there is no SDP either.
sdp_without_fallback() {
	needs_hook
	make_box
	attach_rules $box "use sdp * * *:*"
	trap 'sysctl -qw net.sdp.tcp_fallback=0; end_box' EXIT
	sysctl -qw net.sdp.tcp_fallback=1
	inside
	expect_calls "EPERM EPERM" "tcp().connect(('$server', 4791))" "bound(tcp(), '$server', 4799).listen()"
	sysctl -qw net.sdp.tcp_fallback=0
	expect_calls "ECONNREFUSED ok" "tcp().connect(('$server', 4791))" "bound(tcp(), '$server', 4799).listen()"
}

# Only rules have programs that are asked about all connections of the host.
rules_come_later() {
	needs_hook
	make_box
	"$tool" attach $box
	[ ! -e /sys/fs/bpf/sdp/connect4 ] || fail "programs that refuse are there without rules"
	attach_rules $box "use none client * *:4792" "use sdp * * *:*"
	inside
	expect_calls "EPERM EPERM ECONNREFUSED" "tcp().connect(('$server', 4792))" "tcp().connect(('127.0.0.1', 4792))" \
		"tcp().connect(('$server', 4791))"
	expect_refusals 2
	"$tool" attach $box
	expect_calls "ECONNREFUSED" "tcp().connect(('$server', 4792))"
}

run_by_rules() {
	needs_hook
	make_box
	printf '%s\n' "use sdp * sdp_peer* *:*" "use tcp * * *:*" > "$work/rules"
	via=("$tool" run --config "$work/rules" --)
	by_sdp 1 transfer
	by_sdp 0 expect_calls "EPERM ok" 'sdp()' 'tcp()'
}

# ---- rules that refuse ----

tcp_inside_but_not_there() {
	make_box
	attach_rules $box "use none client sdp_peer* $server:4792" "use none server sdp_peer* *:4793" "use tcp * * *:*"
	inside
	by_sdp 0 transfer
	outside
	start_server server both "$server" --port 4792 --bytes "$bytes"
	inside
	start_client client send "$server" --port 4792
	refused client
	start_refused_listener 4793
	expect_refusals 2
	# Who is outside finds that one where it was.
	outside
	start_client other both "$server" --port 4792 --bytes "$bytes"
	expect_orderly server "sent=$bytes received=$bytes"
	expect_orderly other "sent=$bytes received=$bytes"
	transfer 4793
	expect_refusals 2
}

no_sdp_inside() {
	make_box
	expect_calls "ok ok ok" 'sdp()' 'door()' 'tcp()'
	attach_rules $box "use tcp * * *:*"
	inside
	expect_calls "EPERM EPERM ok ok" 'sdp()' 'door()' 'tcp()' 'tcp(INET6)'
	expect_calls "ok ok" 'socket.socket(INET, socket.SOCK_DGRAM)' 'socket.socketpair()'
	outside
	expect_calls "ok ok ok" 'sdp()' 'door()' 'tcp()'
}

# Where nothing is allowed nothing says which kind of socket it is not allowed to.
nothing_inside() {
	make_box
	attach_rules $box "use none * * *:*"
	inside
	expect_calls "EPERM EPERM EPERM" "sdp().connect(('$server', 4791))" "door().connect(('$server', 4791))" \
		"tcp().connect(('$server', 4791))"
	expect_calls "EPERM EPERM EPERM" "bound(sdp(), '$server', 4799)" \
		"bound(sdp(), '$server', 0).listen()" 'door().listen()'
	expect_refusals 6
	outside
	expect_calls "ok ECONNREFUSED" "bound(sdp(), '$server', 4799).listen()" "sdp().connect(('$server', 4798))"
}

# An SDP socket that is older than the rules, or was made by somebody else.
sdp_from_elsewhere() {
	make_box
	attach_rules $box "use tcp * * *:*"
	expect_calls "ok ok EPERM EPERM" "s, t = sdp(), bound(door(), '$server', 0)" 'enter()' \
		"s.connect(('$server', 4791))" "t.listen()"
	expect_refusals 2
}

# A port that the kernel chooses is any.
no_listener_inside() {
	make_box
	attach_rules $box "use none server * *:*" "use tcp * * *:*"
	inside
	expect_calls "EPERM EPERM EPERM EPERM" 'tcp().listen()' "bound(tcp(), '$server', 0).listen()" \
		"bound(tcp(), '$server', 4799)" "bound(tcp(INET6), '::', 4799)"
	expect_calls "ok ECONNREFUSED" "bound(tcp(), '$server', 0)" "tcp().connect(('$server', 4799))"
	outside
	expect_calls "ok" "bound(tcp(), '$server', 4799).listen()"
}

only_some_listeners() {
	make_box
	attach_rules $box "use tcp server * 10.0.0.0/8:4000-4999" "use none server * *:*" "use tcp * * *:*"
	inside
	expect_calls "ok EPERM EPERM EPERM" "bound(tcp(), '$server', 4799).listen()" \
		"bound(tcp(), '127.0.0.1', 4799)" "bound(tcp(), '$server', 5000)" 'tcp().listen()'
}

# All ways to say an address to bind().
bind_by_any_family() {
	make_box
	attach_rules $box "use none server * *:4795" "use tcp * * *:*"
	expect_calls "ok ok EPERM EPERM EPERM EPERM EPERM ok" "s, t = sdp(), door()" 'enter()' \
		"bind_as(SDP, s, '$server', 4795)" "bind_as(INET, s, '$server', 4795)" \
		"bind_as(UNSPEC, t, '0.0.0.0', 4795)" "bind_as(UNSPEC, tcp(), '0.0.0.0', 4795)" \
		"bound(tcp(INET6), '::ffff:$server', 4795)" "bind_as(UNSPEC, tcp(), '0.0.0.0', 4796).listen()"
}

# listen() goes by the address that the socket has, and not by what bind() was asked.
listen_where_bound() {
	make_box
	attach_rules $box "use tcp server * *:4500" "use none server * *:*" "use tcp * * *:*"
	inside
	expect_calls "EADDRNOTAVAIL EPERM ok" "s = tcp(); bound(s, '10.255.255.254', 4500)" 's.listen()' \
		"bound(s, '$server', 4500).listen()"
	expect_calls "EADDRNOTAVAIL EPERM ok" "s = mptcp(); bound(s, '10.255.255.254', 4500)" 's.listen()' \
		"bound(mptcp(), '$server', 4500).listen()"
	# Bound before there were rules for it.
	outside
	attach_rules $box "use none server * *:4795" "use tcp * * *:*"
	expect_calls "ok ok EPERM ok" "s, t = bound(tcp(), '$server', 4795), bound(tcp(INET6), '::', 4796)" 'enter()' \
		's.listen()' 't.listen()'
}

# Without a port it is the address that decides, as for libsdp.
listen_without_port() {
	make_box
	attach_rules $box "use none server * $server:0" "use none server * [::]:*" "use tcp * * *:*"
	inside
	expect_calls "EPERM EPERM ok ok ok" "bound(tcp(), '$server', 0).listen()" 'tcp(INET6).listen()' \
		'tcp().listen()' "bound(tcp(), '127.0.0.1', 0).listen()" "bound(tcp(), '$server', 4799).listen()"
}

# The unspecified address as a peer is one of this host.
unspecified_peer() {
	make_box
	attach_rules $box "use none client * 127.0.0.0/8:*" "use none client * [::1]:*" "use tcp * * *:*"
	inside
	expect_calls "EPERM EPERM EPERM EPERM" "tcp().connect(('0.0.0.0', 4791))" "tcp(INET6).connect(('::', 4791))" \
		"tcp(INET6).connect(('::ffff:0.0.0.0', 4791))" \
		"tcp().sendto(b'x', socket.MSG_FASTOPEN, ('0.0.0.0', 4791))"
	expect_calls "ECONNREFUSED" "bound(tcp(), '$server', 0).connect(('0.0.0.0', 4791))"
	attach_rules $box "use none client * $server:*" "use tcp * * *:*"
	expect_calls "EPERM EPERM" "bound(tcp(), '$server', 0).connect(('0.0.0.0', 4791))" \
		"bound(tcp(INET6), '::ffff:$server', 0).connect(('::ffff:0.0.0.0', 4791))"
	expect_calls "ECONNREFUSED ECONNREFUSED" "tcp().connect(('0.0.0.0', 4791))" "tcp(INET6).connect(('::', 4791))"
}

smc_is_tcp() {
	modprobe -q smc || skip "no SMC in this kernel"
	make_box
	attach_rules $box "use tcp server * *:4796" "use none * * *:*"
	inside
	expect_calls "EPERM ok EPERM" "bind_as(INET, smc(), '$server', 4795)" \
		"bind_as(INET, smc(), '$server', 4796).listen()" 'smc().listen()'
	kernel_can || return 0
	attach_rules $box "use sdp * * *:*"
	expect_calls "EPERM" 'smc()'
}

# All ways to say an address, and to connect.
addresses() {
	make_box
	attach_rules $box "use none client * 10.0.0.0/24:*" "use none client * [fd99::]/16:7-9" "use tcp * * *:*"
	inside
	expect_calls "EPERM EPERM EPERM EPERM" "tcp().connect(('$server', 4791))" \
		"tcp(INET6).connect(('::ffff:$server', 4791))" "tcp(INET6).connect(('fd99::1', 8))" \
		"tcp().sendto(b'x', socket.MSG_FASTOPEN, ('$server', 4791))"
	expect_calls "ECONNREFUSED ENETUNREACH" "tcp().connect(('127.0.0.1', 4791))" "tcp(INET6).connect(('fd99::1', 10))"
}

by_program() {
	make_box
	attach_rules $box "use none * p[a-z]t??n* *:*" "use tcp * * *:*"
	inside
	by_sdp 0 transfer
	expect_calls "EPERM" "tcp().connect(('$server', 4791))"
	# A thread's name is not the program's.
	expect_calls "EPERM" "in_thread('other', lambda: tcp().connect(('$server', 4791)))"
}

nearest_group_decides() {
	make_box
	attach_rules $box "use none * * *:*"
	attach_rules $box/below "use tcp * * *:*"
	inside
	expect_calls "EPERM" "tcp().connect(('$server', 4791))"
	export BOX=$box/below
	expect_calls "ECONNREFUSED" "tcp().connect(('$server', 4791))"
	"$tool" detach $box/below
	expect_calls "EPERM" "tcp().connect(('$server', 4791))"
}

# "-.slice" is systemd's name for the group above all.
root_slice() {
	make_box
	attach_rules -.slice "use none client * *:4795" "use tcp * * *:*"
	[ "$(json "s['groups'][0]['path']")" = / ] || fail "status: $("$tool" status --json)"
	expect_calls "EPERM ECONNREFUSED" "tcp().connect(('$server', 4795))" "tcp().connect(('$server', 4796))"
}

rules_change() {
	make_box
	attach_rules $box "use none * * *:*"
	inside
	expect_calls "EPERM" "tcp().connect(('$server', 4791))"
	attach_rules $box "use tcp * * *:1" "use none client * *:2" "use tcp * * *:*"
	expect_calls "ECONNREFUSED EPERM" "tcp().connect(('$server', 4791))" "tcp().connect(('$server', 2))"
	echo "use tcp * * *:*, please" > "$work/rules"
	says 1 'rules:1:15: expected a port from' "$tool" attach --config "$work/rules" $box
	expect_calls "ECONNREFUSED EPERM" "tcp().connect(('$server', 4791))" "tcp().connect(('$server', 2))"
	"$tool" detach $box
	expect_calls "ECONNREFUSED ECONNREFUSED" "tcp().connect(('$server', 4791))" "tcp().connect(('$server', 2))"
}

# What is left of a tool that was killed in the middle is nothing that one could add to.
half_attached() {
	make_box
	attach_rules $box "use none * * *:*"
	rm /sys/fs/bpf/sdp/groups
	[ "$(json "s['attached']")" = False ] || fail "it seems to be attached"
	attach_rules $box "use none server * *:*" "use tcp * * *:*"
	inside
	expect_calls "EPERM ECONNREFUSED" 'tcp().listen()' "tcp().connect(('$server', 4791))"
	rm /sys/fs/bpf/sdp/policies
	"$tool" detach --all || fail "cannot detach what is left"
	[ ! -e /sys/fs/bpf/sdp ] || fail "something is left"
	expect_calls "ok" 'tcp().listen()'
}

# ---- a network of its own ----

ends="sdp_box_a sdp_box_b"
# Whether iwarp.ko is there for this alone.
loaded=

end_networks() {
	local ns
	end_box
	for ns in $ends; do ip netns del "$ns" 2> /dev/null || true; done
	[ -z "$loaded" ] || wait_for "$BOUND" remove_module iwarp || diag "iwarp is in use: $(< "$work/rmmod")"
}

# The ends of a wire, with a device each that can be in a network namespace.
make_networks() {
	local n=0 ns
	make_box
	trap end_networks EXIT
	is_loaded iwarp || { insert_iwarp && loaded=1; }
	for ns in $ends; do ip netns add "$ns"; done
	ip link add sdp_box_a mtu 4500 type veth peer name sdp_box_b
	for ns in $ends; do
		n=$((n + 1))
		ip link set "$ns" netns "$ns"
		ip -n "$ns" link set lo up
		ip -n "$ns" link set "$ns" up
		ip -n "$ns" addr add 10.79.0.$n/24 dev "$ns"
		ip netns exec "$ns" rdma link add "iwarp_${ns#sdp_}" type iwarp netdev "$ns"
	done
}

# inside_of NETWORK [GROUP]
inside_of() { via=(env NETWORK="$1" BOX="${2:-$box}" "$work/box"); }

# An address means the one in the container's own network.
own_network() {
	local kind=tcp want=0 servers=$box before
	! kernel_can || kind=sdp want=1 servers=$box/below
	make_networks
	attach_rules $box "use none client * 10.79.0.1:4792" "use $kind * * *:*"
	# A listener of iwarp.ko has a TCP socket, which would be refused: see sdp-bpf(8).
	[ $servers = $box ] || "$tool" attach $servers
	before=$(counter PassiveOpens ip netns exec sdp_box_a)
	inside_of sdp_box_a $servers
	start_server receiver both 10.79.0.1 --bytes "$bytes"
	start_server server both 10.79.0.1 --bytes "$bytes" --port 4792
	inside_of sdp_box_b
	start_client sender both 10.79.0.1 --bytes "$bytes"
	start_client refused both 10.79.0.1 --bytes "$bytes" --port 4792
	refused refused
	expect_orderly receiver "sent=$bytes received=$bytes"
	expect_orderly sender "sent=$bytes received=$bytes"
	[ "$(counter PassiveOpens ip netns exec sdp_box_a)" = $((before + want)) ] ||
		fail "it was not by $kind"
}

# ---- what it says when it cannot ----

wrong_rules() {
	make_box
	echo "use both * * *:*" > "$work/rules"
	says 1 "rules:1:5: expected 'tcp', 'sdp' or 'none', found 'both'" "$tool" attach --config "$work/rules" $box
	printf '%s\n' "use sdp client * $server:*" "use tcp * * *:*" > "$work/rules"
	says 1 "rules:2: 'tcp' for a program that has 'sdp' by line 1" "$tool" attach --config "$work/rules" $box
	says 1 "nowhere" "$tool" attach --config "$work/nowhere" $box
	printf '%s\n' "use tcp * * *:*" "use none client * $server:*" > "$work/rules"
	says 1 "rules:2: no use of a socket comes so far" "$tool" attach --config "$work/rules" $box
	[ "$(json "s['attached']")" = False ] || fail "something is attached"
}

# In a namespace of control groups of its own, whose root is a group of the host's.
not_the_root() {
	make_box
	echo "use none * * *:*" > "$work/rules"
	inside
	says 1 "is not the root of all control groups" "${via[@]}" \
		sh -c 'umount -l /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec "$@"' sh \
		"$tool" attach --config "$work/rules" /
	[ "$(json "s['attached']")" = False ] || fail "something is attached"
}

rules_without_hook() {
	! kernel_can || skip "this kernel has the hook"
	make_box
	printf '%s\n' "# only this" "use sdp * * *:*" > "$work/rules"
	says 3 "rules:2: this kernel has no hook" "$tool" attach --config "$work/rules" $box
	says 125 "rules:2: this kernel has no hook" "$tool" run --config "$work/rules" true
}

needs_tool

run_cases sdp_inside_tcp_outside sdp_but_not_there sdp_or_nothing sdp_without_fallback rules_come_later run_by_rules \
	tcp_inside_but_not_there no_sdp_inside nothing_inside sdp_from_elsewhere no_listener_inside \
	only_some_listeners bind_by_any_family listen_where_bound listen_without_port unspecified_peer smc_is_tcp \
	addresses by_program nearest_group_decides root_slice rules_change half_attached own_network \
	wrong_rules not_the_root rules_without_hook
