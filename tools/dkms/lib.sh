# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# What handing the sources in $repo to DKMS and taking them back have in common.

name=$(sed -n 's/^PACKAGE_NAME="\(.*\)"/\1/p' "$repo/dkms.conf")
version=$(< "$repo/VERSION")

# refuse_packaged ROOT: dpkg would miss files that we replace or remove, and those of the
# modules of another version
refuse_packaged() {
	local owner
	owner=$(dpkg -S "$1/usr/src/$name-*" 2> /dev/null) || return 0
	echo "the package ${owner%%:*} has the modules: remove that first" >&2
	exit 1
}
