#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# check-symbols.sh LIBRARY: what libsdp.so gives to and takes from the programs
# that it is loaded into.  It may define the calls in which a rule decides only,
# must not drag in other libraries, and must not be able to allocate, lock or
# throw.
set -euo pipefail

library=$1
status=0

# expect WHAT WANTED FOUND
expect() {
	if [[ $2 != "$3" ]]; then
		printf '%s: %s: expected "%s", found "%s"\n' "$library" "$1" "$2" "$3" >&2
		status=1
	fi
}

defined=$(nm -D --defined-only --format=posix "$library" | cut -d ' ' -f 1 | paste -s -d ' ')
needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | paste -s -d ' ')
# __stack_chk_fail is there if the compiler was told to harden the code.
called=$(nm -D --undefined-only "$library" | awk '$1 == "U" { print $2 }' |
	sed 's/@.*//' | grep -vx __stack_chk_fail | LC_ALL=C sort | paste -s -d ' ')

# Files are read, and names compared, while the program starts; the others are
# system calls, or look up a constant, and safe at any time.
allowed=(__errno_location __progname close dlsym fnmatch fstat geteuid getpid getsockname
	inet_ntop inet_pton memchr memcmp memcpy mkdir mmap munmap open
	program_invocation_short_name read secure_getenv setsockopt statx
	strerrordesc_np strlen syscall)

expect 'symbols defined' 'bind connect listen socket' "$defined"
expect 'libraries needed' 'libc.so.6' "$needed"
expect 'functions called' "${allowed[*]}" "$called"
exit "$status"
