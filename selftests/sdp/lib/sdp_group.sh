# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Control groups that sdp-bpf is attached to. SDP_BPF names the tool.

tool=${SDP_BPF:-$(command -v sdp-bpf || true)}
# A TCP program that no library can convert.
# shellcheck disable=SC2034
static=$here/sdp_peer_static
groups=/sys/fs/cgroup

needs_tool() {
	[ -x "$tool" ] || skip_all "no sdp-bpf: neither in PATH nor named by SDP_BPF"
	[ "$(id -u)" = 0 ] || skip_all "needs root"
	have_family || skip_all "no AF_SDP sockets in this kernel"
}

kernel_can() {
	[ -e /sys/kernel/btf/vmlinux ] && grep -qw update_socket_protocol /proc/kallsyms
}

needs_hook() { kernel_can || skip "this kernel has no hook to convert at"; }

make_group() {
	mkdir -p "$groups/$1"
	mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
}

# in_group GROUP COMMAND...
in_group() { (echo 0 > "$groups/$1/cgroup.procs" && shift && "$@"); }

# json EXPRESSION: of the status, as 's'
json() {
	"$tool" status --json |
		python3 -c "import json, sys; s = json.load(sys.stdin); print($1)"
}

status_of() {
	local status=0
	"$@" > "$work/said" 2>&1 || status=$?
	echo $status
}

# says STATUS PATTERN COMMAND...
says() {
	local want=$1 pattern=$2 got
	shift 2
	got=$(status_of "$@")
	[ "$got" = "$want" ] || fail "expected status $want, got $got: $(< "$work/said")"
	grep -q "$pattern" "$work/said" || fail "expected '$pattern', got: $(< "$work/said")"
}
