#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# AF_SDP in network namespaces: what is a namespace's own, that data gets from
# one to the other and nowhere else, and that one can end with everything in
# it. Soft-RoCE knows the initial namespace only, so that whatever moves data
# needs software iWARP: ours if its devices are there, or the kernel's own (siw).
# Needs root; makes and removes its namespaces.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

# Two namespaces, the ends of one wire. The numbers of the interfaces differ,
# because siw tells listeners of different namespaces apart by these alone.
a=sdp-test-a
b=sdp-test-b
# One that is there for a while, with both ends of a wire.
c=sdp-test-c
addr_a=10.77.0.1
addr_b=10.77.0.2
addr_c=10.78.0.1

# In the background, say it without this function: whoever kills the job would
# only kill the shell that waits for it.
in_ns() { ip netns exec "$@"; }

# Python knows no addresses of this family, but those of the other will do.
prelude='
import ctypes, errno, os, socket, time
libc = ctypes.CDLL(None, use_errno=True)
def sdp_socket():
    fd = libc.socket(27, socket.SOCK_STREAM, 0)
    assert fd >= 0, os.strerror(ctypes.get_errno())
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=fd)
def enter(path):
    fd = os.open(path, os.O_RDONLY)
    assert libc.setns(fd, 0) == 0, os.strerror(ctypes.get_errno())
def touch(path):
    open(path, "w").close()
'

# The commands of the library that start processes, in a namespace. They use
# shellcheck disable=SC2034
# server_in NAMESPACE NAME MODE ADDRESS [OPTION...]
server_in() {
	local via=(ip netns exec "$1")
	shift
	start_server "$@"
}

client_in() {
	local via=(ip netns exec "$1")
	shift
	start_client "$@"
}

# The kind of software iWARP, or nothing.
iwarp=
if [ -e /sys/class/infiniband/iwarp1 ]; then
	iwarp=iwarp
elif modprobe -q siw || grep -q ' siw_newlink' /proc/kallsyms; then
	iwarp=siw
fi
need_iwarp() { [ -n "$iwarp" ] || skip "this kernel has no software iWARP"; }

# counter_in NAMESPACE NAME
counter_in() { counter "$2" in_ns "$1"; }
# Sockets in /proc/net/sdp of a namespace.
sockets() { in_ns "$1" awk 'END { print NR - 1 }' /proc/net/sdp; }
no_sockets() { [ "$(sockets "$1")" = 0 ]; }

make_namespaces() {
	local n=0 ns
	ip netns add $a
	ip netns add $b
	ip link add sdp-test-a index 7701 mtu 4500 type veth peer name sdp-test-b index 7702 mtu 4500
	for ns in $a $b; do
		n=$((n + 1))
		ip link set "$ns" netns "$ns"
		in_ns "$ns" sysctl -qw "net.ipv6.conf.$ns.accept_dad=0"
		ip -n "$ns" link set lo up
		ip -n "$ns" link set "$ns" up
		ip -n "$ns" addr add 10.77.0.$n/24 dev "$ns"
		ip -n "$ns" addr add fd77::$n/64 dev "$ns"
	done
	[ -z "$iwarp" ] || {
		in_ns $a rdma link add iw-test-a type $iwarp netdev $a
		in_ns $b rdma link add iw-test-b type $iwarp netdev $b
	}
}

remove_namespaces() {
	local ns
	for ns in $a $b $c; do
		[ ! -e /run/netns/"$ns" ] || ip netns pids "$ns" | xargs -r kill -KILL 2> /dev/null || true
		ip netns del "$ns" 2> /dev/null || true
	done
}

# A namespace has ended when its end of the wire has, and with it the other.
wire_gone() { [ -z "$(ip -n "$1" -o link show type veth 2> /dev/null)" ]; }

has_device() { rdma link show "iw-test-$1/1" > /dev/null 2>&1; }
has_no_device() { ! has_device "$1"; }

renew() {
	local end
	remove_namespaces
	for end in a b; do wait_for "$BOUND" has_no_device $end || fail "there still is device $end"; done
	make_namespaces
}

# ---- what needs no data ----

sockets_and_counters_are_private() {
	local before
	before=$(counter ActiveOpens)
	in_ns $a python3 - <<- EOF
		$prelude
		s = sdp_socket()
		# Nobody is there, so that this fails, but it counts.
		try:
		    s.connect(("10.77.9.9", 9))
		except OSError:
		    pass
		lines = open("/proc/net/sdp").readlines()
		assert len(lines) == 2, lines
	EOF
	[ "$(counter_in $a ActiveOpens)" = 1 ] || fail "a counted $(counter_in $a ActiveOpens)"
	[ "$(counter ActiveOpens)" = "$before" ] || fail "the initial namespace counted it"
	[ "$(counter_in $b ActiveOpens)" = 0 ] || fail "the other namespace counted it"
	wait_for "$BOUND" no_sockets $a || fail "the socket is still there"
}

settings_are_private() {
	local before
	before=$(sysctl -n net.sdp.num_buffers)
	in_ns $a sysctl -qw net.sdp.num_buffers=$((before + 7))
	[ "$(sysctl -n net.sdp.num_buffers)" = "$before" ] || fail "the initial namespace follows"
	[ "$(in_ns $b sysctl -n net.sdp.num_buffers)" = "$before" ] || fail "the other namespace follows"
	[ "$(in_ns $a sysctl -n net.sdp.num_buffers)" = $((before + 7)) ] || fail "it was not set"
	in_ns $a sysctl -qw net.sdp.num_buffers="$before"
}

addresses_of_others_are_unknown() {
	in_ns $a python3 - <<- EOF
		$prelude
		s = sdp_socket()
		try:
		    s.bind(("$addr_b", 0))
		except OSError as e:
		    assert e.errno == errno.EADDRNOTAVAIL, e
		else:
		    raise AssertionError("bound to the other namespace's address")
	EOF
}

# ---- data ----

# transfer SERVER-NAMESPACE CLIENT-NAMESPACE ADDRESS
transfer() {
	server_in "$1" server both "$3" --bytes 300000
	client_in "$2" client both "$3" --bytes 300000
	expect_orderly server 'sent=300000 received=300000'
	expect_orderly client 'sent=300000 received=300000'
}

data_between_namespaces() {
	local before
	need_iwarp
	before=$(counter BytesIn)
	transfer $a $b $addr_a
	transfer $b $a fd77::2
	[ "$(counter_in $a BytesIn)" = 600000 ] || fail "a counted $(counter_in $a BytesIn) bytes"
	[ "$(counter_in $b BytesIn)" = 600000 ] || fail "b counted $(counter_in $b BytesIn) bytes"
	[ "$(counter BytesIn)" = "$before" ] || fail "the initial namespace counted them"
}

settings_take_effect() {
	need_iwarp
	# Fewer than a connection begins with otherwise.
	in_ns $a sysctl -qw net.sdp.num_buffers=6
	server_in $a server idle $addr_a
	client_in $b client idle $addr_a
	wait_moving client
	# The peer's credits: what it got at first less what it has spent.
	# shellcheck disable=SC2016
	in_ns $b awk '$7 == 1 { split($8, c, ":"); if (c[1] >= 4 && c[1] <= 6) found = 1 } END { exit !found }' \
		/proc/net/sdp || fail "no connection with 6 credits: $(in_ns $b cat /proc/net/sdp)"
	[ "$(sockets $b)" = 1 ] || fail "b shows $(sockets $b) sockets instead of its own"
	in_ns $a sysctl -qw net.sdp.num_buffers=16
}

# The initial namespace has the same addresses, with somebody who listens.
same_addresses_elsewhere() {
	need_iwarp
	ip link add sdp-test-same mtu 4500 type dummy
	ip addr add $addr_a/32 dev sdp-test-same
	ip addr add $addr_b/32 dev sdp-test-same
	ip link set sdp-test-same up
	python3 -c "$prelude
s = socket.create_server(('$addr_a', 4791))
touch('$work/intruder')
s.accept()
touch('$work/wrong')
time.sleep(1000)" &
	wait_for "$BOUND" exists "$work/intruder" || fail "no listener in the initial namespace"
	transfer $a $b $addr_a
	ip link del sdp-test-same
	! exists "$work/wrong" || fail "the connection went to the initial namespace"
}

# A listener on every address is one on those of its own namespace.
listeners_on_one_port() {
	need_iwarp
	server_in $a in_a both 0.0.0.0 --bytes 1000
	server_in $b in_b both :: --bytes 2000
	client_in $b to_a both $addr_a --bytes 3000
	client_in $a to_b both $addr_b --bytes 4000
	expect_orderly to_a 'received=1000 '
	expect_orderly in_a 'received=3000 '
	expect_orderly to_b 'received=2000 '
	expect_orderly in_b 'received=4000 '
}

# A socket belongs where it was made, and not where it is used.
sockets_made_elsewhere() {
	need_iwarp
	in_ns $a python3 - <<- EOF
		$prelude
		client = sdp_socket()
		listener = sdp_socket()
		enter("/run/netns/$b")
		listener.bind(("$addr_a", 4793))
		listener.listen()
		client.connect(("$addr_a", 4793))
		server, address = listener.accept()
		assert address[0] == "$addr_a", address
		server.sendall(b"made in a")
		assert client.recv(100) == b"made in a"
		native = sdp_socket()
		native.connect(("$addr_a", 4793))
		server, address = listener.accept()
		assert address[0] == "$addr_b", address
		native.sendall(b"made in b")
		assert server.recv(100) == b"made in b"
	EOF
}

# ---- the end of a namespace ----

# Nothing but sockets is left in it, of all kinds; then their process ends.
ends_with_live_sockets() {
	need_iwarp
	in_ns $a sysctl -qw net.sdp.fin_timeout=5
	server_in $b quiet idle $addr_b
	client_in $a idler idle $addr_b
	server_in $b stopped recv $addr_b --port 4794
	client_in $a sender send $addr_b --port 4794
	server_in $a listener idle $addr_a --port 4795
	wait_moving idler
	wait_moving sender
	ip netns exec $a python3 -c "$prelude
s = sdp_socket()
s.setblocking(False)
assert s.connect_ex(('10.77.0.99', 4791)) == errno.EINPROGRESS
touch('$work/connecting')
time.sleep(1000)" &
	wait_for "$BOUND" exists "$work/connecting" || fail "no socket is connecting"
	# A reader that stands still leaves the sender an orphan with data to send.
	kill -STOP "${pid[stopped]}"
	wait_for "$BOUND" sends_stalled || fail "the sender is not held up"
	ip netns pids $a | xargs kill -KILL
	ip netns del $a
	wait_for "$BOUND" wire_gone $b || fail "the namespace does not end: $(in_ns $b cat /proc/net/sdp)"
	kill -CONT "${pid[stopped]}"
	expect_error stopped
	# This one's peer had nothing to send, and has said so.
	expect_orderly quiet
	wait_for "$BOUND" no_sockets $b || fail "b still has sockets"
}

sends_stalled() { [ "$(counter_in $a SendWaits)" != 0 ]; }

# As long as a socket is open its namespace lives, name or no name.
lives_as_long_as_a_socket() {
	need_iwarp
	renew
	server_in $b server both $addr_b --bytes 5000
	ip netns exec $a python3 -c "$prelude
s = sdp_socket()
enter('/proc/1/ns/net')
touch('$work/made')
while not os.path.exists('$work/deleted'):
    time.sleep(0.01)
s.connect(('$addr_b', 4791))
touch('$work/connected')
time.sleep(1000)" &
	pid[owner]=$!
	wait_for "$BOUND" exists "$work/made" || fail "no socket"
	ip netns del $a
	touch "$work/deleted"
	wait_for "$BOUND" exists "$work/connected" || fail "it could not connect any more"
	! wire_gone $b || fail "the namespace has ended under a connection"
	kill -KILL "${pid[owner]}"
	expect_error server
	wait_for "$BOUND" wire_gone $b || fail "the namespace does not end"
}

module_stays_while_used() {
	ip netns exec $a python3 -c "$prelude
s = sdp_socket()
touch('$work/made')
time.sleep(1000)" &
	pid[owner]=$!
	wait_for "$BOUND" exists "$work/made" || fail "no socket"
	! rmmod sdp 2> "$work/rmmod" || fail "the module could be unloaded in use"
	grep -qi 'in use' "$work/rmmod" || fail "rmmod says: $(< "$work/rmmod")"
	kill -KILL "${pid[owner]}"
}

# ---- programs that stand still ----

# Connections within a namespace whose owners stand still in calls.
# freeze_in NAMESPACE ADDRESS
freeze_in() {
	ip netns exec "$1" ./sdp_freeze "$2" $((334 / SCALE)) "$work/frozen" > "$work/freezer.out" 2>&1 &
	pid[freezer]=$!
	wait_for "$BOUND" exists "$work/frozen" || fail "nobody stands still"
}

# Nobody has a socket: each holds the module.
module_is_unused() { [ ! -e /sys/module/sdp/refcnt ] || [ "$(< /sys/module/sdp/refcnt)" = 0 ]; }

make_another() {
	ip netns add $c
	ip link add sdp-test-c index 7703 mtu 4500 netns $c type veth peer name sdp-test-d
	ip -n $c link set lo up
	ip -n $c link set sdp-test-c up
	ip link set sdp-test-d up
	ip -n $c addr add $addr_c/24 dev sdp-test-c
	in_ns $c rdma link add iw-test-c type $iwarp netdev sdp-test-c
}

another_is_gone() { [ ! -e /sys/class/net/sdp-test-d ] && has_no_device c; }

another_comes_and_goes() {
	make_another
	transfer $c $c $addr_c
	ip netns del $c
	wait_for "$BOUND" another_is_gone || fail "another namespace does not end"
}

# The kernel ends namespaces one after the other: who holds up one holds up all. Its
# interfaces go first, so that it takes one more to show that one has ended.
ends_beside_frozen_sockets() {
	need_iwarp
	renew
	in_ns $a sysctl -qw net.sdp.fin_timeout=5
	freeze_in $a $addr_a
	ip netns del $a
	another_comes_and_goes
	another_comes_and_goes
	! gone "${pid[freezer]}" || fail "nobody stands still any more"
	has_device a || fail "the namespace has ended under sockets"
	kill -KILL "${pid[freezer]}"
	wait_for "$BOUND" wire_gone $b || fail "the namespace does not end"
	wait_for "$BOUND" has_no_device a || fail "the device outlives its namespace"
	wait_for "$BOUND" module_is_unused || fail "$(< /sys/module/sdp/refcnt) references to the module"
	another_comes_and_goes
}

# The interface goes, and with it the device that its connections use. Who deletes it
# cannot be killed before it has gone.
interface_of_frozen_sockets_goes() {
	local deleter
	need_iwarp
	renew
	freeze_in $a $addr_a
	ip -n $b link del sdp-test-b &
	deleter=$!
	if ! wait_for "$BOUND" gone $deleter; then
		kill -KILL "${pid[freezer]}"
		fail "the interface does not go"
	fi
	wait $deleter || fail "the interface cannot be deleted"
	wait_for "$BOUND" has_no_device a || fail "the device does not go"
	! gone "${pid[freezer]}" || fail "nobody stands still any more"
	kill -KILL "${pid[freezer]}"
	wait_for "$BOUND" no_sockets $a || fail "the sockets are still there"
}

[ "${SDP_TEST_FAMILY:-sdp}" = sdp ] || skip_all "this is about AF_SDP"
[ "$(id -u)" = 0 ] || skip_all "needs root"
have_family || skip_all "no AF_SDP sockets in this kernel"
trap 'remove_namespaces; rm -rf "$work"' EXIT
remove_namespaces
make_namespaces

run_cases sockets_and_counters_are_private settings_are_private addresses_of_others_are_unknown \
	data_between_namespaces settings_take_effect same_addresses_elsewhere listeners_on_one_port \
	sockets_made_elsewhere module_stays_while_used ends_with_live_sockets lives_as_long_as_a_socket \
	ends_beside_frozen_sockets interface_of_frozen_sockets_goes
