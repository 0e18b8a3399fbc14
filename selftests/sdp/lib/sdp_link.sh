# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The two RDMA devices of this machine, and the links they are on, which go and come again.
# The caller sets $server and $client, and find_devices all else.

add_device() {
	rdma link add "$server_rdma" type "$rdma_type" netdev "$server_dev"
	wait_for "$BOUND" devices_ready
}

# Soft-RoCE's management queue pair does not survive a datagram that could not
# leave because the link was down: no connection can be made any more.
renew_devices() {
	rdma link delete "$server_rdma"
	rdma link delete "$client_rdma"
	rdma link add "$client_rdma" type "$rdma_type" netdev "$client_dev"
	add_device
}

# An address is usable once it is among the GIDs of an active port.
# device_ready ADDRESS DEVICE
device_ready() {
	local want bytes
	IFS=. read -ra bytes <<< "$1"
	want=$(printf ':%02x%02x:%02x%02x' "${bytes[@]}")
	rdma link show "$2/1" | grep -q 'state ACTIVE' || return 1
	[ "$rdma_type" = rxe ] || return 0
	grep -qs "$want\$" "/sys/class/infiniband/$2/ports/1/gids/"*
}

devices_ready() {
	device_ready "${server:?}" "$server_rdma" && device_ready "${client:?}" "$client_rdma"
}

# ---- the link ----

save_link() {
	ip -4 route save dev "$server_dev" table all type unicast > "${work:?}/routes4" 2> /dev/null
	ip -6 route save dev "$server_dev" table all type unicast > "$work/routes6" 2> /dev/null
	ip neigh show dev "$server_dev" nud permanent > "$work/neigh"
	sysctl -qw "net.ipv6.conf.$server_dev.keep_addr_on_down=1"
}

# The kernel has dropped the routes and the neighbours with the link.
restore_link() {
	local address rest
	ip link set "$server_dev" up
	ip -4 route restore < "$work/routes4" 2> /dev/null || true
	ip -6 route restore < "$work/routes6" 2> /dev/null || true
	while read -r address rest; do
		[[ $rest == lladdr* ]] || continue
		rest=${rest#lladdr }
		ip neigh replace "$address" lladdr "${rest%% *}" \
			dev "$server_dev" nud permanent
	done < "$work/neigh"
	wait_for "$BOUND" devices_ready
}

# Both are needed, for root alone.
find_devices() {
	[ "${SDP_TEST_FAMILY:-sdp}" = sdp ] || skip_all "TCP has no RDMA devices"
	[ "$(id -u)" = 0 ] || skip_all "needs root"
	have_family || skip_all "no AF_SDP sockets in this kernel"
	server_dev=$(netdev_of "${server:?}")
	[ -n "$server_dev" ] || skip_all "$server is no address of this machine"
	server_rdma=$(rdma_of "$server_dev")
	[ -n "$server_rdma" ] || skip_all "no RDMA device on $server_dev"
	client_dev=$(netdev_of "${client:?}")
	client_rdma=$(rdma_of "$client_dev")
	[ "$server_rdma" != "$client_rdma" ] ||
		skip_all "$server and $client are on one device"
	rdma_type=${server_rdma%%[0-9]*}
}
