/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rules as the kernel has them, and which of them decides. C for both sides: the
 * programs in the kernel run it, and the unit tests compare it with libsdp's.
 */
#ifndef SDP_BPF_MATCH_H
#define SDP_BPF_MATCH_H

#include <linux/types.h>

/* What the kernel knows of a program's name, with the NUL behind it. */
#define SDP_BPF_NAME_SIZE 16

enum sdp_bpf_transport {
	SDP_BPF_UNDECIDED,
	SDP_BPF_TCP,
	SDP_BPF_SDP,
	SDP_BPF_NONE,
};

/* Roles, as bits. A socket that is made has none yet. */
#define SDP_BPF_SERVER 1
#define SDP_BPF_CLIENT 2

/**
 * struct sdp_bpf_rule - one line of the file
 * @step: for each byte the places in the program's pattern that take it, as bits: the
 *	next place is reached then
 * @stay: the places that any byte leaves where they are: there is a "*"
 * @end: the place behind the pattern
 * @first_port: of those that it is for
 * @last_port: likewise
 * @address: in network order; one of IPv4 in its mapped form
 * @mask: the bits of it that matter
 * @line: in the file
 * @transport: enum sdp_bpf_transport
 * @roles: those that it is for
 * @v6_only: a prefix of IPv6 in which the mapped addresses would lie
 */
struct sdp_bpf_rule {
	__u16 step[256];
	__u16 stay;
	__u16 end;
	__u16 first_port;
	__u16 last_port;
	__u32 address[4];
	__u32 mask[4];
	__u32 line;
	__u8 transport;
	__u8 roles;
	__u8 v6_only;
	__u8 reserved;
};

/**
 * struct sdp_bpf_question - what shall be decided
 * @program: its name, with zeros behind it
 * @address: as in a rule
 * @port: in the host's order
 * @role: one, or none for a socket that is made
 */
struct sdp_bpf_question {
	char program[SDP_BPF_NAME_SIZE];
	__u32 address[4];
	__u16 port;
	__u8 role;
	__u8 reserved;
};

static inline int sdp_bpf_fits_program(const struct sdp_bpf_rule *rule, const char *program)
{
	__u16 places = 1;
	int i;

	for (i = 0; i < SDP_BPF_NAME_SIZE; i++) {
		const __u8 byte = (__u8)program[i];

		if (!byte)
			break;
		places = (places & rule->stay) | ((places & rule->step[byte]) << 1);
	}
	return (places & rule->end) != 0;
}

static inline int sdp_bpf_is_mapped(const __u32 *address)
{
	return !address[0] && !address[1] && address[2] == __builtin_bswap32(0xffff);
}

static inline int sdp_bpf_fits_place(const struct sdp_bpf_rule *rule,
				     const struct sdp_bpf_question *question)
{
	__u32 differs = 0;
	int i;

	if (question->port < rule->first_port || question->port > rule->last_port)
		return 0;
	for (i = 0; i < 4; i++)
		differs |= (question->address[i] ^ rule->address[i]) & rule->mask[i];
	return !differs && !(rule->v6_only && sdp_bpf_is_mapped(question->address));
}

/**
 * sdp_bpf_decides() - whether a rule is the one that decides
 * @rule: the first one, or one whose predecessors do not decide
 * @question: what shall be decided
 *
 * A socket is made as TCP's or SDP's before anybody knows its address: the first rule
 * for its program that says which decides.
 *
 * Return: whether it decides
 */
static inline int sdp_bpf_decides(const struct sdp_bpf_rule *rule,
				  const struct sdp_bpf_question *question)
{
	if (!question->role) {
		if (rule->transport == SDP_BPF_NONE)
			return 0;
	} else if (!(rule->roles & question->role) || !sdp_bpf_fits_place(rule, question)) {
		return 0;
	}
	return sdp_bpf_fits_program(rule, question->program);
}

#endif /* SDP_BPF_MATCH_H */
