# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the programs' files use on the host and in the nodes.

# The same bytes everywhere, without a disk in between.
# make_file PATH MEGABYTES
make_file() {
	head -c "${2}M" /dev/zero |
		openssl enc -aes-128-ctr -K 00112233445566778899aabbccddeeff -iv 00000000000000000000000000000000 -nosalt > "$1"
}

# sized NUMBER QUICK-NUMBER: the one that is wanted
sized() { if [ -n "${QUICK:-}" ]; then echo "$2"; else echo "$1"; fi; }

same_bytes() { cmp "$1" "$2" || { echo "bytes differ"; return 1; }; }
