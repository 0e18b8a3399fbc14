#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Data between two machines: run on both at once, with ROLE=a on the one and
# ROLE=b on the other, SELF/PEER and SELF6/PEER6 their addresses, and a command
# 'vm-barrier NAME' that waits until the other has come to the same point, or
# fails because the other has said 'vm-barrier --leave SCOPE' of a case of $VM_SCOPES.
# Every byte is verified where it arrives.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

self=${SELF:-} other=${PEER:-}
self6=${SELF6:-} other6=${PEER6:-}

bytes=$((16 * 1024 * 1024 / SCALE))

# Node a serves, node b connects.
# exchange MODE-OF-A MODE-OF-B SELF PEER
exchange() {
	local mode_a=$1 mode_b=$2 mine=$3 its=$4 mode want
	if [ "$ROLE" = a ]; then
		start_server mine "$mode_a" "$mine" --bytes $bytes
		meet listening
		mode=$mode_a
	else
		meet listening
		start_client mine "$mode_b" "$its" --bytes $bytes
		mode=$mode_b
	fi
	end_of mine
	[ "$status" = 0 ] || fail "expected an orderly end, got status $status"
	case $mode in
	send) want="sent=$bytes received=0 " ;;
	recv) want="sent=0 received=$bytes " ;;
	both) want="sent=$bytes received=$bytes " ;;
	esac
	grep -q "^$want" "$work/mine.out" || fail "expected $want"
}

client_to_server() { exchange recv send "$self" "$other"; }
server_to_client() { exchange send recv "$self" "$other"; }
both_directions() { exchange both both "$self" "$other"; }
both_directions_ipv6() { exchange both both "$self6" "$other6"; }

# How much a counter says was sent without a copy, or was offered for that: a
# node may be so slow that its peer takes everything back.
# without_copy COUNTER
without_copy() { echo $(($(counter "$1") + $(counter ZcopyCancels))); }

# As client_to_server, without a copy where that can be; the writer fills the
# same memory for each write, and is not spared that.
# zcopy ENGINE MODE [FAULT]
zcopy() {
	local sent=ZcopyBytesOut before
	! grep -q RNIC /sys/class/infiniband/*/node_type || skip "iWARP copies"
	[ "$2" = sync ] || sent=AsyncBytesOut
	begin_zcopy "$2"
	set_sysctl flow_control "$1"
	set_sysctl zcopy_fault "${3:-copy}"
	set_sysctl zcopy_fault_limit 100
	before=$(without_copy $sent)
	exchange recv send "$self" "$other"
	[ "$ROLE" = a ] || [ "$(without_copy $sent)" -gt "$before" ] ||
		fail "nothing was offered"
}

credit_sync() { zcopy credit sync; }
credit_async() { zcopy credit async; }
credit_block() { zcopy credit async block; }
rdma_sync() { zcopy rdma sync; }
rdma_async() { zcopy rdma async; }
rdma_block() { zcopy rdma async block; }
nic_sync() { zcopy nic sync; }
nic_async() { zcopy nic async; }
nic_block() { zcopy nic async block; }

[ -n "${ROLE:-}" ] || skip_all "needs two machines: ROLE is not set"
have_family || skip_all "no AF_SDP sockets in this kernel"
run_cases client_to_server server_to_client both_directions both_directions_ipv6 \
	credit_sync credit_async credit_block rdma_sync rdma_async rdma_block \
	nic_sync nic_async nic_block
