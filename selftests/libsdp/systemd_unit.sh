#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# systemd_unit.sh UNIT SBINDIR: what systemd says of a template, as an instance for a
# slice, and that the program is found where it is installed.
set -euo pipefail

unit=$1 sbindir=$2
name=${unit##*/} instance=${unit##*/}
instance=${instance/@/@storage-fast.slice}
skip=77

[ "$(grep -c "=$sbindir/sdp-bpf " "$unit")" = 3 ] ||
	{ echo "$name calls another program than $sbindir/sdp-bpf"; exit 1; }
# A slice that is started anew has the rules anew.
grep -qx 'WantedBy=sysinit.target %i' "$unit" || { echo "$name is not started with its slice"; exit 1; }
command -v systemd-analyze > /dev/null || { echo "no systemd-analyze: systemd is not installed"; exit $skip; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# It wants to see the program.
ln -s /bin/true "$work/sdp-bpf"
sed "s#=$sbindir/sdp-bpf #=$work/sdp-bpf #" "$unit" > "$work/$instance"
printf '[Unit]\nDescription=a slice\n' > "$work/storage-fast.slice"
said=$(SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no "$work/$instance" 2>&1) || { echo "$said"; exit 1; }
# Of units of others, which are on this machine, nothing is our business.
if grep -F sdp-bpf <<< "$said"; then exit 1; fi
