/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the program in the kernel and the tool share.
 */
#ifndef SDP_BPF_GROUP_H
#define SDP_BPF_GROUP_H

/* Control groups that may be attached at once. */
#define SDP_BPF_MAX_GROUPS 1024

/**
 * struct sdp_bpf_group - what is kept for a control group, under its number
 * @converted: sockets converted for its processes and those of groups below
 */
struct sdp_bpf_group {
	unsigned long long converted;
};

#endif /* SDP_BPF_GROUP_H */
