/* SPDX-License-Identifier: GPL-2.0 */
/* A control group of a test's own, and BPF programs that are attached to it. */
#ifndef SDP_CGROUP_H
#define SDP_CGROUP_H

#include <linux/bpf.h>

#define INSN(c, d, s, o, i)						\
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s),	\
			    .off = (o), .imm = (i) })
#define CALL(helper)	INSN(0x85, 0, 0, 0, helper)
#define ARGUMENT(value)	INSN(0xb7, 1, 0, 0, value)
#define RESULT(value)	INSN(0xb7, 0, 0, 0, value)
#define EXIT		INSN(0x95, 0, 0, 0, 0)

/* Runs a case in the group, whose name has the process's number in it. */
void run_in_group(const char *name, void (*run)(void));
/* Skips the case where the kernel does not take the program. */
void attach_to_group(int type, int hook, const struct bpf_insn *insns, unsigned int count);

#endif /* SDP_CGROUP_H */
