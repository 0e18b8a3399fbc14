#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What happens to AF_SDP when the ground moves: the RDMA device is deleted, the
# link goes down, the module is to be unloaded. Both ends are in this machine:
# the server's address on one Soft-RoCE device, the client's on another.
# Needs root and changes (and restores) devices and links.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh
# shellcheck source=../lib/sdp_link.sh source-path=SCRIPTDIR
. ./sdp_link.sh

server=${SDP_TEST_SERVER:-10.0.0.2}
client=${SDP_TEST_CLIENT:-10.0.0.1}

# A transfer, endless from client to server.
start_transfer() {
	start_server server recv "$server"
	start_client client send "$server"
	wait_moving client
	wait_moving server
}

# ---- the RDMA device ----

device_deleted_in_transfer() {
	start_transfer
	timeout "$BOUND" rdma link delete "$server_rdma" ||
		fail "rdma link delete did not come back"
	expect_error server
	expect_error client
}

device_added_again() {
	exists "/sys/class/infiniband/$server_rdma" || add_device ||
		fail "$server_rdma did not come up"
	check_works
}

# Nothing moves, yet both ends of the connection and a listener must let go.
device_deleted_when_idle() {
	start_server server idle "$server"
	start_client client idle "$server"
	wait_moving server
	wait_moving client
	start_server listener idle "$server" --port 4793
	timeout "$BOUND" rdma link delete "$server_rdma" ||
		fail "rdma link delete did not come back"
	expect_error server
	# Whether its accept() has failed by now or still waits is left open.
	kill -KILL "${pid[listener]}" 2> /dev/null || true
	end_of listener
	add_device || fail "$server_rdma did not come up"
	check_works
}

# Three sockets share a port, and two of them listen.
# shellcheck disable=SC2016
sharing_server='
import errno, os, select, socket, sys, time
work, server, client = sys.argv[1:]
def new():
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 259)
    s.settimeout(60)
    return s
def sharing():
    s = new()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.bind((server, 4795))
    return s
def connect():
    s = new()
    s.bind((client, 0))
    s.connect((server, 4795))
    return s
# Who only shares it has POLLHUP all the time, and is told a moment after the others.
def told(s):
    p = select.poll()
    p.register(s, 0)
    assert p.poll(60000), "not told"
    err, end = 0, time.monotonic() + 60
    while not err and time.monotonic() < end:
        err = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        time.sleep(0 if err else 0.01)
    assert err == errno.ENETDOWN, os.strerror(err)
all = [sharing() for i in range(3)]
for s in all[:2]:
    s.listen()
open(work + "/sharing", "w").close()
for s in all:
    told(s)
for s in all[:2]:
    try:
        s.accept()
        sys.exit("accept() without a device")
    except OSError as e:
        assert e.errno == errno.EINVAL, e
open(work + "/told", "w").close()
while not os.path.exists(work + "/again"):
    time.sleep(0.05)
for s in all:
    s.listen()
peers = [connect() for i in range(3)]
for s in all:
    s.accept()
'

shared_port_goes_with_device() {
	local told
	python3 -c "$sharing_server" "$work" "$server" "$client" > "$work/sharing.out" 2>&1 &
	pid[sharing]=$!
	wait_for "$BOUND" exists "$work/sharing" || fail "nobody listens"
	timeout "$BOUND" rdma link delete "$server_rdma" ||
		fail "rdma link delete did not come back"
	told=yes
	wait_for "$BOUND" exists "$work/told" || told=no
	# Without it no other case would work.
	add_device || fail "$server_rdma did not come up"
	[ $told = yes ] || fail "not all have been told"
	touch "$work/again"
	end_of sharing
	[ "$status" = 0 ] || fail "they cannot share it again"
	check_works
}

# A listener with TCP behind it, which threads begin and end again and again.
# shellcheck disable=SC2016
listening_server='
import os, socket, sys, threading
work, server = sys.argv[1:]
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 259)
# SOL_SDP, SDP_TCP_FALLBACK, SDP_FALLBACK_ON
s.setsockopt(1025, 1, 1)
s.bind((server, 4796))
s.settimeout(0)
counts = {}
def again(name, call):
    counts[name] = 0
    while not os.path.exists(work + "/over"):
        try:
            call()
            counts[name] += 1
        except OSError:
            pass
threads = [threading.Thread(target=again, args=a) for a in (
    ("listen", s.listen), ("listen too", lambda: s.listen(7)),
    ("shutdown", lambda: s.shutdown(socket.SHUT_RD)), ("accept", s.accept))]
for t in threads:
    t.start()
open(work + "/begun", "w").close()
for t in threads:
    t.join()
assert counts["listen"] and counts["listen too"] and counts["shutdown"], counts
s.listen()
s.settimeout(60)
client = socket.create_connection((server, 4796), 60)
peer = s.accept()[0]
sent = os.urandom(100000)
writer = threading.Thread(target=client.sendall, args=(sent,))
writer.start()
got = peer.recv(len(sent), socket.MSG_WAITALL)
writer.join()
assert got == sent
'

listener_begins_as_device_goes() {
	local round
	python3 -c "$listening_server" "$work" "$server" > "$work/listening.out" 2>&1 &
	pid[listening]=$!
	wait_for "$BOUND" exists "$work/begun" || fail "nobody listens"
	for round in 1 2 3; do
		timeout "$BOUND" rdma link delete "$server_rdma" ||
			fail "rdma link delete did not come back"
		add_device || fail "$server_rdma did not come up again in round $round"
	done
	touch "$work/over"
	end_of listening
	[ "$status" = 0 ] || fail "it does not listen: $(< "$work/listening.out")"
	check_works
}

# Pages of programs that transfers use, and that are pinned for devices.
pinned() {
	[ ! -e /proc/sys/vm/stat_refresh ] || cat /proc/sys/vm/stat_refresh
	awk '$1 == "nr_foll_pin_acquired" { n += $2 } $1 == "nr_foll_pin_released" { n -= $2 } END { print n + 0 }' \
		/proc/vmstat
}

no_more_pages_than() { (($(counter ZcopyPages) == 0 && $(pinned) <= $1)); }

more_than() { (($(counter "$1") > $2)); }

# The device goes while it reads what a program writes, and another may reach
# the memory; afterwards nothing of it is in use.
# device_deleted_in_zcopy MODE COUNTER DEVICE
device_deleted_in_zcopy() {
	local before sent
	[ "$rdma_type" = rxe ] || skip "only Soft-RoCE has zero copy"
	begin_zcopy "$1"
	set_sysctl zcopy_fault_limit 100
	before=$(pinned)
	sent=$(counter "$2")
	start_transfer
	wait_for "$BOUND" more_than "$2" "$sent" || fail "nothing goes without a copy"
	timeout "$BOUND" rdma link delete "$3" || fail "rdma link delete did not come back"
	expect_error server
	expect_error client
	wait_for "$BOUND" no_more_pages_than "$before" ||
		fail "$(counter ZcopyPages) pages in use, $(pinned) pinned, $before before"
	renew_devices_left || fail "the devices could not be made anew"
	check_works
}

# Whichever is gone.
renew_devices_left() {
	exists "/sys/class/infiniband/$client_rdma" ||
		rdma link add "$client_rdma" type "$rdma_type" netdev "$client_dev"
	exists "/sys/class/infiniband/$server_rdma" ||
		rdma link add "$server_rdma" type "$rdma_type" netdev "$server_dev"
	wait_for "$BOUND" devices_ready
}

readers_device_deleted_in_sync() { device_deleted_in_zcopy sync ZcopyBytesOut "$server_rdma"; }
writers_device_deleted_in_sync() { device_deleted_in_zcopy sync ZcopyBytesOut "$client_rdma"; }
readers_device_deleted_in_async() { device_deleted_in_zcopy async AsyncBytesOut "$server_rdma"; }
writers_device_deleted_in_async() { device_deleted_in_zcopy async AsyncBytesOut "$client_rdma"; }

# ---- the link ----

link_down_in_transfer() {
	save_link
	start_transfer
	ip link set "$server_dev" down
	expect_error client
	expect_error server
	restore_link || fail "the devices are not active again"
	renew_devices || fail "the devices could not be made anew"
	check_works
}

# ---- the path's MTU ----

more_read_than() { (($(counter BytesIn) > $1)); }

wait_progress() {
	wait_for "$BOUND" more_read_than "$(($(counter BytesIn) + 1000000))" || fail "no data moves any more"
}

# IP remembers what did not fit.
set_mtu() {
	ip link set "$1" mtu "$2"
	ip route flush cache
}

# Whatever becomes of the case, the next ones find the links as they were.
restore_mtu_at_end() {
	trap 'end_children; set_mtu "$client_dev" 4500; set_mtu "$server_dev" 4500' EXIT
}

end_transfer() {
	kill -KILL "${pid[client]}"
	end_of client
	end_of server
}

# Soft-RoCE's queue pairs keep the MTU of their beginning, and a packet that
# could not leave is not repeated. TCP adapts.
mtu_shrinks() {
	local dev start
	restore_mtu_at_end
	for dev in "$client_dev" "$server_dev"; do
		start_transfer
		start=$SECONDS
		set_mtu "$dev" 1500
		if [ "$rdma_type" = siw ]; then
			wait_progress
			end_transfer
		else
			expect_error client
			expect_error server
			((SECONDS - start <= BOUND)) || fail "it took $((SECONDS - start)) s"
		fi
		set_mtu "$dev" 4500
	done
	check_works
}

mtu_grows() {
	local dev
	restore_mtu_at_end
	start_transfer
	for dev in "$client_dev" "$server_dev"; do
		set_mtu "$dev" 9000
		wait_progress
	done
	for dev in "$client_dev" "$server_dev"; do set_mtu "$dev" 4500; done
	wait_progress
	end_transfer
}

# ---- the connection manager ----

# The connection manager's last message of a handshake does not arrive, ever:
# an IPv4 packet of Soft-RoCE with UD SEND, management class 7, attribute 0x14.
drop_rtu() {
	tc qdisc add dev "$server_dev" clsact &&
		tc filter add dev "$server_dev" ingress protocol ip u32 match u8 0x64 0xff at 28 \
			match u8 0x07 0xff at 49 match u16 0x0014 0xffff at 64 action drop
}

rtu_dropped() { ! tc -s filter show dev "$server_dev" ingress | grep -q 'dropped 0,'; }

# The server speaks first, so that only what the client's side does by itself
# can tell the server's that the connection is there. It would take the
# connection manager a minute.
lost_rtu_heals() {
	local start
	[ "$rdma_type" = rxe ] || skip "only InfiniBand's connection manager has this message"
	drop_rtu 2> "$work/tc" || skip "this kernel cannot drop one kind of packet: $(< "$work/tc")"
	start=$SECONDS
	start_server server send "$server" --bytes 1000
	start_client client recv "$server"
	expect_orderly client received=1000
	expect_orderly server sent=1000
	rtu_dropped || fail "no such message came: $(tc -s filter show dev "$server_dev" ingress)"
	tc qdisc del dev "$server_dev" clsact
	((SECONDS - start < 40)) || fail "it took $((SECONDS - start)) s"
}

# ---- the module ----

sdp_in_use() { [ "$(awk '$1 == "sdp" { print $3 }' /proc/modules)" != 0 ]; }
unload() { rmmod sdp 2> "$work/rmmod"; }

rmmod_refused_in_use() {
	start_server server idle "$server"
	start_client client idle "$server"
	wait_moving server
	wait_moving client
	sdp_in_use || fail "the module's use count is 0 with two sockets open"
	! unload || fail "the module could be unloaded in use"
	grep -qi 'in use' "$work/rmmod" || fail "rmmod says: $(< "$work/rmmod")"
	kill -0 "${pid[server]}" || fail "the server is gone"
	kill -0 "${pid[client]}" || fail "the client is gone"
}

rmmod_when_unused() {
	[ -n "${SDP_MODULE:-}" ] || modinfo sdp > /dev/null 2>&1 ||
		skip "sdp is not installed and SDP_MODULE does not name it"
	wait_for "$BOUND" unload || fail "cannot unload: $(< "$work/rmmod")"
	! have_family || modinfo sdp > /dev/null 2>&1 ||
		fail "AF_SDP is still there"
	lsmod | grep -q '^sdp ' || load_module
	check_works
}

find_devices
run_cases lost_rtu_heals mtu_grows mtu_shrinks \
	device_deleted_in_transfer device_added_again device_deleted_when_idle \
	shared_port_goes_with_device listener_begins_as_device_goes \
	readers_device_deleted_in_sync writers_device_deleted_in_sync \
	readers_device_deleted_in_async writers_device_deleted_in_async \
	rmmod_refused_in_use rmmod_when_unused link_down_in_transfer
