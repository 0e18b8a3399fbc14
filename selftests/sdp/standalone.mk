# SPDX-License-Identifier: GPL-2.0
#
# What the kernel tree's lib.mk offers, as far as these tests use it.

OUTPUT ?= $(CURDIR)
CFLAGS += -Werror -I$(CURDIR)/../../include/uapi

TEST_GEN_PROGS := $(TEST_GEN_PROGS:%=$(OUTPUT)/%)
TEST_GEN_FILES := $(TEST_GEN_FILES:%=$(OUTPUT)/%)

.PHONY: all copies run_tests install emit_tests clean
.DEFAULT_GOAL := all
all: $(TEST_GEN_PROGS) $(TEST_GEN_FILES) copies

$(OUTPUT)/%: %.c $(LOCAL_HDRS)
	$(CC) $(CFLAGS) $(LDFLAGS) $(filter-out $(LOCAL_HDRS),$^) $(LDLIBS) -o $@

$(TEST_GEN_PROGS) $(TEST_GEN_FILES): | $(OUTPUT)
$(OUTPUT):
	mkdir -p $@

# The runner expects the programs beside it.
copies: | $(OUTPUT)
ifneq ($(abspath $(OUTPUT)),$(CURDIR))
	rm -rf $(addprefix $(OUTPUT)/,$(notdir $(TEST_FOLDERS)))
	cp -rp run_tests.sh $(TEST_FILES) $(OUTPUT)/
endif

run_tests: all
	$(OUTPUT)/run_tests.sh $(notdir $(TEST_GEN_PROGS))

install: all
	@test -n "$(INSTALL_PATH)" || { echo "set INSTALL_PATH to use install" >&2; exit 1; }
	mkdir -p $(INSTALL_PATH)
	rm -rf $(addprefix $(INSTALL_PATH)/,$(notdir $(TEST_FOLDERS)))
	cp -rpu $(TEST_GEN_PROGS) $(TEST_GEN_FILES) $(TEST_FILES) run_tests.sh config \
		$(INSTALL_PATH)/

emit_tests:
	@for t in $(notdir $(TEST_GEN_PROGS)); do echo "sdp:$$t"; done

clean:
	$(RM) $(TEST_GEN_PROGS) $(TEST_GEN_FILES) $(EXTRA_CLEAN)
