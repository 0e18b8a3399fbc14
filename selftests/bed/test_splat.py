# SPDX-License-Identifier: GPL-2.0
"""What counts as a splat in a kernel log, and what does not."""

import pathlib
import re
import tempfile
import unittest

from sdpvm import splat

SPLATS = (
    "[   14.2] WARNING: CPU: 1 PID: 209 at lib/refcount.c:31 refcount_warn_saturate+0xfb/0x110",
    "[   14.2][  T209] BUG: KASAN: slab-use-after-free in sdp_poll+0x1/0x2",
    "[   14.2] BUG: kernel NULL pointer dereference, address: 0000000000000008",
    "[   14.2] UBSAN: shift-out-of-bounds in net/sdp/conn/output.c:1:2",
    "[   14.2] WARNING: possible circular locking dependency detected",
    "[   14.2] INFO: task sdp_data:12 blocked for more than 120 seconds.",
    "[   14.2] ODEBUG: free active (active state 0) object: 1 object type: timer_list",
    "[   14.2] kmemleak: 4 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
    "[   14.2] rcu: INFO: rcu_preempt self-detected stall on CPU",
    "[   14.2] refcount_t: decrement hit 0; leaking memory.",
    "[   14.2] Oops: 0002 [#1] PREEMPT SMP",
    "[   14.2] Kernel panic - not syncing: Attempted to kill init!",
    "[   14.2] BUG: scheduling while atomic: sdp_data/12/0x00000002",
    "[   14.2] general protection fault, probably for non-canonical address 0xdead000000000108",
    "[   14.2] general protection fault: 0000 [#1] PREEMPT SMP",
)

QUIET = (
    "[    0.0] Command line: console=ttyS0 quiet panic=-1 oops=panic",
    "[    0.0] kasan: KernelAddressSanitizer initialized (generic)",
    "[    1.0] sdp: loading out-of-tree module taints kernel.",
    "[    1.0] infiniband rxe0: set active",
    "[    1.0] debug: unmapping init memory",
    "[   44.9] traps: ib_send_lat[796] general protection fault ip:7f0c9b sp:7ffe9f error:0 in librdmacm.so[a472]",
)


class Find(unittest.TestCase):
    """splat.find()"""

    def test_finds_every_kind(self) -> None:
        for line in SPLATS:
            with self.subTest(line):
                self.assertIn(line, splat.find(f"before\n{line}\nafter", allow=[]) or [])

    def test_leaves_a_healthy_log_alone(self) -> None:
        self.assertIsNone(splat.find("\n".join(QUIET), allow=[]))

    def assert_explained(self, told: str) -> None:
        """What is TOLD is no splat, the next stack is one."""
        self.assertIsNone(splat.find(told, []))
        self.assertIsNotNone(splat.find(told + "[ 1.1] Call Trace:\n", []))

    def test_a_cache_that_is_refused(self) -> None:
        """Its stack is no splat, the next one is."""
        told = ("[ 1.0] __kmem_cache_create_args(SDP) failed with error -12\n[ 1.0] Call Trace:\n[ 1.0]  <TASK>\n"
                "[ 1.0]  </TASK>\n")
        self.assert_explained(told)
        self.assertIsNotNone(splat.find(told.replace("-12", "-2"), []))
        self.assertIsNone(splat.find(told.replace("-12\n", "-12\n" + "[ 1.0] more\n" * 5), []))
        self.assertIsNotNone(splat.find(told.replace("-12\n", "-12\n" + "[ 1.0] more\n" * 6), []))

    def test_no_memory_to_count_allocations_with(self) -> None:
        """The kernel warns of that; other warnings, and what follows, are splats."""
        told = ("[ 1.0] WARNING: CPU: 0 PID: 396 at mm/slub.c:2127 alloc_tagging_slab_alloc_hook+0x1cb/0x1d0\n"
                "[ 1.0] Stack:\n[ 1.0] Call Trace:\n[ 1.0]  kmem_cache_alloc_lru_noprof+0x231/0x430\n")
        self.assert_explained(told)
        self.assertIsNotNone(splat.find(told.replace("mm/slub.c:2127 alloc_tagging_slab_alloc_hook",
                                                     "mm/slub.c:2126 other_hook"), []))
        self.assertIsNone(splat.find(told.replace("Stack:\n", "Stack:\n" + "[ 1.0] more\n" * 10), []))
        self.assertIsNotNone(splat.find(told.replace("Stack:\n", "Stack:\n" + "[ 1.0] more\n" * 11), []))

    def test_stack_of_a_sleeper(self) -> None:
        """User Mode Linux reads it unasked; whatever else does is a splat."""
        told = ("[ 1.0] BUG: KASAN: stack-out-of-bounds in __get_wchan+0x10b/0x130\n[ 1.0] Stack:\n"
                "[ 1.0] Call Trace:\n[ 1.0]  show_stack+0x8e/0x1a4\n")
        self.assert_explained(told)
        self.assertIsNotNone(splat.find(told.replace("__get_wchan", "sdp_recvmsg"), []))

    def test_excerpt_shows_what_came_before_and_after(self) -> None:
        log = "\n".join(["one", "two", SPLATS[0], "four"])
        self.assertEqual(splat.find(log, allow=[]), ["one", "two", SPLATS[0], "four"])

    def test_allowed_line_hides_itself_only(self) -> None:
        allow = [re.compile("refcount_warn_saturate")]
        self.assertIsNone(splat.find(SPLATS[0], allow))
        self.assertIsNotNone(splat.find(f"{SPLATS[0]}\nCall Trace:", allow))


STALE = ("[    4.6] int3: 0000 [#1] PREEMPT SMP NOPTI", "[    4.6] Oops: int3: 0000 [#1] PREEMPT SMP NOPTI")


class StaleBreakpoint(unittest.TestCase):
    """splat.is_stale_breakpoint()"""

    def test_is_known_from_each_kernel(self) -> None:
        for line in STALE:
            with self.subTest(line):
                self.assertTrue(splat.is_stale_breakpoint("\n".join((*QUIET, line, "Call Trace:"))))

    def test_is_the_first_splat(self) -> None:
        self.assertFalse(splat.is_stale_breakpoint(f"{SPLATS[0]}\n{STALE[0]}"))

    def test_is_no_other_splat(self) -> None:
        for line in SPLATS + QUIET:
            self.assertFalse(splat.is_stale_breakpoint(line), line)


class AllowList(unittest.TestCase):
    """splat.allowed()"""

    def test_ours_is_empty(self) -> None:
        self.assertEqual(splat.allowed(), [])

    def test_comments_and_blank_lines_are_no_patterns(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix="-allow") as file:
            file.write("# why\n\nfoo.*bar\n")
            file.flush()
            patterns = splat.allowed(pathlib.Path(file.name))
        self.assertEqual([p.pattern for p in patterns], ["foo.*bar"])
