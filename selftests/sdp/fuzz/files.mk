# SPDX-License-Identifier: GPL-2.0
#
# Programs of calls that chance makes, and streams that are verified to the byte.

TEST_GEN_PROGS += sdp_fuzz
WITH_URING += sdp_fuzz
FUZZ_PARTS := $(addprefix fuzz/,fuzz_program.c fuzz_table.c fuzz_corpus.c fuzz_cover.c \
	fuzz_run.c fuzz_socket.c fuzz_option.c fuzz_data.c fuzz_system.c fuzz_account.c fuzz_stream.c)
LOCAL_HDRS += fuzz/fuzz.h
