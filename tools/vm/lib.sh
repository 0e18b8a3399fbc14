# SPDX-License-Identifier: GPL-2.0
# Shared by the shell scripts of the test bed: where things are kept.
# shellcheck shell=bash

# Everything that is costly to make is kept here, outside the checkout.
CACHE=${SDP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/linux-sdp}

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# Download a Debian package into the cache, unless it is there, and print its
# path. The exact version is part of the name, so an old one is never reused.
# fetch_deb PACKAGE
fetch_deb() {
	local pkg=$1 ver arch deb
	ver=$(apt-cache policy "$pkg" | awk '/Candidate:/ { print $2 }')
	[[ -n $ver && $ver != "(none)" ]] ||
		die "apt knows no package '$pkg'; run 'apt-get update', or 'make deps' for a newer kernel"
	arch=$(apt-cache show "$pkg=$ver" | awk '/^Architecture:/ { print $2; exit }')
	deb=$CACHE/debs/${pkg}_${ver//:/%3a}_${arch}.deb
	if [ ! -s "$deb" ]; then
		say "downloading $pkg $ver"
		mkdir -p "$CACHE/debs/partial"
		(cd "$CACHE/debs/partial" && apt-get -q -o APT::Sandbox::User=root download "$pkg=$ver" >&2) ||
			die "cannot download $pkg $ver"
		mv "$CACHE/debs/partial/${deb##*/}" "$deb"
	fi
	printf '%s\n' "$deb"
}

# The package with a kernel's image. Debian's archive has an image that is not signed yet
# some days before the signed one; nodes do not ask who has signed it.
# image_package RELEASE
image_package() {
	local pkg=linux-image-$1
	[ -n "$(apt-cache show "$pkg" 2> /dev/null)" ] || [ -z "$(apt-cache show "$pkg-unsigned" 2> /dev/null)" ] ||
		pkg+=-unsigned
	printf '%s\n' "$pkg"
}

# Unpack a package once and print the directory.
# unpack_deb PACKAGE
unpack_deb() {
	local deb dir
	deb=$(fetch_deb "$1")
	dir=$CACHE/unpacked/$(basename "$deb" .deb)
	if [ ! -e "$dir/.complete" ]; then
		rm -rf "$dir"
		mkdir -p "$dir"
		dpkg -x "$deb" "$dir"
		touch "$dir/.complete"
	fi
	printf '%s\n' "$dir"
}

# Have a root in the cache, which make_root makes once a machine, beside nobody else who does.
# provide_root ROOT
provide_root() {
	mkdir -p "$CACHE/roots"
	exec 8> "$1.lock"
	flock 8
	if [ ! -e "$1/.complete" ]; then
		make_root
		touch "$1/.complete"
	fi
	exec 8>&-
}

# What it mounts is gone with it, if it is interrupted, too.
# make_minimal_root ROOT RELEASE MIRROR [OPTION...]
make_minimal_root() {
	local root=$1 release=$2 mirror=$3
	shift 3
	rm -rf --one-file-system "$root"
	mkdir -p "$root"
	unshare --mount --propagation private -- \
		debootstrap --variant=minbase "$@" "$release" "$root" "$mirror" >&2
}
