#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Finds out which interfaces the kernel to build for has, by compiling one
# small file for each, and writes the answers as a header.  Versions are never
# asked: stable and distribution kernels move interfaces between them.
#
#   compat/probe.sh KERNEL_BUILD_DIR OUTPUT_HEADER [MAKE_ARGUMENT...]
set -euo pipefail

usage="usage: probe.sh KERNEL_BUILD_DIR OUTPUT_HEADER [MAKE_ARGUMENT...]"
kdir=${1:?$usage}
out=${2:?$usage}
shift 2
here=$(cd "$(dirname "$0")" && pwd)
probes=$here/probe

# What dkms.conf wants of a kernel's configuration, so that DKMS and make refuse the same. A
# directory without that file is no kernel's, which the compiler's answers will tell.
read -ra options < <(sed -n 's/^BUILD_EXCLUSIVE_CONFIG="\(.*\)"/\1/p' "$here/../dkms.conf") ||
	{ echo "probe.sh: dkms.conf does not say what a kernel needs (BUILD_EXCLUSIVE_CONFIG)" >&2; exit 1; }
set_there=$kdir/include/config/auto.conf
for option in "${options[@]}"; do
	if [ -e "$set_there" ] && ! grep -q "^$option=[ym]$" "$set_there"; then
		echo "probe.sh: $kdir is of a kernel without $option, which SDP needs" >&2
		exit 1
	fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$probes"/*.c "$work"/
mapfile -t names < <(cd "$work" && printf '%s\n' *.c | sed 's/\.c$//')
{
	echo "obj-m := $(printf '%s.o ' "${names[@]}")"
	echo "ccflags-y := -Werror=incompatible-pointer-types"
} > "$work/Kbuild"

# A probe that does not compile is an answer, so make's own verdict is not.
for name in "${names[@]}"; do
	make -C "$kdir" M="$work" "$@" "$name.o" >> "$work/log" 2>&1 || true
done

# Nor is what modules may not call, though a header declares it; some is for modules of
# certain names (the fifth field).
exported() {
	[ ! -e "$kdir/Module.symvers" ] ||
		! nm -u "$1" | awk '{ print $NF }' | grep -qvxFf <(awk -F '\t' '!$5 { print $2 }' "$kdir/Module.symvers")
}
for object in "$work"/*.o; do
	exported "$object" || rm "$object"
done

if [ ! -e "$work/always_compiles.o" ] || [ -e "$work/never_compiles.o" ]; then
	echo "probe.sh: the compiler's answers make no sense for $kdir:" >&2
	cat "$work/log" >&2
	exit 1
fi

if [ ! -e "$work/required.o" ]; then
	echo "probe.sh: $kdir is of a kernel older than Linux 6.1, which SDP does not build for" >&2
	exit 1
fi

{
	echo "/* Written by compat/probe.sh: what this kernel has. */"
	for name in "${names[@]}"; do
		case $name in always_compiles | never_compiles | required) continue ;; esac
		[ -e "$work/$name.o" ] || continue
		echo "#define SDP_$(echo "$name" | tr '[:lower:]' '[:upper:]') 1"
	done
} > "$work/config.h"
mkdir -p "$(dirname "$out")"
cmp -s "$work/config.h" "$out" || cp "$work/config.h" "$out"
