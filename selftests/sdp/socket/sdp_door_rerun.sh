#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The programs made for AF_SDP once more, with the sockets of AF_INET and
# AF_INET6 that IPPROTO_SDP gives: those about the calls, where the doors could
# differ, and not those about what lies behind.

set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

api() { rerun sdp_api; }
option() { rerun sdp_option; }
connect() { rerun sdp_connect; }
data() { rerun sdp_data; }
close() { rerun sdp_close; }
poll() { rerun sdp_poll; }
gates() { rerun sdp_gates; }
share() { rerun sdp_share; }

have_family || skip_all "no AF_SDP sockets in this kernel"
export SDP_TEST_FAMILY=inet
run_cases api option connect data close poll gates share
