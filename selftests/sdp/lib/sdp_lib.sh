# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# KTAP, conditions and processes for the shell tests of AF_SDP. A case is a
# function; it runs in a subshell, says why it fails with 'fail', skips with
# 'skip', and everything it has started ends with it.

KTAP_FAIL=1
KTAP_SKIP=4
SCALE=${SDP_TEST_SCALE:-1}
# Within this time everything that can fail has to have failed, in seconds.
BOUND=${SDP_TEST_BOUND:-$((60 * SCALE))}

ktap_count=0
ktap_failed=0
ktap_passed=0

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
peer=$here/sdp_peer
# What comes before the peers' program on its command line.
via=()
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

diag() { echo "# $*"; }

fail() {
	local out
	diag "${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $*"
	for out in "$work"/*.out; do
		[ ! -s "$out" ] || sed "s/^/# ${out##*/}: /" "$out"
	done
	exit $KTAP_FAIL
}

skip() {
	echo "$*" > "$work/skip"
	exit $KTAP_SKIP
}

skip_all() {
	echo "TAP version 13"
	if [ "${SDP_TEST_REQUIRE:-0}" = 1 ]; then
		echo "Bail out! $*"
		exit $KTAP_FAIL
	fi
	echo "1..0 # SKIP $*"
	exit $KTAP_SKIP
}

# A condition that must come true within the bound.
# wait_for SECONDS COMMAND...
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS <= end)) || return 1
		sleep 0.05
	done
}

exists() { [ -e "$1" ]; }
gone() { ! kill -0 "$1" 2> /dev/null; }

end_job() {
	# timeout(1) would leave what it has started.
	pkill -KILL -P "$1" 2> /dev/null || true
	kill -KILL "$1" 2> /dev/null || true
}

end_children() {
	local job
	for job in $(jobs -p); do end_job "$job"; done
	wait 2> /dev/null || true
}

# In the background, because errexit does not work on the left of '||'.
# run_case FUNCTION
run_case() {
	local status=0
	ktap_count=$((ktap_count + 1))
	rm -f "$work"/*
	scope=${0##*/}-$1
	(
		trap end_children EXIT
		"$1"
	) &
	wait $! || status=$?
	# Whatever became of it, the other machine waits for this end no longer.
	[ -z "${PEER:-}" ] || vm-barrier --leave "$scope"
	case $status in
	0)
		echo "ok $ktap_count $1"
		ktap_passed=$((ktap_passed + 1))
		;;
	"$KTAP_SKIP") echo "ok $ktap_count $1 # SKIP $(< "$work/skip")" ;;
	*)
		echo "not ok $ktap_count $1"
		ktap_failed=$((ktap_failed + 1))
		;;
	esac
}

# run_cases FUNCTION...
run_cases() {
	local name
	echo "TAP version 13"
	echo "1..$#"
	for name in "$@"; do run_case "$name"; done
	diag "Totals: pass:$ktap_passed fail:$ktap_failed xfail:0 xpass:0" \
		"skip:$((ktap_count - ktap_passed - ktap_failed)) error:0"
	((ktap_failed == 0)) || exit $KTAP_FAIL
	((ktap_passed > 0)) || exit $KTAP_SKIP
}

# ---- a wire that may lose everything ----

# Where a queueing discipline refuses a packet, as while another takes its place, the
# Soft-RoCE of Linux 6.12 sees an error of the queue pair, from which that of the
# connection manager does not recover. So one discipline stays, and is changed.
# wire_add NETDEV
wire_add() { tc qdisc add dev "$1" root netem limit 100000; }
wire_del() { tc qdisc del dev "$1" root; }
wire_silence() { tc qdisc change dev "$1" root netem limit 100000 loss 100%; }
wire_end_silence() { tc qdisc change dev "$1" root netem limit 100000; }

# ---- one end of a connection each, in the background ----

declare -A pid

# start_server NAME MODE ADDRESS [OPTION...]: sets pid[NAME], waits until it listens
start_server() {
	local name=$1 mode=$2 address=$3
	shift 3
	rm -f "$work/$name.ready" "$work/$name.moving"
	"${via[@]}" "$peer" --role server --mode "$mode" --address "$address" \
		--ready "$work/$name.ready" --moving "$work/$name.moving" "$@" \
		> "$work/$name.out" 2>&1 &
	pid[$name]=$!
	wait_for "$BOUND" exists "$work/$name.ready" ||
		fail "the server on $address does not listen: $(< "$work/$name.out")"
}

# start_client NAME MODE ADDRESS [OPTION...]: sets pid[NAME]
start_client() {
	local name=$1 mode=$2 address=$3
	shift 3
	rm -f "$work/$name.moving"
	"${via[@]}" "$peer" --role client --mode "$mode" --address "$address" \
		--moving "$work/$name.moving" "$@" > "$work/$name.out" 2>&1 &
	pid[$name]=$!
}

# wait_moving NAME
wait_moving() {
	wait_for "$BOUND" exists "$work/$1.moving" ||
		fail "$1 moved no data: $(< "$work/$1.out")"
}

# The exit status of a process that must end within the bound.
# end_of NAME: sets $status
end_of() {
	if ! wait_for "$BOUND" gone "${pid[$1]}"; then
		diag "kernel stack of $1:"
		sed 's/^/#   /' "/proc/${pid[$1]}/task/"*/stack 2> /dev/null || true
		fail "$1 has not ended within $BOUND s"
	fi
	status=0
	wait "${pid[$1]}" || status=$?
	diag "$1: $(< "$work/$1.out")"
}

# expect_error NAME: its connection ended in an error
expect_error() {
	end_of "$1"
	[ "$status" = 3 ] || fail "$1: expected a connection error, got status $status"
	grep -Eq "error=(${2:-ECONNRESET|ETIMEDOUT|EPIPE|ENETDOWN|ENODEV|EHOSTUNREACH|ECONNABORTED}) " "$work/$1.out" ||
		fail "$1: not an error of a broken connection"
}

# expect_orderly NAME [PATTERN-IN-OUTPUT]
expect_orderly() {
	end_of "$1"
	[ "$status" = 0 ] || fail "$1: expected an orderly end, got status $status"
	[ $# = 1 ] || grep -q "$2" "$work/$1.out" || fail "$1: expected $2"
}

# What a whole life of a connection looks like. The caller sets $server.
check_works() {
	start_server after recv "${server:?}" --port 4792
	start_client before send "${server:?}" --port 4792 --bytes 1000000
	expect_orderly after received=1000000
	expect_orderly before sent=1000000
}

# Seconds within which a silent peer is noticed, see Documentation/user/failures.rst.
# A machine under emulation on a busy host may take some more. What it looks like
# to the thread that hears of it first is ETIMEDOUT, and to the other EPIPE.
# shellcheck disable=SC2034
silence=$((25 + 5 * SCALE))

# Within which time it was over, by the program's own clock.
# ended_within SECONDS SINCE
ended_within() {
	((SECONDS - $2 <= $1)) || fail "it took $((SECONDS - $2)) s, more than $1"
}

# Another program of these tests as a case, each of its own cases with a result. Settings of
# AF_SDP do not change what TCP does, so that nothing is compared with it again.
# rerun PROGRAM
rerun() {
	echo "    # Subtest: ${scope#"${0##*/}-"}: $1"
	SDP_TEST_WITHOUT_TCP=1 "$here/$1" 2>&1 | sed 's/^/    /' || fail "$1 fails"
}

sysctls=/proc/sys/net/sdp
declare -A sysctl_default

# set_sysctl NAME VALUE
set_sysctl() {
	[ -n "${sysctl_default[$1]:-}" ] || sysctl_default[$1]=$(< $sysctls/"$1")
	echo "$2" > $sysctls/"$1"
}

restore_sysctls() {
	local name
	for name in "${!sysctl_default[@]}"; do
		echo "${sysctl_default[$name]}" > $sysctls/"$name"
	done
}

# insert_module [PARAMETER...]
insert_module() {
	if [ -n "${SDP_MODULE:-}" ]; then
		insmod "$SDP_MODULE" "$@"
	else
		modprobe sdp "$@"
	fi
}

iwarp_file() { echo "${SDP_IWARP:-iwarp}"; }

insert_iwarp() {
	modinfo "$(iwarp_file)" > /dev/null 2>&1 || skip "there is no iwarp.ko"
	if [ -n "${SDP_IWARP:-}" ]; then
		modinfo -F depends "$SDP_IWARP" | tr , '\n' | xargs -r modprobe -a
		insmod "$SDP_IWARP"
	else
		modprobe iwarp
	fi
}

is_loaded() { grep -q "^$1 " /proc/modules; }
remove_module() { ! is_loaded "$1" || rmmod "$1" 2> "$work/rmmod"; }

# Sockets of who has just ended may hold it for a moment.
unload_sdp() { wait_for "$BOUND" remove_module sdp || fail "sdp is in use: $(< "$work/rmmod")"; }

# The module, and the wire that these tests are about even where both ends are here.
# load_module [PARAMETER...]
load_module() {
	[ -z "${SDP_ULP:-}" ] || set -- ulp="$SDP_ULP" "$@"
	insert_module "$@"
	echo "${SDP_LOCAL:-0}" > $sysctls/local
}

# What a column of /proc/net/sdp_devices says of a device.
# device_says DEVICE COLUMN
device_says() {
	awk -v device="$1" -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
		NR > 1 && $1 == device { print $at }' /proc/net/sdp_devices
}

# expect_device DEVICE COLUMN=VALUE...
expect_device() {
	local device=$1 wanted says
	shift
	for wanted in "$@"; do
		says=$(device_says "$device" "${wanted%%=*}")
		[ "$says" = "${wanted#*=}" ] || fail "$device: not $wanted, but '$says'"
	done
}

# Devices of whose providers nothing is known.
# expect_verbs DEVICE
expect_verbs() {
	expect_device "$1" interface=verbs flags=- segment=0 tx_full=0 tx_wake=0 markers=- crc=- \
		demux=- early=- tx_buffer=- coalesce=- flow_control=- tx_zcopy=-
}

# As in sdp_engine.c: a cable keeps the order of packets, for which Soft-RoCE's
# RDMA reads are made.
declare -A order_default

keep_order() {
	local queue
	for queue in /sys/class/net/*/queues/rx-*/rps_cpus; do
		# One processor alone keeps it anyway.
		[ -e "$queue" ] || continue
		order_default[$queue]=$(< "$queue")
		echo 1 > "$queue"
	done
}

restore_order() {
	local queue
	for queue in "${!order_default[@]}"; do
		[ ! -e "$queue" ] || echo "${order_default[$queue]}" > "$queue"
	done
}

end_zcopy() {
	end_children
	restore_order
	restore_sysctls
}

# Zero copy for the time of a case.
# begin_zcopy MODE [THRESHOLD]
begin_zcopy() {
	trap end_zcopy EXIT
	keep_order
	set_sysctl zcopy "$1"
	set_sysctl zcopy_threshold "${2:-4096}"
}

# The value of a counter of the module, read by COMMAND if there is one.
# counter NAME [COMMAND...]
counter() {
	local name=$1
	shift
	"$@" cat /proc/net/sdpstats | awk -v name="$name" '$1 == name { print $2 }'
}

# On two machines: wait until the other has come to the same point of this case.
# meet NAME
meet() {
	VM_SCOPES="${VM_SCOPES:-} $scope" vm-barrier "$scope-$1" ||
		fail "the other machine did not come to '$1'"
}

# The netdev with an address, and the RDMA device on that netdev.
netdev_of() { ip -o addr show to "$1" | awk 'NR == 1 { print $2 }'; }
rdma_of() { rdma link show | sed -n "s|^link \([^/]*\)/.* netdev $1 *$|\1|p"; }
# active RDMA-DEVICE
active() { rdma link show "$1/1" 2> /dev/null | grep -q 'state ACTIVE'; }

# A network namespace with an interface here and one there, and an iWARP device on each.
# make_other_host NAMESPACE NEAR-ADDRESS REMOTE-ADDRESS
make_other_host() {
	local there=(ip netns exec "$1")
	ip netns add "$1"
	"${there[@]}" ip link set lo up
	ip link add sdp-near type veth peer name sdp-peer netns "$1"
	ip addr add "$2/24" dev sdp-near
	"${there[@]}" ip addr add "$3/24" dev sdp-peer
	ip link set sdp-near up
	"${there[@]}" ip link set sdp-peer up
	rdma link add iwarp-near type iwarp netdev sdp-near
	"${there[@]}" rdma link add iwarp-remote type iwarp netdev sdp-peer
}

have_family() {
	[ "${SDP_TEST_FAMILY:-sdp}" = tcp ] ||
		python3 -c 'import socket; socket.socket(27, socket.SOCK_STREAM)' 2> /dev/null
}

# ---- tools of rdma-core and perftest ----

# The connection manager says so before TCP listens, which carries iWARP.
listening() {
	rdma resource show cm_id 2> /dev/null | grep -q "state LISTEN.*$1" &&
		ss -Htln "sport = :$1" | grep -q LISTEN
}

# Who has listened before is gone, and so are his sockets.
port_is_free() { ! ss -Htln "sport = :$1" | grep -q LISTEN; }

# A child of a process, which listens, waits for connections: it has done so with
# all devices.
waits_for_clients() {
	local child
	child=$(pgrep -P "$1") && grep -qs ucma_get_event "/proc/$child/task/"*/stack
}

# A server that ends with its client.
# run_both PORT SERVER-COMMAND... -- CLIENT-COMMAND...: sets $failed, empty if both are content
run_both() {
	local port=$1 first=() server_pid
	shift
	while [ "$1" != -- ]; do first+=("$1"); shift; done
	shift
	failed=
	wait_for "$BOUND" port_is_free "$port" || fail "somebody else listens"
	timeout "$BOUND" "${first[@]}" > "$work/server.out" 2>&1 &
	server_pid=$!
	wait_for "$BOUND" listening "$port" || fail "the server does not listen"
	wait_for "$BOUND" waits_for_clients $server_pid || fail "the server does not wait"
	timeout "$BOUND" "$@" > "$work/client.out" 2>&1 || failed="$1: status $?"
	[ -z "$failed" ] || end_job $server_pid
	wait $server_pid || failed=${failed:-"status $? of the server"}
}

# both PORT SERVER-COMMAND... -- CLIENT-COMMAND...
both() {
	run_both "$@"
	[ -z "$failed" ] || fail "$failed"
}

# perftest's server stops listening when it has told the client its numbers, and listens
# anew for the connection that counts: a client that is there in between is refused.
# perftest_between SERVER-DEVICE CLIENT-DEVICE ADDRESS PROGRAM [ARGUMENT...]: sets $before
perftest_between() {
	local attempt
	for attempt in 1 2 3 4 5; do
		before=$(iwarp_fpdus)
		run_both 18515 "$4" -d "$1" -R -F "${@:5}" -- "$4" -d "$2" -R -F "${@:5}" "$3"
		[ -n "$failed" ] || return 0
		grep -qE 'EVENT_REJECTED; error: -111|Connection refused' "$work/client.out" || break
		# What they had told each other went by the first connection.
		(($(iwarp_fpdus) > before)) || break
		diag "attempt $attempt came between two listeners"
	done
	fail "$failed"
}

iwarp_parameters=/sys/module/iwarp/parameters
declare -A iwarp_default

restore_iwarp() {
	local name
	end_children
	for name in "${!iwarp_default[@]}"; do
		echo "${iwarp_default[$name]}" > "$iwarp_parameters/$name"
	done
}

# A parameter of the iWARP module for the time of a case.
# ask_iwarp NAME VALUE
ask_iwarp() {
	trap restore_iwarp EXIT
	[ -n "${iwarp_default[$1]:-}" ] || iwarp_default[$1]=$(< "$iwarp_parameters/$1")
	echo "$2" > "$iwarp_parameters/$1"
}

iwarp_design=/sys/class/infiniband/iwarp0/design

# Queue pairs of what ran before may be a moment from their end.
set_design() { echo "$2" 2> /dev/null > "/sys/class/infiniband/$1/design"; }

# use_design DEVICE DESIGN
use_design() { wait_for "$BOUND" set_design "$1" "$2" || fail "$1: cannot set $2"; }

# Both devices, and the parameters, are as they were.
host_again() {
	restore_iwarp
	use_design iwarp0 host
	use_design iwarp1 host
}

# Of this moment: the files in sysfs may be some milliseconds old.
iwarp_fpdus() {
	rdma statistic show link iwarp0/1 |
		awk '{ for (i = 1; i < NF; i++) if ($i == "tx_fpdus") print $(i + 1) }'
}

# How many segments a hundred messages were, one after the other over IPv4.
# segments_of LENGTH: sets $sent
segments_of() {
	local before
	perftest_between iwarp1 iwarp0 "${server:?}" ib_send_lat -n 100 -s "$1"
	sent=$(($(iwarp_fpdus) - before))
	diag "messages of $1 bytes: $sent segments"
}
