#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# AF_SDP at loopback addresses, which it has if the administrator has made an iWARP device
# of the interface lo: what reaches whom, and that nothing of that is so without one. Needs
# root, iwarp0 and iwarp1, and that lo has no device; makes and removes one there, and
# namespaces. SDP_RUN names sdp-run.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

ns=iwarp-test
device=iwarp-lo
outer=10.0.0.2
near=10.0.8.1 remote=10.0.8.2
port=4795
bytes=1000000
run=${SDP_RUN:-$(command -v sdp-run || true)}

in_ns() { ip netns exec $ns "$@"; }

no_device_here() { ! rdma link show $device/1 > /dev/null 2>&1; }

remove() {
	end_children
	ip link delete sdp-near 2> /dev/null || true
	ip addr del 127.0.0.9/8 dev "$(netdev_of $outer)" 2> /dev/null || true
	ip netns delete $ns 2> /dev/null || true
	rdma link delete $device 2> /dev/null || true
	wait_for "$BOUND" no_device_here || fail "the device stays"
}

allow() {
	trap remove EXIT
	rdma link add $device type iwarp netdev lo
	wait_for "$BOUND" active $device || fail "the device is not active"
}

# What Python knows as an inet socket may be one of AF_SDP, or of TCP to compare with.
prelude='
import errno, os, socket, sys
def stream(address, tcp=False):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_STREAM, 6 if tcp else 259)
def outcome(call, *args):
    try:
        call(*args)
    except OSError as error:
        return errno.errorcode[error.errno]
    return "OK"
def bound(address, port, tcp=False, option=None):
    s = stream(address, tcp)
    if option:
        s.setsockopt(*option, 1)
    s.bind((address, port))
    return s
def listener(*args, **kw):
    s = bound(*args, **kw)
    s.listen()
    return s
def same(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found}, not {wanted}")
'

# A program on its standard input.
# python [COMMAND...]
python() {
	{ echo "$prelude"; cat; } > "$work/program.py"
	timeout "$BOUND" "$@" python3 "$work/program.py" > "$work/python.out" 2>&1 ||
		fail "status $?"
}

# Both ways, and each byte is compared; so many have gone over AF_SDP.
# expect_transfer ADDRESS [LISTENER]: where that listens, if not at the same address
expect_transfer() {
	local before
	before=$(counter BytesIn)
	start_server server both "${2:-$1}" --port $port --bytes $bytes
	start_client client both "$1" --port $port --bytes $bytes
	expect_orderly server received=$bytes
	expect_orderly client received=$bytes
	(($(counter BytesIn) - before == 2 * bytes)) || fail "$1: not over AF_SDP"
}

# expect_closed ADDRESS [COMMAND...]: nobody listens there
expect_closed() {
	local address=$1 via
	shift
	via=("$@")
	start_client closed idle "$address" --port $port
	end_of closed
	[ "$status" != 0 ] || fail "somebody listens at $address"
	grep -q ECONNREFUSED "$work/closed.out" || fail "$address is not refused"
}

# As if there were no AF_SDP at these addresses, which Soft-RoCE cannot change.
expect_nothing() {
	python "$@" <<- 'EOF'
		for address in "127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1":
		    s = stream(address)
		    same(f"bind to {address}", outcome(s.bind, (address, 0)), "EADDRNOTAVAIL")
		    same(f"connect to {address}", outcome(s.connect, (address, 4795)), "ENETUNREACH")
		for address in "0.0.0.0", "::", "::ffff:0.0.0.0":
		    s = stream(address)
		    same(f"connect to {address}", outcome(s.connect, (address, 4795)), "ENETUNREACH")
		for option in socket.SO_REUSEADDR, socket.SO_REUSEPORT:
		    s = stream("127.0.0.1")
		    s.setsockopt(socket.SOL_SOCKET, option, 1)
		    same("bind to a port", outcome(s.bind, ("127.0.0.1", 4795)), "EADDRNOTAVAIL")
	EOF
}

without_device() {
	start_server server recv 0.0.0.0 --port $port
	expect_nothing
	start_client client send $outer --port $port --bytes $bytes
	expect_orderly server received=$bytes
}

by_address() {
	local address
	allow
	for address in 127.0.0.1 127.0.0.2 127.255.0.9 ::1 ::ffff:127.0.0.1; do
		expect_transfer $address
	done
	expect_transfer ::ffff:127.0.0.2 127.0.0.2
}

by_any_address() {
	local address
	allow
	for address in 127.0.0.1 127.0.0.2 $outer; do expect_transfer "$address" 0.0.0.0; done
	for address in ::1 127.0.0.1 fd00::2 $outer; do expect_transfer "$address" ::; done
}

# A listener that is there before the device.
device_comes_later() {
	start_server server recv 0.0.0.0 --port $port
	allow
	start_client client send 127.0.0.1 --port $port --bytes $bytes
	expect_orderly server received=$bytes
}

this_host() {
	allow
	expect_transfer 0.0.0.0 127.0.0.1
	expect_transfer 0.0.0.0 0.0.0.0
	expect_transfer :: ::1
	expect_transfer ::ffff:0.0.0.0 127.0.0.1
}

allow_there() {
	in_ns rdma link add $device-there type iwarp netdev lo
	wait_for "$BOUND" active $device-there || fail "the device there is not active"
}

for_this_address_only() {
	local address
	allow
	make_other_host "$ns" "$near" "$remote"
	for address in 127.0.0.1 ::1; do
		start_server server recv $address --port $port
		expect_closed 127.0.0.2
		expect_closed $outer
		expect_closed fd00::2
		expect_closed $near ip netns exec $ns
		start_client client send $address --port $port --bytes $bytes
		expect_orderly server received=$bytes
	done
	start_server server recv ::1 --port $port
	expect_closed 127.0.0.1
	start_client client send ::1 --port $port --bytes $bytes
	expect_orderly server received=$bytes
	# And the other host's is reached by neither.
	start_server server recv $outer --port $port
	expect_closed 127.0.0.1
	start_client client send $outer --port $port --bytes $bytes
	expect_orderly server received=$bytes
}

own_in_each_namespace() {
	allow
	make_other_host "$ns" "$near" "$remote"
	expect_nothing ip netns exec $ns
	start_server here recv 127.0.0.1 --port $port
	allow_there
	expect_closed 127.0.0.1 ip netns exec $ns
	via=(ip netns exec "$ns")
	start_server there recv 127.0.0.1 --port $port
	start_client client send 127.0.0.1 --port $port --bytes 400000
	expect_orderly there received=400000
	via=()
	start_client client send 127.0.0.1 --port $port --bytes $bytes
	expect_orderly here received=$bytes
	rdma link delete $device
	via=(ip netns exec "$ns")
	start_server there recv ::1 --port $port
	start_client client send ::1 --port $port --bytes 400000
	expect_orderly there received=400000
	via=()
	expect_nothing
}

# What both ends say of themselves and each other is what TCP says.
names() {
	allow
	python <<- 'EOF'
		import itertools
		# Another one each time: iWARP's TCP has the last one for a while.
		fresh = itertools.count(4800)
		def see(tcp, at, to, own=None, chosen=False):
		    one = listener(at, 0, tcp=tcp)
		    client = stream(to, tcp)
		    if own:
		        client.bind((own, next(fresh) if chosen else 0))
		    client.connect((to, one.getsockname()[1]))
		    child, peer = one.accept()
		    client.sendall(b"x" * 100)
		    assert child.recv(100, socket.MSG_WAITALL) == b"x" * 100
		    same("what accept() says", peer, child.getpeername())
		    same("the client's port", client.getsockname()[1], child.getpeername()[1])
		    seen = [s() for s in (one.getsockname, client.getsockname, client.getpeername,
		                          child.getsockname, child.getpeername)]
		    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
		    client.close()
		    try:
		        child.recv(1)
		    except ConnectionResetError:
		        pass
		    return [address[0] for address in seen]
		cases = [
		    ("127.0.0.1", "127.0.0.1"), ("127.0.0.2", "127.0.0.2"), ("0.0.0.0", "127.0.0.2"),
		    ("0.0.0.0", "0.0.0.0"), ("::1", "::1"), ("::", "::1"), ("::", "::"),
		    ("::", "127.0.0.1"), ("::", "::ffff:127.0.0.3"), ("::ffff:127.0.0.1", "127.0.0.1"),
		    ("127.0.0.1", "127.0.0.1", "127.0.0.5"), ("0.0.0.0", "0.0.0.0", "127.0.0.6"),
		    ("127.0.0.1", "127.0.0.1", "0.0.0.0", True), ("::1", "::1", "::", True),
		    ("127.0.0.1", "127.0.0.1", "127.0.0.7", True), ("::1", "::1", "::1", True),
		    ("127.0.0.1", "::ffff:127.0.0.1", "::", True), ("::", "::ffff:127.0.0.1", "::"),
		]
		for case in cases:
		    same(case, see(False, *case), see(True, *case))
	EOF
}

# Who has which address of a port, and who cannot.
ports() {
	allow
	python <<- 'EOF'
		def both(what, call):
		    same(what, call(False), call(True))
		def side_by_side(tcp, *addresses):
		    reuse = (socket.SOL_SOCKET, socket.SO_REUSEADDR)
		    have = []
		    for address in addresses:
		        try:
		            have.append(listener(address, 4797, tcp=tcp, option=reuse))
		        except OSError as error:
		            return address, errno.errorcode[error.errno]
		for order in (["127.0.0.1", "::1", "10.0.0.2", "127.0.0.2"],
		              ["10.0.0.2", "127.0.0.2", "::1", "127.0.0.1"],
		              ["127.0.0.1", "0.0.0.0"], ["0.0.0.0", "127.0.0.1"],
		              ["::1", "::"], ["::", "::1"], ["::", "127.0.0.1"],
		              ["127.0.0.1", "127.0.0.1"], ["::1", "0.0.0.0"], ["::1", "fd00::2"]):
		    both(order, lambda tcp: side_by_side(tcp, *order))
		# A port that is refused can be had when it is free.
		s = listener("127.0.0.1", 4797)
		other = stream("127.0.0.1")
		same("a second", outcome(other.bind, ("127.0.0.1", 4797)), "EADDRINUSE")
		s.close()
		same("free again", outcome(other.bind, ("127.0.0.1", 4797)), "OK")
		same("listens", outcome(other.listen), "OK")
		same("a TCP port", outcome(lambda: listener("127.0.0.1", 4797, tcp=True)), "EADDRINUSE")
	EOF
}

# A socket that has failed can do all that it could before.
tries_again() {
	allow
	python <<- 'EOF'
		s = bound("0.0.0.0", 4798)
		same("nobody", outcome(s.connect, ("127.0.0.1", 4799)), "ECONNREFUSED")
		one = listener("127.0.0.1", 4799)
		same("connects", outcome(s.connect, ("127.0.0.1", 4799)), "OK")
		same("the port", s.getsockname(), ("127.0.0.1", 4798))
		s = bound("127.0.0.2", 0)
		same("nobody", outcome(s.connect, ("127.0.0.2", 4799)), "ECONNREFUSED")
		same("the address", s.getsockname()[0], "127.0.0.2")
		same("connects", outcome(s.connect, ("127.0.0.1", 4799)), "OK")
		same("the address", s.getsockname()[0], "127.0.0.2")
		s = bound("127.0.0.3", 4797)
		same("nobody", outcome(s.connect, ("127.0.0.2", 4799)), "ECONNREFUSED")
		same("listens", outcome(s.listen), "OK")
		same("is there", outcome(stream("127.0.0.3").connect, ("127.0.0.3", 4797)), "OK")
		s = stream("127.0.0.1")
		same("taken", outcome(s.bind, ("127.0.0.1", 4799)), "EADDRINUSE")
		there = listener("10.0.0.2", 4796)
		same("elsewhere", outcome(s.connect, ("10.0.0.2", 4796)), "OK")
		s = bound("127.0.0.4", 4795)
		same("no way", outcome(s.connect, ("10.0.0.99", 4799)), "EINVAL")
		same("others", outcome(bound, "127.0.0.5", 4795), "OK")
	EOF
}

# The way from another interface's address, or to one, is not that of loopback.
other_interfaces() {
	allow
	python <<- 'EOF'
		one = listener("127.0.0.1", 4799)
		s = bound("10.0.0.2", 0)
		same("from there", outcome(s.connect, ("127.0.0.1", 4799)), "ENETUNREACH")
		s = stream("127.0.0.1")
		s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
		same("by lo", outcome(s.connect, ("127.0.0.1", 4799)), "OK")
		same("peer", one.accept()[1], s.getsockname())
		wire = os.popen("ip -o addr show to 10.0.0.2").read().split()[1]
		s = stream("127.0.0.1")
		s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, wire.encode())
		same("by the wire", outcome(s.connect, ("127.0.0.1", 4799)), "ENETUNREACH")
		same("none of ours", outcome(bound, "127.0.0.1", 0), "OK")
		os.system(f"ip addr add 127.0.0.9/8 dev {wire}")
		same("another interface's", outcome(bound, "127.0.0.9", 0), "EADDRNOTAVAIL")
		same("nobody else's", outcome(bound, "127.0.0.8", 0), "OK")
	EOF
}

# Sockets that share the port of a loopback address.
shared_port() {
	allow
	python <<- 'EOF'
		def member():
		    return listener("127.0.0.1", 4797, option=(socket.SOL_SOCKET, socket.SO_REUSEPORT))
		members = [member(), member()]
		clients = [stream("127.0.0.1") for n in range(4)]
		for s in clients:
		    s.connect(("127.0.0.1", 4797))
		for s in members * 2:
		    s.settimeout(20)
		    s.accept()
	EOF
}

lo_is_down() {
	make_other_host "$ns" "$near" "$remote"
	trap remove EXIT
	allow_there
	in_ns ip link set lo down
	python ip netns exec $ns <<- 'EOF'
		same("bind", outcome(stream("127.0.0.1").bind, ("127.0.0.1", 4797)), "EADDRNOTAVAIL")
		same("connect", outcome(stream("127.0.0.1").connect, ("127.0.0.1", 4797)), "ENETUNREACH")
	EOF
}

device_goes() {
	allow
	start_server listens recv 127.0.0.2 --port $((port + 1))
	start_server server recv 127.0.0.1 --port $port
	start_client client send 127.0.0.1 --port $port
	wait_moving server
	rdma link delete $device
	expect_error client
	expect_error server
	end_of listens
	[ "$status" != 0 ] || fail "a listener outlives its device"
	wait_for "$BOUND" no_device_here || fail "the device stays"
	expect_nothing
	allow
	expect_transfer 127.0.0.1
}

# A server and a client that know nothing of all this, on localhost.
# fetch RULE: sets $moved to the bytes that went over AF_SDP
fetch() {
	local before
	[ -n "$run" ] || skip "no sdp-run"
	command -v curl > /dev/null || skip "no curl"
	allow
	echo "$1" > "$work/libsdp.conf"
	export LIBSDP_CONFIG_FILE=$work/libsdp.conf
	head -c 8M /dev/urandom > "$work/served"
	before=$(counter BytesIn)
	"$run" python3 -m http.server --bind localhost --directory "$work" $port \
		> "$work/http.out" 2>&1 &
	wait_for "$BOUND" grep -q ":$(printf %04X $port) .* A " /proc/net/sdp ||
		fail "the server does not listen"
	"$run" curl -sS --max-time "$BOUND" -o "$work/fetched" http://localhost:$port/served \
		2> "$work/curl.out" || fail "curl: status $?"
	cmp "$work/served" "$work/fetched" || fail "the file is another one"
	moved=$(($(counter BytesIn) - before))
}

unmodified() {
	fetch 'use sdp * * *:*'
	((moved > 8 * 1024 * 1024)) || fail "$moved bytes over AF_SDP"
}

# A listener that may have either has TCP's port, and RDMA's request is in vain there.
unmodified_with_fallback() {
	fetch 'use both * * *:*'
	((moved == 0)) || fail "$moved bytes over AF_SDP"
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e "$iwarp_design" ] || skip_all "no iWARP devices of our own"
[ -e /proc/net/sdp_devices ] || skip_all "the module is not loaded"
[ -z "$(rdma_of lo)" ] || skip_all "the interface lo has a device"

run_cases without_device by_address by_any_address device_comes_later this_host \
	for_this_address_only own_in_each_namespace names ports tries_again other_interfaces \
	shared_port lo_is_down device_goes unmodified unmodified_with_fallback
