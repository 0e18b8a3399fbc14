# SPDX-License-Identifier: GPL-2.0
"""Find what no healthy kernel says in a node's log."""

import pathlib
import re
from collections.abc import Sequence

from . import BED

# The kernel tells of a program's general protection fault by its instruction pointer.
_SIGNS = re.compile("|".join((
    r"\bWARNING:", r"\bBUG:", r"\bUBSAN:", r"\bKASAN\b", r"\bKCSAN\b", r"\bKFENCE:", r"\bODEBUG:",
    r"\bOops\b", r"Kernel panic", r"general protection fault(?! ip:)", r"unable to handle",
    r"possible .* detected", r"inconsistent lock state", r"bad unlock balance", r"held lock freed",
    r"suspicious RCU", r"scheduling while atomic", r"sleeping function called",
    r"INFO: task .* blocked", r"rcu.*(detected stall|self-detected stall)", r"soft lockup", r"hard LOCKUP",
    r"workqueue lockup", r"refcount_t:", r"list_(add|del) corruption", r"unreferenced object",
    r"kmemleak: \d+ new suspected", r"Slab .*: Objects remaining", r"still has objects",
    r"unregister_netdevice: waiting for", r"detected memory leak", r"Bad page state", r"Call Trace:",
    r"DMA-API: .*(error|leak|without)", r"invoked oom-killer",
)))

# Informational lines at boot that name a checker without any finding.
_HARMLESS = re.compile(r"KernelAddressSanitizer initialized|KCSAN: (enabled|strict|selftest)|"
                       r"Command line:|Unknown kernel command line")

# No kernel has a breakpoint of its own but while it changes an instruction.
_STALE = re.compile(r"(\bOops: )?\bint3: 0000 \[#1\]")

# What is shown with a stack, some lines below, and is no mistake of anybody's: who is refused memory
# for a cache, of which the kernel also says EINVAL, or to count what is allocated; and how User Mode
# Linux looks through the stack of a task that sleeps (/proc/PID/wchan), without a word to KASAN.
_EXPLAINED = {re.compile(r"kmem_cache_create(_args)?\(\w+\) failed with error -(12|22)$"): 6,
              re.compile(r"WARNING: .* at mm/slub\.c:\d+ alloc_tagging_slab_alloc_hook\+"): 12,
              re.compile(r"BUG: KASAN: stack-out-of-bounds in __get_wchan\+"): 12}

_STAMP = re.compile(r"^(<\d+>)?(\[[ \d.]+\])?(\[ *[TC]\d+\])? ?")
_EXCERPT = 40


def allowed(path: pathlib.Path = BED / "splat-allow") -> list[re.Pattern[str]]:
    """Return the allow-list's patterns."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [re.compile(line) for line in lines if line.strip() and not line.startswith("#")]


def find(text: str, allow: Sequence[re.Pattern[str]] | None = None) -> list[str] | None:
    """Return the first splat in TEXT as an excerpt of lines, or None.

    An allowed line hides itself only: the trace below an allowed WARNING
    still counts unless it is allowed as well.
    """
    allow = allowed() if allow is None else allow
    lines, explained = text.splitlines(), -1
    for number, line in enumerate(lines):
        message = _STAMP.sub("", line)
        below = next((far for pattern, far in _EXPLAINED.items() if pattern.search(message)), 0)
        if below:
            explained = number + below
            continue
        if number <= explained and "Call Trace:" in message:
            explained = -1
            continue
        if not _SIGNS.search(message) or _HARMLESS.search(message):
            continue
        if not any(pattern.search(message) for pattern in allow):
            return lines[max(0, number - 2):number + _EXCERPT]
    return None


def is_stale_breakpoint(text: str) -> bool:
    """Return whether the first splat of TEXT is a breakpoint that nobody has set."""
    died = _STALE.search(text)
    return died is not None and find(text[:died.start()], []) is None
