# SPDX-License-Identifier: GPL-2.0
"""When a bed is booted a second time."""

import unittest

from sdpvm import EXIT_SPLAT, run

# Status, log, nodes that were up.
End = tuple[int, str, set[str]]
STALE = "[    4.6] int3: 0000 [#1] PREEMPT SMP NOPTI"


class _Run(run.Run):
    """A bed of which only the ends of its attempts are known."""

    def __init__(self, *ends: End) -> None:  # pylint: disable=super-init-not-called
        self.ends = list(ends)
        self.ready: set[str] = set()
        self.text = ""

    def _prepare(self) -> None:
        self.ready, self.text = set(), ""

    def attempt(self) -> int:
        status, self.text, self.ready = self.ends.pop(0)
        return status

    def log_texts(self) -> list[str]:
        return [self.text]


class SecondBoot(unittest.TestCase):
    """Run.go()"""

    def test_follows_a_stale_breakpoint(self) -> None:
        bed = _Run((EXIT_SPLAT, STALE, set()), (3, "", {"a"}))
        self.assertEqual(bed.go(), 3)
        self.assertEqual(bed.ends, [])

    def test_is_the_last(self) -> None:
        bed = _Run((EXIT_SPLAT, STALE, set()), (EXIT_SPLAT, STALE, set()), (0, "", {"a"}))
        self.assertEqual(bed.go(), EXIT_SPLAT)
        self.assertEqual(len(bed.ends), 1)

    def test_follows_nothing_else(self) -> None:
        ends: list[End] = [(0, STALE, {"a"}), (EXIT_SPLAT, STALE, {"b"}), (EXIT_SPLAT, "Kernel panic", set())]
        for end in ends:
            with self.subTest(end):
                self.assertEqual(_Run(end, (77, "", {"a"})).go(), end[0])
