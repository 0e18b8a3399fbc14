#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The programs made for AF_SDP once more, over TCP: on loopback addresses, where
# no RDMA device is, every connection falls back, and behaves as the programs
# expect of SDP and of TCP alike.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

setting=/proc/sys/net/sdp/tcp_fallback

connect() { rerun sdp_connect; }
data() { rerun sdp_data; }
stream() { rerun sdp_stream; }
option() { rerun sdp_option; }
poll() { rerun sdp_poll; }
close() { rerun sdp_close; }
signal() { rerun sdp_signal; }
thread() { rerun sdp_thread; }

# None of this was RDMA.
nothing_over_rdma() {
	[ "$(awk '/^(PassiveOpens|DataOut) / { print $2 }' /proc/net/sdpstats | sort -u)" = "$before" ] ||
		fail "$(< /proc/net/sdpstats)"
}

[ "${SDP_TEST_FAMILY:-sdp}" = sdp ] || skip_all "TCP does not fall back"
have_family || skip_all "no AF_SDP sockets in this kernel"
[ -w $setting ] || skip_all "$setting cannot be written"
trap 'echo 0 > $setting; rm -rf "$work"' EXIT
echo 1 > $setting
before=$(awk '/^(PassiveOpens|DataOut) / { print $2 }' /proc/net/sdpstats | sort -u)
export SDP_TEST_SERVER=127.0.0.1 SDP_TEST_CLIENT=127.0.0.1
export SDP_TEST_SERVER6=::1 SDP_TEST_CLIENT6=::1
run_cases connect data stream option poll close signal thread nothing_over_rdma
