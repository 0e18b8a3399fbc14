# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Inside a node: Debian's packages are installed. The caller sets $work, which has them in
# deb-VERSION, what DKMS has built of them in sdp-VERSION.dkms.tar.gz, and a small tree of
# modules in node.

release=$(uname -r)

step() { echo "# $((SECONDS)) s: $*"; }
fail() { echo "packages: $*"; exit 1; }
is_loaded() { grep -q '^sdp ' /proc/modules; }
on_disk() { modinfo -F version "/lib/modules/$release/updates/dkms/sdp.ko"; }

# This kernel's modules and no others; nothing that dpkg does for other packages.
prepare() {
	mount --bind "$work/node" "/lib/modules/$release"
	mount -t tmpfs tmpfs /boot
	depmod
	rm -f /var/lib/man-db/auto-update
	mkdir /usr/share/sdp-dkms
	cp "$work"/sdp-*.dkms.tar.gz /usr/share/sdp-dkms
}

# install_packages VERSION
install_packages() {
	step "install $1"
	DEBIAN_FRONTEND=noninteractive dpkg --force-unsafe-io -i "$work/deb-$1"/*.deb
	[ "$(on_disk)" = "$1" ] || fail "version $(on_disk) is on disk, not $1"
}
