#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs about calls, data, ends and failures once more with connections that do without
# the device (net.sdp.local).

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

# without_device PROGRAM...
without_device() {
	local program before
	trap restore_sysctls EXIT
	set_sysctl local 1
	before=$(counter LocalEnds)
	for program in "$@"; do rerun "$program"; done
	(($(counter LocalEnds) > before + 10)) || fail "hardly anything did without a device"
}

calls() { without_device sdp_connect sdp_flags sdp_poll sdp_signal; }
data() { without_device sdp_data sdp_oob sdp_stream sdp_splice; }
ends() { without_device sdp_close sdp_fd; }

have_family || skip_all "no AF_SDP sockets in this kernel"
! grep -q RNIC /sys/class/infiniband/*/node_type || skip_all "iWARP has a short cut of its own"
run_cases calls data ends
