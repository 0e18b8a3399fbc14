#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A kernel user that others wrote, on our own iWARP devices: NVMe over fabrics, target
# and host in this node. It registers memory for each request, has the peer invalidate
# it, reads into registered memory, and takes its queues from the RDMA core's pools. All
# that is written is read back, over the fabric and from the target's own disk. Needs
# root, iwarp0 and iwarp1.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib/sdp_lib.sh source-path=SCRIPTDIR
. ./sdp_lib.sh

target=10.0.0.2 initiator=10.0.0.1
target6=fd00::2 initiator6=fd00::1
nqn=sdp-test
config=/sys/kernel/config
nvmet=$config/nvmet
disk=/dev/ram0
megabytes=8

port_up() {
	local port=$nvmet/ports/1
	mkdir $port
	echo rdma > $port/addr_trtype
	echo "$1" > $port/addr_adrfam
	echo "$2" > $port/addr_traddr
	echo 4420 > $port/addr_trsvcid
	ln -s $nvmet/subsystems/$nqn $port/subsystems/$nqn
}

target_up() {
	mkdir $nvmet/subsystems/$nqn
	echo 1 > $nvmet/subsystems/$nqn/attr_allow_any_host
	mkdir $nvmet/subsystems/$nqn/namespaces/1
	echo -n $disk > $nvmet/subsystems/$nqn/namespaces/1/device_path
	echo 1 > $nvmet/subsystems/$nqn/namespaces/1/enable
	port_up "$@"
}

target_down() {
	rm -f $nvmet/ports/1/subsystems/$nqn
	rmdir $nvmet/ports/1 $nvmet/subsystems/$nqn/namespaces/1 $nvmet/subsystems/$nqn 2> /dev/null || true
}

controllers() { grep -lx $nqn /sys/class/nvme/nvme*/subsysnqn 2> /dev/null; }

host_down() {
	local name
	for name in $(controllers); do echo 1 > "${name%/*}/delete_controller"; done
}

all_down() {
	end_children
	host_down
	target_down
	restore_iwarp
}

# Where a controller of ours has its disk; with multipathing it is the subsystem's.
disk_is_there() {
	local dir
	for dir in /sys/class/nvme-subsystem/nvme-subsys*; do
		[ "$(cat "$dir/subsysnqn" 2> /dev/null)" = $nqn ] || continue
		remote=$(find "$dir" /sys/class/block -maxdepth 1 -name "nvme${dir##*nvme-subsys}n1" | head -n 1)
		remote=/dev/${remote##*/}
		[ ! -b "$remote" ] || return 0
	done
	return 1
}

# Sets $remote.
connect() {
	remote=
	echo "transport=rdma,traddr=$to,trsvcid=4420,host_traddr=$from,nqn=$nqn,nr_io_queues=2" \
		2> "$work/refused" > /dev/nvme-fabrics || fail "cannot connect: $(< "$work/refused")"
	wait_for "$BOUND" disk_is_there || fail "there is no disk"
}

# up [FAMILY]
up() {
	to=$target from=$initiator
	[ "${1:-ipv4}" = ipv4 ] || to=$target6 from=$initiator6
	target_up "${1:-ipv4}" $to
	connect
}

both_up() {
	trap all_down EXIT
	up "$@"
}

# Not what the page cache has of it, for requests do not go there.
on_target() { dd if=$disk bs=1M count=$megabytes iflag=direct status=none; }

# Requests of one size, all over again, and from four programs at once.
# transfer BLOCKSIZE
transfer() {
	local part quarter=$((megabytes * 1024 * 1024 / 4 / $1)) pids=() pid
	head -c ${megabytes}M /dev/urandom > "$work/data"
	for part in 0 1 2 3; do
		dd if="$work/data" of="$remote" bs="$1" count=$quarter skip=$((part * quarter)) \
			seek=$((part * quarter)) oflag=direct conv=notrunc status=none &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do wait "$pid" || fail "cannot write"; done
	dd if="$remote" bs="$1" count=$((4 * quarter)) iflag=direct status=none > "$work/back" ||
		fail "cannot read"
	cmp "$work/data" "$work/back" || fail "what is read is not what was written"
	on_target | cmp - "$work/data" ||
		fail "the target's disk has something else"
}

all_sizes() {
	local size
	for size in 4096 65536 1048576; do transfer $size; done
}

plain() {
	ask_iwarp local N
	both_up
	all_sizes
}

plain_ipv6() {
	ask_iwarp local N
	both_up ipv6
	transfer 65536
}

# All sizes with both, below.
with_crc() {
	ask_iwarp local N
	ask_iwarp crc Y
	both_up
	transfer 65536
}

with_markers() {
	ask_iwarp local N
	ask_iwarp markers Y
	both_up
	transfer 65536
}

with_markers_and_crc() {
	ask_iwarp local N
	ask_iwarp markers Y
	ask_iwarp crc Y
	both_up
	all_sizes
}

joined() {
	both_up
	all_sizes
}

# Who has connected takes receive requests from a queue that others use, too.
shares_queue() { rdma resource show srq dev iwarp1 | grep -q ' lqpn '; }

# load_target [PARAMETER...]
load_target() {
	modprobe -r nvmet_rdma || fail "the target cannot be unloaded"
	modprobe nvmet_rdma "$@" || fail "the target cannot be loaded"
}

own_queues_again() {
	all_down
	load_target
}

shared_queues() {
	ask_iwarp local N
	trap own_queues_again EXIT
	load_target use_srq=Y
	up
	shares_queue || fail "the target does not share receive queues"
	all_sizes
}

# load_host [PARAMETER...]
load_host() {
	modprobe -r nvme_rdma || fail "the host's driver cannot be unloaded"
	modprobe nvme_rdma "$@" || fail "the host's driver cannot be loaded"
}

registers_again() {
	all_down
	load_host
}

# The target has a key to all of the host's memory, where a request is in one piece.
one_key_for_all() {
	ask_iwarp local N
	trap registers_again EXIT
	load_host register_always=N
	up
	all_sizes
}

# A file system is many requests of many sizes.
file_system() {
	local i
	ask_iwarp local N
	ask_iwarp markers Y
	ask_iwarp crc Y
	both_up
	mkfs.ext4 -q "$remote" > "$work/mkfs.out" 2>&1 || fail "cannot make a file system"
	mkdir "$work/mnt"
	mount "$remote" "$work/mnt" || fail "cannot mount it"
	# shellcheck disable=SC2064
	trap "umount -l $work/mnt 2> /dev/null || true; all_down" EXIT
	for i in {1..40}; do head -c $((i * i * 97)) /dev/urandom > "$work/mnt/$i"; done
	(cd "$work/mnt" && sha256sum -- [0-9]* > "$work/sums")
	umount "$work/mnt"
	mount "$remote" "$work/mnt"
	(cd "$work/mnt" && sha256sum --quiet -c "$work/sums") || fail "files have changed"
	umount "$work/mnt"
	rmdir "$work/mnt"
}

works_again() { transfer 65536; }

# The controller is reset under load: requests wait for it, and none is lost.
reset_under_load() {
	local writer controller
	ask_iwarp local N
	both_up
	head -c ${megabytes}M /dev/urandom > "$work/data"
	(for _ in {1..6}; do
		dd if="$work/data" of="$remote" bs=16384 oflag=direct conv=notrunc status=none
	done) &
	writer=$!
	controller=$(controllers | head -n 1)
	for _ in 1 2 3; do echo 1 > "${controller%/*}/reset_controller"; done
	wait $writer || fail "a write is lost"
	on_target | cmp - "$work/data" ||
		fail "the target's disk has something else"
}

no_controller() { [ -z "$(controllers)" ]; }

# Requests to write that are over.
writes() { awk '{ print $5 }' "/sys/class/block/${remote##*/}/stat"; }
has_written() { (($(writes) > $1)); }

# The host's device goes under load: what is written fails, and nothing is left.
device_goes() {
	local wire writer before
	wire=$(netdev_of $initiator)
	both_up
	before=$(writes)
	(dd if=/dev/zero of="$remote" bs=16384 oflag=direct conv=nocreat,notrunc status=none) 2> /dev/null &
	writer=$!
	wait_for "$BOUND" has_written "$before" || fail "nothing is written"
	rdma link delete iwarp0
	rdma link add iwarp0 type iwarp netdev "$wire"
	wait_for "$BOUND" active iwarp0 || fail "the device does not come back"
	wait_for "$BOUND" no_controller || fail "the controller stays without its device"
	wait $writer || true
	to=$target from=$initiator
	connect
	works_again
}

# The debug kernel has no block devices, which is no reason to fail.
skip_without() {
	echo "TAP version 13"
	echo "1..0 # SKIP this kernel has no $1"
	exit $KTAP_SKIP
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -e /sys/class/infiniband/iwarp1 ] || skip_all "no iWARP devices of our own"
modprobe -a nvmet_rdma nvme_rdma 2> /dev/null || skip_without "NVMe over RDMA"
modprobe brd rd_nr=1 rd_size=$((megabytes * 1024)) 2> /dev/null || skip_without brd
[ -d $nvmet ] || mount -t configfs configfs $config

run_cases plain plain_ipv6 with_crc with_markers with_markers_and_crc joined shared_queues \
	one_key_for_all file_system reset_under_load device_goes

host_down
modprobe -r nvme_rdma nvmet_rdma || fail "the modules cannot be unloaded"
