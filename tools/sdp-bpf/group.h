/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the programs in the kernel and the tool share.
 */
#ifndef SDP_BPF_GROUP_H
#define SDP_BPF_GROUP_H

/* Control groups that may be attached at once. */
#define SDP_BPF_MAX_GROUPS 1024

/* Rules that one of them may have. */
#define SDP_BPF_MAX_RULES 256

/**
 * struct sdp_bpf_group - what is kept for a control group, under its number
 * @converted: sockets converted for its processes and those of groups below
 * @refused: calls of theirs that the rules have refused
 */
struct sdp_bpf_group {
	unsigned long long converted;
	unsigned long long refused;
};

#endif /* SDP_BPF_GROUP_H */
