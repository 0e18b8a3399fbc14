# SPDX-License-Identifier: GPL-2.0
#
# Print lists of the tests' Makefile:
#	make -C selftests/sdp -f selftests/print.mk VARIABLE...
MAKEFLAGS += --no-print-directory
LISTS := $(MAKECMDGOALS)
include Makefile
.PHONY: $(LISTS)
$(LISTS):
	@echo $(notdir $($@))
