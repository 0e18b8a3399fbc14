#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# /proc/net/sdp_devices: which devices are listed, and to whom. Of Soft-RoCE and the
# kernel's own software iWARP nothing is known but the verbs. Needs root; makes and
# removes a device and a namespace.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

file=/proc/net/sdp_devices
ns=sdp-test-devices
device=sdp-test-rxe
netdev=sdp-test-d

listed() { awk 'NR > 1 { print $1 }' $file; }

clean_up() {
	end_children
	rdma link delete $device 2> /dev/null || true
	ip link delete $netdev 2> /dev/null || true
	ip netns delete $ns 2> /dev/null || true
}

all_devices() {
	local known=(/sys/class/infiniband/*)
	[ "$(listed | sort)" = "$(printf '%s\n' "${known[@]##*/}" | sort)" ] ||
		fail "listed are: $(listed | tr '\n' ' ')"
}

anybody_may_read() { setpriv --reuid 65534 --clear-groups cat $file > /dev/null || fail "nobody may not"; }

make_device() {
	modprobe rdma_rxe || skip "no Soft-RoCE in this kernel"
	ip link add $netdev type dummy
	ip link set $netdev up
	rdma link add $device type rxe netdev $netdev
}

# Memory is protected by the real kernel on x86-64 alone.
protects() { [ "$(uname -m)" = x86_64 ] && ! grep -q 'User Mode Linux' /proc/cpuinfo; }

# Engines and zero copy, and what keeps the device from the rest.
# expect_possible DEVICE ENGINES LACKS
expect_possible() {
	local zcopy=sync,async lacks=$3
	if ! protects; then
		zcopy=sync
		lacks=${lacks:+$lacks,}protection
	fi
	expect_device "$1" engines="$2" zcopy=$zcopy lacks="${lacks:--}"
}

soft_roce_has_verbs_only() {
	trap clean_up EXIT
	make_device
	wait_for "$BOUND" eval "[ -n \"\$(device_says $device interface)\" ]" || fail "it is not listed"
	expect_device $device transport=roce
	expect_possible $device credit,rdma,nic ""
	expect_verbs $device
	rdma link delete $device
	[ -z "$(device_says $device interface)" ] || fail "it is listed after its end"
}

siw_has_verbs_only() {
	[ -e /sys/class/infiniband/siw1 ] || skip "no devices of the kernel's software iWARP"
	expect_device siw1 transport=iwarp
	expect_possible siw1 credit,rdma hold
	expect_verbs siw1
}

share() { rdma system set netns shared 2> /dev/null; }

# A namespace that is not there any more may take a moment to go.
share_again() {
	clean_up
	wait_for "$BOUND" share
}

# Where devices belong to one namespace, the others do not see them.
namespaces_see_their_own() {
	trap share_again EXIT
	ip netns add $ns
	[ "$(ip netns exec $ns cat $file)" = "$(< $file)" ] || fail "it does not see what is shared"
	ip netns delete $ns
	wait_for 5 rdma system set netns exclusive 2> /dev/null ||
		skip "devices cannot be made a namespace's own"
	ip netns add $ns
	[ "$(ip netns exec $ns cat $file | wc -l)" = 1 ] || fail "it sees: $(ip netns exec $ns cat $file)"
	all_devices
}

sdpstat_reads_it() {
	local tool=${SDPSTAT:-$(command -v sdpstat || true)} name
	[ -x "$tool" ] || skip "no sdpstat: neither in PATH nor named by SDPSTAT"
	"$tool" --devices > "$work/text.out" || fail "sdpstat: status $?"
	"$tool" --devices --json > "$work/json.out" || fail "sdpstat --json: status $?"
	for name in $(listed); do
		grep -q "^$name .* $(device_says "$name" interface) " "$work/text.out" || fail "not in the text: $name"
		grep -q "^$name .* $(device_says "$name" engines) " "$work/text.out" || fail "no engines: $name"
		grep -q "\"device\": \"$name\"" "$work/json.out" || fail "not in the JSON: $name"
	done
}

[ "${SDP_TEST_FAMILY:-sdp}" = sdp ] || skip_all "this is about AF_SDP"
[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e $file ] || skip_all "the module is not loaded"

run_cases all_devices anybody_may_read soft_roce_has_verbs_only siw_has_verbs_only \
	namespaces_see_their_own sdpstat_reads_it
