// SPDX-License-Identifier: GPL-2.0
/* The wire between both ends of an iWARP connection: XDP and counters. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "iwarp_wire.h"

void wire_segments_are(int most)
{
	size_t i;

	for (i = 0; i < WIRE_ENDS; i++)
		run_command("ip link set dev %s gso_max_segs %d", wires[i], most);
}

static void wire_set(uint32_t command, bool on)
{
	struct ethtool_value value = { .cmd = command, .data = on };
	struct ifreq request = { .ifr_data = (void *)&value };
	int fd = CHECK_OK(socket(AF_INET, SOCK_DGRAM, 0));
	size_t i;

	for (i = 0; i < WIRE_ENDS; i++) {
		strcpy(request.ifr_name, wires[i]);
		CHECK_OK(ioctl(fd, SIOCETHTOOL, &request));
	}
	close(fd);
}

void wire_gro_is(bool on)
{
	wire_set(ETHTOOL_SGRO, on);
}

void wire_sg_is(bool on)
{
	wire_set(ETHTOOL_SSG, on);
}

/* ---- faults ---- */

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

#define INSN(what, dst, src, offset, value)				\
	{								\
		.code = (what),						\
		.dst_reg = (dst),					\
		.src_reg = (src),					\
		.off = (offset),					\
		.imm = (value),						\
	}
#define LOAD(size, dst, src, offset)					\
	INSN(BPF_LDX | BPF_MEM | (size), dst, src, offset, 0)
#define STORE(size, dst, src, offset)					\
	INSN(BPF_STX | BPF_MEM | (size), dst, src, offset, 0)
#define MOVE(dst, src)	INSN(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0)
#define CALC(op, dst, value)						\
	INSN(BPF_ALU64 | BPF_K | (op), dst, 0, 0, value)
#define IF(op, reg, value, skipped)					\
	INSN(BPF_JMP | BPF_K | (op), reg, 0, skipped, value)
#define IF_THAN(op, reg, other, skipped)				\
	INSN(BPF_JMP | BPF_X | (op), reg, other, skipped, 0)
#define IP_AT	ETH_HLEN
#define LEN_AT	(IP_AT + offsetof(struct iphdr, tot_len))
#define TCP_AT	(IP_AT + sizeof(struct iphdr))
#define SEQ_AT	(TCP_AT + offsetof(struct tcphdr, seq))
/* The upper half of this is the header's length in words, with options. */
#define DOFF_AT	(TCP_AT + 12)
/* Without those of selective acknowledgments: only time stamps. */
#define DOFF_USUAL	(8 << 4 | 15)
/* No acknowledgment is as long as this, with its headers. */
#define LONG		1100
#define BYTE_AT		(IP_AT + 1000)

#define END	INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* A number that programs change. */
static int new_number(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(uint64_t),
		.max_entries = 1,
	};

	return CHECK_OK(bpf(BPF_MAP_CREATE, &attr));
}

/* Returns what keeps it there. */
static int arriving(const char *wire, const struct bpf_insn *program,
		    size_t lines)
{
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insns = (uintptr_t)program,
		.insn_cnt = lines,
		.license = (uintptr_t)"GPL",
	};
	union bpf_attr attr = { 0 };
	int fd = CHECK_OK(bpf(BPF_PROG_LOAD, &load)), link;

	attr.link_create.prog_fd = fd;
	attr.link_create.target_ifindex = if_nametoindex(wire);
	attr.link_create.attach_type = BPF_XDP;
	/* The device's own way would not take packets as long as these. */
	attr.link_create.flags = XDP_FLAGS_SKB_MODE;
	link = CHECK_OK(bpf(BPF_LINK_CREATE, &attr));
	close(fd);
	return link;
}

static int lose_first(void)
{
	int number = new_number();
	const struct bpf_insn program[] = {
		CALC(BPF_MOV, BPF_REG_0, XDP_PASS),
		LOAD(BPF_W, BPF_REG_2, BPF_REG_1, offsetof(struct xdp_md, data)),
		LOAD(BPF_W, BPF_REG_3, BPF_REG_1, offsetof(struct xdp_md, data_end)),
		MOVE(BPF_REG_4, BPF_REG_2),
		CALC(BPF_ADD, BPF_REG_4, BYTE_AT + 1),
		IF_THAN(BPF_JGT, BPF_REG_4, BPF_REG_3, 15),
		LOAD(BPF_H, BPF_REG_4, BPF_REG_2, offsetof(struct ethhdr, h_proto)),
		IF(BPF_JNE, BPF_REG_4, htons(ETH_P_IP), 13),
		LOAD(BPF_H, BPF_REG_4, BPF_REG_2, LEN_AT),
		INSN(BPF_ALU | BPF_END | BPF_TO_BE, BPF_REG_4, 0, 0, 16),
		IF(BPF_JLT, BPF_REG_4, LONG, 10),
		/* A pointer to the number takes two lines. */
		INSN(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_5, BPF_PSEUDO_MAP_VALUE,
		     0, number),
		INSN(0, 0, 0, 0, 0),
		LOAD(BPF_W, BPF_REG_4, BPF_REG_2, SEQ_AT),
		/* Zero stands for no packet. */
		CALC(BPF_ADD, BPF_REG_4, 1),
		LOAD(BPF_DW, BPF_REG_3, BPF_REG_5, 0),
		IF(BPF_JNE, BPF_REG_3, 0, 2),
		STORE(BPF_DW, BPF_REG_5, BPF_REG_4, 0),
		MOVE(BPF_REG_3, BPF_REG_4),
		IF_THAN(BPF_JNE, BPF_REG_3, BPF_REG_4, 1),
		CALC(BPF_MOV, BPF_REG_0, XDP_DROP),
		END,
	};
	int link = arriving(wires[1], program, ARRAY_SIZE(program));

	close(number);
	return link;
}

static int lose_selective_acks(void)
{
	const struct bpf_insn program[] = {
		CALC(BPF_MOV, BPF_REG_0, XDP_PASS),
		LOAD(BPF_W, BPF_REG_2, BPF_REG_1, offsetof(struct xdp_md, data)),
		LOAD(BPF_W, BPF_REG_3, BPF_REG_1, offsetof(struct xdp_md, data_end)),
		MOVE(BPF_REG_4, BPF_REG_2),
		CALC(BPF_ADD, BPF_REG_4, DOFF_AT + 1),
		IF_THAN(BPF_JGT, BPF_REG_4, BPF_REG_3, 5),
		LOAD(BPF_H, BPF_REG_4, BPF_REG_2, offsetof(struct ethhdr, h_proto)),
		IF(BPF_JNE, BPF_REG_4, htons(ETH_P_IP), 3),
		LOAD(BPF_B, BPF_REG_4, BPF_REG_2, DOFF_AT),
		IF(BPF_JLE, BPF_REG_4, DOFF_USUAL, 1),
		CALC(BPF_MOV, BPF_REG_0, XDP_DROP),
		END,
	};

	return arriving(wires[0], program, ARRAY_SIZE(program));
}

struct wire_fault wire_loses_one(void)
{
	return (struct wire_fault) {
		.links = { lose_first(), lose_selective_acks() },
	};
}

struct wire_fault wire_damages(unsigned int every)
{
	int number = new_number();
	const struct bpf_insn program[] = {
		CALC(BPF_MOV, BPF_REG_0, XDP_PASS),
		LOAD(BPF_W, BPF_REG_2, BPF_REG_1, offsetof(struct xdp_md, data)),
		LOAD(BPF_W, BPF_REG_3, BPF_REG_1, offsetof(struct xdp_md, data_end)),
		MOVE(BPF_REG_4, BPF_REG_2),
		CALC(BPF_ADD, BPF_REG_4, BYTE_AT + 1),
		IF_THAN(BPF_JGT, BPF_REG_4, BPF_REG_3, 15),
		LOAD(BPF_H, BPF_REG_4, BPF_REG_2, offsetof(struct ethhdr, h_proto)),
		IF(BPF_JNE, BPF_REG_4, htons(ETH_P_IP), 13),
		LOAD(BPF_H, BPF_REG_4, BPF_REG_2, LEN_AT),
		INSN(BPF_ALU | BPF_END | BPF_TO_BE, BPF_REG_4, 0, 0, 16),
		IF(BPF_JLT, BPF_REG_4, LONG, 10),
		/* A pointer to the number takes two lines. */
		INSN(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_5, BPF_PSEUDO_MAP_VALUE,
		     0, number),
		INSN(0, 0, 0, 0, 0),
		LOAD(BPF_DW, BPF_REG_4, BPF_REG_5, 0),
		CALC(BPF_ADD, BPF_REG_4, 1),
		STORE(BPF_DW, BPF_REG_5, BPF_REG_4, 0),
		CALC(BPF_MOD, BPF_REG_4, every),
		IF(BPF_JNE, BPF_REG_4, 0, 3),
		LOAD(BPF_B, BPF_REG_4, BPF_REG_2, BYTE_AT),
		CALC(BPF_XOR, BPF_REG_4, 0xff),
		STORE(BPF_B, BPF_REG_2, BPF_REG_4, BYTE_AT),
		END,
	};
	struct wire_fault fault = {
		.links = { arriving(wires[1], program, ARRAY_SIZE(program)), -1 },
	};

	close(number);
	return fault;
}

void wire_heals(struct wire_fault *fault)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fault->links); i++)
		close(fault->links[i]);
}

/* ---- counters ---- */

/* The files in sysfs may tell what was true some milliseconds ago. */
long iwarp_counter(const struct iwarp_end *e, const char *name)
{
	char command[96], word[64];
	long value = -1;
	FILE *f;

	snprintf(command, sizeof(command), "rdma statistic show link %s/1",
		 ibv_get_device_name(e->id->verbs->device));
	f = popen(command, "r");
	CHECK(f);
	while (value < 0 && fscanf(f, "%63s", word) == 1)
		if (!strcmp(word, name))
			CHECK_EQ(fscanf(f, "%ld", &value), 1);
	while (fscanf(f, "%*s") != EOF)
		;
	CHECK_EQ(pclose(f), 0);
	if (value < 0)
		FAIL("the device counts no %s", name);
	return value;
}
