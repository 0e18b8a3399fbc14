# SPDX-License-Identifier: GPL-2.0
"""What is held against the bar, and how it is judged."""

import pathlib
import sys
import unittest

from figures import bar, plan

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import samples  # noqa: E402  pylint: disable=wrong-import-position


def _rule(text: str) -> bar.Rule:
    return next(rule for rule in bar.RULES if text in rule.text)


class Check(unittest.TestCase):
    """One rule at a time."""

    def test_the_worst_point_decides(self) -> None:
        """A ratio at every point is judged where it is least."""
        made = samples.fill("farbandwidth", {"credit": 1, "rdma": 8, "nic": 8})
        for _ in range(4):
            made.add("farbandwidth", "mbit_per_s", "nic", 1024, 4000.0)
        finding = bar.check(_rule("5 x credit"), made)
        self.assertFalse(finding.met)
        self.assertAlmostEqual(finding.ratio or 0, 4)
        self.assertEqual(finding.where, "nic to credit at 1 KiB")

    def test_the_best_point_decides_where_one_is_enough(self) -> None:
        """Somewhere is not everywhere."""
        made = samples.fill("farbandwidth", {"credit": 1, "rdma": 6})
        for _ in range(4):
            made.add("farbandwidth", "mbit_per_s", "rdma", 512, 11000.0)
        self.assertTrue(bar.check(_rule("rdma 10 x"), made).met)

    def test_points_outside_the_range_do_not_count(self) -> None:
        """The rule is for 256 B to 4 KiB."""
        made = samples.fill("farbandwidth", {"credit": 1, "rdma": 6})
        for _ in range(4):
            made.add("farbandwidth", "mbit_per_s", "rdma", 64, 11000.0)
        self.assertFalse(bar.check(_rule("rdma 10 x"), made).met)

    def test_equality_either_way(self) -> None:
        """Five per cent less is as good as five per cent more, and six too many."""
        rule = _rule("modes within 5 %")
        for factor, met in ((0.96, True), (1.04, True), (0.94, False), (1.06, False)):
            made = samples.fill("latency", {"credit": 1, "rdma": factor, "nic": 1})
            self.assertEqual(bar.check(rule, made).met, met, factor)

    def test_at_most(self) -> None:
        """The greatest ratio decides where less is better."""
        made = samples.fill("latency", {"credit": 1, "nic": 1.2, "rdma": 1, "verbs": 1})
        finding = bar.check(_rule("ibv_rc_pingpong"), made)
        self.assertFalse(finding.met)
        self.assertAlmostEqual(finding.ratio or 0, 1.2)

    def test_a_figure_by_itself(self) -> None:
        """Utilisation is held against a number, not against a transport."""
        made = samples.fill("fill8", {"rdma": 0.095, "nic": 0.089})
        finding = bar.check(_rule("at least 90 %"), made)
        self.assertFalse(finding.met)
        self.assertAlmostEqual(finding.ratio or 0, 89)
        self.assertEqual(finding.where, "nic at 512 B")

    def test_what_was_not_measured_is_not_met(self) -> None:
        """Nothing is claimed without figures."""
        finding = bar.check(_rule("nic within 5 %"), samples.fill("bandwidth", {"rdma": 1}))
        self.assertIsNone(finding.ratio)
        self.assertEqual(finding.missing, ("nic",))
        self.assertIn("not measured", bar.line(finding))

    def test_what_is_lacking_is_said(self) -> None:
        """A verdict on one mode is not one on three."""
        made = samples.fill("latency", {"credit": 1, "verbs": 1})
        self.assertIn("without rdma, nic", bar.line(bar.check(_rule("ibv_rc_pingpong"), made)))


class Report(unittest.TestCase):
    """All rules together."""

    def test_rules_are_for_experiments_and_transports_that_exist(self) -> None:
        """A renamed experiment or transport would never be judged again."""
        for rule in bar.RULES:
            transports = plan.EXPERIMENTS[rule.experiment].transports
            for pair in rule.pairs:
                self.assertTrue(set(pair) <= {*transports, None}, rule.text)
            self.assertTrue(rule.points(), rule.text)

    def test_only_rules_for_the_kernel(self) -> None:
        """SMC-R does not run on 6.1, the raw writer not well on 6.12."""
        made = samples.fill("latency", {"credit": 1})
        self.assertNotIn("SMC-R", bar.report(made))
        made.method["release"] = "6.12.117-test"
        self.assertIn("SMC-R", bar.report(made))
        self.assertNotIn("ib_write_bw", bar.report(made))


class Agreement(unittest.TestCase):
    """Whether two clocks see the modes in the same order."""

    def _lines(self, wall_factor: float, jitter: float = 0.0) -> tuple[int, list[str]]:
        counted = samples.fill("bandwidth", {"credit": 1, "nic": 2})
        wall = samples.fill("bandwidth", {"credit": 1, "nic": wall_factor}, jitter=jitter)
        return bar.disagreements(counted, wall, plan.EXPERIMENTS["bandwidth"])

    def test_same_order(self) -> None:
        """However much the ratios differ."""
        compared, lines = self._lines(1.1)
        self.assertEqual(compared, len(plan.EXPERIMENTS["bandwidth"].points))
        self.assertEqual(lines, [])

    def test_other_order(self) -> None:
        """It is said where, and which."""
        compared, lines = self._lines(0.5)
        self.assertEqual(len(lines), compared)
        self.assertIn("credit is the better of credit and nic", lines[0])

    def test_runs_that_overlap_contradict_nothing(self) -> None:
        """Noise is not an order."""
        self.assertEqual(self._lines(0.9, jitter=0.3)[1], [])

    def test_nothing_to_compare(self) -> None:
        """No verdict without wall-clock results."""
        made = samples.fill("bandwidth", {"credit": 1, "nic": 2})
        self.assertEqual(bar.agreement(made, samples.fill("latency", {"credit": 1})), "")
