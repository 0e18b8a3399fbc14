# SPDX-License-Identifier: GPL-2.0
#
# The machine around the sockets: devices and links that fail, namespaces, programs
# that are converted, two machines, and the kernel's trace.

TEST_UP += sdp_trace sdp_trace_wait
TEST_SCRIPTS += sdp_devices.sh sdp_doctor.sh sdp_sdpstat.sh sdp_fault.sh sdp_netns.sh \
	sdp_silence.sh sdp_bpf.sh sdp_container.sh sdp_libsdp.sh sdp_settings.sh
TEST_TWO_NODE += sdp_data_two_node.sh sdp_fault_two_node.sh
TEST_POWER_OFF += sdp_power_off_two_node.sh
TEST_GEN_FILES += sdp_peer sdp_freeze sdp_peer_static sdp_converted
WITH_OWNERS += sdp_freeze
WITH_EVENTS += sdp_trace sdp_trace_wait
WITH_DELAY += sdp_trace_wait
