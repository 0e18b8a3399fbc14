# SPDX-License-Identifier: GPL-2.0
"""How test output is judged."""

import pathlib
import tempfile
import unittest
from typing import Any

from loading import load

_PATH = pathlib.Path(__file__).resolve().parent.parent / "summary"

summary = load("summary", _PATH)


class Ktap(unittest.TestCase):
    """read_ktap()"""

    def judge(self, text: str, status: int, expected: tuple[int, int, int]) -> Any:
        """Check the counts (passed, failed, skipped)."""
        tally = summary.read_ktap("t", text, status)
        self.assertEqual((tally.passed, len(tally.failures), len(tally.skips)), expected, tally)
        return tally

    def test_counts(self) -> None:
        self.judge("1..3\nok 1 a\nnot ok 2 b\nok 3 c # SKIP why\n", 1, (1, 1, 1))

    def test_failure_keeps_its_reason(self) -> None:
        tally = self.judge("1..1\nnot ok 1 b # timeout\n", 1, (0, 1, 0))
        self.assertEqual(tally.failures, ["t: b (timeout)"])

    def test_failure_keeps_its_diagnostics_and_no_others(self) -> None:
        tally = self.judge("1..2\n# of a\nok 1 a\n# why\n# where\nnot ok 2 b\n# after\n", 1, (1, 1, 0))
        self.assertEqual(tally.failures, ["t: b\n# why\n# where"])

    def test_skip_keeps_its_reason(self) -> None:
        tally = self.judge("1..0 # SKIP no device\n", 4, (0, 0, 1))
        self.assertEqual(tally.skips, ["t: no device"])

    def test_no_plan_is_a_failure(self) -> None:
        self.judge("", 0, (0, 1, 0))
        self.judge("ok 1 a\n", 0, (1, 1, 0))

    def test_plan_not_kept_is_a_failure(self) -> None:
        self.judge("1..3\nok 1 a\n", 139, (1, 1, 0))
        self.judge("1..1\nok 1 a\nok 2 b\n", 0, (2, 1, 0))

    def test_bail_out_is_a_failure(self) -> None:
        self.judge("1..2\nok 1 a\nBail out! no memory\n", 1, (1, 1, 0))

    def test_bad_status_is_a_failure_even_if_all_is_ok(self) -> None:
        self.judge("1..1\nok 1 a\n", 139, (1, 1, 0))

    def test_commented_lines_do_not_count(self) -> None:
        self.judge("1..1\n# ok 7 x\nok 1 a\n", 0, (1, 0, 0))

    def test_cases_of_a_subtest_count(self) -> None:
        tally = self.judge("1..1\n    # Subtest: a: sub\n    1..3\n    ok 1 x\n    # why\n    not ok 2 y\n"
                           "    ok 3 z # SKIP none\n# sub fails\nnot ok 1 a\n", 1, (1, 2, 1))
        self.assertEqual(tally.failures, ["t: a: sub: y\n# why", "t: a\n# sub fails"])
        self.assertEqual(tally.skips, ["t: a: sub: z: none"])

    def test_a_subtest_keeps_to_its_plan(self) -> None:
        tally = self.judge("1..1\n    # Subtest: a: sub\n    1..3\n    ok 1 x\nok 1 a\n", 0, (2, 1, 0))
        self.assertEqual(tally.failures, ["t: a: sub: planned 3 tests, ran 1 (status 0)"])

    def test_subtests_of_subtests_count(self) -> None:
        self.judge("1..1\n    # Subtest: a\n    1..1\n        # Subtest: b\n        1..1\n        ok 1 x\n    ok 1 y\n"
                   "ok 1 z\n", 0, (3, 0, 0))

    def test_other_indented_lines_do_not_count(self) -> None:
        self.judge("1..1\n    OK\n    ok 2 x\nok 1 a\n", 0, (1, 0, 0))


class Directory(unittest.TestCase):
    """read_directory()"""

    def setUp(self) -> None:
        self.keeper = tempfile.TemporaryDirectory()
        self.addCleanup(self.keeper.cleanup)
        self.dir = pathlib.Path(self.keeper.name)

    def write(self, name: str, text: str, status: int | None = None) -> None:
        """Leave one program's result."""
        (self.dir / f"{name}.ktap").write_text(text)
        if status is not None:
            (self.dir / f"{name}.status").write_text(f"{status}\n")

    def test_program_whose_end_was_never_seen_fails(self) -> None:
        self.write("t", "1..1\nok 1 a\n")
        self.assertEqual(len(summary.read_directory(self.dir).failures), 1)

    def test_node_b_may_leave_the_counting_to_a(self) -> None:
        self.write("t.a", "1..1\nok 1 a\n", 0)
        self.write("t.b", "# nothing to say\n", 0)
        self.assertEqual(summary.read_directory(self.dir).line(), "1 passed, 0 failed, 0 skipped")

    def test_junit(self) -> None:
        (self.dir / "u.xml").write_text(
            '<testsuite><testcase name="a" status="run"/>'
            '<testcase name="b" status="fail"><failure message=""/></testcase>'
            '<testcase name="c" status="notrun"><skipped message="why"/></testcase></testsuite>')
        self.assertEqual(summary.read_directory(self.dir).line(), "1 passed, 1 failed, 1 skipped")
